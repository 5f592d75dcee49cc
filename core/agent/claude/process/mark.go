package process

import (
	"crypto/rand"
	"strings"
	"sync"
)

// MarkName is the variable that every process started here carries, and that
// its children inherit. Its value is the mark that was asked for with Env.Mark,
// a slash, and a word that belongs to one process alone.
const MarkName = "OLLIM_CLAUDE_PROCESS"

// ownMark makes the mark of one process from that of its environment. With a
// mark of its own, the end of one process never touches the children of
// another.
func ownMark(env []string) string {
	return strings.ReplaceAll(lookup(env, MarkName), "\x00", "") + "/" + rand.Text()
}

// under reports whether a process with this mark belongs to mark, which is
// either a whole one or that of many processes.
func under(own, mark string) bool {
	if own == mark {
		return true
	}
	at := strings.LastIndexByte(own, '/')
	return at >= 0 && own[:at] == mark
}

// lookup is the last value of a variable, as os/exec takes it.
func lookup(env []string, name string) string {
	value := ""
	for _, v := range env {
		if n, val, ok := strings.Cut(v, "="); ok && n == name {
			value = val
		}
	}
	return value
}

// living holds the marks of the processes that os/exec has yet to reap. They
// are not orphans, whoever asks. A program has one set of children, whichever
// part of it has started them, so this is one table for the program.
var living marks

// marks is a set of marks.
type marks struct {
	mu  sync.Mutex
	set map[string]bool // guarded by mu
}

func (m *marks) add(mark string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.set == nil {
		m.set = make(map[string]bool)
	}
	m.set[mark] = true
}

func (m *marks) remove(mark string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.set, mark)
}

func (m *marks) has(mark string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.set[mark]
}
