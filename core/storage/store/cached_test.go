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

// In a bubble the age of a file is exact.
func TestAFileIsReadAgainWhenItHasChangedAndOnlyThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDir(t)
		c := NewCached[string](d, "x")
		if now := c.now(); !now.After(time.Now().AddDate(20, 0, 0)) {
			t.Errorf("the clock of files shows %v, as that of the bubble", now)
		}
		c.now = time.Now
		reads := 0
		read := func() (string, error) {
			reads++
			data, err := d.Read("x")
			return string(data), err
		}
		for n := range 2 {
			if _, err := c.Load(read); !errors.Is(err, fs.ErrNotExist) || reads != n+1 {
				t.Errorf("a missing file gives %v after %d reads", err, reads)
			}
		}
		at := time.Now().Add(-time.Hour)
		inPlace := func(text string) error { return os.WriteFile(d.Path("x"), []byte(text), 0o600) }
		for _, step := range []struct {
			name, text string
			write      func(text string) error
			at         time.Time
			kept       bool
		}{
			{"first", "one", func(text string) error { return d.Write("x", []byte(text)) }, at, true},
			{"another file of the same size and time", "two", func(text string) error { return d.Write("x", []byte(text)) }, at, true},
			{"another size", "three", inPlace, at, true},
			{"an earlier time", "seven", inPlace, at.Add(-time.Second), true},
			{"just too young for whole seconds", "eight", inPlace, time.Now().Add(-racyForCoarse + time.Second), false},
			{"of the same time", "forty", inPlace, time.Now().Add(-racyForCoarse + time.Second), false},
			{"just too young", "third", inPlace, time.Now().Add(-racyFor + 1), false},
			{"of the same time", "fifth", inPlace, time.Now().Add(-racyFor + 1), false},
			{"from the future", "fifty", inPlace, time.Now().Add(time.Hour), false},
			{"of the same time", "sixty", inPlace, time.Now().Add(time.Hour), false},
			{"old enough", "seven", inPlace, time.Now().Add(-racyFor), true},
		} {
			testkit.Must(t, errors.Join(step.write(step.text), os.Chtimes(d.Path("x"), step.at, step.at)))
			if got, err := c.Load(read); got != step.text || err != nil {
				t.Errorf("%s: %q, %v, want %q", step.name, got, err, step.text)
			}
			n := reads
			if got, err := c.Load(read); got != step.text || err != nil || (reads == n) != step.kept {
				t.Errorf("%s, unchanged: %q, %v, read %d times", step.name, got, err, reads-n)
			}
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

func TestListsAreTheSameIfTheyAreInTheSamePlace(t *testing.T) {
	one := []int{1, 2}
	for _, c := range []struct {
		a, b []int
		same bool
	}{{nil, []int{}, true}, {one, one, true}, {one, one[:1], false}, {one, []int{1, 2}, false}, {one[:1], one[1:], false}} {
		if got := Same(c.a, c.b); got != c.same {
			t.Errorf("%v and %v are the same: %v", c.a, c.b, got)
		}
	}
}

func TestATroubleIsReportedOnceAndAgainWhenItReturns(t *testing.T) {
	var trouble Trouble
	for _, c := range []struct {
		what string
		err  error
		news bool
	}{
		{"no trouble", nil, false},
		{"the first", fs.ErrExist, true},
		{"the same again", fs.ErrExist, false},
		{"another", fs.ErrClosed, true},
		{"its end", nil, false},
		{"it returns", fs.ErrClosed, true},
	} {
		if got := trouble.News(c.err); got != c.news {
			t.Errorf("%s: it is reported: %v", c.what, got)
		}
	}
}
