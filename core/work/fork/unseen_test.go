package fork

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/routines"
)

func ids(list []View) (out string) {
	for _, v := range list {
		out += v.ID[7:] + " "
	}
	return out
}

// ended writes runs from before a restart; those with an odd number have failed.
func (h *harness) ended(from, to int) {
	h.t.Helper()
	for i := from; i < to; i++ {
		v := View{ID: fmt.Sprintf("%08x", i), Title: "Sweep", State: Done, Ended: time.Now()}
		if i%2 == 1 {
			v.State = Failed
		}
		testkit.Must(h.t, appendLedger(h.dir, v))
	}
}

func TestAFailureStaysUntilItsUserHasLooked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		h.ended(0, 4)
		time.Sleep(time.Minute)
		stop := h.serve()
		if got := ids(h.m.Failures()); got != "" {
			t.Errorf("what failed before anybody could look is unseen: %s", got)
		}
		stop()
		time.Sleep(time.Minute)
		h.ended(4, 10)
		h.m = h.manager()
		stop = h.serve()
		if got := ids(h.m.Failures()); got != "9 7 5 " {
			t.Errorf("unseen are %s", got)
		}
		testkit.Must(t, h.m.MarkSeen("00000007", "ffffffff"))
		if _, err := h.m.Do(t.Context(), playing(task(), "fail broken")); err == nil {
			t.Fatal("the run was to fail")
		}
		if got := h.m.Failures(); len(got) != 3 || got[0].State != Failed || ids(got[1:]) != "9 5 " {
			t.Errorf("unseen are %+v", got)
		}
		stop()
		h.m = h.manager()
		defer h.serve()()
		list := h.m.Failures()
		if len(list) != 3 || ids(list[1:]) != "9 5 " {
			t.Errorf("after a restart unseen are %s", ids(list))
		}
		for _, v := range list {
			testkit.Must(t, h.m.MarkSeen(v.ID))
		}
		if got := h.m.Failures(); len(got) > 0 || len(h.m.seen.Runs) > 0 {
			t.Errorf("all were looked at: %+v, %+v", got, h.m.seen)
		}
		time.Sleep(time.Minute)
		var rows [][]byte
		for i := range keptFailures + 3 {
			v := View{ID: fmt.Sprintf("%08x", i), State: Failed, Ended: time.Now()}
			h.m.add(v)
			row, err := json.Marshal(v.Row())
			testkit.Must(t, err)
			rows = append(rows, row)
		}
		testkit.Must(t, h.dir.Append(ledgerName, rows...))
		for when, m := range map[string]*Manager{"before": h.m, "after": h.manager()} {
			if got := m.Failures(); len(got) != keptFailures || got[0].ID != fmt.Sprintf("%08x", keptFailures+2) {
				t.Errorf("%s a restart %d failures are kept, the newest is %s", when, len(got), got[0].ID)
			}
		}
	})
}

func TestALaterSuccessOfTheTaskAnswersItsFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		h.serve()()
		time.Sleep(time.Minute)
		for i, v := range []View{
			{TaskID: "a", State: Failed},
			{TaskID: "b", State: TimedOut},
			{TaskID: "a", State: Done},
			{TaskID: "b", State: Stopped},
			{TaskID: "c", State: Failed, Kind: routines.KindWebhook},
			{TaskID: "c", State: Done, Kind: routines.KindWebhook},
		} {
			v.ID, v.Ended = fmt.Sprintf("%08x", i), time.Now()
			testkit.Must(t, appendLedger(h.dir, v))
		}
		h.m = h.manager()
		defer h.serve()()
		if got := ids(h.m.Failures()); got != "4 1 " {
			t.Errorf("after a restart unseen are %s", got)
		}
		h.m.add(View{ID: "00000006", TaskID: "b", State: Done})
		if got := ids(h.m.Failures()); got != "4 " {
			t.Errorf("unseen are %s", got)
		}
	})
}

func TestAStartWithoutTroubleLogsNothing(t *testing.T) {
	var log bytes.Buffer
	h := newHarness(t, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	for range 2 { // without and with the file
		(&failures{o: &h.o}).recall()
	}
	if log.Len() > 0 {
		t.Errorf("a start without trouble logs %s", &log)
	}
	seen := storetest.Text(t, h.dir, seenName)
	testkit.Must(t, os.MkdirAll(h.dir.Path(ledgerName), 0o700))
	(&failures{o: &h.o}).recall()
	if !strings.Contains(log.String(), "earlier failures could not be read") || storetest.Text(t, h.dir, seenName) != seen {
		t.Errorf("what was seen is forgotten; logged is %s", &log)
	}
}

func TestPagesOfTheLedgerHoldEachRunOnce(t *testing.T) {
	h := newHarness(t)
	for i := range 50 {
		v := View{ID: fmt.Sprintf("%08x", i), State: Running}
		for _, v.State = range []State{Running, Done} {
			testkit.Must(t, appendLedger(h.dir, v))
		}
		if i == 30 {
			testkit.Must(t, h.dir.Append(ledgerName, []byte(`{"id":"00000030","sta`)))
		}
	}
	var p Page
	n, damaged := 0, 0
	for !p.All {
		var err error
		if p, err = Past(h.dir, p.Next, 7); err != nil {
			t.Fatal(err)
		}
		for _, v := range p.Runs {
			if want := fmt.Sprintf("%08x", 49-n); v.ID != want || v.State != Done {
				t.Errorf("run %d is %s, %s", n, v.ID, v.State)
			}
			n++
		}
		damaged += p.Damaged
	}
	if n != 50 || damaged != 1 {
		t.Errorf("%d runs, %d damaged lines", n, damaged)
	}
}
