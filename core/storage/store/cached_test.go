package store

import (
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"
)

func TestAFileIsReadAgainWhenItHasChangedAndOnlyThen(t *testing.T) {
	d := newDir(t)
	reads := 0
	c := NewCached[string](d, "state/x")
	load := func() (string, error) {
		return c.Load(func() (string, error) {
			reads++
			data, err := d.Read("state/x")
			return string(data), err
		})
	}
	expect := func(want string, n int) {
		t.Helper()
		if got, _ := load(); got != want || reads != n {
			t.Errorf("%q after %d reads, want %q after %d", got, reads, want, n)
		}
	}
	write := func(text string, at time.Time) {
		must(t, errors.Join(d.Write("state/x", []byte(text)), os.Chtimes(d.Path("state/x"), at, at)))
	}
	if _, err := load(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file gives %v", err)
	}
	old := time.Now().Add(-time.Hour)
	write("one", old)
	expect("one", 2)
	expect("one", 2)
	write("two", old.Add(time.Second))
	expect("two", 3)
	// Just written, another change of the same size may have the same time.
	write("six", time.Now())
	expect("six", 4)
	expect("six", 5)
}

func TestWhatGoesWrongAgainAndAgainIsNewsOnce(t *testing.T) {
	var trouble Trouble
	for i, c := range []struct {
		err  error
		news bool
	}{{nil, false}, {fs.ErrExist, true}, {fs.ErrExist, false}, {fs.ErrClosed, true}, {nil, false}, {fs.ErrClosed, true}} {
		if got := trouble.News(c.err); got != c.news {
			t.Errorf("%d: %v is news: %v", i, c.err, got)
		}
	}
}
