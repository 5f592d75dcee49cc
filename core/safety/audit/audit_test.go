package audit

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func newLog(t testing.TB, hide func(string) string) (*Log, *store.Dir) {
	t.Helper()
	dir := storetest.Dir(t)
	return New(Options{Dir: dir, Hide: hide}), dir
}

func read(t testing.TB, l *Log, n int) []Entry {
	t.Helper()
	list, damaged, err := l.Read(n)
	if err != nil || damaged > 0 {
		t.Fatalf("%d damaged lines, %v", damaged, err)
	}
	return list
}

func TestWhatIsRecordedIsReadInOrderAndByAnotherProcess(t *testing.T) {
	l, dir := newLog(t, nil)
	if list := read(t, l, 10); len(list) > 0 {
		t.Fatalf("a new log holds %+v", list)
	}
	before := l.Recorded()
	want := []Entry{
		{Actor: Agent, From: "main session", Action: ApprovalAsked, Subject: "Bash", Detail: "Bash(rm -rf x)\nand y"},
		{Actor: User, From: "Discord", Action: ApprovalAnswered, Subject: "Bash", Detail: "allowed: Bash(rm -rf x)"},
		{Actor: User, Action: BudgetChanged, Detail: "capacity 5 → 6"},
	}
	for i := range want {
		want[i].At = noon.Add(time.Duration(i) * time.Millisecond)
		l.Record(want[i].At.Add(999*time.Microsecond), want[i])
	}
	if n := l.Recorded() - before; n != uint64(len(want)) {
		t.Errorf("%d entries count as recorded, not %d", n, len(want))
	}
	other := New(Options{Dir: dir})
	if diff := cmp.Diff(want, read(t, other, 10)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[1:], read(t, other, 2)); diff != "" {
		t.Error(diff)
	}
	if info, err := os.Stat(dir.Path(File)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestAnythingMayBeRecordedAndOneDecisionStaysOneEntry(t *testing.T) {
	l, _ := newLog(t, nil)
	n := 0
	testkit.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"a\x1b[2Jb", "x\nforged\r\n{}", "\u202eoolb", "\xff\xfe", strings.Repeat("ü", 5000)}))
		l.Record(noon, Entry{Actor: text.Draw(t, "actor"), From: text.Draw(t, "from"), Action: "x", Subject: text.Draw(t, "subject"), Detail: text.Draw(t, "detail")})
		n++
	})
	list := read(t, l, 1<<30)
	if len(list) != n {
		t.Fatalf("%d entries were recorded, %d read", n, len(list))
	}
	for _, e := range list {
		for _, s := range []string{e.Actor, e.From, e.Subject, e.Detail} {
			if clean.Text(s) != s || len([]rune(s)) > textLimit {
				t.Fatalf("%q is not fit to be shown", s)
			}
		}
	}
}

// S46: of a long call the log has both ends, and the digest of all of it.
func TestALongCallIsRecordedWithBothEndsAndItsDigest(t *testing.T) {
	l, _ := newLog(t, nil)
	l.Record(noon, Entry{Action: ApprovalAnswered, Detail: "allowed: echo " + strings.Repeat("x", 200_000) + "; rm -r notes", Digest: "0b5a"})
	e := read(t, l, 1)[0]
	if !strings.HasPrefix(e.Detail, "allowed: echo xxx") || !strings.HasSuffix(e.Detail, "xxx; rm -r notes") || e.Digest != "0b5a" {
		t.Errorf("%.40q … %q, digest %q", e.Detail, e.Detail[len(e.Detail)-40:], e.Digest)
	}
}

func TestSecretsAreNotKept(t *testing.T) {
	l, dir := newLog(t, func(s string) string { return strings.ReplaceAll(s, "hunter2", "[hidden]") })
	l.Record(noon, Entry{Action: ApprovalAsked, Subject: "hunter2", Detail: "curl -H 'Bearer hun\x1b[mter2'"})
	data, err := dir.Read(File)
	if err != nil || strings.Contains(string(data), "hunter2") {
		t.Errorf("%s, %v", data, err)
	}
}

func TestTheFileStaysBoundedAndKeepsTheNewest(t *testing.T) {
	l, dir := newLog(t, nil)
	line := `{"at":"2026-11-23T12:00:00Z","actor":"user","action":"old","detail":"` + strings.Repeat("x", 1000) + "\"}\n"
	if err := dir.Write(File, []byte(strings.Repeat(line, sizeLimit/len(line)))); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		l.Record(noon, Entry{Action: TaskAdded, Detail: fmt.Sprintf("%d %s", i, strings.Repeat("x", 500))})
	}
	info, err := os.Stat(dir.Path(File))
	if err != nil || info.Size() > sizeLimit {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
	list := read(t, l, 1<<30)
	if n := len(list); n < 1000 || !strings.HasPrefix(list[n-1].Detail, "4 ") || list[0].Action != "old" {
		t.Errorf("%d entries", n)
	}
}

func TestAFileThatGrewTooLargeStartsFromEmpty(t *testing.T) {
	l, dir := newLog(t, nil)
	if err := dir.Write(File, make([]byte, store.MaxRead+1)); err != nil {
		t.Fatal(err)
	}
	l.Record(noon, Entry{Action: TaskAdded})
	if list := read(t, l, 10); len(list) != 1 {
		t.Errorf("%+v", list)
	}
}

func TestDamagedLinesAreCountedAndHideNothing(t *testing.T) {
	l, dir := newLog(t, nil)
	l.Record(noon, Entry{Action: TaskAdded, Subject: "a"})
	for _, line := range []string{`{"at":"2026-11-23T12:00:00Z"}`, `{"action":"x"}`, `{"at": tru`} {
		testkit.Must(t, dir.Append(File, []byte(line)))
	}
	l.Record(noon, Entry{Action: TaskAdded, Subject: "b"})
	list, damaged, err := l.Read(10)
	if err != nil || damaged != 3 || len(list) != 2 || list[1].Subject != "b" {
		t.Errorf("%+v, %d damaged, %v", list, damaged, err)
	}
}

func TestManyMayRecordAtOnce(t *testing.T) {
	l, dir := newLog(t, nil)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			own := New(Options{Dir: dir})
			for range 10 {
				own.Record(noon, Entry{Action: TaskAdded})
			}
		})
	}
	wg.Wait()
	if n := len(read(t, l, 1000)); n != 80 {
		t.Errorf("%d entries of 80", n)
	}
}

func TestWithoutALogNothingIsRecordedAndNothingBreaks(*testing.T) {
	var l *Log
	l.Record(noon, Entry{Action: TaskAdded})
}

func TestWhoAsksTravelsInTheContextAndIsTheUserOtherwise(t *testing.T) {
	if o := OriginOf(t.Context()); o != (Origin{Actor: User}) {
		t.Errorf("%+v", o)
	}
	run := With(t.Context(), Agent, "run 1")
	if o := OriginOf(run); o != (Origin{Actor: Agent, From: "run 1"}) {
		t.Errorf("%+v", o)
	}
	l, _ := newLog(t, nil)
	l.RecordBy(run, noon, Entry{Action: TaskAdded})
	if diff := cmp.Diff([]Entry{{At: noon, Actor: Agent, From: "run 1", Action: TaskAdded}}, read(t, l, 2)); diff != "" {
		t.Error(diff)
	}
}
