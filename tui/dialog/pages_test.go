package dialog

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/base/testkit"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func textOfPage(p *Page, w int) []string {
	p.wrap(w)
	out := make([]string, p.view.Len())
	for i := range out {
		out[i] = p.view.Text(uint64(i))
	}
	return out
}

func TestWhatGoesOnInTheNextLineStandsBelowItsWords(t *testing.T) {
	table := NewTable("T", 10, []Row{
		{Text: "Heading"},
		{"  k", "one two three four five six"},
		{"  PgDn ctrl+f", "one two three four five"},
		{},
	})
	list := NewPage("P", "- one two three four five six seven\n  - eight nine ten eleven twelve one\n12. one two three four five six\n    code\nplain words that go on in the next line")
	for _, c := range []struct {
		p    *Page
		w    int
		want []string
	}{
		{table, 40, []string{"Heading", "  k       one two three four five six", "  PgDn ctrl+f", "          one two three four five", ""}},
		{table, 28, []string{
			"Heading",
			"  k    one two three four",
			"       five six",
			"  PgDn ctrl+f",
			"       one two three four",
			"       five", "",
		}},
		{table, 14, []string{
			"Heading",
			"  k", "   one two", "   three four", "   five six",
			"  PgDn ctrl+f", "   one two", "   three four", "   five", "",
		}},
		{list, 24, []string{
			"- one two three four", "  five six seven",
			"  - eight nine ten", "    eleven twelve one",
			"12. one two three four", "    five six",
			"    code",
			"plain words that go on", "in the next line",
		}},
	} {
		if d := cmp.Diff(c.want, textOfPage(c.p, c.w)); d != "" {
			t.Errorf("%d cells (-want +got):\n%s", c.w, d)
		}
	}
}

func TestAPageNeverScrollsPastItsEnds(t *testing.T) {
	c := plainContext()
	testkit.Check(t, func(t *rapid.T) {
		p := NewPage("Title", strings.Repeat("a line of the text\n", rapid.IntRange(0, 60).Draw(t, "lines"))+"end")
		w, h := rapid.IntRange(3, 120).Draw(t, "w"), rapid.IntRange(1, 30).Draw(t, "h")
		for range rapid.IntRange(1, 20).Draw(t, "keys") {
			k := rapid.SampledFrom([]string{"up", "down", "pgup", "pgdown", "home", "end", "/", "n", "N", "esc", "enter", "backspace", "e"}).Draw(t, "key")
			p.Update(c, press(k))
			lines := p.Draw(c, w, h)
			if len(lines) == 0 || len(lines) > h {
				t.Fatalf("%d lines of %d", len(lines), h)
			}
			for _, line := range lines {
				if ansi.StringWidth(line) != ansi.StringWidth(lines[0]) || ansi.StringWidth(line) > w {
					t.Fatalf("a line of %d cells, width %d", ansi.StringWidth(line), w)
				}
			}
			first, _, _ := p.view.At(0)
			last, _, ok := p.view.At(max(0, len(lines)-2))
			if first > 0 && !ok {
				t.Fatalf("line %d stands on top and %d above the last of %d", first, last, p.view.Len())
			}
		}
	})
}

func TestAPageThatCouldNotBeLoadedSaysWhy(t *testing.T) {
	c := plainContext()
	failed := errors.New("no task has the id \x1b[31mx")
	a := Load("Prompt", func(context.Context, pane.Reader) (pane.Dialog, error) { return nil, failed })
	p := a.Open
	if got := strings.Join(p.Draw(c, 60, 5), ""); !strings.Contains(got, textLoading) {
		t.Errorf("shows %q", got)
	}
	if a = a.Load(t.Context(), nil)(c); a.Close || a.Open != nil {
		t.Errorf("it answers %+v", a)
	}
	if got := strings.Join(p.Draw(c, 60, 5), ""); !strings.Contains(got, "no task has the id x") {
		t.Errorf("shows %q", got)
	}
}

// plainContext is a dashboard with nothing to show, drawn without colours.
func plainContext() pane.Context {
	return pane.Context{Theme: theme.New(theme.Options{Plain: true}), Snap: &core.Snapshot{At: time.Date(2026, 11, 21, 14, 2, 0, 0, time.UTC)}}
}

// press is a key by its name.
func press(name string) tea.KeyPressMsg {
	msg, ok := widget.Key(name)
	if !ok {
		msg.Code = map[string]rune{"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd, "backspace": tea.KeyBackspace}[name]
	}
	return msg
}

func TestAPageLosesNoWordHoweverNarrow(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		cell := rapid.StringMatching(`( {0,4}[a-z世é]{1,12}){0,6}`)
		var rows []Row
		for range rapid.IntRange(1, 6).Draw(t, "rows") {
			rows = append(rows, Row{cell.Draw(t, "head"), cell.Draw(t, "text")})
		}
		p := NewTable("T", rapid.IntRange(2, 20).Draw(t, "column"), rows)
		if rapid.Bool().Draw(t, "text") {
			p = NewPage("T", p.body())
		}
		w := rapid.IntRange(6, 90).Draw(t, "w")
		got := textOfPage(p, w)
		for _, l := range got {
			if widget.Cells(l) > w {
				t.Fatalf("a line of %d cells, width %d: %q", widget.Cells(l), w, l)
			}
		}
		bare := func(lines ...string) string { return strings.Join(strings.Fields(strings.Join(lines, "")), "") }
		want := ""
		for _, row := range rows {
			want += bare(row.Head, row.Text)
		}
		if bare(got...) != want {
			t.Fatalf("%d cells: %q, want %q", w, bare(got...), want)
		}
	})
}
