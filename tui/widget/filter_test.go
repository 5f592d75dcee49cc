package widget

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"ollimbot/core/base/tail"
	"ollimbot/core/base/testkit"
	"ollimbot/tui/theme"
)

// filterBy writes a filter and keeps it.
func (b *bench) filterBy(words string) {
	b.Filter()
	for range b.filter.Text() {
		b.Type(tea.KeyPressMsg{Code: tea.KeyBackspace})
	}
	for _, r := range words {
		b.Type(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	b.Type(tea.KeyPressMsg{Code: tea.KeyEnter})
}

func TestAFilterShowsOnlyWhatHoldsItsWord(t *testing.T) {
	b := newBench(100, 27, 5)
	b.say("a tree", "a house", "another Tree", "a car")
	b.screen()
	b.filterBy("tree")
	b.want(t, "trees", " text   a tree", " text   another Tree", "", "", " /tree        2 of 4 lines")
	b.say("a third tree", "a boat")
	b.want(t, "what comes is filtered too", " text   a tree", " text   another Tree", " text   a third tree", "", " /tree        3 of 6 lines")
	b.filterBy("!tree")
	b.want(t, "all but trees", " text   a house", " text   a car", " text   a boat", "", " /!tree       3 of 6 lines")
	b.EndFind()
	b.want(t, "everything", " text   a house", " text   another Tree", " text   a car", " text   a third tree", " text   a boat")
}

// Who has found a line in a filtered tail sees what stands around it when the
// filter goes: the line keeps its place on the screen.
func TestALineFoundByAFilterIsShownInItsContext(t *testing.T) {
	b := newBench(1000, 27, 7)
	for i := range 300 {
		b.say(fmt.Sprint("line ", i), fmt.Sprint("word ", i))
	}
	b.screen()
	b.filterBy("word 1")
	b.screen()
	b.up(3)
	b.screen()
	marked := b.copyLine().Copy
	y := b.lineOf(b.mark, b.top)
	b.EndFind()
	screen := b.screen()
	if !strings.HasSuffix(screen[y], marked) || !strings.HasPrefix(screen[y], "▸") {
		t.Errorf("%q stood on line %d of\n%s", marked, y, strings.Join(screen, "\n"))
	}
	if y > 0 && !strings.Contains(screen[y-1], "line") {
		t.Errorf("no context in\n%s", strings.Join(screen, "\n"))
	}
}

func TestAFilteredTailThatIsPausedDoesNotMove(t *testing.T) {
	b := newBench(maxTail, 27, 4)
	for i := range 3000 {
		b.say(fmt.Sprint("line ", i), fmt.Sprint("word ", i))
	}
	b.screen()
	b.filterBy("word")
	b.screen()
	b.up(2)
	before := b.screen()[:2]
	for i := range 4 * maxTail {
		b.ring.Add(tail.Line{Kind: tail.Text, Text: fmt.Sprint("word ", i+3000)})
		if i%37 == 0 {
			b.sync()
		}
	}
	b.sync()
	if d := cmp.Diff(before, b.screen()[:2]); d != "" {
		t.Errorf("the reader was moved:\n%s", d)
	}
	if b.Len() > maxTail {
		t.Errorf("%d lines are kept", b.Len())
	}
	b.Follow()
	b.sync()
	if got := b.screen(); !strings.Contains(got[2], fmt.Sprint("word ", 4*maxTail+2999)) {
		t.Errorf("the end is not reached:\n%s", strings.Join(got, "\n"))
	}
}

// Whatever is done with it, a filtered view shows the lines that a plain loop
// over all lines would keep, in their order and without a gap.
func TestAFilterShowsTheLinesThatALoopWouldKeep(t *testing.T) {
	words := []string{"red", "green", "blue", "!red", "", "!", "e", "error", "nothing"}
	testkit.Check(t, func(t *rapid.T) {
		b := newBench(60, 40, rapid.IntRange(1, 9).Draw(t, "h"))
		var kept []tail.Line
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			switch rapid.IntRange(0, 6).Draw(t, "step") {
			case 0, 1:
				for range rapid.IntRange(1, 30).Draw(t, "lines") {
					b.n++
					l := tail.Line{
						Kind: rapid.SampledFrom([]tail.Kind{tail.Debug, tail.Info, tail.Warn, tail.Error}).Draw(t, "kind"),
						Text: fmt.Sprintf("%s %d", rapid.SampledFrom(words[:3]).Draw(t, "text"), b.n),
					}
					b.ring.Add(l)
				}
				b.sync()
			case 2:
				b.filterBy(rapid.SampledFrom(words).Draw(t, "words"))
			case 3:
				b.nextLevel()
			case 4:
				b.up(rapid.IntRange(1, 12).Draw(t, "up"))
			case 5:
				b.down(rapid.IntRange(1, 12).Draw(t, "down"))
			case 6:
				b.EndFind()
			}
			b.screen()
			kept = kept[:0]
			for _, l := range b.lines {
				if b.filter.keeps(l.Line, time.Time{}) {
					kept = append(kept, l.Line)
				}
			}
			var shown []tail.Line
			first, end := b.bounds()
			for i := first; i < end; i++ {
				if !b.leftOut(i) {
					shown = append(shown, b.at(i))
				}
			}
			if d := cmp.Diff(kept, shown, cmpopts.EquateEmpty()); d != "" {
				t.Fatalf("(-loop +shown):\n%s", d)
			}
			if first < end && b.leftOut(b.mark) {
				t.Fatalf("the mark %d is left out", b.mark)
			}
			if first < end && (b.mark < first || b.mark >= end) {
				t.Fatalf("the mark %d is not in [%d, %d)", b.mark, first, end)
			}
		}
	})
}

func TestTheMarkedLineStaysWhenTheTimesGo(t *testing.T) {
	b := newBench(100, 60, 12)
	b.Wrap = true
	for i := range 20 {
		b.say(fmt.Sprint("begin ", i, " ", strings.Repeat("words that go on ", 7)))
	}
	b.screen()
	b.up(9)
	b.screen()
	marked, y := b.mark, b.lineOf(b.mark, b.top)
	for range 4 {
		b.Do("time")
		b.screen()
		if b.mark != marked || b.lineOf(marked, b.top) != y {
			t.Errorf("line %d stood on %d, now line %d stands on %d", marked, y, b.mark, b.lineOf(b.mark, b.top))
		}
	}
}

// Where long lines are cut, a match far to the right comes into sight, and the
// end shows the beginning of its lines again.
func TestAMatchBehindTheEdgeIsBroughtIntoSight(t *testing.T) {
	b := newBench(100, 60, 4)
	b.say("short needle", strings.Repeat("hay ", 60)+"needle "+strings.Repeat("hay ", 20), "the end")
	b.screen()
	b.Find()
	for _, r := range "needle" {
		b.Type(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	if screen := strings.Join(b.screen(), "\n"); !strings.Contains(screen, "needle hay") {
		t.Errorf("the match is not in sight:\n%s", screen)
	}
	b.nextHit(false)
	if screen := strings.Join(b.screen(), "\n"); !strings.Contains(screen, "short needle") {
		t.Errorf("the next one is not in sight:\n%s", screen)
	}
	b.EndFind()
	if screen := strings.Join(b.screen(), "\n"); !strings.Contains(screen, "the end") || b.left != 0 {
		t.Errorf("the search has ended:\n%s", screen)
	}
}

func TestSpansAreWrappedAsTheirTextIs(t *testing.T) {
	texts := []string{"word", " ", "  ", "日本語", "👍🏽", "a-long-word-without-end", "e\u0301", "مرحبا", "x"}
	testkit.Check(t, func(t *rapid.T) {
		var spans []Span
		var whole string
		for range rapid.IntRange(0, 12).Draw(t, "n") {
			s := Span{theme.Role(rapid.IntRange(0, 5).Draw(t, "role")), rapid.SampledFrom(texts).Draw(t, "text")}
			spans, whole = append(spans, s), whole+Tidy(s.Text)
		}
		w := rapid.IntRange(2, 30).Draw(t, "w")
		var got []string
		for _, row := range WrapSpans(spans, w) {
			text := ""
			for _, s := range row {
				text += s.Text
			}
			got = append(got, text)
		}
		if d := cmp.Diff(Wrap(whole, w), got); d != "" {
			t.Fatalf("(-text +spans):\n%s", d)
		}
	})
}

func TestAMatchGoesOnInTheNextSpan(t *testing.T) {
	row := newMatcher("ab c").MarkSpans([]Span{{theme.Strong, "xa"}, {theme.Text, "b"}, {theme.Dim, " cd"}})
	want := []Span{{theme.Strong, "x"}, {theme.Match, "ab c"}, {theme.Dim, "d"}}
	if d := cmp.Diff(want, row); d != "" {
		t.Error(d)
	}
}

func TestCodeIsCutWhereTheBoxEnds(t *testing.T) {
	if d := cmp.Diff([]string{"a  b ", " 日本"}, HardWrap("a  b  日本", 5)); d != "" {
		t.Error(d)
	}
	for _, w := range []int{1, 2, 5, 9} {
		s := "a  b  日本👍 \tend"
		parts := HardWrap(s, w)
		if strings.Join(parts, "") != Tidy(s) {
			t.Errorf("%d cells: %q", w, parts)
		}
		for _, p := range parts {
			if w > 1 && Cells(p) > w {
				t.Errorf("%q takes more than %d cells", p, w)
			}
		}
	}
}

// What is written behind "is:" narrows the states that are offered.
func TestTheFilterOffersTheStatesThatBeginAsWritten(t *testing.T) {
	states := func() []string { return []string{"done", "failed", "foreground"} }
	for text, want := range map[string]string{
		"is:": "is:done failed foreground", "is:F": "is:failed foreground", "mail !is:fo": "is:foreground", "is:x": "0 of 3", "mail": "0 of 3",
	} {
		var q Query
		q.Open()
		q.Set(text)
		got := q.Line(Brush{Theme: &theme.Theme{}}, 80, "0 of 3", states)
		if _, right, _ := strings.Cut(got, text); strings.TrimSpace(right) != want {
			t.Errorf("%q offers %q", text, right)
		}
	}
}
