package undo

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
)

// program is something with a number that can be changed, and the history of that.
type program struct {
	History
	value int
}

// set changes the number and returns the step that changes it back.
func (p *program) set(to int) command.Value {
	was := p.value
	p.value = to
	return command.SetBudget{Capacity: &was}
}

func (p *program) change(to int) {
	name := fmt.Sprintf("number %d → %d", p.value, to)
	p.Add(Change{Name: name, Step: p.set(to)})
}

// walk carries out an undo or a redo; one that fails changes nothing.
func (p *program) walk(w Way, fails bool) {
	c, ok := p.Take(w)
	if !ok {
		return
	}
	if !fails {
		c.Step = p.set(*c.Step.(command.SetBudget).Capacity)
		w = !w
	}
	p.Put(w, c)
}

// model is the list of all values, of which one is the current.
type model struct {
	values []int
	at     int
}

func TestAnySequenceOfChangesUndoAndRedoEqualsTheModel(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		var p program
		m := model{values: []int{0}}
		for range rapid.IntRange(0, 120).Draw(t, "steps") {
			fails := rapid.Bool().Draw(t, "fails")
			switch rapid.SampledFrom([]string{"change", "undo", "undo", "redo"}).Draw(t, "step") {
			case "change":
				to := rapid.IntRange(1, 1000).Draw(t, "to")
				p.change(to)
				m.values = append(slices.Clone(m.values[:m.at+1]), to)
				m.at++
				if m.at > depth {
					m.values, m.at = m.values[1:], m.at-1
				}
			case "undo":
				p.walk(Back, fails)
				if !fails {
					m.at = max(0, m.at-1)
				}
			case "redo":
				p.walk(Forward, fails)
				if !fails {
					m.at = min(len(m.values)-1, m.at+1)
				}
			}
			if p.value != m.values[m.at] {
				t.Fatalf("the number is %d, the model's %v", p.value, m)
			}
			back, can := p.Next(Back)
			if can != (m.at > 0) || can && back.Name != fmt.Sprintf("number %d → %d", m.values[m.at-1], m.values[m.at]) {
				t.Fatalf("an undo would be %+v, %v at %v", back, can, m)
			}
			forward, can := p.Next(Forward)
			if can != (m.at+1 < len(m.values)) || can && forward.Name != fmt.Sprintf("number %d → %d", m.values[m.at], m.values[m.at+1]) {
				t.Fatalf("a redo would be %+v, %v at %v", forward, can, m)
			}
		}
	})
}

func TestANameIsShortInANarrowPlace(t *testing.T) {
	for name, want := range map[string]string{"capacity 5 → 6": "capacity 5→6", "Email sweep snoozed": "Email sweep", "": "last change"} {
		if got := (Change{Name: name}).Short(); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

func TestTheLatestChangeIsFreshUntilSomethingElseIsDone(t *testing.T) {
	var p program
	p.change(1)
	if w, ok := p.Fresh(); !ok || w != Back {
		t.Error("a change is not fresh")
	}
	p.Settle()
	if _, ok := p.Fresh(); ok {
		t.Error("an old change is fresh")
	}
	p.walk(Back, false)
	if w, ok := p.Fresh(); !ok || w != Forward {
		t.Error("what was undone cannot be redone at once")
	}
}
