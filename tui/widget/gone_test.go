package widget

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ollimbot/core/tail"
)

func TestTheOldestLineStandsBelowTheCountOfThoseThatAreGone(t *testing.T) {
	b := newBench(MaxTail, 60, 3)
	b.write(MaxTail + 1) // at once, as a run that was full before anybody looked
	b.screen()
	b.Home()
	b.want(t, "a ring that has lost a line", "          note   1 earlier line no longer kept", "▸00:00:02 text   line 2", " 00:00:03 text   line 3")
	b.Follow()
	b.write(70) // the view forgets by itself
	b.screen()
	b.Home()
	b.want(t, "a view that has grown", "          note   71 earlier lines no longer kept", "▸00:01:12 text   line 72", " 00:01:13 text   line 73")
	if text, _ := b.Copy(); text != "line 72" {
		t.Errorf("%q is copied", text)
	}
	if b.Len() != MaxTail {
		t.Errorf("%d lines are kept", b.Len())
	}
	b.Up(1)
	b.Down(1)
	b.want(t, "a line further down", "▸00:01:12 text   line 72", " 00:01:13 text   line 73", " 00:01:14 text   line 74")
}

func TestACountThatAppearsAboveAPausedReaderMovesNothing(t *testing.T) {
	b := newBench(1000, 28, 3)
	b.keep = 10
	b.write(10)
	b.screen()
	b.Up(5)
	before := strings.Join(b.screen(), "\n")
	b.write(2) // two lines above the reader go
	if after := strings.Join(b.screen(), "\n"); !strings.HasPrefix(after, before[:20]) {
		t.Errorf("the reader was moved from\n%s\nto\n%s", before, after)
	}
	b.Home()
	b.want(t, "at the top", " note   2 earlier lines no …", "▸text   line 3", " text   line 4      ▼ 2 new")
}

// Whatever comes, however fast, and whatever is done: each line of the tail is
// either shown or counted, and no count is a line.
func TestEveryLineIsShownOrCounted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
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
		b.Home()
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
		if text, _ := b.CopyAll(); strings.Contains(text, "no longer kept") {
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
