package pane_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core"
	budgets "ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/updates"
	"ollimbot/tui/action"
)

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
		{"the tail goes on to a run that lives", "forks", nil, `
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
		{"a selection that nobody moves for a minute follows the newest", "forks", nil, `
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
		{"in one line there is no room for the filter's own row", "logs", nil, `
			=> line: commit refused
			tail.filter "schedule" => line: filtered | line: schedule loaded
			"xx"                   => line: no line is shown`, nil},
	})
}

// left are an update whose run is known and one that nobody is known to have left.
func left(text string) change {
	return func(c *core.Snapshot) {
		c.Updates = []updates.Update{
			{Key: "x", At: noon.Add(-7 * time.Minute), Message: text, Source: updates.Source{Run: "44444444", From: "Medication"}},
			{Key: "y", At: noon.Add(-5 * time.Hour), Message: "From nobody."},
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
		{"one names the run that left it, and leads to it", "updates", left("The pill was taken."), `
			=> Medication: The pill was taken.
			updates.bottom updates.read => reads by Medication. | reads The pill was taken.
			>enter => leads to forks 44444444 | closes`, nil},
		{"Q4: what is not recorded is not guessed", "updates", func(c *core.Snapshot) {
			c.Updates = []updates.Update{{Key: "x", At: noon.Add(-7 * time.Minute), Message: "The pill was taken."}}
		}, `=> The pill was taken. | !Medication:`, nil},
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
		t.Error("the newest does not stand on top")
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
	rates := func(available float64, minutes int, rate float64) change {
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
	})
	s := open("budget")
	s.next(rates(1.2, 600, 0.05))
	s.do(action.Back) // the change is seen
	for _, size := range [][2]int{{40, 8}, {80, 8}} {
		compare(t, fmt.Sprintf("budget-dry-%dx%d", size[0], size[1]), drawn(s, s.c, size[0], size[1], true))
	}
}
