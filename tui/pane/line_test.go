package pane_test

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"ollimbot/tui/action"
)

// In one line there is no room for the filter's own row.
func TestALogInOneLineSaysWhatIsLeftOut(t *testing.T) {
	s := open("logs")
	line := func() string { return s.Line(s.c, 60) }
	if l := line(); !strings.Contains(l, "commit refused") || strings.Contains(l, "filtered") {
		t.Errorf("without a filter: %q", l)
	}
	s.do(action.TailFilter)
	for _, r := range "schedule" {
		s.Type(s.c, tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	if l := line(); !strings.Contains(l, "filtered") || !strings.Contains(l, "schedule loaded") {
		t.Errorf("with a filter: %q", l)
	}
	for range "xx" {
		s.Type(s.c, tea.KeyPressMsg{Code: 'x', Text: "x"})
	}
	if l := line(); !strings.Contains(l, "no line is shown") {
		t.Errorf("with a filter that nothing meets: %q", l)
	}
}
