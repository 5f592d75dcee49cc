package updates

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core"
	"ollimbot/core/base/testkit"
	"ollimbot/core/work/updates"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

var start = time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)

// filled is a pane of n updates, whose messages have the words that words says, and its context.
func filled(n int, words func(i int) int) (*Pane, pane.Context) {
	snap := &core.Snapshot{At: start.AddDate(0, 0, 30), Zone: time.UTC}
	for i := range n {
		snap.Updates = append(snap.Updates, updates.Update{
			Key: fmt.Sprint(i), At: start.Add(time.Duration(i) * time.Minute),
			Message: fmt.Sprintf("no%d", i) + strings.Repeat(" word", words(i)),
		})
	}
	c := pane.Context{Snap: snap, Theme: theme.New(theme.Options{Plain: true})}
	p := New()
	p.Sync(c)
	return p, c
}

func TestAFrameOfTenThousandUpdatesCostsWhatOneOfAHundredDoes(t *testing.T) {
	cost := func(n int) float64 {
		p, c := filled(n, func(int) int { return 3 })
		return testing.AllocsPerRun(3, func() { p.Draw(c, 60, 20, true) })
	}
	if few, many := cost(100), cost(10_000); many > few*1.1 {
		t.Errorf("%.0f allocations, and for a hundred %.0f", many, few)
	}
}

// The lines on the screen are updates that follow one another, the selected one among them
// and none cut but by the end of the pane, wherever the user goes.
func TestTheSelectedUpdateIsOnTheScreenAmongItsNeighbours(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		n, w, h := rapid.IntRange(1, 40).Draw(t, "n"), rapid.IntRange(12, 60).Draw(t, "w"), rapid.IntRange(1, 30).Draw(t, "h")
		lengths := rapid.SliceOfN(rapid.IntRange(0, 30), n, n).Draw(t, "words")
		p, c := filled(n, func(i int) int { return lengths[i] })
		for range rapid.IntRange(1, 10).Draw(t, "moves") {
			verb := rapid.SampledFrom([]string{"up", "down", "pgup", "pgdn", "top", "bottom"}).Draw(t, "verb")
			p.Do(c, action.ID("updates."+verb))
			rows := p.Draw(c, w, h, true)
			if len(rows) != h {
				t.Fatalf("%d rows in %d lines", len(rows), h)
			}
			var shown []widget.Place
			for _, r := range rows {
				if r.Place != widget.Nowhere && !slices.Contains(shown, r.Place) {
					shown = append(shown, r.Place)
				}
			}
			_, selected := p.Nth(p.At())
			if !slices.Contains(shown, selected) {
				t.Fatalf("%d is selected, on the screen are %v", selected, shown)
			}
			for i, place := range shown {
				if place != shown[0]+widget.Place(i) {
					t.Fatalf("on the screen are %v", shown)
				}
			}
			if len(shown) < min(n, 3, h) {
				t.Fatalf("only %v of %d are on the screen of %d lines", shown, n, h)
			}
			if len(shown) == n {
				continue
			}
			for _, r := range rows {
				if r.Place == widget.Nowhere {
					t.Fatalf("%d of %d are shown, and a line is empty", len(shown), n)
				}
			}
		}
	})
}
