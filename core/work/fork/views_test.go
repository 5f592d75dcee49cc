package fork

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/agent"
	"ollimbot/core/base/tail"
	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/routines"
)

func TestTheTailSaysWhatARunDoesAndWhatDelaysIt(t *testing.T) {
	resets := time.Date(2026, 5, 1, 17, 30, 0, 0, time.FixedZone("east", 2*3600))
	own := toolset.Prefix + toolset.PingUser
	served(t, func(t *testing.T, h *harness) {
		v := h.done(playing(task(), "stop"))
		want := []string{
			"think is it worth it?", "text I look", "tool helper: Read(a.md)", "result one (+2 lines)", "result (no output)", "error no such file",
			"result refused", "refuse ping_user denied: no", "refuse send_file denied: no", "refuse Bash denied: no",
			"tool weather/forecast", "refuse weather/forecast denied: no",
			"note compacting the history · 12k tokens", "note history compacted", "note overloaded: retrying in 3s (2 of 5)",
			"text one", "text two", "note rate limit: rejected, resets 15:30", "note switched models", "text " + strings.Repeat("x", 100), "note done",
		}
		if diff := cmp.Diff(want, h.lines(v.ID)); diff != "" {
			t.Error(diff)
		}
		if v.Tools != 2 || v.Refused != 2 || v.Session != "s-1" || v.Usage.InputTokens != 3 {
			t.Errorf("counted: %+v", v)
		}
	}, emits(
		agent.Thinking{Delta: "is it worth it?"}, agent.Text{Delta: "I look"}, agent.ToolStart{Name: "Read", Input: []byte(`{"file_path":"a.md"}`), Subagent: "helper"},
		agent.ToolEnd{Name: "Read", Text: "\none\ntwo\nthree\n"}, agent.ToolEnd{Name: "Read", Text: " \n"},
		agent.ToolEnd{Name: "Read", Text: "no such file", IsError: true},
		agent.ToolEnd{Name: own, Text: "refused", IsError: true}, agent.ToolEnd{Name: own, Text: "refused", IsError: true},
		agent.ToolEnd{Name: own, Text: "no", Denied: true}, agent.ToolEnd{Name: toolset.Prefix + toolset.SendFile, Text: "no", Denied: true},
		agent.ToolEnd{Name: "Bash", Text: "no", Denied: true},
		// The end of a found tool's call names the wrapping tool.
		agent.ToolStart{ID: "c", Name: toolset.Call, Input: []byte(`{"tool":"mcp__weather__forecast","arguments":{}}`)},
		agent.ToolEnd{ID: "c", Name: toolset.Call, Text: "no", Denied: true},
		agent.Compacting{PreTokens: 12_499}, agent.Compacting{Done: true},
		agent.Retry{Reason: "overloaded", Wait: 3100 * time.Millisecond, Attempt: 2, Of: 5},
		// What has no line of its own ends a line too.
		agent.Text{Delta: "one"}, agent.RateLimit{Status: "allowed", Resets: resets}, agent.Text{Delta: "two"},
		agent.ToolEnd{Name: own, Text: "two"}, agent.RateLimit{Status: "rejected", Resets: resets},
		agent.Notice{Text: "switched models"}, agent.Text{Delta: strings.Repeat("x", 100)},
		agent.Result{SessionID: "s-1", Usage: agent.Usage{InputTokens: 3}},
	))
}

func TestTheActivityOfARunIsTheBeginningOfItsNewestLine(t *testing.T) {
	r := newHarness(t).run(task())
	for line, want := range map[string]string{strings.Repeat("x", 80): strings.Repeat("x", 80), strings.Repeat("x", 81): strings.Repeat("x", 79) + "…"} {
		r.status.line(tail.Text, line)
		if got := r.status.snapshot().Activity; got != want {
			t.Errorf("the activity is %q, want %q", got, want)
		}
	}
}

// A dashboard shows the same past of a task before and after a restart.
func TestThePastOfATaskOutlivesTheProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east := time.FixedZone("east", 2*3600)
		h := newHarness(t, func(o *Options) { o.Zone = east })
		stop := h.serve()
		other := task(func(t *routines.Task) { t.ID = "0therone" })
		var ids []string
		for i := range 3 {
			ids = append(ids, h.done(playing(task(), fmt.Sprintf(`call ping_user {"message":"%d","critical":%v}`, i, i == 0), `call report_updates {"message":"x"}`)).ID)
			time.Sleep(time.Minute)
		}
		h.done(playing(other, "say x"))
		elsewhere := View{ID: "0badc0de", TaskID: "a1b2c3d4", Title: "Elsewhere", State: Running, Queued: time.Now(), Started: time.Now()}
		testkit.Must(t, h.m.Put(elsewhere))
		if got := h.m.Views()[0]; got.Title != "Elsewhere" || got.Started.Location() != east {
			t.Errorf("a run of another process is shown as %+v", got)
		}
		time.Sleep(time.Minute)
		elsewhere.State, elsewhere.Ended, elsewhere.Pings = Done, time.Now(), 2
		testkit.Must(t, h.m.Put(elsewhere))
		testkit.Must(t, h.m.Put(View{ID: "0badc0df", TaskID: other.ID, State: NothingNew, Queued: time.Now(), Ended: time.Now()})) // only in the ledger
		stop()
		check := func(when string, m *Manager) {
			t.Helper()
			past, err := m.Past("a1b2c3d4", 2)
			testkit.Must(t, err)
			if len(past) != 2 || past[0].ID != ids[2] || past[1].ID != "0badc0de" || past[1].Ended.Location() != east {
				t.Errorf("%s the past is %+v", when, past)
			}
			if rate, want := m.Rate("a1b2c3d4"), (Rate{Runs: 4, Pings: 5, Paid: 4}); rate != want {
				t.Errorf("%s the rate is %+v, want %+v", when, rate, want)
			}
			if n := len(m.Ended(time.Time{})); n != 5 {
				t.Errorf("%s %d runs have ended", when, n)
			}
			live, shown := 0, map[string]int{}
			for _, v := range m.Views() {
				if shown[v.ID]++; v.Ended.Location() != east {
					t.Errorf("%s a run is shown with %s", when, v.Ended)
				}
				if v.Live() {
					live++
				}
			}
			if live != 0 || len(shown) != 5 || shown["0badc0de"] != 1 {
				t.Errorf("%s the runs are %v, %d live", when, shown, live)
			}
			for _, id := range []string{ids[0], "0badc0de"} {
				if err := m.Stop(id); err == nil || !strings.Contains(err.Error(), "has already ended") {
					t.Errorf("%s stopping %s says %v", when, id, err)
				}
			}
		}
		check("before a restart", h.m)
		check("after a restart", h.manager())
		for _, id := range []string{ids[0], "0badc0de"} {
			if v, found, err := Find(h.dir, id); !found || err != nil || v.State != Done || v.Pings == 0 {
				t.Errorf("%s is found as %+v, %v, %v", id, v, found, err)
			}
		}
		if v, found, err := Find(h.dir, "ffffffff"); found || err != nil {
			t.Errorf("a run that never was is %+v, %v", v, err)
		}
	})
}

// None of these errors makes a successful run fail, so only the log reports them.
func TestTroubleThatFailsNoRunIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, opening(func(context.Context, agent.SessionOptions) (agent.Session, error) {
			return &telling{events: []agent.Event{agent.Result{SessionID: "s-1"}}, closed: make(chan struct{}), closing: errors.New("it does not react")}, nil
		}))
		h.troubles = []string{
			"background session did not close cleanly", "session history was not written", "ledger line was not written",
			"ping journal was not written", "ping journal was not read", "an update could not be saved", "the user was not informed of a failed run",
		}
		defer h.serve()()
		inTheWay := []string{"state/session_history.jsonl", ledgerName, "state/pings.jsonl", "state/.pending_updates.lock"}
		for _, name := range inTheWay {
			testkit.Must(t, os.RemoveAll(h.dir.Path(name)))
			testkit.Must(t, os.MkdirAll(h.dir.Path(name), 0o700))
		}
		h.done(playing(task(), "stop"))
		if v, err := h.m.Do(t.Context(), playing(task(mode(routines.Always)), "stop")); err != nil || v.State != NoReport {
			t.Errorf("%+v, %v", v, err)
		}
		r := h.run(task())
		if a := r.tools.Ping(t.Context(), "hello", false, false); a.IsError {
			t.Error(a.Text)
		}
		h.set(func() { h.failed = errors.New("no network") })
		r.fail("it broke")
	})
}

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

func TestTheRateOfATaskCountsItsEndedRunsAndNoCriticalPingAsPaid(t *testing.T) {
	began := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	rates := Rates([]View{
		{TaskID: "a", State: Done, Started: began, Pings: 2, Critical: 1},
		{TaskID: "a", State: Failed, Started: began},
		{TaskID: "a", State: Done, Started: began, Pings: 1},
		{TaskID: "a", State: Running, Started: began, Pings: 9},
		{TaskID: "a", State: Stopped, Pings: 9}, // it never started
		{TaskID: "b", State: Done, Started: began, Pings: 3},
		{TaskID: "quiet", State: Done, Started: began, Quiet: 1},
		{TaskID: "pills", State: Done, Started: began, Pings: 1, Essential: 1},
	})
	for name, c := range map[string]struct {
		rate, counts   Rate
		perRun, tokens float64
	}{
		"three runs":              {rates["a"], Rate{Runs: 3, Pings: 3, Paid: 2}, 1, 2.0 / 3},
		"more pings than one":     {rates["b"], Rate{Runs: 1, Pings: 3, Paid: 3}, 3, 1},
		"a task that never ran":   {rates["c"], Rate{}, 1, 1},
		"a task that never pings": {Rate{Runs: 3}, Rate{Runs: 3}, 0, 0},
		"one quiet run":           {rates["quiet"], Rate{Runs: 1}, 0, 2.0 / 3}, // S33: it proves nothing
		"an essential one":        {rates["pills"], Rate{Runs: 1, Pings: 1}, 1, 2.0 / 3},
	} {
		if c.rate != c.counts || c.rate.PerRun() != c.perRun || c.rate.Costs() != c.tokens {
			t.Errorf("%s: %+v, %v pings a run, costs %v tokens; want %+v, %v and %v", name, c.rate, c.rate.PerRun(), c.rate.Costs(), c.counts, c.perRun, c.tokens)
		}
	}
}

func TestOnlyACostThatIsKnownIsShown(t *testing.T) {
	for cost, want := range map[float64]string{0: "", -1: "", 1.5: "$1.50"} {
		if got := (View{Usage: agent.Usage{CostUSD: cost}}).Spent(); got != want {
			t.Errorf("%v is shown as %q", cost, got)
		}
	}
}
