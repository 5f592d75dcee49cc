package widget

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"ollimbot/core/base/tail"
	"ollimbot/core/base/testkit"
	"ollimbot/tui/theme"
)

func TestLinesThatFitDoNotMoveSideways(t *testing.T) {
	b := newBench(100, 27, 3)
	b.say("a line of eighteen", "short")
	b.screen()
	for range 3 {
		if r, _ := b.Do("right"); r != (Reply{}) {
			t.Errorf("it says %q", r.Toast)
		}
		b.want(t, "all of it stays", " text   a line of eighteen", " text   short", "")
	}
}

func TestSidewaysEndsWithTheLongestLineOnTheScreen(t *testing.T) {
	b := newBench(100, 27, 3)
	b.say(strings.Repeat("far ", 40), "begins, 123456789012345678", "short", "ends")
	b.screen()
	for range 9 {
		b.Do("right")
	}
	b.want(t, "its end is in sight", " text   ‹123456789012345678", " text   ‹", " text   ‹")
	b.Do("left")
	b.want(t, "one step back is the beginning", " text   begins, 1234567890…", " text   short", " text   ends")
}

// What is wrapped anyway does not move and sets no end.
func TestAnErrorOfSeveralRowsDoesNotMove(t *testing.T) {
	b := newBench(100, 27, 6)
	b.ring.Add(tail.Line{Kind: tail.Error, Text: strings.Repeat("why ", 12)})
	b.say("short")
	before := strings.Join(b.screen(), "\n")
	b.Do("right")
	if after := strings.Join(b.screen(), "\n"); after != before {
		t.Errorf("it has moved:\n%s", after)
	}
}

func TestTheMarkOfWhatIsToTheLeftIsDrawnByEveryTerminal(t *testing.T) {
	b := newBench(100, 27, 1)
	b.theme = theme.New(theme.Options{Plain: true, ASCII: true})
	b.say("x" + strings.Repeat("日本", 20))
	b.screen()
	b.Do("right")
	if l := b.Lines(b.theme, b.w, b.h, true)[0]; !strings.HasPrefix(l, " text   <") || Cells(l) != 27 {
		t.Errorf("%q of %d cells", l, Cells(l))
	}
}

func TestTheOldestLineStandsBelowTheCountOfThoseThatAreGone(t *testing.T) {
	b := newBench(maxTail, 60, 3)
	b.write(maxTail + 1) // at once, as a run that was full before anybody looked
	b.screen()
	b.home()
	b.want(t, "a ring that has lost a line", "▸         note   1 earlier line no longer kept", " 00:00:02 text   line 2", " 00:00:03 text   line 3")
	b.Follow()
	b.write(70) // the view forgets by itself
	b.screen()
	b.home()
	b.want(t, "a view that has grown", "▸         note   71 earlier lines no longer kept", " 00:01:12 text   line 72", " 00:01:13 text   line 73")
	if text := b.copyLine().Copy; text != "line 72" {
		t.Errorf("%q is copied", text)
	}
	if b.Len() != maxTail {
		t.Errorf("%d lines are kept", b.Len())
	}
	b.up(1)
	b.down(1)
	b.want(t, "a line further down", "▸00:01:12 text   line 72", " 00:01:13 text   line 73", " 00:01:14 text   line 74")
}

func TestACountThatAppearsAboveAPausedReaderMovesNothing(t *testing.T) {
	b := newBench(1000, 28, 3)
	b.keep = 10
	b.write(10)
	b.screen()
	b.up(5)
	before := strings.Join(b.screen(), "\n")
	b.write(2) // two lines above the reader go
	if after := strings.Join(b.screen(), "\n"); !strings.HasPrefix(after, before[:20]) {
		t.Errorf("the reader was moved from\n%s\nto\n%s", before, after)
	}
	b.home()
	b.want(t, "at the top", "▸note   2 earlier lines no …", " text   line 3", " text   line 4      ▼ 2 new")
}

// Whatever comes, however fast, and whatever is done: each line of the tail is
// either shown or counted, and no count is a line.
func TestEveryLineIsShownOrCounted(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		b := newBench(rapid.IntRange(1, 12).Draw(t, "ring"), 60, rapid.IntRange(1, 6).Draw(t, "h"))
		b.keep = rapid.IntRange(1, 12).Draw(t, "kept")
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			b.Do(rapid.SampledFrom([]string{"up", "down", "pgup", "pgdn", "home", "follow", "wrap", "time"}).Draw(t, "verb"))
			n := rapid.IntRange(0, 9).Draw(t, "lines")
			for range n {
				b.n++
				b.ring.Add(line(b.n))
			}
			if rapid.Bool().Draw(t, "look") {
				b.sync()
				b.screen()
			}
		}
		b.sync()
		b.screen()
		b.home()
		b.timeless = false
		h := b.h
		b.h = 100
		at := 0 // lines of the tail that are accounted for
		for _, l := range b.screen() {
			var number, missing int
			switch {
			case l == "":
			case scan(l, "text line %d", &number):
				if at++; number != at {
					t.Fatalf("line %d stands where %d belongs:\n%s", number, at, strings.Join(b.screen(), "\n"))
				}
			case scan(l, "note %d", &missing):
				at += missing
			default:
				t.Fatalf("what is %q?", l)
			}
		}
		if at+int(b.behind) != b.n {
			t.Fatalf("%d of %d lines are accounted for:\n%s", at, b.n, strings.Join(b.screen(), "\n"))
		}
		b.h = h
		if text := b.copyAll().Copy; strings.Contains(text, "no longer kept") {
			t.Fatalf("the count is copied:\n%s", text)
		}
		b.Find()
		typed(&b.Scroll, "l", "o", "n", "g", "e", "r")
		if len(b.find.hits) > 0 {
			t.Fatal("the count is found")
		}
	})
}

func line(n int) tail.Line {
	return tail.Line{Kind: tail.Text, Text: fmt.Sprintf("line %d", n)}
}

// scan reads a number out of a drawn line, behind its columns.
func scan(l, format string, n *int) bool {
	words := strings.Join(strings.Fields(strings.TrimLeft(l, "▸ ")), " ")
	words = strings.ReplaceAll(words, ",", "")
	_, err := fmt.Sscanf(words, format, n)
	return err == nil
}

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
	b := newBench(maxTail, 60, 6)
	b.write(300)
	b.screen()
	b.Do("pgup")
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
	b.home()
	b.filterBy("line 19")
	b.screen()
	b.EndFind()
	b.screen()
	if b.New() != 0 {
		t.Errorf("%d lines are new, and all were there when the end was seen", b.New())
	}
}

func TestAFilterCountsWhatIsNewOfWhatItShows(t *testing.T) {
	b := newBench(maxTail, 60, 4)
	b.write(20)
	b.screen()
	b.up(1)
	b.screen()
	b.write(20) // 21 to 40
	b.filterBy("5")
	b.home()
	b.screen()
	b.up(1)
	if got := b.New(); got != 1 {
		t.Errorf("%d are new, want line 35 alone (25 is on the screen)", got)
	}
	b.EndFind()
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
		if !b.filter.on() || b.filter.keeps(l, time.Time{}) {
			n++
		}
	}
	return n
}

// Whatever a reader does, the badge counts what a plain list of all lines with
// a mark behind the newest one that was seen would count.
func TestTheBadgeCountsWhatWasNeverOnTheScreen(t *testing.T) {
	words := []string{"red", "green", "blue"}
	testkit.Check(t, func(t *rapid.T) {
		b := newBench(maxTail, 60, rapid.IntRange(2, 9).Draw(t, "h"))
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
			"next":   func() { b.nextHit(rapid.SampledFrom([]string{"next", "prev"}).Draw(t, "verb") == "prev") },
			"filter": func() { b.filterBy(rapid.SampledFrom([]string{"red", "!red", "7", "nothing", ""}).Draw(t, "filter")) },
			"level":  func() { b.nextLevel() }, "leave": func() { b.EndFind() },
			"up": func() { b.up(rapid.IntRange(1, 12).Draw(t, "up")) }, "down": func() { b.down(rapid.IntRange(1, 12).Draw(t, "down")) },
			"home": b.home, "end": b.Follow, "wrap": b.toggleWrap, "time": func() { b.Do("time") },
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
