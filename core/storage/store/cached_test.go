package store

import (
	"errors"
	"io/fs"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/testkit"
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
		testkit.Must(t, errors.Join(d.Write("state/x", []byte(text)), os.Chtimes(d.Path("state/x"), at, at)))
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
	// Just after a write, another change of the same size may have the same time.
	write("six", time.Now().Truncate(time.Second))
	expect("six", 4)
	expect("six", 5)
}

// In a bubble the age of a file is exact.
func TestOfTwoVersionsTheOlderIsNeverTakenForTheNewer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDir(t)
		c := NewCached[string](d, "x")
		c.now = time.Now
		read := func() (string, error) {
			data, err := d.Read("x")
			return string(data), err
		}
		at := time.Now().Add(-time.Hour)
		inPlace := func(text string) error { return os.WriteFile(d.Path("x"), []byte(text), 0o600) }
		for _, step := range []struct {
			name, text string
			write      func(text string) error
			at         time.Time
		}{
			{"first", "one", func(text string) error { return d.Write("x", []byte(text)) }, at},
			{"another file of the same size and time", "two", func(text string) error { return d.Write("x", []byte(text)) }, at},
			{"another size", "three", inPlace, at},
			{"an earlier time", "seven", inPlace, at.Add(-time.Second)},
			{"just too young for whole seconds", "eight", inPlace, time.Now().Add(-racyForCoarse + time.Second)},
			{"of the same time", "forty", inPlace, time.Now().Add(-racyForCoarse + time.Second)},
			{"just too young", "third", inPlace, time.Now().Add(-racyFor + 1)},
			{"of the same time", "fifth", inPlace, time.Now().Add(-racyFor + 1)},
			{"from the future", "fifty", inPlace, time.Now().Add(time.Hour)},
			{"of the same time", "sixty", inPlace, time.Now().Add(time.Hour)},
			{"old enough", "seven", inPlace, time.Now().Add(-racyFor)},
		} {
			testkit.Must(t, errors.Join(step.write(step.text), os.Chtimes(d.Path("x"), step.at, step.at)))
			if got, err := c.Load(read); got != step.text || err != nil {
				t.Errorf("%s: %q, %v, want %q", step.name, got, err, step.text)
			}
		}
		if got, err := c.Load(func() (string, error) { return "read again", nil }); got != "seven" || err != nil {
			t.Errorf("unchanged: %q, %v", got, err)
		}
		testkit.Must(t, inPlace("broken"))
		broken := func() (string, error) { return "", fs.ErrInvalid }
		if _, err := c.Load(broken); !errors.Is(err, fs.ErrInvalid) {
			t.Error(err)
		}
		testkit.Must(t, os.Chtimes(d.Path("x"), at, at))
		for range 2 { // an error is not cached
			if _, err := c.Load(broken); !errors.Is(err, fs.ErrInvalid) {
				t.Error(err)
			}
		}
		if got, err := c.Load(read); got != "broken" || err != nil {
			t.Errorf("after an error: %q, %v", got, err)
		}
	})
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
