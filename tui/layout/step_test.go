package layout

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/tui/action"
)

// The steps of a pane's size, as the dashboard has them.
const (
	columnStep = 4
	rowStep    = 2
)

// roomy draws a screen that has borders to move.
func (in Input) roomy(t *rapid.T) Input {
	in.W, in.H = rapid.IntRange(FullWidth, 260).Draw(t, "w"), rapid.IntRange(fullHeight, 90).Draw(t, "h")
	return in.focused(t)
}

// size is what a step would move: the width of the focused pane, or its rows.
func (in Input) size(wide bool) int {
	b, _ := Divide(in).Find(in.Focus)
	if wide {
		return b.W
	}
	return b.H
}

// Find gives the box of a pane that is on screen.
func (p Plan) Find(pane action.Pane) (Box, bool) {
	for _, c := range p.Columns {
		for _, b := range c.Boxes {
			if b.Pane == pane {
				return b, true
			}
		}
	}
	return Box{}, false
}

// ends are the least and the most that the size of the focused pane can be: what
// the others of its column leave, when they have no more than they must.
func (in Input) ends(wide bool) (least, most int) {
	if wide {
		least, most = leastColumn, in.W-leastColumn
		if wide := in.widths(); len(wide) == 3 {
			most = in.W / 2
			switch in.Focus {
			case action.Forks, action.Budget:
				least, most = in.W-most-wide[2], in.W-least-wide[2]
			case action.Chat, action.Logs:
				least, most = leastColumn, in.rightLimits().most
			}
		}
		return least - 2, most - 2
	}
	for _, column := range in.slots() {
		if len(column) == 1 && (column[0].pane == in.Focus || len(column[0].tabs) > 0 && slices.Contains(column[0].tabs, in.Focus)) {
			return in.size(false), in.size(false)
		}
		sum := 0
		for _, s := range column {
			if s.pane != in.Focus {
				sum += s.least
				continue
			}
			least, most = s.least, in.rows(column)
		}
		if least > 0 {
			return least, most - sum
		}
	}
	return 0, 0
}

func TestAStepThatCanBeSeenIsSeenAndTheStepBackTakesItBack(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		in := Input{Preset: rapid.SampledFrom(Presets).Draw(t, "preset"), Size: Size{Columns: rapid.IntRange(-300, 300).Draw(t, "columns"), Rows: map[action.Pane]int{}}}
		for _, p := range action.Panes {
			in.Rows[p] = rapid.IntRange(-60, 60).Draw(t, string(p))
		}
		for range rapid.IntRange(1, 20).Draw(t, "history") {
			in = in.roomy(t)
			wide := rapid.Bool().Draw(t, "wide")
			by := rapid.SampledFrom([]int{1, -1}).Draw(t, "by")
			for range rapid.IntRange(1, 25).Draw(t, "times") {
				in = in.stepsOnce(t, wide, by)
			}
		}
	})
}

// stepsOnce takes a step and holds it against what it promises.
func (in Input) stepsOnce(t *rapid.T, wide bool, by int) Input {
	columns, rows := 0, by*rowStep
	if wide {
		columns, rows = by*columnStep, 0
	}
	before := in.size(wide)
	least, most := in.ends(wide)
	out, ok := in.Step(in.Focus, columns, rows)
	after := out.size(wide)
	step := columns + rows
	possible := by > 0 && before+step <= most || by < 0 && before+step >= least
	switch {
	case ok != possible:
		t.Fatalf("from %d of %d to %d a step of %d is taken: %t", before, least, most, by, ok)
	case !ok:
		if d := cmp.Diff(in, out); d != "" {
			t.Fatalf("no step, but:\n%s", d)
		}
		return out
	case after-before != step:
		t.Fatalf("a step of %d goes from %d to %d", by, before, after)
	}
	back, ok := out.Step(in.Focus, -columns, -rows)
	if got := back.size(wide); !ok || got != before {
		t.Fatalf("from %d to %d, and back to %d (%t)", before, after, got, ok)
	}
	return out
}

func TestStepsThereAndBackLeaveTheOtherPanesAsTheyWere(t *testing.T) {
	in := Input{W: 160, H: 50, Focus: action.Updates}
	want := numbers(Divide(in))
	for _, by := range []int{rowStep, -rowStep} {
		for range 3 {
			in, _ = in.Step(action.Updates, 0, by)
		}
	}
	if d := cmp.Diff(want, numbers(Divide(in))); d != "" {
		t.Error(d)
	}
}

func TestABoxThatIsSharedHasOneSize(t *testing.T) {
	in := Input{W: 120, H: 40, Focus: action.Chat}
	in, _ = in.Step(action.Chat, 0, rowStep)
	want := in.size(false)
	in.Focus, in.Lower = action.Logs, action.Logs
	if got := in.size(false); got != want {
		t.Errorf("%d rows for the logs, %d for the chat", got, want)
	}
}

func TestWhereNoBordersAreNothingIsMoved(t *testing.T) {
	for _, in := range []Input{{W: 80, H: 24}, {W: 40, H: 10}, {W: 200, H: 60, Zoom: true}, {W: 3, H: 3}} {
		in.Focus = action.Forks
		if _, ok := in.Step(action.Forks, columnStep, rowStep); ok {
			t.Errorf("%d×%d has moved", in.W, in.H)
		}
	}
}
