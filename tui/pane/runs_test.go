package pane_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"pgregory.net/rapid"

	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/base/tail"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	budgets "ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/updates"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	forkspane "ollimbot/tui/pane/forks"
	"ollimbot/tui/theme"
)

// start adds a running fork in front of the others.
func start(id string, at time.Time) func(*core.Snapshot) {
	return func(c *core.Snapshot) {
		c.Forks = append([]fork.View{{ID: id, Title: "Run " + id, State: fork.Running, Started: at}}, c.Forks...)
	}
}

// outcomes are runs that have ended, each in another way.
func outcomes(c *core.Snapshot) {
	run := func(id string, change func(*fork.View)) fork.View {
		f := fork.View{ID: id, Title: "Run " + id, State: fork.Done, Started: noon.Add(-time.Hour), Ended: noon.Add(-time.Minute)}
		change(&f)
		return f
	}
	c.Budget.Pings = []budgets.Ping{
		{Run: "answered", At: noon.Add(-9 * time.Minute), Answered: noon.Add(-5 * time.Minute)}, {Run: "refused", Refused: "no token left"}, {Run: "broken"},
	}
	c.Forks = []fork.View{
		run("answered", func(f *fork.View) { f.Pings = 1 }),
		run("refused", func(f *fork.View) { f.Refused = 1 }),
		run("twice", func(f *fork.View) { f.Pings, f.Reports = 2, 1 }),
		run("broken", func(f *fork.View) { f.Pings, f.State, f.Error = 1, fork.Failed, "no skill" }),
		run("silent", func(*fork.View) {}),
	}
}

// longDay is a day of many runs: one failed an hour ago, the others since then
// did not, one runs and one waits.
func longDay(c *core.Snapshot) {
	c.Started = noon.Add(-6 * time.Hour)
	c.Forks = []fork.View{
		{ID: "r0000000", Title: "Weekly review", State: fork.Running, Started: noon.Add(-time.Minute)},
		{ID: "w0000000", Title: "Email sweep", State: fork.Waiting, Position: 1, Queued: noon},
	}
	for i := range 15 {
		at := noon.Add(-time.Duration(i+1) * 5 * time.Minute)
		f := fork.View{ID: fmt.Sprintf("d%07d", i), Title: fmt.Sprintf("Task %d", i), State: fork.Done, Started: at, Ended: at.Add(time.Minute)}
		if i == 12 {
			f.ID, f.Title, f.State, f.Error = "f0000000", "Rent", fork.Failed, "the disk is full"
			c.Failures = []fork.View{f}
		}
		c.Forks = append(c.Forks, f)
	}
	c.Forks = append(c.Forks, fork.View{ // of another day
		ID: "f1111111", Title: "Old trouble", State: fork.Failed, Started: noon.Add(-9 * time.Hour), Ended: noon.Add(-8 * time.Hour),
	})
}

// rates are those of a budget and of its fires.
func rates(available float64, minutes int, rate float64) change {
	return func(c *core.Snapshot) {
		c.Budget.State.Available = available
		if minutes > 0 {
			c.Budget.State.RefillRateMinutes = minutes
		}
		c.Budget.Fires = slices.Clone(c.Budget.Fires)
		for i := range c.Budget.Fires {
			c.Budget.Fires[i].Rate = rate
		}
	}
}

// calm is a log in which nothing goes wrong.
func calm(_ string, from tail.Cursor) tail.Page {
	r := tail.New(400)
	for i := range 312 {
		r.Add(tail.Line{At: noon, Kind: []tail.Kind{tail.Debug, tail.Info}[i%2], Text: fmt.Sprint("all is well ", i)})
	}
	return r.Read(from)
}

// ledger is n stored runs, newest first; each seventh has failed, each third pinged.
type ledger struct {
	pane.Reader
	n, damaged int
	tainted    bool // every run has read untrusted input
	looked     []string
	broken     error
}

func (l *ledger) run(i int) fork.View {
	at := noon.Add(-time.Duration(i+1) * 11 * time.Minute)
	f := fork.View{
		ID: fmt.Sprintf("%08x", 0x70000000-i), TaskID: fmt.Sprintf("%08x", i%40), Title: fmt.Sprintf("Task %d", i%40), State: fork.Done,
		Started: at, Ended: at.Add(time.Duration(i%300) * time.Second), Session: fmt.Sprintf("s%035d", i), Parent: fmt.Sprintf("p%035d", i),
		Tools: i % 9, Usage: agent.Usage{InputTokens: 100 * (i % 1000), CostUSD: float64(i%50) / 1000},
	}
	if i%7 == 3 {
		f.State, f.Error = fork.Failed, fmt.Sprintf("the command ended with status %d", i%5)
	}
	if i%3 == 0 {
		f.Pings = 1
	}
	if l.tainted {
		f.Label = "web page"
	}
	return f
}

func (l *ledger) Runs(_ context.Context, mark command.Mark, most int) (p fork.Page, err error) {
	if l.broken != nil {
		return p, l.broken
	}
	from := int(mark.At)
	for i := from; i < min(l.n, from+most); i++ {
		p.Runs = append(p.Runs, l.run(i))
	}
	if from == 0 {
		p.Damaged = l.damaged
	}
	p.Next = command.Mark{At: int64(from + len(p.Runs)), Set: true}
	p.All = from+len(p.Runs) == l.n
	return p, nil
}

// settle does all that a pane wants, as the frame does, and gives what was said.
func (s *stage) settle(t *testing.T, l *ledger) (toasts []string) {
	t.Helper()
	for range 1000 {
		a := s.Pane.(pane.Loader).Wants(s.c)
		if seen, ok := a.Do.(command.MarkSeen); ok {
			l.looked = append(l.looked, seen.Runs...)
		}
		if a.Load == nil {
			return toasts
		}
		if a := a.Load(t.Context(), l)(s.c); a.Toast != "" {
			toasts = append(toasts, a.Toast)
		}
		s.Sync(s.c)
		s.screen(118, 36)
	}
	t.Fatal("the pane never has enough")
	return nil
}

func runsPage(t *testing.T, l *ledger) *stage {
	t.Helper()
	s := open("forks")
	s.c.Zoomed = true
	s.next(func(c *core.Snapshot) {
		c.Forks = c.Forks[:3]
		for i := range min(20, l.n) {
			c.Forks = append(c.Forks, l.run(i))
		}
	})
	s.screen(118, 36)
	s.settle(t, l)
	return s
}

// first changes the first run of the fixture.
func first(f func(v *fork.View)) change {
	return func(c *core.Snapshot) {
		c.Forks = slices.Clone(c.Forks)
		f(&c.Forks[0])
	}
}

func later(by time.Duration) change { return func(c *core.Snapshot) { c.At = c.At.Add(by) } }

func TestRunsAreWatchedAsTheirStoriesSay(t *testing.T) {
	times := map[string]change{"59 s go by": later(59 * time.Second), "a second goes by": later(time.Second), "an hour goes by": later(time.Hour)}
	tell(t, []story{
		{"one that starts is shown unless the user chose", "forks", nil, `
			               => tail: Email sweep
			(a run starts) => tail: Run 99999999
			forks.down forks.down => tail: Move a little
			(another run starts)  => tail: Move a little
			view.back (a third run starts) => tail: Run bbbbbbbb`, nil},
		{"one that ends stays selected in its new place", "forks", nil, `
			(it ends) => tail: Email sweep | ▸ ✓ 14:01   Email sweep`, map[string]change{"it ends": func(c *core.Snapshot) {
			ended := c.Forks[0]
			ended.State, ended.Ended = fork.Done, noon
			c.Forks = append(slices.Clone(c.Forks[1:]), ended)
		}}},
		{"the tail moves on to a run that lives", "forks", nil, `
			(it ended 3 s ago)     => tail: Email sweep
			(it ended a minute ago) => tail: Move a little`, map[string]change{
			"it ended 3 s ago":      first(func(v *fork.View) { v.State, v.Ended = fork.Done, noon.Add(-3*time.Second) }),
			"it ended a minute ago": first(func(v *fork.View) { v.State, v.Ended = fork.Done, noon.Add(-time.Minute) }),
		}},
		{"nothing takes the tail from who scrolled up", "forks", nil, `
			tail.up
			(a run starts) => tail: Email sweep`, nil},
		{"who searches", "forks", nil, `
			tail.find
			(a run starts) => tail: Email sweep`, nil},
		{"who is in it", "forks", nil, `
			forks.tail
			(a run starts) => tail: Email sweep`, nil},
		{"or who filters it", "forks", nil, `
			forks.tail tail.filter "ping" enter
			(a run starts) => tail: Email sweep
			view.back view.back (another run starts) => tail: Run aaaaaaaa`, nil},
		{"a selection that is not moved for a minute follows the newest", "forks", nil, `
			@80x18 tail.follow            => tail: Check the rent
			(59 s go by)                  => tail: Check the rent
			forks.up forks.down (59 s go by) => tail: Check the rent
			(a second goes by)            => tail: Email sweep
			forks.down forks.tail (an hour goes by) => tail: Move a little`, times},
		{"stopping asks and names what is lost", "forks", nil, `
			forks.stop => asks Stop "Email sweep"? It has run 0:12, made 1 tool call and spent $0.01. What it has found so far is lost. / stop it / leave it running / StopFork Run=11111111
			forks.down forks.down forks.stop => asks Remove "Weekly review" from the queue? | asks will not run this time | next in the queue
			forks.down forks.stop => nothing | says`, nil},
		{"the tail takes the keys and gives them back", "forks", nil, `
			@80x10
			forks.tail forks.up              => tail: Email sweep | paused
			forks.down forks.tail forks.down => tail: Move a little
			forks.up                         => tail: Email sweep | following`, nil},
		{"runs out of sight are counted", "forks", nil, `
			@80x8  => run 1 of 5 · following
			@80x24 => !of 5`, nil},
		{"a run that has ended is resumed in the chat, if it has a session", "forks", func(c *core.Snapshot) {
			c.Forks = slices.Clone(c.Forks)
			c.Forks[3].Session = "s-1"
		}, `
			forks.resume            => nothing | says
			forks.down forks.resume => nothing | says
			forks.down forks.resume => nothing | says
			forks.down forks.resume => does ResumeFork Run=44444444 | leads to chat
			forks.stop              => nothing | says
			forks.down forks.resume => nothing | says
			(there are none) forks.resume => nothing | says`, map[string]change{"there are none": func(c *core.Snapshot) { c.Forks = nil }}},
		{"a task runs again when its run has ended", "forks", func(c *core.Snapshot) {
			c.Forks = slices.Clone(c.Forks)
			c.Forks[3].TaskID = "9a8b7c6d"
		}, `
			forks.again            => nothing | says
			forks.down forks.down forks.down forks.again => does FireNow ID=9a8b7c6d Stays=true
			forks.down forks.again => nothing | says`, nil},
		{"each has its state in a word and a sign", "forks", func(c *core.Snapshot) {
			c.Forks = nil
			for i, state := range []fork.State{fork.Running, fork.Waiting, fork.Done, fork.Failed, fork.TimedOut, fork.Stopped, fork.Interrupted} {
				c.Forks = append(c.Forks, fork.View{ID: fmt.Sprint(i), Title: fmt.Sprint("Task ", i, ","), State: state})
			}
		}, `
			@80x30 => in order: ◉, running
			=> in order: ◐, Task 1, queue
			=> in order: ✓, Task 2, done
			=> in order: ✗, Task 3, failed
			=> in order: ✗, Task 4, timed out
			=> in order: ■, Task 5, stopped
			=> in order: ■, Task 6, interrupted`, nil},
		{"a failure stays on top until somebody has looked at it", "forks", longDay, `
			@80x18     => unseen: 1 | in order: Weekly review, Email sweep, Rent, Task 0
			forks.down => unseen: 1 | in order: Weekly review, Email sweep, Rent
			forks.down => unseen: 0 | in order: Weekly review, Email sweep, Rent, Task 0, tail: Rent, the disk is full
			(nothing happens) => unseen: 0 | in order: Weekly review, Email sweep, Rent, Task 0
			forks.up (nothing happens) => unseen: 0 | in order: Weekly review, Email sweep, Task 0, tail: Email sweep`, nil},
		{"what runs or has failed unseen stays in sight whatever is selected", "forks", longDay, `
			@70x18 tail.follow => in order: Weekly review, Email sweep, Rent, ──, ▸, Check the rent
			@78x16 tail.follow => in order: Weekly review, Email sweep, Rent, ──, ▸, Check the rent
			@44x12 tail.follow => in order: Weekly review, Email sweep, Rent, ──, ▸, Check the rent`, nil},
		{"one key marks all failures as seen", "forks", func(c *core.Snapshot) {
			longDay(c)
			for i := range 3 {
				at := noon.Add(time.Duration(i-9) * time.Minute)
				c.Failures = append(c.Failures, fork.View{ID: fmt.Sprint("e", i), Title: fmt.Sprint("Broken ", i), State: fork.Failed, Started: at, Ended: at})
			}
		}, `
			@80x24     => in order: Weekly review, Email sweep, Broken 2, Broken 1, Broken 0, Rent | title: 4 failed
			forks.seen => !Broken | !title: failed | wants MarkSeen Runs=[f0000000 e0 e1 e2]
			forks.seen => says has been seen`, nil},
		{"a row says in words what came of the run", "forks", outcomes, `
			@80x24 => in order: Run answered, ping answered in 4 min, Run refused, ping refused: no token left, Run twice, 2 pings · 1 report, Run broken, 1 ping · no skill, Run silent, done`, nil},
		{"Poster 17: esc leads from a text to its run, and only then out of the page", "forks", nil, `
			zoom @118x36 forks.tail tail.find "gmail" enter => ▸ tail: Email sweep
			esc => ▸ tail: Email sweep
			esc => !▸ tail: Email sweep`, nil},
		{"a click on the tail beside the list gives it the keys, one on a row does not", "forks", nil, `
			zoom @198x20 <Move a little> => !▸ tail:
			<Time to move.>              => ▸ tail: Move a little`, nil},
		{"every tail keeps its place", "forks", nil, `
			@80x10 tail.up tail.up note => paused
			forks.down => tail: Move a little
			forks.up   => as noted`, nil},
		{"a tail that is filtered to nothing says so", "forks", nil, `
			@80x20 forks.tail tail.filter "!e" => lines hidden. | Esc removes the filter.`, nil},
		{"a search is ended with the keys that there are", "forks", nil, `
			@120x20 forks.tail tail.find "e" enter => n next · N previous · esc ends
			#forks/tail.next=f9 => f9 next · N previous
			# #forks/tail.next= => "  N previous · esc ends"
			#                   => n next · N previous · esc ends`, nil},
	})
	for _, zoomed := range []bool{false, true} {
		s := open("forks")
		s.c.Zoomed = zoomed
		s.next(longDay)
		s.next(func(c *core.Snapshot) { c.Forks[0].ID, c.Forks[0].Lines = "11111111", 8 })
		(&player{stage: s, t: t, w: 80, h: 18}).plays(`
			tail.follow => ─ tail: Check the rent
			tail.home   => ─ tail: Weekly review
			tail.pgdn   => ─ tail: Task
			tail.home   => ─ tail: Weekly review
			forks.tail  => ▸ tail: Weekly review
			tail.home   => ▸ tail: Weekly review | paused
			tail.follow => ▸ tail: Weekly review | following`)
	}
}

func TestTailsAreSearchedAndFilteredAsTheirStoriesSay(t *testing.T) {
	tell(t, []story{
		{"by the word of a kind and by a word", "forks", nil, `
			@80x20 forks.tail tail.filter "ping" enter => The plumber comes at 15:00 | 2 of 8 lines | already sent 1 ping | filtered
			tail.filter escape => I look at what is unread | following`, nil},
		{"escape leaves the search, then the filter", "logs", nil, `
			tail.filter "fork" enter tail.find "run=2" enter => 1 of 1 | 2 of 6 lines
			view.back => !1 of 1 | 2 of 6 lines
			view.back => schedule loaded`, nil},
		{"and the search while it is typed", "logs", nil, `
			@80x8 tail.find "fork" => 2 of 2
			escape                 => state: following`, nil},
		{"the column of times can be left out", "logs", nil, `
			          => 14:01:58 info
			tail.time => !14:0 | " info   fork started"`, nil},
		{"the title says first what is left out", "logs", nil, `
			tail.level tail.level => state: debug and info hidden · following`, nil},
		{"levels leave out more and more", "logs", nil, `
			tail.level    => says debug hidden
			tail.copy-all => !debug | copies info | copied: 5 lines
			tail.level    => says debug and info hidden
			tail.copy-all => copied: 2 lines
			tail.level    => says errors only
			tail.copy-all => copied: 1 lines
			tail.level    => says all levels
			tail.copy-all => copied: 6 lines`, nil},
		{"a filter that hides everything says so", "logs", nil, `
			@80x20 tail.filter "!e" => lines hidden. | Esc removes the filter.
			@12x3
			@1x1
			@0x0
			@40x2 => "!e"`, nil},
		{"a search is ended with the keys that there are", "logs", nil, `
			@120x20 tail.find "e" enter => n next · N previous · esc ends
			#logs/tail.prev=f9  => n next · f9 previous
			# #logs/tail.prev=  => "n next · esc ends"`, nil},
		{"in one line there is no room for the filter's own row", "logs", nil, `
			=> line: commit refused
			tail.filter "schedule" => line: filtered | line: schedule loaded
			"xx"                   => line: no line is shown`, nil},
	})
}

// left are an update whose run is known and one whose run is not known.
func left(text string) change {
	return func(c *core.Snapshot) {
		c.Updates = []updates.Update{
			{Key: "x", At: noon.Add(-7 * time.Minute), Message: text, Source: updates.Source{Run: "44444444", From: "Medication"}},
			{Key: "y", At: noon.Add(-5 * time.Hour), Message: "From somewhere."},
		}
	}
}

func TestUpdatesAreReadAsTheirStoriesSay(t *testing.T) {
	tell(t, []story{
		{"the newest is first, and the selection stays", "updates", nil, `
			updates.down (one more) updates.discard => does DiscardUpdate Key=a
			updates.read => reads Medication: pinged at 8:00, no answer yet. | reads Monday 23 November 2026, 08:02 PT
			(none) updates.discard => nothing | says`, map[string]change{
			"one more": func(c *core.Snapshot) {
				c.Updates = append(slices.Clone(c.Updates), updates.Update{Key: "c", At: noon, Message: "new"})
			},
			"none": func(c *core.Snapshot) { c.Updates = nil },
		}},
		{"the second click on one opens it, with the focus only", "updates", nil, `
			<pinged at> => nothing
			<pinged at> => opens
			blur <Email triage> <Email triage> => nothing`, nil},
		{"one names the run that left it, and leads to it", "updates", left("The pill was taken."), `
			=> Medication: The pill was taken.
			updates.bottom updates.read => reads by Medication. | reads The pill was taken.
			>enter => leads to forks 44444444 | closes`, nil},
		{"Q4: what is not recorded is not guessed", "updates", func(c *core.Snapshot) {
			c.Updates = []updates.Update{{Key: "x", At: noon.Add(-7 * time.Minute), Message: "The pill was taken."}}
		}, `=> The pill was taken. | !Medication:`, nil},
		{"nothing is cut while there is room", "updates", func(c *core.Snapshot) { c.Updates, c.Forks = findings(2, 40), nil }, `@80x14 => !…`, nil},
		{"those that went have no age", "updates", func(c *core.Snapshot) {
			c.Updates = append([]updates.Update{{Key: "cap", At: noon, Message: "(292 earlier update(s) omitted — cap reached)", Dropped: 292}}, c.Updates...)
		}, `
			=> earlier  (292 earlier update(s) omitted — cap reached) | !" now "
			updates.bottom updates.read => reads It replaces 292 earlier updates | unread: Left | unread: just left`, nil},
	})
	for _, size := range [][2]int{{78, 20}, {118, 36}, {198, 56}} {
		s := open("updates")
		s.c.Zoomed = true
		s.next(left("The pill was taken."))
		p := &player{stage: s, t: t, w: size[0], h: size[1], own: map[string]change{"it is long": left(strings.Repeat("A long report. ", 200))}}
		p.plays(`
			updates.bottom => ─ Update ─ | Left Monday 23 November 2026, 13:55 PT by Medication. | The main session gets it
			updates.read   => leads to forks 44444444
			updates.top
			updates.read   => opens
			(it is long) updates.bottom @78x20
			updates.read   => opens`)
	}
	s := open("updates")
	if screen := s.screen(80, 12); strings.Index(screen, "Email triage") > strings.Index(screen, "Medication") {
		t.Error("the newest is not on top")
	}
}

func TestTheBudgetIsSaidAsItsStoriesSay(t *testing.T) {
	budget := func(f func(b *core.BudgetView)) change { return func(c *core.Snapshot) { f(&c.Budget) } }
	until := noon.Add(2 * time.Hour)
	for words, on := range map[string]change{
		"full | 5 / 5": budget(func(b *core.BudgetView) { b.State.Available, b.NextAt, b.FullAt = 5, time.Time{}, time.Time{} }),
		"the next ping can go at 15:14 | 0.9 / 5": budget(func(b *core.BudgetView) { b.State.Available = 0.97 }),
		"muted | Only critical":                   budget(func(b *core.BudgetView) { b.State.Capacity, b.State.Available = 0, 0 }),
		"quiet until Tue 07:30 | only critical":   budget(func(b *core.BudgetView) { b.Quiet = noon.Add(17*time.Hour + 28*time.Minute) }),
		"1 on its way":                            nil,
	} {
		tell(t, []story{{words, "budget", on, `@40x8 => ` + words, nil}})
	}
	tell(t, []story{
		{"muted until a time", "budget", budget(func(b *core.BudgetView) { b.Muted, b.Quiet = until, until }), `
			@40x8       => muted until 16:02 | only critical | once: until 16:02
			budget.mute => opens Mute pings that are not critical until | form: active until 16:02`, nil},
		{"its page says whether there is enough", "budget", nil, `
			@120x30            => ✓ enough until Tue 14:02, even if every task pings
			(few are likely)   => ✓ likely enough until Tue 14:02; if every task pings, out at 15:15: Nudge me to stand up
			(many are likely)  => "! the next ping can go at 15:14; at 14:30 a ping is likely refused: Has the landlord"
			(it is off)        => muted: the capacity is 0`, map[string]change{
			"few are likely": rates(1.1, 600, 0.05), "many are likely": rates(0.2, 0, 0.9), "it is off": budget(func(b *core.BudgetView) { b.State.Capacity = 0 }),
		}},
		{"a coming drought is said in words and with a sign", "budget", rates(1.2, 600, 0.05), `
			view.back @120x8 => ✓ likely enough until Tue 14:02; if every task pings, out at 15:15: Nudge me to stand up and
			@44x8            => ✓ likely enough until Tue 14:02 | line: ✓ likely enough until Tue 14:02 | state: likely enough`, nil},
		// A ping that was answered is in the hour and on the weekday on which it was sent.
		{"its page shows when pings are answered, where there is room", "budget", func(c *core.Snapshot) {
			at := time.Date(2026, 11, 16, 9, 30, 0, 0, c.Zone) // a Monday
			c.Budget.Pings = []budgets.Ping{
				{At: at, Title: "One", Answered: at.Add(time.Minute)}, {At: at.Add(time.Minute), Title: "Two"}, {At: at, Title: "Three", Refused: "no token"},
			}
		}, `
			@120x30 => 1 of 2 pings answered | " Mon ` + strings.Repeat("·", 18) + "▆▆" + strings.Repeat("·", 28) + `" | " Tue ` + strings.Repeat("·", 48) + `"
			@120x20 => !pings answered`, nil},
		{"and the messages, newest first", "budget", nil, `
			@120x30 => Dana waits for the numbers. | the budget is empty | refused | after 4 min | not answered
			=> in order: Dana waits, morning pill, Sun 17:30 ◆ Medication
			(there were none) => 3 pings, 1 critical`, map[string]change{"there were none": budget(func(b *core.BudgetView) { b.Pings = nil })}},
		{"what to do is said with the keys that there are", "budget", budget(func(b *core.BudgetView) { b.State = budgets.State{RefillRateMinutes: 90} }), `
			@120x20 => + raises the capacity
			#budget.capacity-up=f9  => f9 raises the capacity
			# #budget.capacity-up=  => The palette (:) raises the capacity`, nil},
		{"S4: refusals are rows that are counted, too", "budget", budget(func(b *core.BudgetView) {
			b.Pings = nil
			for i := range 9 {
				b.Pings = append(b.Pings, budgets.Ping{At: noon.Add(-time.Hour + time.Duration(i)*time.Minute), Title: "Tea"})
			}
			b.Pings[0].Refused = "no token"
		}), `@120x10 => as many rows as it says`, nil},
		{"Poster 2: below the tasks is what their columns do not say about the selected one", "costs", nil, `
			zoom @120x30 => ─ Check email ─
			costs.down   => ─ conversation ─ | $4.20 of $18.60 in 30 days | !─ Check email ─`, nil},
		{"hours below a plot are those of the chosen clock", "budget", nil, `
			@160x30           => 09    12    15    18
			(twelve hours)    => 9am   12pm  3pm   6pm | !09    12    15`, map[string]change{"twelve hours": func(c *core.Snapshot) { c.TwelveHours = true }}},
	})
}

func TestThePageOfRunsIsUsedAsItsStoriesSay(t *testing.T) {
	failures := func(n ...int) change {
		return func(c *core.Snapshot) {
			c.Failures = nil
			for _, i := range n {
				c.Failures = append(c.Failures, (&ledger{}).run(i))
			}
		}
	}
	for name, c := range map[string]struct {
		l     ledger
		on    change
		steps string
		looks string // the runs that the core hears of
	}{
		"what has the keys has the room": {ledger{n: 300}, nil, `
			           => 25: tail:
			forks.tail => 18: tail:`, ""},
		"they are filtered by text and state": {ledger{n: 1000}, nil, `
			tail.filter "task status 4" load => of 1,005 runs | the command ended with | !✓ done
			enter esc forks.state load       => is:failed | 144 of 1,005 runs | !done`, ""},
		"the head of a column sorts them": {ledger{n: 1000}, nil, `
			<KENS> load => title: by TOKENS | TOKENS▼ | " 100k "
			forks.turn  => TOKENS▲`, ""},
		"the second click on a run opens it, with the focus only": {ledger{n: 300}, nil, `
			<Task 5> => nothing | tail: Task 5 | !▸ tail: Task 5
			<Task 5> => ▸ tail: Task 5
			esc blur <Task 6> <Task 6> => tail: Task 6 | !▸ tail: Task 6`, ""},
		"a failure beyond the newest stays until it is looked at": {ledger{n: 300}, failures(220), `
			=> above: ✗ | above: Task 20
			tail.home forks.down forks.down forks.down load load => in order: tail: Task 20, the command ended with status 0
			forks.down (they are seen) => !above: Task 20`, (&ledger{}).run(220).ID},
		"a read-only dashboard notes nothing": {ledger{n: 30}, failures(3), `
			readonly tail.home load => the command ended with status`, ""},
		"a stored one is opened and fired again": {ledger{n: 300}, nil, `
			tail.pgdn tail.pgdn forks.down => No output of this run is recorded
			forks.again  => does FireNow ID=00000022 Stays=true
			forks.resume => does ResumeFork Run=6fffffde`, ""},
		// The list's note about what it read is no error of the run.
		"what it had read is no error of it": {ledger{n: 300, tainted: true}, nil, `
			tail.pgdn tail.pgdn forks.down => No output of this run is recorded | untrusted input: web page`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := runsPage(t, &c.l)
			if c.on != nil {
				s.next(c.on)
			}
			(&player{stage: s, t: t, w: 118, h: 36, ledger: &c.l, own: map[string]change{"they are seen": failures()}}).plays(c.steps)
			if got := strings.Join(c.l.looked, " "); got != c.looks {
				t.Errorf("the core hears of %q, not of %q", got, c.looks)
			}
		})
	}
	for says, l := range map[string]*ledger{"damaged": {n: 600, damaged: 2}, "the disk is gone": {broken: errors.New("the disk is gone")}} {
		s := open("forks")
		s.c.Zoomed = true
		s.screen(118, 36)
		said := s.settle(t, l)
		s.do(action.ForksSort)
		if l.broken == nil {
			said = append(said, s.settle(t, l)...)
		}
		if len(said) != 1 || !strings.Contains(said[0], says) {
			t.Errorf("said, not once %s: %q", says, said)
		}
	}
}

func TestRunsAreReadAsOneScrolls(t *testing.T) {
	l := &ledger{n: 10_000}
	s := runsPage(t, l)
	state := s.State(s.c)
	has(t, state, "the newest 255 runs")
	for range 40 {
		s.do(action.TailPageDown)
		s.settle(t, l)
	}
	lacks(t, "scrolling reads no further runs", s.State(s.c), "255 runs")
	s.do(action.TailFollow)
	for range 60 {
		s.settle(t, l)
		s.do(action.TailFollow)
	}
	state = s.State(s.c)
	has(t, state, "10,005 runs")
	has(t, s.screen(118, 36), "tail: Task 39", "8 Sep")
}

func TestTenThousandRunsTakeLessThanEightMegabytes(t *testing.T) {
	l := &ledger{n: 10_000}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	s := runsPage(t, l)
	s.do(action.ForksSort)
	s.settle(t, l)
	used := heap() - before
	if s.screen(118, 36); used > 8<<20 {
		t.Errorf("10,000 runs take %d kB", used>>10)
	}
	t.Logf("10,000 runs take %d kB", used>>10)
}

func TestTheRunThatTheUserFiredIsSelectedOnceItStarts(t *testing.T) {
	s := open("forks")
	s.do(action.TailFollow, action.ForksTail) // deep in an old run
	p := s.Pane.(*forkspane.Pane)
	p.Show(s.c, "22222222")
	has(t, s.screen(80, 12), "tail: Move a little", "Time to move.", "▸ ◉ 14:00   Move a little   late")
	s.do(action.TailFollow, action.ForksTail)
	p.Await(s.c, "0f1e2d3c")
	s.next(start("99999999", noon.Add(time.Second))) // another one
	has(t, s.screen(80, 18), "tail: Check the rent")
	s.next(func(c *core.Snapshot) {
		start("aaaaaaaa", noon.Add(2*time.Second))(c)
		c.Forks[0].TaskID = "0f1e2d3c"
	})
	has(t, s.screen(80, 18), "─ tail: Run aaaaaaaa")
	s.next(start("bbbbbbbb", noon.Add(3*time.Second)))
	has(t, s.screen(80, 18), "─ tail: Run aaaaaaaa")
	p.Await(s.c, "c0ffee00") // it waits for a token
	s.next(func(c *core.Snapshot) {
		c.At = c.At.Add(2 * time.Minute)
		start("cccccccc", c.At)(c)
		c.Forks[0].TaskID = "c0ffee00"
		start("dddddddd", c.At.Add(time.Second))(c)
	})
	has(t, s.screen(80, 18), "─ tail: Run dddddddd")
}

func TestAnEmptyLogSaysWhatIsHiddenAndWhatShowsIt(t *testing.T) {
	s := open("logs")
	s.Pane, s.c.Tail = panes()["logs"], calm
	s.next(func(c *core.Snapshot) { c.LogLines = 312 })
	(&player{stage: s, t: t, w: 80, h: 12}).plays(`
		tail.level tail.level => 312 lines hidden. | v shows the next level.
		tail.level            => 312 lines hidden. | v shows the next level.
		tail.filter "nowhere" enter => 312 lines hidden. | Esc removes the filter. | v shows the next level.
		view.back tail.level  => !hidden
		tail.level tail.level #logs/tail.level=ctrl+y => ctrl+y shows the next level.`)
}

func TestTheListOfRunsHasMoreThanAThirdWhereThereIsRoom(t *testing.T) {
	s := open("forks")
	s.next(longDay)
	for h, least := range map[int]int{9: 3, 18: 8, 24: 12, 40: 18} {
		n := 0
		for _, l := range strings.Split(s.screen(80, h), "\n") {
			if strings.Contains(l, "tail: ") {
				break
			}
			n++
		}
		if n < least || n > max(h/2, h-7, 6) {
			t.Errorf("%d of %d lines", n, h)
		}
	}
}

func TestTheFiguresOfRunsAreAligned(t *testing.T) {
	s := open("forks")
	s.c.Zoomed = true // a page has heads
	s.next(func(c *core.Snapshot) {
		ended := noon.Add(-time.Minute)
		c.Forks = []fork.View{
			{ID: "1", Title: "A", State: fork.Done, Started: noon.Add(-time.Hour), Ended: ended, Pings: 1, Reports: 1, Tools: 12, Usage: agent.Usage{InputTokens: 7800, CostUSD: 0.012}},
			{ID: "2", Title: "B", State: fork.Done, Started: noon.Add(-2 * time.Minute), Ended: ended, Tools: 1},
			{ID: "3", Title: "C", State: fork.Failed, Started: noon.Add(-2 * time.Minute), Ended: ended, Refused: 1, Usage: agent.Usage{InputTokens: 120, CostUSD: 1.2}},
			{ID: "4", Title: "D", State: fork.Running, Started: noon.Add(-2 * time.Minute), Reports: 1, Pings: 2, Critical: 1},
		}
	})
	for w := 130; w >= 40; w-- {
		head := strings.Split(s.screen(w, 18), "\n")[0]
		for _, name := range []string{"PING", "REPORT", "REFUSED", "TOOLS", "TOKENS"} {
			if strings.Contains(head, name) != (w >= 116) {
				t.Errorf("%d cells: %q", w, head)
			}
		}
		if !strings.Contains(head, "TIME") || w >= 60 && !strings.Contains(head, "COST") {
			t.Errorf("%d cells: how long they take goes last: %q", w, head)
		}
	}
	has(t, s.screen(130, 18), " 2       1        ·      ·       ·      ·    2:00", " 1       1        ·     12    7.8k   0.01   59:00")
}

// Poster, deliverable 4, and 10: a run that starts is prominent for a moment, and rows fade with age.
func TestTheTitleOfARunFadesWithItsAge(t *testing.T) {
	s := open("forks")
	s.c.Theme = theme.New(theme.Options{Dark: true, Profile: colorprofile.TrueColor})
	s.next(func(c *core.Snapshot) {
		c.Forks = nil
		for i, ago := range []time.Duration{time.Second, 10 * time.Second, 30 * time.Minute, 3 * time.Hour, 30 * time.Hour} {
			f := fork.View{ID: fmt.Sprint(i), Title: fmt.Sprint("Run ", i), State: fork.Running, Started: noon.Add(-ago)}
			if i > 1 {
				f.State, f.Ended = fork.Done, f.Started.Add(time.Second)
			}
			c.Forks = append(c.Forks, f)
		}
	})
	here, _ := s.c.Theme.Ends(theme.Here)
	s.c.Still = true
	lacks(t, "nothing shall move", s.screen(118, 24), here+"14:0")
	s.c.Still = false
	screen := s.screen(118, 24)
	if strings.Count(screen, here+"14:0") != 1 {
		t.Errorf("one run has just started:\n%s", screen)
	}
	for i, role := range []theme.Role{theme.Strong, theme.Strong, theme.Strong, theme.Text, theme.Dim} {
		before, _, found := strings.Cut(screen, fmt.Sprint("Run ", i, " "))
		if open, _ := s.c.Theme.Ends(role); !found || !strings.HasSuffix(before, open) || open == "" && strings.HasSuffix(before, "m") && !strings.HasSuffix(before, "[39m") {
			t.Errorf("run %d follows %q", i, before[max(0, len(before)-30):])
		}
	}
}

func TestLogsAreReadOnlyWhenThereIsMore(t *testing.T) {
	s := open("logs")
	reads := 0
	s.c.Tail = func(id string, from tail.Cursor) tail.Page {
		if id != core.LogTail {
			t.Errorf("the tail %q is read", id)
		}
		reads++
		return tails(id, from)
	}
	s.next(func(c *core.Snapshot) {})
	s.next(func(c *core.Snapshot) { c.LogLines++ })
	if reads != 1 {
		t.Errorf("read %d times", reads)
	}
}

// findings are so many updates of so many words.
func findings(n, words int) []updates.Update {
	out := make([]updates.Update, n)
	for i := range out {
		out[i] = updates.Update{Key: fmt.Sprint(i), At: noon.Add(-time.Duration(n-i) * time.Minute), Message: fmt.Sprint("finding ", i, strings.Repeat(" and so on", words))}
	}
	return out
}

func TestNoUpdateIsCutWhileALineIsFree(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		s := open("updates")
		n := rapid.IntRange(1, 20).Draw(t, "updates")
		s.next(func(c *core.Snapshot) {
			c.Forks, c.Updates = nil, nil
			for _, u := range findings(n, 0) {
				u.Message += strings.Repeat(" and so on", rapid.IntRange(0, 30).Draw(t, "words"))
				c.Updates = append(c.Updates, u)
			}
		})
		for range rapid.IntRange(0, n).Draw(t, "down") {
			s.do("updates.down")
		}
		w, h := rapid.IntRange(26, 90).Draw(t, "w"), rapid.IntRange(1, 30).Draw(t, "h")
		lines := drawn(s, s.c, w, h, true)
		screen := strings.Join(lines, "\n")
		blank := 0
		for _, l := range lines {
			if strings.TrimSpace(l) == "" {
				blank++
			}
		}
		if strings.Contains(screen, "…") && blank > 0 || strings.Count(screen, "▸") != 1 || len(lines) != h {
			t.Fatalf("%d×%d:\n%s", w, h, screen)
		}
		for i := range n { // each of them is in sight where there are lines for that
			if h >= 2*n+30 && !strings.Contains(screen, fmt.Sprint("finding ", i)) {
				t.Fatalf("finding %d is missing:\n%s", i, screen)
			}
		}
	})
}
