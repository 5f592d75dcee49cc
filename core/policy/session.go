package policy

import (
	"maps"
	"slices"

	"ollimbot/core/clean"
)

// maxDenied bounds the labels that nobody has come to show.
const maxDenied = 256

// Allow allows a tool, by its bare name, until Reset: allowing "Bash" allows
// every command.
func (g *Guard) Allow(tool string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.allowed[toolName(tool)] = true
}

// Allowed are the tools that the user has allowed for this session, sorted.
func (g *Guard) Allowed() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Sorted(maps.Keys(g.allowed))
}

func (g *Guard) sessionAllows(tool string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.allowed[toolName(tool)]
}

// TakeDenied reports whether a call with this label was denied, and forgets it:
// a denial is shown once. Labels are those of toolset.Label.
func (g *Guard) TakeDenied(label string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	label = clean.Line(label)
	was := g.denied[label]
	delete(g.denied, label)
	return was
}

// ForgetDenied drops the labels of earlier answers; called before each answer.
func (g *Guard) ForgetDenied() {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.denied)
}

func (g *Guard) noteDenied(label string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.denied) >= maxDenied {
		clear(g.denied)
	}
	g.denied[clean.Line(label)] = true
}

// Reset is a new conversation: what waits is cancelled, what was allowed is not
// any more.
func (g *Guard) Reset() {
	g.desk.CancelAll()
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.allowed)
	clear(g.denied)
}
