package pane_test

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/clipperhouse/displaywidth"
	"pgregory.net/rapid"

	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/base/tail"
	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
)

var pieces = []string{
	"word", "another", " ", " ", "日本語", "👍🏽", "👨‍👩‍👧", "❤️", "e\u0301", "🇩🇪", "\u0301", "\x1b[99;7mred", "\x1b]0;t\x07", "\u202e", "\xff",
	"한국어", "مرحبا", "a-very-long-word-that-fits-nowhere-at-all", "·", "…", "/path/to/file.md:3:7", "\t", "0:12",
}

// marks are what markdown gives a meaning to.
var marks = []string{
	"", "**", "`", "\n```go\n", "\n- ", "\n> ", "\n| a | b |\n|---|---|\n| 日本 |", "\n# ", "[a](https://e.example/x)", "\n---\n", "\n  1. [ ] ",
}

// words draws text of any kind; lines only where the field may hold them.
func words(t *rapid.T, lines bool) string {
	from := pieces
	if lines {
		from = append([]string{"\n", "\n\n"}, pieces...)
	}
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(from), 0, 12).Draw(t, "words"), "")
}

func moment(t *rapid.T) time.Time {
	if rapid.IntRange(0, 5).Draw(t, "zero") == 0 {
		return time.Time{}
	}
	return noon.Add(time.Duration(rapid.IntRange(-400_000, 400_000).Draw(t, "seconds")) * time.Second)
}

// anySnapshot draws what a core may show, and some of what it should not.
func anySnapshot(t *rapid.T) *core.Snapshot {
	n := func(most int) int { return rapid.IntRange(0, most).Draw(t, "n") }
	s := &core.Snapshot{At: noon, Zone: zone, MaxForks: n(5), Routines: n(3), LogLines: uint64(n(50)), Busy: n(1) == 1, TwelveHours: n(1) == 1}
	s.Budget = core.BudgetView{
		State:  budget.State{Capacity: n(12) - 1, Available: rapid.Float64Range(-1, 13).Draw(t, "available"), RefillRateMinutes: n(20_000), DailyUsed: n(99), CriticalUsed: n(3)},
		NextAt: moment(t), FullAt: moment(t), Quiet: moment(t), Reserved: n(3),
	}
	for i := range s.Budget.Hours {
		s.Budget.Hours[i] = n(9)
	}
	s.Schedule.Window = words(t, false)
	for range n(9) {
		s.Schedule.Entries = append(s.Schedule.Entries, schedule.Entry{
			ID: fmt.Sprint(n(9)), FireTime: moment(t), Description: words(t, true), Silent: n(1) == 1, Foreground: n(1) == 1,
			Label: rapid.SampledFrom([]string{"Routine", "Reminder", "Chain reminder (2/5)", "Chain reminder ("}).Draw(t, "label"),
		})
	}
	for range n(6) {
		s.Schedule.Day = append(s.Schedule.Day, schedule.Entry{
			ID: fmt.Sprint(n(9)), FireTime: moment(t), Description: words(t, true), Silent: n(1) == 1, Foreground: n(1) == 1, Held: n(1) == 1, Tag: words(t, false),
		})
		s.Schedule.Tasks = append(s.Schedule.Tasks, schedule.TaskView{
			ID: fmt.Sprint(n(9)), Title: words(t, true), Path: words(t, false), When: words(t, false), Next: moment(t),
			Paused: n(1) == 1, Silent: n(1) == 1, Foreground: n(1) == 1, Snoozed: moment(t),
		})
	}
	s.Budget.Muted = moment(t)
	for range n(4) {
		s.Schedule.Problems = append(s.Schedule.Problems, routines.Problem{
			File: words(t, false), Line: n(3), Column: n(3), Message: words(t, false),
			Severity: rapid.SampledFrom([]routines.Severity{routines.Error, routines.Warning}).Draw(t, "severity"),
		})
	}
	for i := range n(12) {
		s.Updates = append(s.Updates, updates.Update{Key: fmt.Sprint(i), At: moment(t), Message: words(t, true), Dropped: n(2)})
	}
	for i := range n(9) {
		s.Forks = append(s.Forks, fork.View{
			ID: fmt.Sprint(i), Title: words(t, false), Activity: words(t, false), Error: words(t, true), Started: moment(t), Ended: moment(t), Late: n(1) == 1,
			State:    rapid.SampledFrom([]fork.State{fork.Waiting, fork.Running, fork.Done, fork.Failed, fork.TimedOut, fork.Stopped, fork.Interrupted, "new"}).Draw(t, "state"),
			Position: n(3), Tools: n(30), Pings: n(2), Critical: n(1), Refused: n(2), Reports: n(2), Lines: uint64(n(50)),
			Usage: agent.Usage{InputTokens: n(3_000_000), CostUSD: rapid.Float64Range(0, 20).Draw(t, "cost")},
		})
	}
	for i := range n(3) {
		s.Approvals = append(s.Approvals, policy.Approval{
			ID: fmt.Sprint(i), Label: words(t, false), Tool: words(t, false), Session: words(t, false), Asked: moment(t), Until: moment(t),
		})
		s.Attached = append(s.Attached, words(t, false))
	}
	if n(1) == 1 {
		s.Fork = &chat.Banner{Topic: words(t, false), Resumed: n(1) == 1, Asks: n(1) == 1, Since: moment(t)}
	}
	s.Engine.State, s.BusySince = words(t, true), moment(t)
	for i := range n(7) {
		s.Chat = append(s.Chat, anyEntry(t, i))
	}
	return s
}

// anyEntry draws the ith message. An entry that says something else has
// another version.
func anyEntry(t *rapid.T, i int) transcript.Entry {
	e := transcript.Entry{
		ID: post.MessageID(fmt.Sprint(i)), At: moment(t), Text: words(t, true) + rapid.SampledFrom(marks).Draw(t, "marks") + words(t, true),
		Role:      rapid.SampledFrom([]transcript.Role{transcript.User, transcript.Bot, transcript.Ping, transcript.Notice, "guest"}).Draw(t, "role"),
		Source:    rapid.SampledFrom([]string{"", "", "Medication", "日本 👍🏽"}).Draw(t, "source"),
		Streaming: rapid.Bool().Draw(t, "streaming"), Critical: rapid.Bool().Draw(t, "critical"),
	}
	e.Where = rapid.SampledFrom([]string{"", "", "Discord", "日本 👍🏽"}).Draw(t, "where")
	if rapid.Bool().Draw(t, "tools") {
		e.Tools = []string{words(t, false), "cal today"}
	}
	if rapid.Bool().Draw(t, "card") {
		e.Embed = &post.Embed{
			Title: words(t, false), Description: words(t, true), Footer: words(t, false), Color: "red",
			Fields: []post.Field{{Name: words(t, false), Value: words(t, true)}}, Buttons: []post.Button{{Label: words(t, false)}},
		}
	}
	sum := fnv.New32a()
	_, _ = fmt.Fprintf(sum, "%+v %+v", e, e.Embed) // a hash takes everything
	e.Version = int(sum.Sum32())
	return e
}

// anyTail is a tail of as many lines as the snapshot says, more or less.
func anyTail(t *rapid.T) func(string, tail.Cursor) tail.Page {
	r := tail.New(rapid.IntRange(1, 40).Draw(t, "ring"))
	for i := range rapid.IntRange(0, 30).Draw(t, "lines") {
		kind := rapid.SampledFrom([]tail.Kind{tail.Text, tail.Think, tail.Tool, tail.Error, "new kind"}).Draw(t, "kind")
		r.Add(tail.Line{At: noon.Add(time.Duration(i) * time.Second), Kind: kind, Text: words(t, false)})
	}
	return func(_ string, from tail.Cursor) tail.Page { return r.Read(from) }
}

// use does something with a pane, as a user or the core may.
func use(t *rapid.T, p pane.Pane, name action.Pane, c *pane.Context) {
	ids := []action.ID{action.Back}
	for _, a := range (action.Keys{}).All() {
		if a.Pane == name {
			ids = append(ids, a.ID)
		}
	}
	keys := []tea.Msg{
		tea.KeyPressMsg{Code: 'w', Text: "w"},
		tea.KeyPressMsg{Code: '日', Text: "日"},
		tea.KeyPressMsg{Code: '/', Text: "/"},
		tea.KeyPressMsg{Code: 'c', Text: "c"},
		tea.KeyPressMsg{Code: tea.KeyTab},
		tea.PasteMsg{Content: "word\nmore 👍🏽"},
		tea.KeyPressMsg{Code: tea.KeyBackspace},
		tea.KeyPressMsg{Code: tea.KeyEnter},
		tea.KeyPressMsg{Code: tea.KeyEscape},
		tea.KeyPressMsg{Code: tea.KeyLeft},
		tea.KeyPressMsg{Code: tea.KeyUp},
		tea.KeyPressMsg{Code: tea.KeyDown},
		tea.PasteMsg{Content: strings.Repeat("long 日本\n", 12)},
		tea.KeyPressMsg{Code: '!', Text: "!"},
	}
	switch rapid.IntRange(0, 3).Draw(t, "use") {
	case 0:
		c.Snap = anySnapshot(t)
		p.Sync(*c)
	case 1:
		if id := rapid.SampledFrom(ids).Draw(t, "id"); off(p, name, *c, id) == "" {
			p.Do(*c, id)
		}
	case 2:
		if p.Capture() {
			p.Type(*c, rapid.SampledFrom(keys).Draw(t, "key"))
		}
	}
}

// Every pane fills its box to the cell, for every size, whatever it shows and
// whatever was done with it.
func TestPanesAreExactForAnySnapshotAndSize(t *testing.T) {
	themes := []*theme.Theme{
		theme.New(theme.Options{Dark: true, Profile: colorprofile.TrueColor}), theme.New(theme.Options{Profile: colorprofile.ANSI}),
		theme.New(theme.Options{ASCII: true, NoColor: true}), plainTheme(),
	}
	for name := range panes() {
		t.Run(name, testkit.Property(func(t *rapid.T) {
			p := panes()[name]
			c := pane.Context{Theme: rapid.SampledFrom(themes).Draw(t, "theme"), Snap: anySnapshot(t), Tail: anyTail(t), ReadOnly: rapid.Bool().Draw(t, "read-only")}
			p.Sync(c)
			for range rapid.IntRange(1, 6).Draw(t, "steps") {
				w, h := rapid.IntRange(1, 130).Draw(t, "w"), rapid.IntRange(1, 24).Draw(t, "h")
				lines := drawn(p, c, w, h, rapid.Bool().Draw(t, "focused"))
				if len(lines) != h {
					t.Fatalf("%d lines, want %d", len(lines), h)
				}
				for _, l := range append(lines[:h:h], p.Line(c, w)) {
					exact(t, l, w)
				}
				if state := p.State(c); strings.ContainsAny(state, "\x1b\n") && name != "schedule" {
					t.Fatalf("state %q", state)
				}
				use(t, p, action.Pane(name), &c)
			}
		}))
	}
}

// exact holds a line against its width, and against anything that would move
// the cursor or change what a terminal does.
func exact(t *rapid.T, line string, w int) {
	plain := ansi.Strip(line)
	if n := displaywidth.String(plain); n != w {
		t.Fatalf("%q takes %d cells, want %d", line, n, w)
	}
	if strings.ContainsAny(plain, "\n\r\t\a\b\x1b\u202e\u200d") {
		t.Fatalf("%q holds control characters", line)
	}
	if strings.Contains(line, "\x1b]") || strings.Contains(line, "\x1b[99;7m") {
		t.Fatalf("%q lets an escape sequence of the text through", line)
	}
}

// A drawing that was kept is the drawing that would be made.
func TestKeptDrawingsAreNeverStale(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"budget", "schedule", "updates", "forks", "chat", "logs"}).Draw(t, "pane")
		p := panes()[name]
		c := pane.Context{Theme: plainTheme(), Snap: anySnapshot(t), Tail: anyTail(t)}
		p.Sync(c)
		for range rapid.IntRange(1, 8).Draw(t, "steps") {
			use(t, p, action.Pane(name), &c)
			kept := strings.Join(drawn(p, c, 60, 10, true), "\n")
			c.Theme = plainTheme() // another pointer: everything is drawn again
			if fresh := strings.Join(drawn(p, c, 60, 10, true), "\n"); fresh != kept {
				t.Fatalf("kept:\n%s\nfresh:\n%s", kept, fresh)
			}
		}
	})
}

// The clock of twelve hours is that of every pane, and no other is beside it.
func TestEveryPaneHasTheClockThatWasChosen(t *testing.T) {
	// What the bot and the user have said, and what a setting takes, stays as it is.
	said := strings.NewReplacer("at 14:01", "", "15:00", "", "16:45", "", "17:00", "", "22:00", "")
	long := regexp.MustCompile(`\b(1[3-9]|2[0-3]):[0-5][0-9]`)
	for name, p := range panes() {
		s := &stage{p, everydayContext(plainTheme()), action.Pane(name)}
		s.next(func(c *core.Snapshot) {
			c.TwelveHours = true
			c.Chat = c.Chat[1:3]
			c.Schedule.Problems, c.Schedule.Tasks = nil, c.Schedule.Tasks[:1]
			c.Schedule.Tasks[0].When = ""
		})
		for _, size := range sizes {
			screen := said.Replace(s.screen(size[0], size[1]))
			if found := long.FindString(screen); found != "" {
				t.Errorf("%s says %s:\n%s", name, found, screen)
			}
		}
		if screen := s.screen(120, 20); !slices.Contains([]string{"settings", "away", "costs", "updates", "week"}, name) && !regexp.MustCompile(`[0-9]pm`).MatchString(screen) {
			t.Errorf("%s has no time in it:\n%s", name, screen)
		}
	}
}
