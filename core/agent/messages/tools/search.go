package tools

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/schema"
)

// maxNames is how many files Glob lists.
const maxNames = 100

func (b *Box) glob(ctx context.Context, c call) (Result, error) {
	base, rest := fixed(c.Text("pattern"))
	switch folder := c.Text("path"); {
	case filepath.IsAbs(base), strings.HasPrefix(base, "~/"), folder == "":
	default:
		base = folder + "/" + base
	}
	c.Arguments = schema.Arguments{"pattern": rest} // judged again
	s, err := b.findAt(ctx, c, "path", cmp.Or(base, "."), false)
	if err != nil {
		return Result{}, err
	}
	defer s.close()
	type found struct {
		name string
		at   time.Time
	}
	var all []found
	wanted := globs(rest)
	cut, err := b.walk(ctx, s, func(f file) error {
		if matches(wanted, f.rel) {
			all = append(all, found{b.display(f.full), f.changed()})
		}
		return nil
	})
	if err != nil {
		return Result{}, err
	}
	slices.SortStableFunc(all, func(a, b found) int { return b.at.Compare(a.at) })
	var out strings.Builder
	for _, f := range all[:min(len(all), maxNames)] {
		out.WriteString(f.name + "\n")
	}
	switch {
	case len(all) > maxNames:
		fmt.Fprintf(&out, textMoreNames, maxNames, len(all))
	case len(all) == 0:
		out.WriteString(textNoNames)
	}
	if cut {
		out.WriteString(textWalkCut)
	}
	return Result{Text: out.String()}, nil
}

// fixed splits a glob into its folders without wildcards and the rest.
func fixed(glob string) (folder, rest string) {
	at := strings.IndexAny(glob, "*?{")
	if at < 0 {
		at = len(glob)
	}
	at = strings.LastIndexByte(glob[:at], '/') + 1
	return glob[:at], strings.TrimPrefix(glob[at:], "./")
}

const (
	// maxFound is the default number of lines or files that Grep shows.
	maxFound = 250
	// maxGrepLine is how many bytes of a line Grep shows, and maxGrepText how many in total.
	maxGrepLine = 500
	maxGrepText = 40 << 10
	// maxHits is how many lines one search collects.
	maxHits = 20_000
	// binaryHead is how much of a file is examined to detect binary data.
	binaryHead = 8 << 10
)

// search is one text search.
type search struct {
	pattern       *regexp.Regexp
	only, without []*regexp.Regexp
	names         bool // only and without match names, not paths
	types         []string
	mode          string
	before, after int
	numbers       bool
	multiline     bool

	files []hits
	lines int
}

// hits are the matches in one file.
type hits struct {
	name  string
	at    time.Time
	lines []line
	count int
}

// line is a line of a file: a match, or its context.
type line struct {
	number int
	text   string
	hit    bool
}

func (b *Box) grep(ctx context.Context, c call) (Result, error) {
	q, err := newSearch(c)
	if err != nil {
		return Result{}, err
	}
	s, err := b.findAt(ctx, c, "path", cmp.Or(c.Text("path"), "."), false)
	if err != nil {
		return Result{}, err
	}
	defer s.close()
	var kind unix.Stat_t
	if err := unix.Fstatat(int(s.folder.Fd()), s.name, &kind, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return Result{}, b.says(s, err)
	}
	cut := false
	if kind.Mode&unix.S_IFMT == unix.S_IFDIR {
		cut, err = b.walk(ctx, s, func(f file) error { return q.file(b, f) })
	} else {
		// A file named in the call is searched regardless of the glob.
		q.only, q.without, q.types = nil, nil, nil
		if err = q.file(b, file{s.folder, s.name, s.name, s.full}); errors.Is(err, errEnough) {
			cut, err = true, nil
		}
	}
	if err != nil {
		return Result{}, err
	}
	limit := maxFound
	if _, given := c.Arguments["head_limit"]; given {
		limit = c.Number("head_limit")
	}
	text := q.show(c.Number("offset"), limit)
	if cut {
		text += textWalkCut
	}
	return Result{Text: text}, nil
}

// kindsOfText are the extensions of each type.
var kindsOfText = map[string][]string{
	"md": {".md", ".markdown", ".mdx"}, "markdown": {".md", ".markdown", ".mdx"}, "txt": {".txt"}, "csv": {".csv"}, "json": {".json"},
	"yaml": {".yaml", ".yml"}, "toml": {".toml"}, "html": {".html", ".htm"}, "css": {".css"}, "xml": {".xml"}, "sh": {".sh", ".bash"},
	"py": {".py"}, "go": {".go"}, "js": {".js", ".mjs", ".cjs", ".jsx"}, "ts": {".ts", ".tsx"}, "rust": {".rs"}, "java": {".java"},
	"c": {".c", ".h"}, "cpp": {".cc", ".cpp", ".hpp", ".h"}, "rb": {".rb"}, "sql": {".sql"}, "log": {".log"},
}

func newSearch(c call) (*search, error) {
	q := &search{
		mode: cmp.Or(c.Text("output_mode"), "files_with_matches"), multiline: c.Flag("multiline"), numbers: true,
		before: cmp.Or(c.Number("-B"), c.Number("-C")), after: cmp.Or(c.Number("-A"), c.Number("-C")),
	}
	if _, given := c.Arguments["-n"]; given {
		q.numbers = c.Flag("-n")
	}
	flags := "m"
	if c.Flag("-i") {
		flags += "i"
	}
	if q.multiline {
		flags += "s"
	}
	var err error
	if q.pattern, err = regexp.Compile("(?" + flags + ":" + c.Text("pattern") + ")"); err != nil {
		return nil, fmt.Errorf(textBadPattern, err)
	}
	glob := c.Text("glob")
	q.names = !strings.Contains(glob, "/")
	for one := range strings.FieldsSeq(commas(glob)) {
		if rest, not := strings.CutPrefix(one, "!"); not {
			q.without = append(q.without, globs(strings.TrimPrefix(rest, "/"))...)
		} else {
			q.only = append(q.only, globs(strings.TrimPrefix(strings.TrimPrefix(one, "./"), "/"))...)
		}
	}
	if name := c.Text("type"); name != "" {
		if q.types = kindsOfText[name]; q.types == nil {
			return nil, fmt.Errorf(textNoType, name)
		}
	}
	return q, nil
}

// commas replaces the commas outside braces with spaces.
func commas(glob string) string {
	depth := 0
	return strings.Map(func(r rune) rune {
		switch r {
		case '{':
			depth++
		case '}':
			depth = max(0, depth-1)
		case ',':
			if depth == 0 {
				return ' '
			}
		}
		return r
	}, glob)
}

// wants reports whether a file should be searched.
func (q *search) wants(rel string) bool {
	name := rel
	if q.names {
		name = path.Base(rel)
	}
	return (len(q.only) == 0 || matches(q.only, name)) && !matches(q.without, name) &&
		(q.types == nil || slices.Contains(q.types, strings.ToLower(path.Ext(rel))))
}

// file searches one file. Unreadable, large and binary files are skipped.
func (q *search) file(b *Box, f file) error {
	if !q.wants(f.rel) {
		return nil
	}
	data, err := readIn(f.folder, f.name, maxFile)
	if err != nil || bytes.IndexByte(data[:min(len(data), binaryHead)], 0) >= 0 {
		return nil //nolint:nilerror // such files are skipped
	}
	found := q.in(strings.ToValidUTF8(strings.ReplaceAll(string(data), "\r\n", "\n"), "\ufffd"))
	if found.count == 0 {
		return nil
	}
	found.name, found.at = b.display(f.full), f.changed()
	q.files = append(q.files, found)
	if q.lines += max(len(found.lines), 1); q.lines > maxHits {
		return errEnough
	}
	return nil
}

// in finds the matches in a text.
func (q *search) in(text string) hits {
	all := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	hit := make(map[int]bool)
	if q.multiline {
		at, number := 0, 0
		for _, m := range q.pattern.FindAllStringIndex(text, maxHits) {
			number += strings.Count(text[at:m[0]], "\n")
			at = m[0]
			for i := range strings.Count(text[m[0]:max(m[0], m[1]-1)], "\n") + 1 {
				hit[number+i] = true
			}
		}
	} else {
		for i, one := range all {
			if q.pattern.MatchString(one) {
				hit[i] = true
			}
		}
	}
	found := hits{count: len(hit)}
	if q.mode != "content" || len(hit) == 0 {
		return found
	}
	near := 0 // end of the context after the last match
	for i, one := range all {
		if hit[i] {
			near = i + q.after + 1
		}
		ahead := false
		for k := i; k <= i+q.before && !ahead; k++ {
			ahead = hit[k]
		}
		if i < near || ahead {
			found.lines = append(found.lines, line{i + 1, one, hit[i]})
		}
	}
	return found
}

// show renders the matches from offset, up to a limit; 0 means no limit.
func (q *search) show(offset, limit int) string {
	var rows []string
	if q.mode == "files_with_matches" {
		slices.SortStableFunc(q.files, func(a, b hits) int { return b.at.Compare(a.at) })
	}
	for i, f := range q.files {
		switch q.mode {
		case "count":
			rows = append(rows, fmt.Sprintf("%s:%d", f.name, f.count))
		case "content":
			rows = append(rows, q.rows(f, i > 0)...)
		default:
			rows = append(rows, f.name)
		}
	}
	if len(rows) == 0 {
		return textNoHits
	}
	var b strings.Builder
	shown := 0
	for _, row := range rows[min(offset, len(rows)):] {
		if limit > 0 && shown == limit || b.Len()+len(row) > maxGrepText {
			fmt.Fprintf(&b, textMoreHits, offset+shown, len(rows), offset+shown)
			break
		}
		b.WriteString(row + "\n")
		shown++
	}
	return b.String()
}

// rows returns the lines of one file. "--" separates lines that are not consecutive.
func (q *search) rows(f hits, parted bool) []string {
	var rows []string
	last := -1
	for _, l := range f.lines {
		if q.before+q.after > 0 && (last < 0 && parted || last >= 0 && l.number != last+1) {
			rows = append(rows, "--")
		}
		last = l.number
		sign := "-"
		if l.hit {
			sign = ":"
		}
		text := clean.Head(l.text, maxGrepLine)
		if len(text) < len(l.text) {
			text += "…"
		}
		if q.numbers {
			text = fmt.Sprintf("%d%s%s", l.number, sign, text)
		}
		rows = append(rows, f.name+sign+text)
	}
	return rows
}
