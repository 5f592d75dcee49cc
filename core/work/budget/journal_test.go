package budget

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

func newJournal(t *testing.T) (*store.Dir, *Journal) {
	t.Helper()
	d := storetest.Dir(t)
	return d, NewJournal(d, pacific, nil)
}

func TestPingsAreCountedByHour(t *testing.T) {
	_, j := newJournal(t)
	now := morning()
	if got := j.Hours(now); got != [24]int{} {
		t.Errorf("no journal: %v", got)
	}
	for _, ago := range []time.Duration{
		25 * time.Hour, 24 * time.Hour, 24*time.Hour - 1e3, 2 * time.Hour, 90 * time.Minute, 61 * time.Minute, 0, -time.Hour,
	} {
		must(t, j.Append(Ping{At: now.Add(-ago), Task: "a1b2c3d4", Title: "Medication", Kind: "ping"}))
	}
	var want [24]int
	want[0], want[21], want[22], want[23] = 1, 1, 2, 1
	if diff := cmp.Diff(want, j.Hours(now)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	want = [24]int{}
	want[20], want[21], want[22], want[23] = 1, 2, 1, 1
	if diff := cmp.Diff(want, j.Hours(now.Add(time.Hour))); diff != "" {
		t.Errorf("an hour later, from the cache (-want +got)\n%s", diff)
	}
}

func TestAPingIsOneLineWithItsFields(t *testing.T) {
	d, j := newJournal(t)
	p := Ping{At: morning().Add(time.Millisecond), Task: "a1b2c3d4", Title: "Tea\n\x1b[31m & <cake>", Kind: "embed", Critical: true, Run: "r1"}
	must(t, j.Append(p))
	data, err := d.Read(journalFile)
	must(t, err)
	want := `{"at":"2026-11-23T09:00:00.001000-08:00","task":"a1b2c3d4","title":"Tea  & <cake>","kind":"embed","critical":true,"run":"r1"}` + "\n"
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestLinesThatAreNoPingsArePassedOver(t *testing.T) {
	d, j := newJournal(t)
	lines := "garbage\n\n{\"at\": 5}\n{\"at\": \"never\"}\n[]\n{\"at\":\"2026-11-23T08:59:00-08:00\"}\n{\"at\":\"2026-11-23T08:58"
	must(t, d.Write(journalFile, []byte(lines)))
	if got := j.Hours(morning()); got[23] != 1 {
		t.Errorf("%v, want one ping in the last hour", got)
	}
	must(t, j.Append(Ping{At: morning(), Kind: "ping"}))
	if got := j.Hours(morning()); got[23] != 2 {
		t.Errorf("after a torn line: %v, want two pings in the last hour", got)
	}
}

func TestALongJournalIsCutAndStillCounts(t *testing.T) {
	d, j := newJournal(t)
	line := []byte(`{"at":"2026-11-20T09:00:00-08:00","title":"` + strings.Repeat("x", 100) + `"}` + "\n")
	must(t, d.Write(journalFile, bytes.Repeat(line, journalLimit/len(line)+1)))
	must(t, j.Append(Ping{At: morning(), Kind: "ping"}))
	info, err := os.Stat(d.Path(journalFile))
	if err != nil || info.Size() > journalTail+1000 {
		t.Errorf("%d bytes stay, %v", info.Size(), err)
	}
	data, err := d.Read(journalFile)
	must(t, err)
	for l := range bytes.Lines(data) {
		if !json.Valid(l) {
			t.Errorf("the cut left half a line: %q", l)
		}
	}
	if got := j.Hours(morning()); got[23] != 1 {
		t.Errorf("%v, want one ping in the last hour", got)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
