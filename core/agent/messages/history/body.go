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

// Marks are the ends of the user's newest messages, where cache marks can go.
type Marks struct {
	// Forked is the newest one of a parent, Users are the newest two, newest first. The zero Mark
	// means none.
	Forked Mark
	Users  []Mark
}

// Marks returns the ends of the user's newest messages.
func (h *History) Marks() Marks {
	h.mu.Lock()
	defer h.mu.Unlock()
	return Marks{h.forked, h.users}
}

// Insert is a text that is added to a message of a request but not to the file, after the last
// field of the last block of a user's message.
type Insert struct {
	At   Mark
	Text string
}

// blockEnds follows the last field in a user's last block.
const blockEnds = "}]}\n"

// Body returns the history's part of a request, "tools":[…],"system":[…],"messages":[…] without the
// surrounding braces, and its length in bytes. The reader reads the files, each byte once, and must
// be consumed before Close.
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

// Size returns the number of bytes of the messages in a request.
func (h *History) Size() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := int64(0)
	for _, m := range h.messages {
		n += m.len()
	}
	return n
}

// Recent returns a history in memory with only the newest messages, about size bytes. It starts
// with a text of the user. Without frozen, tools and system prompt are left out too.
func (h *History) Recent(size int64, frozen bool) (*History, error) {
	tools, system, err := h.Frozen()
	if err != nil {
		return nil, err
	}
	if !frozen {
		tools, system = []byte("[]"), []byte("[]")
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

// body collects the parts of a request.
type body struct {
	inserts []Insert
	parts   []io.Reader
	size    int64
}

// frozen adds the tools or the system prompt, without braces. An empty list is left out, because
// not every server accepts one.
func (b *body) frozen(s span, begins string) {
	if s.len() <= int64(len(begins)+len("[]}\n")) {
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

// run adds message lines, separated by commas instead of line breaks.
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

// commas is a reader that replaces line breaks with commas. One-line JSON contains no other line
// breaks.
type commas struct{ r io.Reader }

// Read implements io.Reader.
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

// Took reports whether a session has a message of the user with a text that satisfies f. Only the
// session's own file is read, and messages taken back as lost do not count. An unknown ID returns
// fs.ErrNotExist.
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
	var found []int64 // offsets of the matching messages
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

// Block contains the fields of a message's block that are needed here.
type Block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
}

// Blocks returns the blocks of a message.
func Blocks(message []byte) []Block {
	var m struct {
		Content []Block `json:"content"`
	}
	if json.Unmarshal(message, &m) != nil {
		return nil
	}
	return m.Content
}
