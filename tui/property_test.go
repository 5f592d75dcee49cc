package tui

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"ollimbot/core"
	"ollimbot/core/base/tail"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/layout"
	"ollimbot/tui/pane"
	"ollimbot/tui/screen"
	"ollimbot/tui/settings"
	"ollimbot/tui/tuitest"
	"ollimbot/tui/view"
)

// foreign is what others write: wide and joined signs, right-to-left text, tabs
// and escapes, as it is after cleaning or, worse, before.
const foreign = "世界 👩‍👩‍👧 שלום 👍🏽 naïve é \tx \u202eabc"

// foreignDay is talkDay with foreign words in every field that others write.
func foreignDay() core.Snapshot {
	s := talkDay()
	s.Updates = []updates.Update{{Key: "u", At: day, Message: foreign}}
	s.Schedule.Entries = append(s.Schedule.Entries, schedule.Entry{ID: "x", FireTime: day, Label: foreign, Description: foreign, FilePath: foreign})
	s.Forks = append([]fork.View{{ID: "z", Title: foreign, State: fork.Running, Started: day, Activity: foreign}}, s.Forks...)
	s.Chat = append(s.Chat, transcript.Entry{ID: "z", At: day, Role: transcript.Ping, Source: foreign, Text: foreign})
	s.Engine.State, s.Surface.State = foreign, foreign
	return s
}

// hardDay has more of everything than a day has, in a night in which the clocks change, with titles as long, as wide and
// as foreign as titles get.
func hardDay(t *rapid.T) core.Snapshot {
	titles := []string{strings.Repeat("long ", 60), strings.Repeat("世界", 75), "שלום עולם " + strings.Repeat("مرحبا ", 40), "e\u0301\u200d👩‍👩‍👧 \u202eback", ""}
	title := func(i int) string { return titles[i%len(titles)] }
	zone, err := time.LoadLocation("Europe/Berlin")
	testkit.Must(t, err)
	month := rapid.SampledFrom([]time.Month{time.March, time.October}).Draw(t, "month")
	at := time.Date(2026, month, map[time.Month]int{time.March: 29, time.October: 25}[month], rapid.IntRange(0, 23).Draw(t, "hour"), 30, 0, 0, zone)
	s := withForks(busyDay(at))
	s.Zone = zone
	s.Budget.State.Capacity = rapid.SampledFrom([]int{0, 1, 100, 1000}).Draw(t, "capacity")
	s.Budget.State.Available = float64(s.Budget.State.Capacity) * rapid.Float64Range(0, 1).Draw(t, "share")
	for i := range 40 { // within one hour, without a level that was recorded
		s.Budget.Pings = append(s.Budget.Pings, budget.Ping{At: at.Add(-time.Duration(i) * time.Minute), Title: title(i), Refused: title(i % 2 * 4)})
		s.Schedule.Day = append(s.Schedule.Day, schedule.Entry{ID: "aaaa1111", Description: title(i), FireTime: at.Add(time.Duration(i) * time.Minute)})
		s.Ended = append(s.Ended, fork.View{ID: "f3f3f3f3", Title: title(i), State: fork.Failed, Error: title(i + 1), Ended: at.Add(-time.Duration(i) * time.Minute)})
	}
	for i := range 3000 {
		s.Schedule.Tasks = append(s.Schedule.Tasks, schedule.TaskView{ID: fmt.Sprintf("%08x", i), Title: title(i), Next: at.Add(time.Duration(i) * time.Minute)})
		s.Updates = append(s.Updates, updates.Update{Key: fmt.Sprint(i), At: at.Add(-time.Duration(i) * time.Hour), Message: title(i)})
		s.Forks = append(s.Forks, fork.View{ID: fmt.Sprintf("%08x", i), Title: title(i), State: fork.Done, Started: at.Add(-time.Duration(i+1) * time.Hour), Ended: at.Add(-time.Duration(i) * time.Hour)})
	}
	return s
}

// Whatever is shown, pressed, clicked, turned or resized, the frame has its lines and cells, whole borders, and nothing
// that moves the cursor.
func TestPropertyNothingBreaksTheFrame(t *testing.T) {
	keys := []string{"a", "ä", "世", "backspace", "enter", "left", "right", "ctrl+u", "ctrl+x", "f5", "space", "0"}
	for _, a := range (action.Keys{}).All() {
		keys = append(keys, a.Keys...)
	}
	testkit.Check(t, func(t *rapid.T) {
		n := func(least, most int, of string) int { return rapid.IntRange(least, most).Draw(t, of) }
		b := newBot(rapid.SampledFrom([]func() core.Snapshot{
			func() core.Snapshot { return core.Snapshot{} }, func() core.Snapshot { return busyDay(day) }, func() core.Snapshot { return busyForks(day) },
			func() core.Snapshot { return everything(day) }, foreignDay, foreignDay, func() core.Snapshot { return everything(day) }, func() core.Snapshot { return hardDay(t) },
		}).Draw(t, "day")())
		b.talk("f1f1f1f1", n(0, 300, "lines"))
		b.rings["f1f1f1f1"].Add(tail.Line{At: day, Kind: tail.Text, Text: foreign})
		r := newRoot(t.Context(), b, Options{
			Output: &bytes.Buffer{}, ASCII: rapid.Bool().Draw(t, "ascii"), ReadOnly: rapid.Bool().Draw(t, "read-only"),
			Env: []string{"TERM=xterm-256color", "COLORTERM=truecolor", "TTY_FORCE=1", "LANG=C.UTF-8"},
		})
		r.terminal.screen = screen.New(t.Context(), &bytes.Buffer{}, nil)
		preset := rapid.SampledFrom(layout.Presets).Draw(t, "layout")
		size := layout.Size{Columns: n(-60, 60, "columns"), Rows: map[action.Pane]int{rapid.SampledFrom(action.Panes).Draw(t, "pane"): n(-20, 20, "rows")}}
		r.prefs.chosen = settings.Dashboard{"layout": preset}.With(settings.Values(size, preset))
		r.Init()
		r.setFocus(rapid.SampledFrom(action.Panes).Draw(t, "focus"))
		r.Update(tea.WindowSizeMsg{Width: n(1, 220, "w"), Height: n(1, 70, "h")})
		for range n(1, 20, "steps") {
			var msg tea.Msg = tea.WindowSizeMsg{Width: n(1, 400, "w"), Height: n(1, 120, "h")}
			m := tea.Mouse{X: n(0, r.w, "x"), Y: n(0, r.h, "y"), Button: rapid.SampledFrom([]tea.MouseButton{tea.MouseWheelDown, tea.MouseWheelUp}).Draw(t, "wheel")}
			switch n(0, 9, "what") {
			case 0:
				b.talk("f1f1f1f1", n(0, 30, "lines"))
				r.refresh()
			case 1, 2:
				m.Button = tea.MouseLeft
				msg = tea.MouseClickMsg(m)
			case 3:
				msg = tea.MouseWheelMsg(m)
			case 4, 5, 6, 7, 8:
				msg = press(rapid.SampledFrom(keys).Draw(t, "key"))
			}
			r.Update(msg)
			fits(t, r, msg)
		}
	})
}

// fits expects that the frame has the lines and cells of the screen, the border of every box, and nothing that moves the cursor.
func fits(t *rapid.T, r *root, after any) {
	if r.err != nil {
		t.Fatalf("after %v: %v", after, r.err)
	}
	lines := view.Frame(r.view())
	if len(lines) != r.h {
		t.Fatalf("after %v: %d lines of %d", after, len(lines), r.h)
	}
	for y, l := range lines {
		if n := ansi.StringWidth(l); n != r.w || strings.ContainsAny(ansi.Strip(l), "\n\r\x1b\u202e") {
			t.Fatalf("after %v on %d×%d line %d has %d cells: %q", after, r.w, r.h, y, n, l)
		}
	}
	plan := r.view().Plan()
	if len(r.dialogs) > 0 || plan.Mode == layout.TooSmall || len(r.toasts.Showing(time.Now())) > 0 {
		return
	}
	for _, c := range plan.Columns {
		for _, b := range c.Boxes {
			for y := b.Y; y < b.Y+b.H; y++ {
				for _, x := range []int{b.X - 1, b.X + b.W} {
					if cell := ansi.Strip(ansi.Cut(lines[y], x, x+1)); !strings.ContainsAny(cell, "│├┤|+") {
						t.Fatalf("the border of %s is torn at %d,%d on %d×%d: %q", b.Pane, x, y, r.w, r.h, ansi.Strip(lines[y]))
					}
				}
			}
		}
	}
}

// press makes the message of a key by its name.
func press(k string) tea.KeyPressMsg {
	key, _ := tuitest.Key(k)
	return key
}

// Whatever was pressed, a few escapes lead out of it.
func TestPropertyEscAlwaysLeadsOut(t *testing.T) {
	keys := strings.Fields("1 2 3 4 5 6 0 $ , A K z / & a enter ? : ! E H v m e n tab i w down left D ctrl+z")
	testkit.Check(t, func(t *rapid.T) {
		r := plainRoot(t.Context(), everything(day))
		for range rapid.IntRange(1, 12).Draw(t, "keys") {
			r.key(press(rapid.SampledFrom(keys).Draw(t, "key")))
		}
		for range 11 {
			r.key(press("esc"))
		}
		if r.focus.Page() || r.focus == action.Day || r.zoom || len(r.dialogs) > 0 || r.panes[r.focus].Capture() {
			t.Fatalf("esc leads to %s, zoomed %t, with %d dialogs, typing %t", r.focus, r.zoom, len(r.dialogs), r.panes[r.focus].Capture())
		}
	})
}

func TestPropertyEveryPageLeadsBackToThePaneWhereItWasOpened(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		start := rapid.SampledFrom(action.Panes).Draw(t, "start")
		p := place{focus: start, zoom: rapid.Bool().Draw(t, "zoom")}
		zoomed := p.zoom
		for range rapid.IntRange(1, 8).Draw(t, "pages") {
			p.move(rapid.SampledFrom(action.Pages).Draw(t, "page"))
			if n := len(p.trail); n == 0 || n > len(action.Pages) || slices.Contains(p.trail, p.focus) || !p.whole() {
				t.Fatalf("on %s the way back is %v, it has the whole body: %t", p.focus, p.trail, p.whole())
			}
		}
		for range action.Pages {
			if p.focus.Page() {
				p.move(p.toggleZoom())
			}
		}
		if p.focus != start || p.zoom != zoomed || len(p.trail) > 0 {
			t.Fatalf("esc leads to %+v from %s", p, start)
		}
	})
}

// The queue alone: commands of one lane begin in their order and one at a time.
func TestPropertyNoCommandOvertakesAnother(t *testing.T) {
	kinds := []command.Value{command.SetBudget{}, command.Pause{}, command.Say{}, command.ExitFork{}, command.FireNow{}, command.Answer{}}
	testkit.Check(t, func(t *rapid.T) {
		q := commandQueue{busy: map[command.Lane]bool{}}
		number := map[pane.Dialog]int{}
		var began, running []doneMsg
		pull := func() {
			for _, m := range q.ready() {
				lane := command.LaneOf(m.command)
				for _, other := range running {
					if l := command.LaneOf(other.command); l == lane || l == command.LaneQuick {
						t.Fatalf("%T begins while %T runs", m.command, other.command)
					}
				}
				for _, other := range began {
					if l := command.LaneOf(other.command); number[other.asker] > number[m.asker] && (l == lane || lane == command.LaneQuick) {
						t.Fatalf("%T has overtaken %T", other.command, m.command)
					}
				}
				began, running = append(began, m), append(running, m)
			}
		}
		end := func(i int) {
			delete(q.busy, command.LaneOf(running[i].command))
			running = slices.Delete(running, i, i+1)
			pull()
		}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			if len(running) > 0 && rapid.Bool().Draw(t, "one ends") {
				end(rapid.IntRange(0, len(running)-1).Draw(t, "which"))
				continue
			}
			m := doneMsg{command: rapid.SampledFrom(kinds).Draw(t, "command"), asker: &dialog.Page{}}
			number[m.asker] = len(number)
			q.waiting = append(q.waiting, m)
			pull()
		}
		for len(running) > 0 {
			end(0)
		}
		if len(began) != len(number) {
			t.Fatalf("%d of %d have begun", len(began), len(number))
		}
	})
}

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

// facts are what texts say of one fact, by its name.
var facts = map[string]*regexp.Regexp{
	"pings today":    regexp.MustCompile(`(?:today (\d+) pings?\b|(\d+) pings? today|; (\d+) pings?(?:, \d+ \w+)* today)`),
	"pings left":     regexp.MustCompile(`(\d+)(?: of \d+)? pings? left`),
	"first chance":   regexp.MustCompile(`(?:next ping can go at|no ping until|empty until) ((?:\w{3} )?\d\d:\d\d)`),
	"likely out":     regexp.MustCompile(`(?:likely out of pings at|likely none at|out by) ((?:\w{3} )?\d\d:\d\d)`),
	"the next fire":  regexp.MustCompile(`(?:Next: |^next: \d\d:\d\d )(Task \d)`),
	"what runs":      regexp.MustCompile(`(\d+) runs? under way`),
	"quiet or muted": regexp.MustCompile(`((?:muted|quiet) until (?:\w{3} )?\d\d:\d\d)`),
}

// Every place that has a fact has the same, at every size and without a screen, and the most urgent one is the headline.
func TestPropertyAllPlacesAgree(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		s := anyDay(t)
		texts := map[string]string{"headline": s.Headline().Text(), "status": strings.Join(s.Status(), "\n"), "budget": s.BudgetText(), "card": cardText(&s)}
		for _, f := range s.Facts() {
			texts["fact "+f.Name] = f.Text
		}
		frames, top := "", ""
		size := rapid.SampledFrom([][2]int{{120, 40}, {80, 24}, {46, 20}}).Draw(t, "size")
		for _, o := range []FrameOptions{
			{Width: size[0], Height: size[1], Focus: action.Budget, Zoom: true}, {Width: size[0], Height: size[1]}, {Width: 200, Height: 60},
		} {
			frame := Frame(still{snap: s}, o)
			texts[fmt.Sprintf("%d×%d zoom %v", o.Width, o.Height, o.Zoom)], top = strings.Join(frame, "\n"), frame[0]
			frames += strings.Join(frame, "\n")
		}
		for fact, re := range facts {
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
		o := s.Outlook()
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
		problem := func(is func(p routines.Problem) bool) bool { return slices.ContainsFunc(s.Schedule.Problems, is) }
		want := core.Quiet
		for _, c := range []struct {
			is   bool
			kind core.HeadlineKind
		}{
			{s.Engine.Offline, core.NoModel},
			{!s.Engine.OK || !s.Surface.OK, core.Disconnected},
			{slices.ContainsFunc(s.Schedule.Day, func(e schedule.Entry) bool { return e.Money }), core.HeldForMoney},
			{problem(func(p routines.Problem) bool { return p.Severity == routines.Error }), core.FileBroken},
			{len(s.Failures) > 0, core.RunFailed},
			{problem(func(p routines.Problem) bool { return p.Waits }), core.Proposed},
			{len(s.Approvals) > 0, core.Asks},
		} {
			if c.is {
				want = c.kind
			}
		}
		if h := s.Headline(); h.Kind != want || h.Urgent() != (want != core.Quiet) || !strings.Contains(top, h.Lead) {
			t.Fatalf("the headline is %v, want kind %d, in %q", h, want, top)
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
