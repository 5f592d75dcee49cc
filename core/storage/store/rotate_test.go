package store

import (
	"errors"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestARotatingFileKeepsTheNewestLinesWhole(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := newDir(t)
		r := d.Rotating("state/bot.log", 1000)
		var all strings.Builder
		for range rapid.IntRange(1, 40).Draw(rt, "lines") {
			line := strings.Repeat("x", rapid.IntRange(0, 300).Draw(rt, "length")) + "\n"
			if _, err := r.Write([]byte(line)); err != nil {
				rt.Fatal(err)
			}
			all.WriteString(line)
			if rapid.IntRange(0, 9).Draw(rt, "restart") == 0 {
				if err := r.Close(); err != nil {
					rt.Fatal(err)
				}
				r = d.Rotating("state/bot.log", 1000)
			}
		}
		if err := r.Close(); err != nil {
			rt.Fatal(err)
		}
		newest, err := os.ReadFile(d.Path("state/bot.log"))
		if err != nil {
			rt.Fatal(err)
		}
		older, err := os.ReadFile(d.Path("state/bot.log.1"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			rt.Fatal(err)
		}
		kept := string(older) + string(newest)
		if len(newest) > 1000 || len(older) > 1000 || !strings.HasSuffix(all.String(), kept) {
			rt.Fatalf("kept %d and %d bytes of %d", len(older), len(newest), all.Len())
		}
		if len(kept) < all.Len() && (len(older) < 700 || all.String()[all.Len()-len(kept)-1] != '\n') {
			rt.Fatalf("kept %d and %d bytes of %d, or half a line", len(older), len(newest), all.Len())
		}
	})
}

func TestAClosedRotatingFileStaysClosed(t *testing.T) {
	d := newDir(t)
	r := d.Rotating("state/bot.log", 10)
	for range 2 {
		must(t, r.Close())
	}
	if _, err := r.Write([]byte("x")); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
}
