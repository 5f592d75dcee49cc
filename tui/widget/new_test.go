package widget

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"ollimbot/core/tail"
)

// find writes a search and keeps it.
func (b *bench) findBy(words string) {
	b.Find()
	for range b.find.field.Text() {
		b.Type(tea.KeyPressMsg{Code: tea.KeyBackspace})
	}
	for _, r := range words {
		b.Type(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	b.Type(tea.KeyPressMsg{Code: tea.KeyEnter})
}

func TestAfterTheEndWasSeenAFilterMakesNothingNew(t *testing.T) {
	b := newBench(MaxTail, 60, 6)
	b.write(300)
	b.screen()
	b.Page(-1)
	b.screen()
	b.findBy("line 2")
	b.screen()
	b.EndFind()
	b.filterBy("7")
	b.screen()
	b.EndFind()
	b.write(200)
	b.screen()
	b.Follow()
	b.screen()
	b.write(200)
	b.Home()
	b.filterBy("line 19")
	b.screen()
	b.EndFind()
	b.screen()
	if b.New() != 0 {
		t.Errorf("%d lines are new, and all were there when the end was seen", b.New())
	}
}

func TestAFilterCountsWhatIsNewOfWhatItShows(t *testing.T) {
	b := newBench(MaxTail, 60, 4)
	b.write(20)
	b.screen()
	b.Up(1)
	b.screen()
	b.write(20) // 21 to 40
	b.filterBy("5")
	b.Home()
	b.screen()
	b.Up(1)
	if got := b.New(); got != 1 {
		t.Errorf("%d are new, want line 35 alone (25 is on the screen)", got)
	}
	b.EndFilter()
	b.screen()
	if got := b.New(); got != 15 {
		t.Errorf("%d are new behind line 25", got)
	}
}

var drawn = regexp.MustCompile(`(?:red|green|blue) (\d+)\b`)

// plainSeen is a plain model of what is new: the lines behind the newest one
// that was on the screen, or that existed when the reader left the end.
type plainSeen struct {
	lines []tail.Line
	seen  int // lines that are not new
}

// look takes over what is on the screen.
func (m *plainSeen) look(b *bench) {
	if b.Following() {
		m.seen = len(m.lines)
	}
	for _, l := range b.screen() {
		for _, hit := range drawn.FindAllStringSubmatch(l, -1) {
			n, _ := strconv.Atoi(hit[1])
			m.seen = max(m.seen, n)
		}
	}
	if b.Following() {
		m.seen = len(m.lines)
	}
}

func (m *plainSeen) fresh(b *bench) (n uint64) {
	for _, l := range m.lines[m.seen:] {
		if !b.filter.on() || b.filter.keeps(l) {
			n++
		}
	}
	return n
}

// Whatever a reader does, the badge counts what a plain list of all lines with
// a mark behind the newest one that was seen would count.
func TestTheBadgeCountsWhatWasNeverOnTheScreen(t *testing.T) {
	words := []string{"red", "green", "blue"}
	rapid.Check(t, func(t *rapid.T) {
		b := newBench(MaxTail, 60, rapid.IntRange(2, 9).Draw(t, "h"))
		m := &plainSeen{}
		grow := func() {
			for range rapid.IntRange(1, 30).Draw(t, "lines") {
				l := tail.Line{
					At: time.Unix(0, 0), Kind: rapid.SampledFrom([]tail.Kind{tail.Debug, tail.Info, tail.Warn}).Draw(t, "kind"),
					Text: fmt.Sprintf("%s %d", rapid.SampledFrom(words).Draw(t, "text"), len(m.lines)+1),
				}
				m.lines = append(m.lines, l)
				b.ring.Add(l)
			}
			b.sync()
		}
		steps := map[string]func(){
			"grow": grow, "more": grow,
			"find":   func() { b.findBy(rapid.SampledFrom([]string{"red", "7", "nothing"}).Draw(t, "find")) },
			"next":   func() { b.Hit(rapid.SampledFrom([]int{1, -1}).Draw(t, "by")) },
			"filter": func() { b.filterBy(rapid.SampledFrom([]string{"red", "!red", "7", "nothing", ""}).Draw(t, "filter")) },
			"level":  func() { b.NextLevel() }, "leave": func() { b.EndFind() },
			"up": func() { b.Up(rapid.IntRange(1, 12).Draw(t, "up")) }, "down": func() { b.Down(rapid.IntRange(1, 12).Draw(t, "down")) },
			"home": b.Home, "end": b.Follow, "wrap": b.ToggleWrap, "time": b.toggleTimes,
		}
		names := []string{"grow", "more", "find", "next", "filter", "level", "leave", "up", "down", "home", "end", "wrap", "time"}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			if b.Following() { // all that is here now was here before the reader leaves
				m.seen = len(m.lines)
			}
			steps[rapid.SampledFrom(names).Draw(t, "step")]()
			if rapid.Bool().Draw(t, "drawn") {
				m.look(b)
			}
			if b.Following() {
				m.seen = len(m.lines)
			}
			if got, want := b.New(), m.fresh(b); got != want {
				t.Fatalf("%d are new, a list says %d (%d of %d seen)", got, want, m.seen, len(m.lines))
			}
		}
	})
}
