package pane_test

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/widget"
)

// stage is a pane with a fixture.
type stage struct {
	pane.Pane
	c pane.Context
}

func open(name string) *stage {
	s := &stage{panes()[name], everydayContext(plainTheme())}
	s.Sync(s.c)
	return s
}

// next gives the pane a changed copy of its snapshot.
func (s *stage) next(change func(*core.Snapshot)) {
	snap := *s.c.Snap
	change(&snap)
	s.c.Snap = &snap
	s.Sync(s.c)
}

func (s *stage) do(ids ...action.ID) pane.Answer {
	var a pane.Answer
	for _, id := range ids {
		a = s.Do(s.c, id)
	}
	return a
}

// drawn is what a pane draws.
func drawn(p pane.Pane, c pane.Context, w, h int, focused bool) []string {
	return textsOf(p.Draw(c, w, h, focused))
}

func textsOf(rows []widget.Row) []string {
	var out []string
	for _, r := range rows {
		out = append(out, r.Text)
	}
	return out
}

func (s *stage) screen(w, h int) string { return strings.Join(drawn(s, s.c, w, h, true), "\n") }

// keys types into a pane that captures: names of keys, or text.
func (s *stage) keys(t *testing.T, keys ...string) pane.Answer {
	t.Helper()
	named := map[string]tea.KeyPressMsg{
		"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "alt+enter": {Code: tea.KeyEnter, Mod: tea.ModAlt}, "ctrl+j": {Code: 'j', Mod: tea.ModCtrl},
		"backspace": {Code: tea.KeyBackspace},
	}
	var a pane.Answer
	for _, k := range keys {
		if !s.Capture() {
			t.Fatalf("%q is typed, but the pane takes no text", k)
		}
		if msg, ok := named[k]; ok {
			a = s.Type(s.c, msg)
			continue
		}
		for _, r := range k {
			a = s.Type(s.c, tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
	return a
}

// has reports what is missing on a screen.
func has(t *testing.T, screen string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(screen, w) {
			t.Errorf("%q is missing in\n%s", w, screen)
		}
	}
}
