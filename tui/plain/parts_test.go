package plain

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/talk/notice"
)

func newPrinter() (*printer, *bytes.Buffer) {
	var b bytes.Buffer
	return &printer{w: &b, snap: &core.Snapshot{}}, &b
}

func TestLinesAreWrittenAtOnce(t *testing.T) {
	p, written := newPrinter()
	p.answer(kindOK, "one\n\n  two  \n")
	p.fail("three")
	if written.Len() > 0 {
		t.Fatalf("wrote %q before flush", written)
	}
	must(t, p.flush())
	want := []string{" ok: one", " ok: two", " error: three", ""}
	for i, line := range strings.Split(written.String(), "\n") {
		if !strings.HasSuffix(line, want[i]) {
			t.Errorf("line %d is %q, want %q", i+1, line, want[i])
		}
	}
}

func TestListsStopAtTheirLongestLength(t *testing.T) {
	for _, c := range []struct {
		lines int
		want  int
		last  string
	}{{0, 1, "none"}, {maxLines, maxLines, "x"}, {maxLines + 1, maxLines + 1, "and 1 more"}, {maxLines + 12, maxLines + 1, "and 12 more"}} {
		p, written := newPrinter()
		p.read(kindOK, strings.Fields(strings.Repeat("x ", c.lines)), "none")
		must(t, p.flush())
		lines := strings.Split(strings.TrimSpace(written.String()), "\n")
		if len(lines) != c.want || !strings.Contains(lines[len(lines)-1], c.last) {
			t.Errorf("%d lines are %d, the last %q", c.lines, len(lines), lines[len(lines)-1])
		}
	}
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
		f.list(kindOK, c.l, tasks)
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
	c := newConsole(t.Context(), nil, nil, "")
	c.snap.At = time.Unix(1, 0)
	for _, kind := range []string{kindRun, string(notice.Info), kindUpdate} {
		c.keep(event{kind: kind, words: "words"})
	}
	if all := c.past.All(); len(all) != 1 || all[0].Level != notice.Info || !all[0].At.Equal(c.snap.At) {
		t.Errorf("kept are %+v", all)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
