package watch

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func newPending() *pending {
	return &pending{names: map[string]span{}}
}

func TestAFileIsToldAfterItsSilence(t *testing.T) {
	p := newPending()
	p.add("a", noon)
	p.add("a", noon.Add(20*time.Millisecond))
	if b := p.take(noon.Add(30 * time.Millisecond)); len(b.Names) != 0 {
		t.Errorf("told too early: %v", b)
	}
	if b := p.take(noon.Add(50 * time.Millisecond)); !slices.Equal(b.Names, []string{"a"}) {
		t.Errorf("got %v", b)
	}
	if !p.at.IsZero() {
		t.Error("something still waits")
	}
}

func TestAFullBatchTakesEverythingAlong(t *testing.T) {
	p := newPending()
	p.add("", noon)
	p.add("a", noon.Add(29*time.Millisecond))
	if b := p.take(noon.Add(30 * time.Millisecond)); !b.Full || len(b.Names) != 0 {
		t.Errorf("got %v", b)
	}
	if b := p.take(noon.Add(time.Second)); b.Full || len(b.Names) != 0 {
		t.Errorf("told twice: %v", b)
	}
}

// Whatever is touched and whenever: each touch is reported after it, no later than the
// delay (plus a third of quietFor between two batches), and never without need.
func TestEveryTouchIsToldInTime(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		p := newPending()
		waiting := map[string]time.Time{} // first unreported touch
		now := noon
		deliver := func() {
			for _, name := range p.take(now).Names {
				first, ok := waiting[name]
				if !ok {
					rt.Fatalf("%s was told without a touch", name)
				}
				if late := now.Sub(first); late > holdAtMost+quietFor/3 {
					rt.Fatalf("%s was told after %v", name, late)
				}
				delete(waiting, name)
			}
		}
		for range rapid.IntRange(1, 200).Draw(rt, "touches") {
			next := now.Add(time.Duration(rapid.IntRange(0, 60).Draw(rt, "pause")) * time.Millisecond)
			for at := p.at; !at.IsZero() && !at.After(next); at = p.at {
				now = at
				deliver()
			}
			now = next
			name := fmt.Sprint(rapid.IntRange(0, 5).Draw(rt, "name"))
			p.add(name, now)
			if _, ok := waiting[name]; !ok {
				waiting[name] = now
			}
		}
		for at := p.at; !at.IsZero(); at = p.at {
			now = at
			deliver()
		}
		if len(waiting) > 0 {
			rt.Fatalf("never told: %v", waiting)
		}
	})
}
