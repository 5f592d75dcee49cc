package tui

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"ollimbot/core"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/notice"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/settings"
	"ollimbot/tui/theme"
	"ollimbot/tui/undo"
)

// The parts of the dashboard, each by itself.

func TestEveryPageLeadsBackToThePaneWhereItWasOpened(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		start := rapid.SampledFrom(action.Panes).Draw(t, "start")
		p := place{focus: start, zoom: rapid.Bool().Draw(t, "zoom")}
		zoomed := p.zoom
		for range rapid.IntRange(1, 8).Draw(t, "pages") {
			p.move(rapid.SampledFrom(action.Pages).Draw(t, "page"))
			if n := len(p.trail); n == 0 || n > len(action.Pages) || slices.Contains(p.trail, p.focus) {
				t.Fatalf("on %s the way back is %v", p.focus, p.trail)
			}
			if !p.whole() {
				t.Fatalf("%s does not have the whole body", p.focus)
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

func TestTheDayIsNeverZoomed(t *testing.T) {
	p := place{focus: action.Day, zoom: true}
	if p.whole() {
		t.Error("the day has the whole body")
	}
	if p.move(action.Logs); p.lower != action.Logs || !p.whole() {
		t.Errorf("after 6 it is %+v", p)
	}
}

func TestAFrameWaitsForTheOneBeforeUnlessAKeyAskedForIt(t *testing.T) {
	var p pacer
	now := day
	expect := func(after time.Duration, when urgency, paint bool, later time.Duration) {
		t.Helper()
		if gotPaint, gotLater := p.decide(now.Add(after), when); gotPaint != paint || gotLater != later {
			t.Errorf("after %v: %t, %v; want %t, %v", after, gotPaint, gotLater, paint, later)
		}
	}
	expect(0, never, false, 0)
	expect(0, soon, true, 0)
	expect(10*time.Millisecond, soon, false, frameGap-10*time.Millisecond)
	expect(11*time.Millisecond, soon, false, 0) // it is on its way
	expect(12*time.Millisecond, atOnce, true, 0)
	p.due = false
	expect(12*time.Millisecond+frameGap, soon, true, 0)
}

func TestTheCoreHearsOfTheUserOnceAMinute(t *testing.T) {
	var p presence
	if !p.glance(day) || p.glance(day.Add(glanceEvery-1)) || !p.glance(day.Add(glanceEvery)) {
		t.Error("glances are not told once in a while")
	}
	if !p.input(day) || p.input(day.Add(activeEvery-1)) || !p.input(day.Add(activeEvery)) {
		t.Error("keys are not told once in a while")
	}
	p.blurred = day
	if !p.glance(day.Add(leftAlone)) || p.glance(day.Add(leftAlone+glanceEvery)) {
		t.Error("a terminal without the focus counts as looked at for an hour")
	}
	p.blurred = time.Time{}
	if !p.glance(day.Add(leftAlone + glanceEvery)) {
		t.Error("a terminal with the focus again does not count")
	}
}

func TestTheUserHearsOfACallThatIsNewOrSettledElsewhere(t *testing.T) {
	call := policy.Approval{ID: "a1", Label: "Run this command? ls", Until: day.Add(time.Minute)}
	waits := &core.Snapshot{At: day, Approvals: []policy.Approval{call}}
	keys := action.Names{}
	for _, c := range []struct {
		name         string
		visible      bool
		then         *core.Snapshot
		answer       bool
		first, later string
	}{
		{"elsewhere", false, &core.Snapshot{At: day}, false, "Run this command? ls needs your answer", textAnsweredElsewhere + "Run this command? ls"},
		{"visible", true, &core.Snapshot{At: day}, false, "", textAnsweredElsewhere + "Run this command? ls"},
		{"expired", false, &core.Snapshot{At: call.Until}, false, "needs your answer", textExpired + "Run this command? ls"},
		{"answered here", false, &core.Snapshot{At: day}, true, "needs your answer", ""},
		{"still waiting", false, waits, false, "needs your answer", ""},
	} {
		var a approvals
		texts := func(s *core.Snapshot) (string, string) {
			told := ""
			ring := a.follow(s, c.visible, keys, func(_ notice.Level, text string) { told += text })
			return told, ring
		}
		if got, ring := texts(waits); !strings.Contains(got, c.first) || (got == "") != (c.first == "") || ring != "Run this command? ls" {
			t.Errorf("%s: first it says %q and rings for %q", c.name, got, ring)
		}
		if c.answer {
			a.answer(command.Answer{ID: "a1"})
		}
		if got, ring := texts(c.then); got != c.later || ring != "" {
			t.Errorf("%s: then it says %q, want %q, and rings for %q", c.name, got, c.later, ring)
		}
		want := "allowed"
		if c.answer {
			want = "allowed: Run this command? ls"
		}
		if got := a.answerDone(command.Answer{ID: "a1"}, "allowed"); got != want {
			t.Errorf("%s: the outcome is %q, want %q", c.name, got, want)
		}
	}
}

func TestTheAgentsQuestionAboutAForkRingsOnce(t *testing.T) {
	var a approvals
	s := &core.Snapshot{Fork: &chat.Banner{Asks: true}}
	for _, want := range []string{textForkAsks, ""} {
		if ring := a.follow(s, true, action.Names{}, nil); ring != want {
			t.Errorf("it rings for %q, want %q", ring, want)
		}
	}
}

func TestChoicesAreSavedAndSurviveARestart(t *testing.T) {
	config, fixed := t.TempDir(), false
	load := func() *preferences {
		p, problems := newPreferences(config, fixed, theme.Options{Dark: true})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return p
	}
	p := load()
	for range settings.Themes {
		was := p.chosen.Get("theme")
		if err := p.choose(map[string]string{"theme": p.next("theme")}); err != nil {
			t.Fatal(err)
		}
		if now := load().chosen.Get("theme"); now == was || now != p.chosen.Get("theme") {
			t.Errorf("after %s comes %s", was, now)
		}
	}
	if got := p.chosen.Get("theme"); got != settings.Themes[0] {
		t.Errorf("after all themes it is %s", got)
	}
	fixed = true
	if err := load().choose(map[string]string{"theme": p.next("theme")}); err != nil {
		t.Fatal(err)
	}
	if left, _ := settings.Load(config); left.Get("theme") != p.chosen.Get("theme") {
		t.Errorf("the choice of a read-only dashboard is in the user's file: %v", left)
	}
}

func TestTheThemeFollowsTheBackgroundUnlessOneIsChosen(t *testing.T) {
	for name, follows := range map[string]bool{"auto": true, "contrast": true, "16": true, "dark": false, "light": false} {
		p, _ := newPreferences(t.TempDir(), false, theme.Options{Dark: true})
		if err := p.choose(map[string]string{"theme": name}); err != nil {
			t.Fatal(err)
		}
		before := p.theme
		if p.setDark(true) || p.theme != before {
			t.Errorf("%s: the same background makes another theme", name)
		}
		if !p.setDark(false) || p.followsBackground() != follows {
			t.Errorf("%s follows the background: %t", name, p.followsBackground())
		}
	}
}

func TestAFileOfKeysCountsFromTheMomentItIsSaved(t *testing.T) {
	dir := t.TempDir()
	p, _ := newPreferences(dir, false, theme.Options{})
	if p.keysChanged() {
		t.Error("nothing was saved")
	}
	if err := os.WriteFile(filepath.Join(dir, settings.KeysFile), []byte("view.help: f5\nno.such: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !p.keysChanged() {
		t.Fatal("the file was saved")
	}
	if problems := p.readKeys(); len(problems) != 1 || p.keysChanged() {
		t.Errorf("problems %v, changed %t", problems, p.keysChanged())
	}
}

// idle is a core whose commands end at once.
type idle struct {
	pane.Reader
	err error
}

func (c idle) Do(context.Context, command.Value) (command.Outcome, error) {
	return command.Outcome{Message: "done"}, c.err
}

func (idle) Snapshot() core.Snapshot { return core.Snapshot{At: day} }

func TestACommandEndsWithItsOutcomeAndTheSnapshotAfterIt(t *testing.T) {
	full := errors.New("the disk is full")
	q := commandQueue{ctx: t.Context(), core: idle{err: full}, busy: map[command.Lane]bool{}}
	msg, ok := q.start(doneMsg{command: command.Pause{ID: "x"}})().(doneMsg)
	if !ok || !errors.Is(msg.err, full) || msg.outcome.Message != "done" || !msg.snap.At.Equal(day) || msg.command != (command.Pause{ID: "x"}) {
		t.Errorf("it ends with %+v", msg)
	}
}

func TestAPanicWhileReadingClosesThePageAndIsSaid(t *testing.T) {
	q := commandQueue{ctx: t.Context(), core: idle{}}
	broken := func(context.Context, pane.Reader) pane.Loaded { panic("the page is broken") }
	var a pane.Answer
	msg, ok := q.load(broken, func(got pane.Loaded) tea.Cmd {
		a = got(pane.Context{})
		return nil
	})().(loadedMsg)
	if !ok || a.Close {
		t.Fatalf("it ends before the program takes it: %+v", a)
	}
	if msg(); !a.Close || !strings.Contains(a.Toast, "the page is broken") {
		t.Errorf("it wants %+v", a)
	}
}

func TestInputThatFollowsHeldInputIsHeldToo(t *testing.T) {
	var q commandQueue
	waits := func(msg tea.Msg) bool { return msg == "change" }
	for _, c := range []struct {
		msg  string
		held bool
	}{{"move", false}, {"change", true}, {"move", true}} {
		if got := q.hold(c.msg, waits); got != c.held {
			t.Errorf("%s is held: %t", c.msg, got)
		}
	}
	if msg, ok := q.release(waits); ok {
		t.Errorf("%v comes too early", msg)
	}
	for _, want := range []string{"change", "move"} {
		if msg, ok := q.release(func(tea.Msg) bool { return false }); !ok || msg != want {
			t.Errorf("released %v, want %s", msg, want)
		}
	}
	if _, ok := q.release(waits); ok {
		t.Error("nothing is left")
	}
}

func TestAFailedUndoCanBeTriedAgain(t *testing.T) {
	d := newDashboard(Options{}, environment{w: 80, h: 24}, fullTail)
	back := command.RestoreBudget{Capacity: 5}
	d.failed(doneMsg{command: back, change: &undo.Change{Name: "5 → 6", Step: back}, err: errors.New("the disk is full")})
	if c, _ := d.changes.Next(undo.Back); c.Step != command.Value(back) {
		t.Errorf("to undo there is %v", c)
	}
	d.failed(doneMsg{command: command.Say{Text: "half a thought"}, err: errors.New("no engine")})
	if got := d.chat().Draft(); got != "half a thought" {
		t.Errorf("the draft is %q", got)
	}
	d.succeeded(doneMsg{command: command.SetBudget{}, outcome: command.Outcome{Message: "5 → 6", Undo: back}})
	if said := d.toasts.Showing(time.Now()); said[len(said)-1].Text != "5 → 6 · u undoes" || said[len(said)-1].Level != notice.Info {
		t.Errorf("it says %+v", said)
	}
}
