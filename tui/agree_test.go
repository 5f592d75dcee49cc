package tui

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core"
	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
)

// anyDay is a random state of the bot's budget, schedule and troubles, as the core makes them.
func anyDay(t *rapid.T) core.Snapshot {
	n := func(most int, of string) int { return rapid.IntRange(0, most).Draw(t, of) }
	s := core.Snapshot{At: day.Add(time.Duration(n(86_399, "second")) * time.Second), Zone: time.UTC, Root: "/data"}
	capacity := n(6, "capacity")
	st := budget.State{
		Capacity: capacity, Available: rapid.Float64Range(0, float64(capacity)).Draw(t, "available"), RefillRateMinutes: 1 + n(200, "rate"),
		DailyUsed: n(30, "used"), CriticalUsed: n(9, "critical"),
		DailyUsedReset: s.At.Format(time.DateOnly), CriticalResetDate: s.At.Format(time.DateOnly), LastRefill: s.At,
	}
	s.Budget = core.BudgetView{State: st, NextAt: st.NextAt(s.At), FullAt: st.FullAt(s.At), FiresUntil: s.At.Add(24 * time.Hour)}
	switch n(5, "closed") {
	case 0:
		s.Budget.Muted = s.At.Add(time.Duration(1+n(900, "muted")) * time.Minute)
		s.Budget.Quiet = s.Budget.Muted
	case 1:
		s.Budget.Quiet = s.At.Add(time.Duration(1+n(600, "quiet")) * time.Minute)
	}
	for i := range n(6, "pings") {
		p := budget.Ping{At: s.At.Add(-time.Duration(600-100*i) * time.Minute), ID: fmt.Sprint(i), Title: "Ping"}
		switch n(2, "ping") {
		case 0:
			p.Refused = "the budget is empty"
		case 1:
			p.Answered = p.At.Add(time.Minute)
		}
		s.Budget.Pings = append(s.Budget.Pings, p)
	}
	at := s.At
	for i := range n(8, "fires") {
		at = at.Add(time.Duration(1+n(9000, "gap")) * time.Second)
		e := schedule.Entry{ID: fmt.Sprintf("aaaa000%d", i), FireTime: at, Description: fmt.Sprintf("Task %d", i), Kind: routines.KindRoutine}
		if n(9, "money") == 0 {
			e.Held, e.Money, e.Tag = true, true, schedule.TagMoney
		} else {
			s.Budget.Fires = append(s.Budget.Fires, budget.Fire{At: at, Task: e.ID, Title: e.Description, Rate: rapid.Float64Range(0, 1).Draw(t, "rate")})
		}
		s.Schedule.Day = append(s.Schedule.Day, e)
	}
	s.Schedule.Entries, s.Schedule.DayUntil = s.Schedule.Day, s.Budget.FiresUntil
	s.Engine = core.EngineStatus{Name: "claude", State: "ready", OK: n(5, "engine") > 0, Offline: n(5, "offline") == 0}
	s.Surface = core.SurfaceStatus{Name: "Discord", State: "up", OK: n(5, "surface") > 0}
	for i := range n(3, "running") {
		s.Forks = append(s.Forks, fork.View{ID: fmt.Sprintf("run0000%d", i), Title: "Sweep", State: fork.Running, Started: s.At.Add(-time.Minute)})
	}
	if n(5, "failed") == 0 {
		s.Failures = []fork.View{{ID: "bad00001", Title: "Rent", State: fork.Failed, Started: s.At, Ended: s.At}}
	}
	if n(5, "asks") == 0 {
		s.Approvals = []policy.Approval{{ID: "a1", Label: "Run this command? x", Question: "Run this command?", Text: "x", Tool: "Bash", Command: "rule", Asked: s.At, Until: s.At.Add(time.Minute)}}
	}
	if n(4, "broken") == 0 {
		s.Schedule.Problems = append(s.Schedule.Problems, routines.Problem{File: "routines/gym.md", Severity: routines.Error, Message: "there is no cron"})
	}
	if n(4, "hint") == 0 {
		waits := n(1, "waits") == 0
		s.Schedule.Problems = append(s.Schedule.Problems, routines.Problem{File: "skills/x/SKILL.md", Severity: routines.Warning, Message: "a hint", Waits: waits})
	}
	return s
}

// told are what texts say of one fact, by its name.
var told = map[string]*regexp.Regexp{
	"pings today":    regexp.MustCompile(`(?:today (\d+) pings?\b|(\d+) pings? today|; (\d+) pings?(?:, \d+ \w+)* today)`),
	"pings left":     regexp.MustCompile(`(\d+)(?: of \d+)? pings? left`),
	"first chance":   regexp.MustCompile(`(?:next ping can go at|no ping until|empty until) ((?:\w{3} )?\d\d:\d\d)`),
	"likely out":     regexp.MustCompile(`(?:likely out of pings at|likely none at|out by) ((?:\w{3} )?\d\d:\d\d)`),
	"the next fire":  regexp.MustCompile(`(?:Next: |^next: \d\d:\d\d )(Task \d)`),
	"what runs":      regexp.MustCompile(`(\d+) runs? under way`),
	"quiet or muted": regexp.MustCompile(`((?:muted|quiet) until (?:\w{3} )?\d\d:\d\d)`),
}

// Every place that tells a fact tells the same, at every size and without a screen.
func TestPropertyAllPlacesAgree(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		s := anyDay(t)
		texts := map[string]string{"headline": s.Headline().Text(), "status": strings.Join(s.Status(), "\n"), "budget": s.BudgetText(), "card": cardText(&s)}
		for _, f := range s.Facts() {
			texts["fact "+f.Name] = f.Text
		}
		frames := ""
		for _, size := range [][2]int{{200, 60}, {120, 40}, {80, 24}, {46, 20}} {
			for _, o := range []FrameOptions{{Width: size[0], Height: size[1]}, {Width: size[0], Height: size[1], Focus: action.Budget, Zoom: true}} {
				frame := Frame(still{snap: s}, o)
				texts[fmt.Sprintf("%d×%d zoom %v", size[0], size[1], o.Zoom)] = strings.Join(frame, "\n")
				frames += strings.Join(frame, "\n")
			}
		}
		o := s.Outlook()
		for fact, re := range told {
			said := map[string]string{}
			for where, text := range texts {
				for _, m := range re.FindAllStringSubmatch(text, -1) {
					said[strings.Join(m[1:], "")] = where
				}
			}
			if len(said) > 1 {
				t.Fatalf("%s: %v", fact, said)
			}
		}
		for where, text := range texts {
			if o.Blocked() && strings.Contains(text, "enough") {
				t.Fatalf("no ping can go, but %s says that there are enough:\n%s", where, text)
			}
		}
		if !strings.Contains(frames, o.Word) || !strings.Contains(s.BudgetText(), o.Text) {
			t.Fatalf("the outlook %+v is missing in\n%s", o, frames)
		}
		if left, g := o.Now, fmt.Sprintf("%d of ", s.Budget.State.Whole()); !o.Blocked() && !strings.HasPrefix(s.BudgetText(), g) || left > s.Budget.State.Whole() {
			t.Fatalf("%d can go, the budget says %q", left, s.BudgetText())
		}
	})
}

// The most urgent fact is the headline, whatever else is true.
func TestPropertyTheHeadlineIsTheMostUrgentFact(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		s := anyDay(t)
		held := false
		for _, e := range s.Schedule.Day {
			held = held || e.Money
		}
		broken, proposed := false, false
		for _, p := range s.Schedule.Problems {
			broken, proposed = broken || p.Severity == routines.Error, proposed || p.Waits
		}
		want := core.Quiet
		for _, c := range []struct {
			is   bool
			kind core.HeadlineKind
		}{
			{s.Engine.Offline, core.NoModel},
			{!s.Engine.OK || !s.Surface.OK, core.Disconnected},
			{held, core.HeldForMoney},
			{broken, core.FileBroken},
			{len(s.Failures) > 0, core.RunFailed},
			{proposed, core.Proposed},
			{len(s.Approvals) > 0, core.Asks},
		} {
			if c.is {
				want = c.kind
			}
		}
		h := s.Headline()
		if h.Kind != want || h.Urgent() != (want != core.Quiet) {
			t.Fatalf("the headline is %v, want kind %d", h, want)
		}
		if line := Frame(still{snap: s}, FrameOptions{Width: 200, Height: 40})[0]; !strings.Contains(line, h.Lead) {
			t.Fatalf("%q lacks %q", line, h.Lead)
		}
	})
}

// cardText returns the card of a phone as text.
func cardText(s *core.Snapshot) string {
	card := s.Card()
	text := card.Description
	for _, f := range card.Fields {
		text += "\n" + f.Name + ": " + f.Value
	}
	return text
}
