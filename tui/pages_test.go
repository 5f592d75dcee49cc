package tui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/command"
	"ollimbot/core/notice"
	"ollimbot/core/webhook"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

func textOfPage(p *page, w int) []string {
	var out []string
	for _, l := range p.broken(w) {
		out = append(out, l.text)
	}
	return out
}

func TestWhatGoesOnInTheNextLineStandsBelowItsWords(t *testing.T) {
	table := newTable("T", 10, []pageRow{
		{text: "Heading"},
		{"  k", "one two three four five six"},
		{"  PgDn ctrl+f", "one two three four five"},
		{},
	})
	list := newPage("P", "- one two three four five six seven\n  - eight nine ten eleven twelve one\n12. one two three four five six\n    code\nplain words that go on in the next line")
	for _, c := range []struct {
		p    *page
		w    int
		want []string
	}{
		{table, 40, []string{"Heading", "  k       one two three four five six", "  PgDn ctrl+f one two three four five", ""}},
		{table, 28, []string{
			"Heading",
			"  k    one two three four",
			"       five six",
			"  PgDn ctrl+f one two three",
			"       four five", "",
		}},
		{table, 14, []string{
			"Heading",
			"  k one two", "  three four", "  five six",
			"  PgDn ctrl+f", "  one two", "  three four", "  five", "",
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

func TestAPageLosesNoWordHoweverNarrow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cell := rapid.StringMatching(`( {0,4}[a-z世é]{1,12}){0,6}`)
		var rows []pageRow
		for range rapid.IntRange(1, 6).Draw(t, "rows") {
			rows = append(rows, pageRow{cell.Draw(t, "head"), cell.Draw(t, "text")})
		}
		p := newTable("T", rapid.IntRange(2, 20).Draw(t, "column"), rows)
		if rapid.Bool().Draw(t, "text") {
			p.rows = nil
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
			want += bare(row.head, row.text)
		}
		if bare(got...) != want {
			t.Fatalf("%d cells: %q, want %q", w, bare(got...), want)
		}
	})
}

func TestAValueGoesOnBelowItselfAndWhatFollowsStaysAsItIs(t *testing.T) {
	const body = "Water the plants\nroutine   de300001 in routines/water.md\nwhen      at 17:37, every day (37 17 * * *)\n" +
		"          Sun 2026-11-22 17:37, in 24 h 12 min\nmay use   Read\n\ntask  of the file that goes on and on as it was"
	p := newPage("T", body)
	p.named = true
	want := []string{
		"Water the plants",
		"routine   de300001 in", "          routines/water.md",
		"when      at 17:37, every day", "          (37 17 * * *)",
		"          Sun 2026-11-22", "          17:37, in 24 h 12", "          min",
		"may use   Read",
		"",
		"task  of the file that goes on", "and on as it was",
	}
	if d := cmp.Diff(want, textOfPage(p, 30)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	p.named, p.width = false, 0
	for _, l := range textOfPage(p, 30)[1:4] {
		if strings.HasPrefix(l, "          ") {
			t.Errorf("a text that is no table hangs: %q", l)
		}
	}
}

// The keys stand in a column that is no wider than a quarter of the page.
func TestThePageOfKeysIsReadableOnASmallScreen(t *testing.T) {
	for _, w := range []int{34, 50, 76} {
		p := helpPage(action.Keys{}, action.Forks, false)
		lines := textOfPage(p, w)
		if !slices.ContainsFunc(lines, func(l string) bool {
			return strings.HasPrefix(l, "  x ") && strings.HasSuffix(l, "Stop the selected run")
		}) {
			t.Errorf("%d cells: a short sentence is broken:\n%s", w, strings.Join(lines, "\n"))
		}
		for i, l := range lines {
			heading := slices.ContainsFunc(append(slices.Clone(action.Panes), action.Everywhere), func(p action.Pane) bool { return strings.HasPrefix(l, p.Name()) })
			if l != "" && l[0] != ' ' && !heading && l != textHelpMouse {
				t.Errorf("%d cells: line %d begins at the border: %q", w, i, l)
			}
		}
		if len(lines) > 2*len(p.rows) {
			t.Errorf("%d cells: %d lines for %d rows", w, len(lines), len(p.rows))
		}
	}
}

func TestALongNoticeGoesOnBelowItsWords(t *testing.T) {
	s := speech{}
	s.add(day, day, notice.Alert, "the disk is full; free some space and try again, or nothing that was said is kept")
	for w, indent := range map[int]string{76: widget.Blank(noticeColumn), 34: widget.Blank(shallow)} {
		lines := textOfPage(s.page(time.UTC), w)
		if len(lines) < 2 || !strings.HasPrefix(lines[1], indent) || strings.HasPrefix(lines[1], indent+" ") {
			t.Errorf("%d cells: %q", w, lines)
		}
	}
}

func TestWithoutArrowsTheHelpLineNamesKeysAsTheListsDo(t *testing.T) {
	play(t, setup{options: Options{ASCII: true}}, func(s *stage) {
		s.press("5", "i")
		s.sees("up sent before")
		s.misses("^ sent before")
		s.press("esc", "6", "/", "l", "i", "n", "e")
		s.sees("up/down ")
	})
	for _, name := range []string{"up", "down", "left", "right"} {
		if msg, ok := keyNamed(name); !ok || msg.String() != name {
			t.Errorf("a click on %q is %q", name, msg.String())
		}
	}
}

// The heads of a table are seen as such with colours, and only they.
func TestOnlyWhatStandsInFrontIsDrawnAsAKey(t *testing.T) {
	th := theme.New(theme.Options{Dark: true, Profile: 1 << 24})
	p := helpPage(action.Keys{}, action.Forks, false)
	for _, w := range []int{34, 76} {
		p.wrap(w)
		for i, l := range p.lines {
			keys := ""
			for _, s := range p.spans(i) {
				if s.Role == theme.Key {
					keys += s.Text
				}
			}
			for _, k := range strings.Fields(keys) {
				if len(k) > 9 && !strings.Contains(k, "+") {
					t.Errorf("%d cells: %q is drawn as a key in %q", w, k, l.text)
				}
			}
		}
	}
	if th.Paint(theme.Key, "x") == "x" {
		t.Error("keys have no colour")
	}
}

func TestOnlyADescriptionHangsAndAPromptStaysExact(t *testing.T) {
	for load, named := range map[command.Value]bool{command.Describe{ID: "a"}: true, command.Preview{ID: "a"}: false} {
		r := plainRoot(t, fullDay())
		r.openPage(pane.Page{Title: "T", Load: load})
		p, ok := r.top().(*page)
		if !ok {
			t.Fatal("no page")
		}
		p.loaded("when      one two three four five\n\nrest", nil)
		if got := strings.HasPrefix(textOfPage(p, 24)[1], widget.Blank(10)); got != named {
			t.Errorf("%T: the value hangs: %t", load, got)
		}
	}
}

func TestALoginIsBegunShownAndFinished(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("L")
		s.sees("the engine needs no")
		s.bot.change(func(c *core.Snapshot) {
			c.Engine.LoginNeeded, c.Engine.OK, c.Engine.State = true, false, "nobody is logged in: L logs in"
		})
		time.Sleep(100 * time.Millisecond)
		s.sees("nobody is logged in: L logs in", "L log in")
		s.press("L")
		s.sees("Asking for the address")
		s.did(command.Login{})
		s.bot.change(func(c *core.Snapshot) { c.Engine.LoginURL = "https://example.com/authorize?code=true" })
		time.Sleep(100 * time.Millisecond)
		s.sees("https://example.com/authorize?code=true", "paste the code")
		s.press("enter")
		s.sees("paste the code that the page shows first")
		s.typed("ab#cd")
		s.misses("ab#cd")
		s.sees("•••••")
		s.press("enter")
		s.did(command.Login{}, command.Login{Code: "ab#cd"})
	})
}

func TestTheEnginePageShowsWhatStandsBehindTheModel(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.bot.change(func(c *core.Snapshot) {
			c.Engine.Version, c.Engine.Warning = "2.1.197", "this version was never tried"
			c.Engine.Today = agent.Usage{InputTokens: 1200, OutputTokens: 34, CostUSD: 0.125}
			c.Engine.Processes = []agent.Process{
				{PID: 4711, Session: "0f6a2f0e", Memory: 280 << 20, Started: time.Now().Add(-2 * time.Minute)},
				{PID: 4712, Session: "1f6a2f0e", Started: time.Now()},
			}
		})
		time.Sleep(100 * time.Millisecond)
		s.press("E")
		s.sees("2.1.197", "never tried", "1234 tokens", "$0.12", "4711", "280 MB", "2m", "1f6a2f0e", "?")
	})
}

func TestWhatCameInOverWebhooksIsShown(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("H")
		s.sees("Nothing came in")
		s.press("esc")
		s.bot.change(func(c *core.Snapshot) {
			c.Deliveries = []webhook.Delivery{
				{Webhook: "github-ci", At: time.Now(), Size: 412, Verdict: "safe", Outcome: "done", Count: 1},
				{At: time.Now(), Size: 9, Outcome: "refused 401", Count: 3},
				{Webhook: "form", At: time.Now(), Size: 90, Verdict: "held", Flagged: []string{"title"}, Outcome: "held", Count: 1},
			}
		})
		time.Sleep(100 * time.Millisecond)
		s.press("H")
		s.sees("github-ci", "412 bytes", "(unknown)", "refused 401 ×3", "held (title)")
	})
}

func TestTroubleThatIsASentenceLeavesTheTopLineItsWords(t *testing.T) {
	for _, w := range []int{80, 120, 160} {
		play(t, setup{w: w, h: 30}, func(s *stage) {
			s.bot.change(func(c *core.Snapshot) {
				c.Surface = core.SurfaceStatus{Name: "Discord", State: "down since 14:02: " + strings.Repeat("the network is unreachable ", 5)}
				c.Engine.OK, c.Engine.State = false, strings.Repeat("not logged in to Claude ", 6)
			})
			time.Sleep(100 * time.Millisecond)
			s.sees("Discord down since")
			s.press("E")
			s.sees("network is unreachable")
		})
	}
}
