package tui

import (
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/talk/notice"
	"ollimbot/tui/action"
	"ollimbot/tui/undo"
)

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
