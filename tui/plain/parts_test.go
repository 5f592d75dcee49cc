package plain

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/talk/notice"
)

func newPrinter() (*printer, *bytes.Buffer) {
	var b bytes.Buffer
	return &printer{w: &b, snap: &core.Snapshot{}}, &b
}

func TestLinesAreWrittenAtOnce(t *testing.T) {
	p, written := newPrinter()
	p.answer("one\n\n  two  \n")
	p.fail("three")
	if written.Len() > 0 {
		t.Fatalf("wrote %q before flush", written)
	}
	testkit.Must(t, p.flush())
	want := []string{"one", "two", "error: three", ""}
	for i, line := range strings.Split(written.String(), "\n") {
		if !strings.HasSuffix(line, want[i]) {
			t.Errorf("line %d is %q, want %q", i+1, line, want[i])
		}
	}
}

// Whatever is printed, a listener gets a few lines at once, and all of them in order.
func TestALongAnswerGoesOnWithMore(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5*maxLines).Draw(t, "lines")
		p, written := newPrinter()
		var want, got []string
		for i := range n {
			want = append(want, strconv.Itoa(i))
		}
		p.answer(strings.Join(want, "\n"))
		for {
			left := len(p.rest)
			p.end()
			testkit.Must(t, p.flush())
			lines := strings.Split(strings.TrimSpace(written.String()), "\n")
			written.Reset()
			if left > 0 {
				if last := lines[len(lines)-1]; !strings.HasPrefix(last, "and "+strconv.Itoa(left)+" more line") {
					t.Fatalf("%d lines are left, and it says %q", left, last)
				}
				lines = lines[:len(lines)-1]
			}
			if len(lines) > maxLines && left > 0 {
				t.Fatalf("%d lines at once", len(lines))
			}
			got = append(got, lines...)
			if left == 0 {
				break
			}
			p.more(rapid.Bool().Draw(t, "all"))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("heard %q", got)
		}
	})
}

func TestThingsAreFoundByNumberIDAndWords(t *testing.T) {
	tasks := []thing{{id: "aaaa1111", title: "Email"}, {id: "bbbb2222", title: "Tea", off: true}, {id: "cccc3333", title: "Tea time"}}
	for _, c := range []struct {
		name, query string
		l           list
		want        string
	}{
		{"a number of the list", "2", allTasks, "bbbb2222"},
		{"the start of an ID", "cccc", allTasks, "cccc3333"},
		{"less than that is not enough", "ccc", allTasks, ""},
		{"the exact title", "tea", allTasks, "bbbb2222"},
		{"one word of a title", "time", allTasks, "cccc3333"},
		{"one beyond the list", "4", allTasks, ""},
		{"zero", "0", allTasks, ""},
		{"nothing, of several", "", allUpdates, ""},
	} {
		p, _ := newPrinter()
		f := &finder{out: p, numbers: numbers{}}
		f.list(c.l, tasks)
		got, ok := f.find(request{command.Command{Name: "fire"}, c.query}, c.l, tasks)
		if got.id != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q finds %q, want %q", c.name, c.query, got.id, c.want)
		}
	}
	p, _ := newPrinter()
	f := &finder{out: p, numbers: numbers{}}
	if got, _ := f.find(request{rest: "te"}, allTasks, tasks); got.id != "cccc3333" {
		t.Errorf("of two titles %q was found, not that to which the command applies", got.id)
	}
	if got, ok := f.find(request{}, allUpdates, tasks[:1]); !ok || got.id != "aaaa1111" {
		t.Errorf("the only one has to be named; found %q", got.id)
	}
}

func TestOnlyNoticesAreKept(t *testing.T) {
	c := newConsole(t.Context(), nil, nil, "", "")
	c.snap.At = time.Unix(1, 0)
	for _, kind := range []string{kindRun, string(notice.Info), kindUpdate} {
		c.keep(event{kind: kind, words: "words"})
	}
	if all := c.past.All(); len(all) != 1 || all[0].Level != notice.Info || !all[0].At.Equal(c.snap.At) {
		t.Errorf("kept are %+v", all)
	}
}
