package widget

import (
	"strings"
	"testing"

	"ollimbot/core/tail"
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
