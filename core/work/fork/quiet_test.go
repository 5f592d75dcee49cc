package fork

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/work/budget"
	"ollimbot/routines"
)

func TestQuietMessages(t *testing.T) {
	const budgetLeft = 5.0
	for name, tt := range map[string]struct {
		task    routines.Task
		prepare func(*harness)
		want    []string
		sent    int
	}{
		"one goes out and costs no token": {task: task(), want: []string{"sent"}, sent: 1},
		"quiet hours are about sounds":    {task: task(), prepare: func(h *harness) { h.quiet = time.Now().Add(time.Hour) }, want: []string{"sent"}, sent: 1},
		"a mute is about messages": {
			task: task(), prepare: func(h *harness) { h.muted = time.Now().Add(time.Hour); h.quiet = h.muted },
			want: []string{"muted messages until 1:00 AM", "report_updates"},
		},
		"a conversation is not interrupted": {task: task(), prepare: func(h *harness) { h.busy = true }, want: []string{"mid-conversation"}},
		"a task that may not ping":          {task: task(noPing), want: []string{"disabled"}},
		"the setting forbids them":          {task: task(), prepare: func(h *harness) { h.limits.QuietMessages = 0 }, want: []string{"quiet_messages is 0"}},
		"the fourth of a day": {
			task: task(), prepare: func(h *harness) {
				for range 3 {
					if a := h.run(task()).tools.Ping(context.Background(), "later", false, true); a.IsError {
						h.t.Fatal(a.Text)
					}
				}
			},
			want: []string{"3 a day are allowed", "nothing was sent"}, sent: 3,
		},
		"a blocked task is not sent to a report": {task: task(mode(routines.Blocked)), prepare: func(h *harness) { h.busy = true }, want: []string{"nothing was sent."}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness(t)
				h.limits.QuietMessages = 3
				if tt.prepare != nil {
					tt.prepare(h)
				}
				r := h.run(tt.task)
				before := len(h.sent())
				a := r.tools.Ping(t.Context(), "The parcel has arrived", false, true)
				for _, w := range tt.want {
					if !strings.Contains(a.Text, w) {
						t.Errorf("answer %q lacks %q", a.Text, w)
					}
				}
				if strings.Contains(a.Text, "critical=True") || tt.task.Mode == routines.Blocked && strings.Contains(a.Text, "report_updates") {
					t.Errorf("answer %q", a.Text)
				}
				sent := h.sent()
				if len(sent) != tt.sent {
					t.Fatalf("%d sent, want %d", len(sent), tt.sent)
				}
				if len(sent) > before && (!sent[before].Quiet || sent[before].Critical) {
					t.Errorf("%+v", sent[before])
				}
				state, _ := h.o.Budget.State(h.m.o.now())
				if state.Available != budgetLeft || state.DailyUsed+state.CriticalUsed != 0 {
					t.Errorf("the bucket was touched: %+v", state)
				}
				v := r.status.snapshot()
				if v.Pings != 0 || v.Quiet+v.Refused != 1 || a.IsError != (v.Quiet == 0) {
					t.Errorf("%d pings, %d quiet, %d refused", v.Pings, v.Quiet, v.Refused)
				}
			})
		})
	}
}

// A ping refused by the budget is not sent as a quiet one.
func TestARefusedPingIsNotTurnedIntoAQuietOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		h.limits.QuietMessages = 3
		h.drain(0)
		a := h.run(task()).tools.Ping(t.Context(), "hello", false, false)
		if !a.IsError || len(h.sent()) != 0 || h.o.Tally.At(h.m.o.now()) != (budget.Count{Day: "2000-01-01"}) {
			t.Errorf("%s, %d sent, %+v", a.Text, len(h.sent()), h.o.Tally.At(h.m.o.now()))
		}
		if strings.Contains(a.Text, "quiet") {
			t.Errorf("the answer offers a way around the budget: %s", a.Text)
		}
	})
}

// A quiet message is the only message of its run, and requires a report like a ping.
func TestAQuietMessageIsTheOneOfItsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		h.limits.QuietMessages = 3
		r := h.run(task())
		r.tools.Ping(t.Context(), "first", false, true)
		for _, quiet := range []bool{true, false} {
			if a := r.tools.Ping(t.Context(), "second", false, quiet); !strings.Contains(a.Text, "Already sent 1 ping") {
				t.Error(a.Text)
			}
		}
		if r.tools.stopRule(t.Context(), false) == "" {
			t.Error("the run need not say what it has left")
		}
		list := h.o.Journal.Recent()
		if len(list) != 3 || !list[0].Quiet || list[0].Refused != "" {
			t.Errorf("%+v", list)
		}
		if rate := Rates([]View{{TaskID: "a", State: Done, Started: time.Now(), Quiet: 1}})["a"]; rate.Paid != 0 {
			t.Errorf("a quiet run costs tokens in the forecast: %+v", rate)
		}
	})
}
