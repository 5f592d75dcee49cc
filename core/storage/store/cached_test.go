package store

import (
	"errors"
	"io/fs"
	"os"
	"strings"
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

func TestALogKeepsItsEndAndCountsWhatIsDamaged(t *testing.T) {
	d := newDir(t)
	type value struct{ N int }
	l := Log[value]{Dir: d, Rel: "state/x.jsonl", Limit: 1000, Keep: 500}
	if list, damaged, err := l.Newest(1000); len(list) != 0 || damaged != 0 || err != nil {
		t.Errorf("a missing file gives %v, %d, %v", list, damaged, err)
	}
	for i := range 500 {
		must(t, l.Append(value{i}))
	}
	must(t, d.Append("state/x.jsonl", []byte(`{"N": `)))
	list, damaged, err := l.Newest(1000)
	if err != nil || damaged != 1 || len(list) < 40 || list[len(list)-1].N != 499 || list[0].N != 500-len(list) {
		t.Errorf("%v, %d, %v", list, damaged, err)
	}
	if info, err := os.Stat(d.Path("state/x.jsonl")); err != nil || info.Size() > 1000 {
		t.Errorf("%v, %v", info.Size(), err)
	}
}

func TestALineIsOneLineWhateverItHolds(t *testing.T) {
	line, err := Line("a\nb<&>")
	if err != nil || strings.ContainsRune(string(line), '\n') || string(line) != `"a\nb<&>"` {
		t.Errorf("%s, %v", line, err)
	}
	if _, err := Line(func() {}); err == nil {
		t.Error("a function was encoded")
	}
}
