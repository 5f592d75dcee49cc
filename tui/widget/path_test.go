package widget

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/tail"
)

func TestPathsAreBrokenBehindASlash(t *testing.T) {
	for _, c := range []struct {
		text string
		w    int
		want []string
	}{
		{"/home/ada/notes/2026/garden.md:12:3", 20, []string{"/home/ada/notes/", "2026/garden.md:12:3"}},
		{"see /home/ada/notes/2026/garden.md", 20, []string{"see", "/home/ada/notes/", "2026/garden.md"}},
		{"averylongnameofafile.md:12:3", 23, []string{"averylongnameofafile.m", "d:12:3"}},
		{"a/averylongnameofafile", 12, []string{"a/averylongn", "ameofafile"}}, // no line of two letters
		{":::::", 1, []string{":", ":", ":", ":", ":"}},
		{"日本:1", 4, []string{"日", "本:1"}},
	} {
		if d := cmp.Diff(c.want, Wrap(c.text, c.w)); d != "" {
			t.Errorf("%q in %d cells (-want +got):\n%s", c.text, c.w, d)
		}
	}
}

// Wherever a word is broken: every line fits, no character is lost, and it ends.
func TestBrokenPathsAreWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab/:.日")), 0, 60, -1).Draw(t, "text")
		w := rapid.IntRange(1, 20).Draw(t, "w")
		lines := Wrap(text, w)
		for _, l := range lines {
			if Cells(l) > max(2, w) {
				t.Fatalf("%q is wider than %d", l, w)
			}
		}
		if got := strings.Join(lines, ""); got != text {
			t.Fatalf("%q became %q", text, got)
		}
	})
}

func TestTheCauseOfAnErrorIsSeenThoughLinesAreCut(t *testing.T) {
	b := newBench(10, 40, 5)
	b.ring.Add(tail.Line{Kind: tail.Info, Text: "schedule loaded routines=12 reminders=4 and more"})
	b.ring.Add(tail.Line{Kind: tail.Error, Text: "commit refused dir=/home/ada/notes err=\"no git identity\""})
	b.sync()
	b.want(t, "an error has rows of its own",
		"       info   schedule loaded routines=…",
		"       error  commit refused", "              dir=/home/ada/notes",
		"              err=\"no git identity\"", "")
	b.ring.Add(tail.Line{Kind: tail.Error, Text: strings.Repeat("word ", 200)})
	b.sync()
	if rows := b.screen(); !strings.HasSuffix(rows[4], "…") || !strings.Contains(rows[1], "error") {
		t.Errorf("a long one takes four:\n%s", strings.Join(rows, "\n"))
	}
}
