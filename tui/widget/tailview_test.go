package widget

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/tail"
	"ollimbot/core/base/testkit"
	"ollimbot/tui/theme"
)

// bench is a tail view over a ring, drawn without styling.
type bench struct {
	*TailView
	ring  *tail.Ring
	theme *theme.Theme
	w, h  int
	n     int
	reads int
}

func newBench(size, w, h int) *bench {
	return &bench{TailView: NewTailView("run", false), ring: tail.New(size), theme: theme.New(theme.Options{Plain: true}), w: w, h: h}
}

// write adds lines "1", "2", … and takes them over.
func (b *bench) write(n int) {
	for range n {
		b.n++
		b.ring.Add(tail.Line{At: time.Unix(int64(b.n), 0).UTC(), Kind: tail.Text, Text: fmt.Sprintf("line %d", b.n)})
	}
	b.sync()
}

func (b *bench) say(texts ...string) {
	for _, s := range texts {
		b.ring.Add(tail.Line{Kind: tail.Text, Text: s})
	}
	b.sync()
}

func (b *bench) sync() {
	b.Sync(func(_ string, from tail.Cursor) tail.Page { b.reads++; return b.ring.Read(from) }, b.ring.Len(), time.UTC)
}

// screen draws and trims, for a w too narrow for columns.
func (b *bench) screen() []string {
	lines := b.Lines(b.theme, b.w, b.h, true)
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strings.TrimRight(l, " ")
	}
	return out
}

func (b *bench) want(t *testing.T, what string, want ...string) {
	t.Helper()
	if d := cmp.Diff(want, b.screen()); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func TestATailFollowsItsEnd(t *testing.T) {
	b := newBench(100, 14, 3)
	b.want(t, "nothing yet", "", "", "")
	b.write(2)
	b.want(t, "a short tail stands at the top", " line 1", " line 2", "")
	b.write(3)
	b.want(t, "the newest lines", " line 3", " line 4", " line 5")
	if b.State() != "following" || b.New() != 0 {
		t.Errorf("state %q, %d new", b.State(), b.New())
	}
}

func TestScrollingUpPausesAndNothingMoves(t *testing.T) {
	b := newBench(1000, 14, 3)
	b.write(10)
	b.screen()
	b.up(1)
	before := []string{" line 7", " line 8", ">line 9"}
	b.theme = theme.New(theme.Options{Plain: true, ASCII: true})
	b.want(t, "one line up", before...)
	for range 50 {
		b.write(7)
		b.want(t, "the reader's lines stay", before...)
	}
	if b.State() != "paused" || b.New() != 350 {
		t.Errorf("state %q, %d new", b.State(), b.New())
	}
	b.Follow()
	b.want(t, "the end", " line 358", " line 359", " line 360")
}

func TestTheBadgeCountsWhatIsNew(t *testing.T) {
	b := newBench(1000, 28, 2)
	b.write(5)
	b.screen()
	b.up(1)
	b.write(128)
	b.want(t, "a badge on the last line", " text   line 3", "▸text   line 4    ▼ 128 new")
	b.down(10)
	b.want(t, "what was seen is not new", "▸text   line 13", " text   line 14   ▼ 119 new")
}

func TestScrollingDownToTheEndFollowsAgain(t *testing.T) {
	b := newBench(100, 14, 3)
	b.write(10)
	b.screen()
	b.Do("pgup")
	b.want(t, "a page up keeps a line", " line 6", " line 7", "▸line 8")
	b.down(1)
	b.want(t, "a line down", " line 7", "▸line 8", " line 9")
	if b.Following() {
		t.Error("there is a line below yet")
	}
	b.Do("pgdn")
	b.want(t, "the end", " line 8", " line 9", " line 10")
	if !b.Following() {
		t.Error("a reader at the end follows")
	}
}

func TestEveryLineCanBeMarkedAndCopied(t *testing.T) {
	b := newBench(100, 14, 3)
	b.write(7)
	b.screen()
	if text := b.copyLine().Copy; text != "line 7" {
		t.Errorf("while following %q is copied", text)
	}
	seen := map[string]bool{"line 7": true}
	for range 7 {
		b.up(1)
		b.screen()
		text := b.copyLine().Copy
		seen[text] = true
	}
	for i := 1; i <= 7; i++ {
		if !seen[fmt.Sprintf("line %d", i)] {
			t.Errorf("line %d was never marked", i)
		}
	}
}

func TestCopyAllTakesTheNewestThatFit(t *testing.T) {
	b := newBench(20_000, 14, 3)
	b.write(3)
	all := b.copyAll()
	if want := "00:00:01 text   line 1\n00:00:02 text   line 2\n00:00:03 text   line 3\n"; all != (Reply{want, "copied 3 lines"}) {
		t.Errorf("%+v", all)
	}
	b.write(9000)
	all = b.copyAll()
	if len(all.Copy) > MaxCopy || !strings.HasSuffix(all.Copy, "line 9003\n") || !strings.HasPrefix(all.Toast, "copied the newest ") {
		t.Errorf("%d bytes, %q", len(all.Copy), all.Toast)
	}
}

func TestLostLinesAreNamed(t *testing.T) {
	b := newBench(3, 60, 5)
	b.write(5)
	b.want(t, "what the ring had lost before", "          note   2 earlier lines no longer kept", " 00:00:03 text   line 3", " 00:00:04 text   line 4", " 00:00:05 text   line 5", "")
	b.write(4)
	b.want(t, "what came too fast", " 00:00:05 text   line 5", "          note   1 line arrived too fast to keep", " 00:00:07 text   line 7", " 00:00:08 text   line 8", " 00:00:09 text   line 9")
}

func TestAPausedReaderIsNeverRobbed(t *testing.T) {
	b := newBench(maxTail, 14, 2)
	b.write(maxTail)
	b.screen()
	b.home()
	b.want(t, "the oldest lines", "▸line 1", " line 2")
	b.write(500)
	b.want(t, "still there", "▸line 1", " line 2")
	if b.Len() != maxTail || b.New() != 500 {
		t.Errorf("%d kept, %d new", b.Len(), b.New())
	}
	b.Follow()
	b.sync()
	b.want(t, "back at the end", " line 10499", " line 10500")
	if b.Len() > maxTail {
		t.Errorf("%d lines are kept", b.Len())
	}
}

func TestAnUnchangedTailIsNotRead(t *testing.T) {
	b := newBench(100, 14, 3)
	b.write(5)
	reads := b.reads
	b.sync()
	b.sync()
	if b.reads != reads {
		t.Errorf("read %d times more", b.reads-reads)
	}
}

func TestWrappingKeepsTheAnchorLine(t *testing.T) {
	b := newBench(100, 12, 4)
	b.theme = theme.New(theme.Options{Plain: true, ASCII: true})
	for i := range 9 {
		b.say(fmt.Sprintf("%d words that are long", i))
	}
	b.screen()
	b.up(3)
	b.want(t, "cut", " 2 words th~", " 3 words th~", " 4 words th~", ">5 words th~")
	b.toggleWrap()
	b.want(t, "wrapped: the marked line keeps its place", " 4 words", " that are", " long", ">5 words")
	b.toggleWrap()
	b.want(t, "cut again", " 2 words th~", " 3 words th~", " 4 words th~", ">5 words th~")
}

func TestLinesThatAreCutScrollSideways(t *testing.T) {
	b := newBench(100, 12, 1)
	b.say("0123456789 0123456789 the end")
	b.want(t, "the beginning", " 0123456789…")
	b.Do("right")
	b.want(t, "to its end", " ‹89 the end")
	b.Do("left")
	b.want(t, "back", " 0123456789…")
}

func typed(s *Scroll, keys ...string) {
	for _, k := range keys {
		s.Type(press(k))
	}
}

func TestFindKeepsTheContext(t *testing.T) {
	b := newBench(1000, 28, 7)
	b.theme = theme.New(theme.Options{Plain: true, ASCII: true})
	for i := range 41 {
		b.say("noise", fmt.Sprintf("Landlord %d", i), "noise")
	}
	b.screen()
	b.Find()
	typed(&b.Scroll, "l", "a", "n", "d")
	got := b.screen()
	if !strings.HasSuffix(got[6], "41 of 41") || !strings.HasPrefix(got[6], " &land") {
		t.Errorf("search line %q", got[6])
	}
	typed(&b.Scroll, "enter")
	if b.Finding() {
		t.Error("enter gives the keys back")
	}
	b.Do("prev")
	b.Do("prev")
	b.want(t, "the match with what stands around it",
		" text   noise", " text   noise", ">text   Landlord 38", " text   noise", " text   noise", " text   Landlord 39", " &land             39 of 41")
	b.Do("next")
	b.Do("next")
	b.Do("next")
	if got := b.screen(); !strings.HasSuffix(got[6], " 1 of 41") || !strings.Contains(got[1], "Landlord 0") {
		t.Errorf("the search goes around the end: %q", got)
	}
	b.EndFind()
	if !b.Following() {
		t.Error("a view that followed follows again after the search")
	}
}

func TestFindCountsWhatArrivesMeanwhile(t *testing.T) {
	b := newBench(5, 30, 4)
	b.say("hit 1", "miss", "hit 2")
	b.Find()
	typed(&b.Scroll, "h", "i", "t", "enter")
	b.say("hit 3")
	if got := b.screen()[3]; !strings.HasSuffix(got, "2 of 3") {
		t.Errorf("search line %q", got)
	}
}

func TestFindSaysWhenThereIsNothing(t *testing.T) {
	b := newBench(9, 30, 3)
	b.say("one", "two")
	if r, _ := b.Do("next"); r.Toast == "" {
		t.Error("n without a search says nothing")
	}
	b.Find()
	typed(&b.Scroll, "x")
	if got := b.screen()[2]; !strings.HasSuffix(got, "no match") {
		t.Errorf("search line %q", got)
	}
	if !b.Following() {
		t.Error("a search that finds nothing does not move the view")
	}
	typed(&b.Scroll, "backspace", "enter")
	if b.Finding() || b.screen()[2] != "" {
		t.Error("enter on an empty search closes it")
	}
}

func TestMatcherIgnoresCaseUnlessAsked(t *testing.T) {
	for _, c := range []struct {
		query, in string
		want      string
	}{
		{"land", "Landlord", "[Land]lord"},
		{"Land", "landlord Land", "landlord [Land]"},
		{"é", "CAFÉ", "CAF[É]"},
		{"aa", "aaaa", "[aa][aa]"},
		{"x", "none", "none"},
		{"", "all", "all"},
		{"日", "一日", "一[日]"},
	} {
		var b strings.Builder
		for _, s := range newMatcher(c.query).Mark(theme.Text, c.in) {
			if s.Role == theme.Match {
				b.WriteString("[" + s.Text + "]")
			} else {
				b.WriteString(s.Text)
			}
		}
		if b.String() != c.want {
			t.Errorf("%q in %q: %q, want %q", c.query, c.in, b.String(), c.want)
		}
	}
}

// Whatever is done, in whatever order: the lines are exact, a paused view does
// not move by itself, and no more is kept than allowed.
func TestAnyUseOfATailIsSound(t *testing.T) {
	verbs := []string{"up", "down", "pgup", "pgdn", "home", "follow", "find", "next", "prev", "wrap", "left", "right", "copy-line", "copy-all"}
	keys := []tea.Msg{press("l"), press("i"), press("9"), press("backspace"), press("enter"), press("esc"), press("up"), tea.PasteMsg{Content: "line"}}
	testkit.Check(t, func(t *rapid.T) {
		b := newBench(rapid.IntRange(1, 30).Draw(t, "ring"), 0, 0)
		b.Wrap = rapid.Bool().Draw(t, "wrap")
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			b.w, b.h = rapid.IntRange(1, 70).Draw(t, "w"), rapid.IntRange(1, 9).Draw(t, "h")
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				b.Do(rapid.SampledFrom(verbs).Draw(t, "verb"))
			case 1:
				if b.Finding() {
					b.Type(rapid.SampledFrom(keys).Draw(t, "key"))
				}
			case 2:
				b.say(spanText().Filter(func(s string) bool { return !strings.Contains(s, "\n") }).Draw(t, "text"))
			default:
				fixed := !b.Following() && b.Len() > 0 && b.h > 2
				b.screen()
				before := b.screen()
				b.write(rapid.IntRange(0, 20).Draw(t, "lines"))
				after := b.screen()
				// The last line may get a badge, the search line a new count.
				if fixed && before[0] != after[0] {
					t.Fatalf("the reader was moved from %q to %q", before, after)
				}
			}
			lines := b.Lines(b.theme, b.w, b.h, true)
			if len(lines) != b.h {
				t.Fatalf("%d lines, want %d", len(lines), b.h)
			}
			for _, l := range lines {
				if n := seen(l); n != b.w {
					t.Fatalf("%q takes %d cells, want %d", l, n, b.w)
				}
			}
			if b.Len() > maxTail {
				t.Fatalf("%d lines kept", b.Len())
			}
		}
	})
}

// A second of a run that says 10,000 lines: thirty snapshots, each followed by
// a drawing.
func BenchmarkTailAbsorbsTenThousandLines(b *testing.B) {
	for _, wrap := range []bool{false, true} {
		b.Run(fmt.Sprintf("wrap=%v", wrap), func(b *testing.B) {
			ring := tail.New(maxTail)
			v := NewTailView("run", wrap)
			th := theme.New(theme.Options{Dark: true, Profile: colorprofile.TrueColor})
			line := tail.Line{At: time.Unix(0, 0), Kind: tail.Text, Text: "Two need an answer today: the landlord asks about Thursday, and Dana waits for the numbers."}
			b.ReportAllocs()
			for b.Loop() {
				for range 30 {
					for range 334 {
						ring.Add(line)
					}
					v.Sync(func(_ string, from tail.Cursor) tail.Page { return ring.Read(from) }, ring.Len(), time.UTC)
					v.Lines(th, 90, 20, true)
				}
			}
		})
	}
}

func BenchmarkFindInTenThousandLines(b *testing.B) {
	x := newBench(maxTail, 80, 20)
	x.write(maxTail)
	x.find.matcher = newMatcher("line 77")
	for b.Loop() {
		x.Refind()
	}
}
