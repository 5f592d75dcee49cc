package policy

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"ollimbot/core/agent"
)

// change is what Write, Edit and MultiEdit want to do to a file.
type change struct {
	Content *string `json:"content"`
	replacement
	Edits []replacement `json:"edits"`
}

type replacement struct {
	Old string `json:"old_string"`
	New string `json:"new_string"`
	All bool   `json:"replace_all"`
}

// proposed is the file of the data directory that a call would write, and all of
// its bytes after the call. rel is "" for a call that writes no such file. Where a
// path has several spellings, rel is the one in the folder that means most to the
// bot. The bytes are not ok where only the engine knows them: it finds an old text
// in more ways than one, and in files of several encodings.
func (g *Guard) proposed(u agent.ToolUse) (rel string, data []byte, ok bool) {
	x := g.tree.use(u)
	if !writes(x.tool) || x.path == "" {
		return "", nil, false
	}
	rels := g.rels(x.path)
	if len(rels) == 0 {
		return "", nil, false
	}
	rel = rels[0]
	before, err := g.dir.Read(rel)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return rel, nil, false
	}
	var c change
	if json.Unmarshal(u.Input, &c) != nil {
		return rel, nil, false
	}
	switch x.tool {
	case "Write":
		if c.Content == nil {
			return rel, nil, false
		}
		// Some versions keep a file's encoding and its byte order mark. The mark
		// means nothing to the bot.
		_, f, _ := decode(before)
		return rel, []byte(*c.Content), !f.utf16
	case "Edit":
		c.Edits = []replacement{c.replacement}
	case "MultiEdit":
	default:
		return rel, nil, false
	}
	data, ok = edited(before, err == nil, rel, c.Edits)
	return rel, data, ok
}

// judged are the folders whose files are judged by what stands in them, in the
// order in which a file with several spellings counts as one of them.
var judged = []string{"skills", "routines", "reminders", "webhooks"}

// judgedIn is the folder of judged that a path lies in, or "".
func judgedIn(rel string) string {
	folder, _, _ := strings.Cut(rel, "/")
	if folder = fold(folder); slices.Contains(judged, folder) {
		return folder
	}
	return ""
}

// rels are the names of a path within the data directory, those in judged folders
// first. A path that cannot be followed has none: it is closed.
func (g *Guard) rels(file string) []string {
	spots, ok := g.tree.spots(file)
	if !ok {
		return nil
	}
	var out []string
	for _, spot := range spots {
		if rel, inside := g.tree.within(spot); inside && !slices.Contains(out, rel) {
			out = append(out, rel)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return rank(a) - rank(b) })
	return out
}

func rank(rel string) int {
	if i := slices.Index(judged, judgedIn(rel)); i >= 0 {
		return i
	}
	return len(judged)
}

// edited is a file after edits, as the command applies them (measured with
// 2.1.330): in a file with CRLF the texts have "\n"; the encoding and a byte
// order mark stay; a replaced line goes with its end; white space at the ends of
// new lines is dropped, in markdown it stays. An old text that is not there as it
// is written is found all the same where it differs in quotes, escapes or line
// ends: then nothing is told. An edit that the command refuses changes nothing.
func edited(before []byte, exists bool, rel string, edits []replacement) ([]byte, bool) {
	text, form, ok := decode(before)
	if !ok || len(edits) == 0 {
		return nil, false
	}
	markdown := slices.Contains([]string{".md", ".mdx"}, strings.ToLower(path.Ext(rel)))
	for _, e := range edits {
		if e.Old == "" {
			if exists && strings.TrimSpace(text) != "" {
				return before, true
			}
			text, exists, form.crlf = e.New, true, false
			continue
		}
		switch n := strings.Count(text, e.Old); {
		case n == 0:
			return nil, false
		case n > 1 && !e.All, e.Old == e.New:
			return before, true
		}
		if !markdown {
			e.New = withoutTrailing(e.New)
		}
		text = e.apply(text)
	}
	return form.encode(text), true
}

func (r replacement) apply(text string) string {
	old, n := r.Old, 1
	if r.New == "" && !strings.HasSuffix(old, "\n") && strings.Contains(text, old+"\n") {
		old += "\n"
	}
	if r.All {
		n = -1
	}
	return strings.Replace(text, old, strings.ReplaceAll(r.New, "\r\n", "\n"), n)
}

func withoutTrailing(text string) string {
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		body := strings.TrimRight(line, "\r\n")
		lines[i] = strings.TrimRightFunc(body, unicode.IsSpace) + line[len(body):]
	}
	return strings.Join(lines, "")
}

// form is how a file's text is written down.
type form struct {
	utf16, bom, crlf bool
}

const mark = "\ufeff"

// decode is a file's text with "\n" for its line ends. It is not ok for bytes
// that are no text.
func decode(data []byte) (string, form, bool) {
	var f form
	var text string
	if rest, ok := bytes.CutPrefix(data, []byte("\xff\xfe")); ok && len(rest)%2 == 0 {
		units := make([]uint16, len(rest)/2)
		for i := range units {
			units[i] = binary.LittleEndian.Uint16(rest[2*i:])
		}
		f.utf16, f.bom, text = true, true, string(utf16.Decode(units))
	} else if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return "", form{}, false
	} else {
		text, f.bom = strings.CutPrefix(string(data), mark)
	}
	ends := strings.Count(text, "\r\n")
	f.crlf = ends > strings.Count(text, "\n")-ends
	return strings.ReplaceAll(text, "\r\n", "\n"), f, true
}

// encode writes a text as the file was written before.
func (f form) encode(text string) []byte {
	if f.crlf {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if f.bom && !strings.HasPrefix(text, mark) {
		text = mark + text
	}
	if !f.utf16 {
		return []byte(text)
	}
	var out []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		out = binary.LittleEndian.AppendUint16(out, unit)
	}
	return out
}
