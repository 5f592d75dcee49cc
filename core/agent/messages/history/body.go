package history

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// Marks are where the newest messages of the user end: places for cache marks.
type Marks struct {
	// Forked is the newest of a parent, Users are the newest two, newest first; the
	// zero Mark is none.
	Forked Mark
	Users  []Mark
}

// Marks are where the newest messages of the user end.
func (h *History) Marks() Marks {
	h.mu.Lock()
	defer h.mu.Unlock()
	return Marks{h.forked, h.users}
}

// Insert is a text that a request has within a message and the file has not: behind
// the last field of the last block of a user's message.
type Insert struct {
	At   Mark
	Text string
}

// blockEnds is what stands behind the last field of a user's last block.
const blockEnds = "}]}\n"

// Body is what a request holds of the history: "tools":[…],"system":[…],"messages":[…]
// without braces around it, and its length in bytes. The reader reads the files
// while it is read, each byte once, and must be read before Close.
func (h *History) Body(inserts ...Insert) (io.Reader, int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := body{inserts: slices.SortedFunc(slices.Values(inserts), func(a, b Insert) int { return cmp.Compare(a.At.end, b.At.end) })}
	b.frozen(h.tools, toolsBegins)
	b.frozen(h.system, systemBegins)
	b.text(`"messages":[`)
	for i, m := range h.messages {
		if i > 0 {
			b.text(",")
		}
		b.run(span{m.src, m.from, m.to - 1})
	}
	b.text("]")
	return io.MultiReader(b.parts...), b.size
}

// Size is how many bytes of messages a request has.
func (h *History) Size() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := int64(0)
	for _, m := range h.messages {
		n += m.len()
	}
	return n
}

// Recent is a history in memory with the newest messages only, of about so many
// bytes. It begins with words of the user.
func (h *History) Recent(size int64) (*History, error) {
	tools, system, err := h.Frozen()
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	runs := h.messages
	h.mu.Unlock()
	skip := h.Size() - size
	short := &History{}
	if err := short.Begin(tools, system, Facts{}); err != nil {
		return nil, err
	}
	begun := false
	for _, m := range runs {
		l := lines{src: m.src, at: m.from, size: m.to}
		for l.next() {
			here := span{m.src, l.from, l.at}
			if skip -= here.len(); skip > 0 || !begun && !l.begins(userBegins) {
				continue
			}
			text, err := here.read()
			if err != nil {
				return nil, err
			}
			if begun = begun || !slices.ContainsFunc(Blocks(text), func(b Block) bool { return b.Type == "tool_result" }); !begun {
				continue
			}
			if err := short.Add(bytes.TrimRight(text, "\n")); err != nil {
				return nil, err
			}
		}
	}
	return short, nil
}

// body gathers what a request is made of.
type body struct {
	inserts []Insert
	parts   []io.Reader
	size    int64
}

// frozen adds what stands before the messages, without its braces. An empty list is
// left out: not every server takes one.
func (b *body) frozen(s span, begins string) {
	if s.src == nil || s.len() <= int64(len(begins)+len("[]}\n")) {
		return
	}
	b.add(span{s.src, s.from + 1, s.to - int64(len("}\n"))})
	b.text(",")
}

func (b *body) text(s string) {
	b.parts = append(b.parts, bytes.NewReader([]byte(s)))
	b.size += int64(len(s))
}

func (b *body) add(s span) {
	b.parts = append(b.parts, io.NewSectionReader(s.src, s.from, s.len()))
	b.size += s.len()
}

// run adds message lines, with commas for the breaks between them.
func (b *body) run(s span) {
	for _, in := range b.inserts {
		at := in.At.end - int64(len(blockEnds))
		if in.At.src != s.src || at <= s.from || at >= s.to {
			continue
		}
		b.commas(span{s.src, s.from, at})
		b.text(in.Text)
		s.from = at
	}
	b.commas(s)
}

func (b *body) commas(s span) {
	b.parts = append(b.parts, commas{io.NewSectionReader(s.src, s.from, s.len())})
	b.size += s.len()
}

// commas turns the ends of lines into commas. Nothing else in JSON of one line is a
// line break.
type commas struct{ r io.Reader }

// Read is io.Reader's.
func (c commas) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	for i := 0; i < n; i++ {
		next := bytes.IndexByte(p[i:n], '\n')
		if next < 0 {
			break
		}
		i += next
		p[i] = ','
	}
	return n, err
}

// Took reports whether a session has taken a message of the user one of whose texts
// satisfies f. Only the session's own file is asked, and what was taken back as lost
// does not count. An unknown id is fs.ErrNotExist.
func Took(folder, id string, f func(text string) bool) (bool, error) {
	file, err := os.Open(filepath.Join(folder, id+Ext))
	if err != nil {
		return false, fmt.Errorf("open the session: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return false, fmt.Errorf("open the session: %w", err)
	}
	var found []int64 // where
	l := lines{src: file, size: info.Size()}
	for l.next() {
		if !l.begins(userBegins) && !l.begins(`{"cut":`) {
			continue
		}
		whole, err := span{file, l.from, l.at}.read()
		if err != nil {
			return false, err
		}
		var n note
		if json.Unmarshal(whole, &n) == nil && n.Lost {
			for len(found) > 0 && found[len(found)-1] >= n.Cut {
				found = found[:len(found)-1]
			}
		}
		for _, b := range Blocks(whole) {
			if b.Type == "text" && f(b.Text) {
				found = append(found, l.from)
			}
		}
	}
	return len(found) > 0, l.err
}

// Block is what of a message's block is asked for.
type Block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
}

// Blocks are those of a message.
func Blocks(message []byte) []Block {
	var m struct {
		Content []Block `json:"content"`
	}
	if json.Unmarshal(message, &m) != nil {
		return nil
	}
	return m.Content
}
