package pane_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core"
	"ollimbot/core/base/testkit"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

func TestAnOutcomeSaysTheSameInShortAndInFull(t *testing.T) {
	s := &core.Snapshot{At: noon}
	s.Budget.Pings = []budget.Ping{
		{Run: "answered", At: noon.Add(-2 * time.Hour), Answered: noon.Add(-time.Hour)},
		{Run: "answered", At: noon.Add(-9 * time.Minute), Answered: noon.Add(-5 * time.Minute)},
		{Run: "answered", At: noon.Add(-4 * time.Minute)},
		{Run: "refused", Refused: "no token left"},
		{Run: "another", Refused: "quiet hours"},
	}
	for _, c := range []struct {
		is              string
		run             fork.View
		short, full, by string
		role            theme.Role // of the short one
	}{
		{"done in silence", fork.View{State: fork.Done}, "", "", "done", theme.Text},
		{"pinged", fork.View{State: fork.Done, Pings: 1}, "1 ping", "1 ping", "done pinged", theme.Ping},
		{"answered, of which the newest counts", fork.View{ID: "answered", State: fork.Done, Pings: 3}, "answered, 4m", "ping answered in 4 min", "done pinged answered", theme.Text},
		{"refused", fork.View{ID: "refused", State: fork.Done, Refused: 1, Reports: 2}, "ping refused", "ping refused: no token left · 2 reports", "done refused reported", theme.Warn},
		{"refused twice", fork.View{State: fork.Done, Refused: 2}, "2 refused", "2 pings refused", "done refused", theme.Warn},
		{"only reported", fork.View{State: fork.Done, Reports: 1}, "1 report", "1 report", "done reported", theme.Report},
		{"failed", fork.View{State: fork.NoReport, Pings: 2, Late: true}, "no report", "2 pings", "no report failed late pinged", theme.Bad},
		{"quiet", fork.View{State: fork.Done, Quiet: 1}, "1 quiet message", "1 quiet message", "done quiet", theme.Dim},
		{"its routine has stopped itself", fork.View{State: fork.Done, Stopped: "the routine is over"}, "the routine is over", "the routine is over", "done stopped-routine", theme.Warn},
		{"without a model", fork.View{State: fork.Done, Pings: 1, NoModel: true}, "1 ping", "1 ping · " + pane.TextNoModel, "done pinged", theme.Ping},
		{"cut off", fork.View{State: fork.Interrupted}, "interrupted", "", "interrupted stopped", theme.Warn},
		{"running", fork.View{State: fork.Running, Started: noon.Add(-95 * time.Second), Reports: 1}, "running 1:35", "1 report", "running reported", theme.Good},
	} {
		t.Run(c.is, func(t *testing.T) {
			o := pane.OutcomeOf(s, &c.run)
			var full []string
			for _, one := range o.Full {
				full = append(full, one.Text)
			}
			if got := strings.Join(full, " · "); o.Short.Text != c.short || got != c.full || strings.Join(o.Is, " ") != c.by || o.Short.Role != c.role {
				t.Errorf("%q in role %d, %q, %q", o.Short.Text, o.Short.Role, got, o.Is)
			}
		})
	}
}

// The schedule gives an outcome 14 cells, and a filter names each word once.
func TestAnOutcomeIsShort(t *testing.T) {
	states := []fork.State{fork.Waiting, fork.Running, fork.Done, fork.Failed, fork.TimedOut, fork.Stopped, fork.Interrupted, fork.NoReport}
	testkit.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 99)
		run := fork.View{
			ID: "r", State: rapid.SampledFrom(states).Draw(t, "state"), Started: noon.Add(-time.Duration(n.Draw(t, "minutes")) * time.Second),
			Pings: n.Draw(t, "pings"), Refused: n.Draw(t, "refused"), Reports: n.Draw(t, "reports"),
		}
		s := &core.Snapshot{At: noon}
		wait := time.Duration(rapid.Int64Range(0, int64(30*24*time.Hour)).Draw(t, "wait"))
		s.Budget.Pings = []budget.Ping{{Run: "r", At: noon.Add(-wait), Answered: noon}}
		o := pane.OutcomeOf(s, &run)
		if widget.Cells(o.Short.Text) > 14 || len(slices.Compact(slices.Sorted(slices.Values(o.Is)))) != len(o.Is) {
			t.Fatalf("%q, found by %q", o.Short.Text, o.Is)
		}
	})
}

func TestWhatHasJustHappenedIsFreshForThreeSeconds(t *testing.T) {
	s := &core.Snapshot{At: noon}
	for ago, want := range map[time.Duration]bool{-1: false, 0: true, 3*time.Second - 1: true, 3 * time.Second: false} {
		if got := pane.Fresh(s, noon.Add(-ago)); got != want {
			t.Errorf("%v ago is fresh: %t", ago, got)
		}
	}
}

func TestTheHoursAroundNowAreThoseOfTheClockAndMidnightHasItsDay(t *testing.T) {
	s := &core.Snapshot{At: noon, Zone: zone}
	for _, c := range []struct {
		reach time.Duration
		each  int
		want  string
	}{{3 * time.Hour, 1, "11 12 13 14 15 16 17 18"}, {13 * time.Hour, 12, "12 Tue"}} {
		var got []string
		for at, label := range pane.Hours(s, c.reach, c.each) {
			got = append(got, label)
			if !at.Equal(at.Truncate(time.Hour)) || label != "Tue" && label != at.Format("15") {
				t.Errorf("%v is called %s", at, label)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%v around it, each %d: %q", c.reach, c.each, got)
		}
	}
}

// A rule has room for eight cells of state behind the title of what it is above, and a text a blank at either side.
func TestADetailLeavesRoomBesideItsTitleAndItsText(t *testing.T) {
	for w, want := range map[int]string{12: " ab         | cd567890 e ", 2: " a| …"} {
		rows := pane.Text(pane.Context{Theme: plainTheme()}, w, 2, "ab cd567890 e")
		if got := strings.Join(textsOf(rows), "|"); got != want || rows[0].Place != widget.Nowhere {
			t.Errorf("in %d cells it is %q, a click on it means %d", w, got, rows[0].Place)
		}
	}
	for w, cells := range map[int]int{40: 32, 12: 8} {
		if title := pane.Named(strings.Repeat("x", 99), w)[0].Text; widget.Cells(title) != cells {
			t.Errorf("of %d cells the title takes %q", w, title)
		}
	}
}
