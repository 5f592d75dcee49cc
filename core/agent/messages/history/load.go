package history

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// load reads the complete lines of a part of a source and returns their end.
func (h *History) load(src source, from, size int64, depth int) (end int64, err error) {
	l := lines{src: src, at: from, size: size}
	for l.next() {
		here := span{src, l.from, l.at}
		switch {
		case l.begins(roleBegins):
			h.take(here, l.begins(userBegins))
		case l.begins(toolsBegins):
			h.tools, h.system = here, span{}
			h.messages, h.users, h.last, h.forked, h.facts = nil, nil, span{}, Mark{}, Facts{}
		case l.begins(systemBegins):
			h.system = here
		default:
			whole, err := here.read()
			if err != nil {
				return 0, err
			}
			var n note
			if json.Unmarshal(whole, &n) != nil {
				continue // unknown lines are ignored
			}
			if err := h.heed(src, n, depth); err != nil {
				return 0, err
			}
		}
	}
	return l.at, l.err
}

// include reads another session's file up to an offset; -1 means all of it.
func (h *History) include(id string, offset int64, depth int) (size int64, err error) {
	if depth > maxParents {
		return 0, fmt.Errorf("the session has more than %d parents", maxParents)
	}
	f, err := os.Open(filepath.Join(h.folder, id+Ext))
	if err != nil {
		return 0, fmt.Errorf("open the session: %w", err)
	}
	h.sources = append(h.sources, f)
	info, err := f.Stat()
	if err != nil {
		return 0, fmt.Errorf("open the session: %w", err)
	}
	if offset < 0 || offset > info.Size() {
		offset = info.Size()
	}
	size, err = h.load(f, 0, offset, depth)
	if len(h.users) > 0 {
		h.forked = h.users[0]
	}
	return size, err
}

// heed applies a note.
func (h *History) heed(src source, n note, depth int) error {
	if n.Facts != nil {
		h.facts = *n.Facts
	}
	if n.Cut > 0 {
		h.takeBack(src, n.Cut)
	}
	if depth == known || n.Parent != filepath.Base(n.Parent) {
		return nil
	}
	_, err := h.include(n.Parent, n.Offset, depth+1)
	return err
}

// take adds a message's line.
func (h *History) take(m span, users bool) {
	h.last = m
	if users {
		h.users = append([]Mark{{m.src, m.to}}, h.users[:min(1, len(h.users))]...)
	}
	if n := len(h.messages); n > 0 && h.messages[n-1].src == m.src && h.messages[n-1].to == m.from {
		h.messages[n-1].to = m.to
		return
	}
	h.messages = append(h.messages, m)
}

// takeBack removes the messages after an offset of a source.
func (h *History) takeBack(src source, at int64) {
	kept := h.messages
	h.messages, h.users, h.last = nil, nil, span{}
	for _, m := range kept {
		if m.src == src {
			m.to = min(m.to, at)
		}
		l := lines{src: m.src, at: m.from, size: m.to}
		for l.next() {
			h.take(span{m.src, l.from, l.at}, l.begins(userBegins))
		}
	}
}
