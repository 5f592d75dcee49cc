package fork

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/tail"
	"ollimbot/core/base/testkit"
	"ollimbot/routines"
)

func TestTwoReportsRacingAreBothKept(t *testing.T) {
	h := newHarness(t)
	r := h.run(task())
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() { r.tools.Report(t.Context(), fmt.Sprint("finding ", i)) })
	}
	wg.Wait()
	if n := len(h.o.Updates.Peek()); n != 2 || r.status.snapshot().Reports != 2 {
		t.Errorf("%d updates, %d counted", n, r.status.snapshot().Reports)
	}
}

func TestABlockedTaskCannotReport(t *testing.T) {
	h := newHarness(t)
	r := h.run(task(mode(routines.Blocked)))
	a := r.tools.Report(t.Context(), "hello")
	if !a.IsError || !strings.Contains(a.Text, "disabled") || len(h.o.Updates.Peek()) != 0 {
		t.Errorf("answer %+v", a)
	}
}

func TestTheStopRule(t *testing.T) {
	ping := func(r *run) { r.tools.Ping(context.Background(), "hello", true, false) }
	report := func(r *run) { r.tools.Report(context.Background(), "hello") }
	tests := []struct {
		mode   routines.Mode
		before []func(*run)
		blocks bool
	}{
		{routines.Always, nil, true},
		{routines.Always, []func(*run){ping}, true},
		{routines.Always, []func(*run){report}, false},
		{routines.OnPing, nil, false},
		{routines.OnPing, []func(*run){ping}, true},
		{routines.OnPing, []func(*run){ping, report}, false},
		{routines.OnPing, []func(*run){report, ping}, true},
		{routines.Freely, []func(*run){ping}, false},
		{routines.Blocked, []func(*run){ping}, false},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.mode, " after ", len(tt.before), " calls, blocks ", tt.blocks), func(t *testing.T) {
			h := newHarness(t)
			again, r := h.run(task(mode(tt.mode))), h.run(task(mode(tt.mode)))
			for _, f := range tt.before {
				f(r)
				f(again)
			}
			if again.tools.stopRule(t.Context(), true) != "" {
				t.Error("a turn that goes on because of the hook was blocked")
			}
			reason := r.tools.stopRule(t.Context(), false)
			if (reason != "") != tt.blocks || tt.blocks && !strings.Contains(reason, "report_updates") {
				t.Errorf("reason %q", reason)
			}
			if r.tools.stopRule(t.Context(), false) != "" {
				t.Error("it blocked twice")
			}
		})
	}
}

func TestARunThatOwesAReportIsSentBackOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		lines   []string
		reports int
		state   State
	}{
		"and reports":        {[]string{"say a", "stop", `call report_updates {"message":"fine"}`}, 1, Done},
		"and stays stubborn": {[]string{"say a", "stop", "say no", "stop", "say never"}, 0, NoReport},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness(t)
				defer h.serve()()
				v, err := h.m.Do(t.Context(), playing(task(mode(routines.Always)), tt.lines...))
				if err != nil || v.State != tt.state || v.Reports != tt.reports {
					t.Errorf("got %s, %d reports, %v", v.State, v.Reports, err)
				}
				page, _ := h.m.Tail(v.ID, 0)
				for _, l := range page.Lines {
					if l.Text == "never" {
						t.Error("the second stop was blocked too")
					}
				}
			})
		})
	}
}

func TestAFollowUpIsScheduledOnceWithWhatTheChainInherits(t *testing.T) {
	reminder := &routines.Reminder{
		Task: routines.Task{
			Kind: routines.KindReminder, ID: "root0001", Path: "reminders/x.md", Description: "Laundry", Body: "Is it dry?",
			Background: true, Model: "haiku", Thinking: true, Isolated: true, Mode: routines.Blocked, AllowPing: true,
			Disallowed: []string{"Bash(rm *)"}, Skills: []string{"home"},
		},
		ChainDepth: 1, MaxChain: 3, ChainParent: "parent01",
	}
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		r := h.run(reminder.Task, func(j *Job) { j.Reminder = reminder })
		if a := r.tools.FollowUp(t.Context(), 0); !a.IsError || !strings.Contains(a.Text, "between 1 and 10080") {
			t.Errorf("0 minutes: %+v", a)
		}
		if a := r.tools.FollowUp(t.Context(), 10081); !a.IsError {
			t.Errorf("more than a week: %+v", a)
		}
		if a := r.tools.FollowUp(t.Context(), 45); a.IsError || !strings.Contains(a.Text, "45 minutes") {
			t.Errorf("45 minutes: %+v", a)
		}
		if a := r.tools.FollowUp(t.Context(), 45); !a.IsError || !strings.Contains(a.Text, "already scheduled") {
			t.Errorf("a second one: %+v", a)
		}
		want := *reminder
		want.ID, want.Path, want.Description = "00000001", "", ""
		want.ChainDepth, want.RunAt = 2, time.Now().UTC().Add(45*time.Minute)
		if diff := cmp.Diff([]routines.Reminder{want}, h.book.List()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestNoFollowUpWithoutAChainOrAtItsEnd(t *testing.T) {
	h := newHarness(t)
	if a := h.run(task()).tools.FollowUp(t.Context(), 5); !strings.Contains(a.Text, "no active reminder context") {
		t.Errorf("a routine: %+v", a)
	}
	last := &routines.Reminder{Task: task(), ChainDepth: 3, MaxChain: 3}
	r := h.run(task(), func(j *Job) { j.Reminder = last })
	if a := r.tools.FollowUp(t.Context(), 5); !strings.Contains(a.Text, "limit reached") {
		t.Errorf("the last check: %+v", a)
	}
	if len(h.book.List()) != 0 {
		t.Error("a reminder was written")
	}
}

func TestAFirstCheckIsTheParentOfItsChain(t *testing.T) {
	h := newHarness(t)
	root := &routines.Reminder{Task: task(func(t *routines.Task) { t.ID = "root0001" }), MaxChain: 2}
	h.run(task(), func(j *Job) { j.Reminder = root }).tools.FollowUp(t.Context(), 5)
	if got := h.book.List()[0].ChainParent; got != "root0001" {
		t.Errorf("parent %q", got)
	}
}

func TestAFollowUpThatCannotBeWrittenMayBeTriedAgain(t *testing.T) {
	h := newHarness(t)
	h.book.fail = errors.New("disk full")
	r := h.run(task(), func(j *Job) { j.Reminder = &routines.Reminder{Task: task(), MaxChain: 2} })
	if a := r.tools.FollowUp(t.Context(), 5); !strings.Contains(a.Text, "disk full") {
		t.Errorf("answer %+v", a)
	}
	h.book.fail = nil
	if a := r.tools.FollowUp(t.Context(), 5); a.IsError {
		t.Errorf("second try: %+v", a)
	}
}

func TestEveryModeIsOneOfFour(t *testing.T) {
	h := newHarness(t)
	r := h.run(task(mode("a mode from the future")))
	r.tools.Ping(t.Context(), "hello", false, false)
	if r.tools.stopRule(t.Context(), false) == "" {
		t.Error("an unknown mode reads as on_ping")
	}
	if !slices.Contains(tailOf(r.status.ring), "note "+textMustReport) {
		t.Error("the tail does not say that a report is due")
	}
}

func TestARunThatOwesItsReportEndsSoAndAnUpdateInItsNameSaysIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		defer h.serve()()
		v, err := h.m.Do(t.Context(), playing(task(mode(routines.Always)), "say nothing to tell", "stop", "say still nothing"))
		if err != nil || v.State != NoReport || v.Error == "" {
			t.Errorf("%s %q, %v", v.State, v.Error, err)
		}
		list := h.o.Updates.Peek()
		if len(list) != 1 || !strings.Contains(list[0].Message, "Email sweep") || !strings.Contains(list[0].Message, "without a report") {
			t.Errorf("updates: %+v", list)
		}
		if again, err := Ledger(h.dir, 5); err != nil || len(again) != 1 || again[0].State != NoReport {
			t.Errorf("the ledger says %+v, %v", again, err)
		}
		for _, lines := range [][]string{{`call report_updates {"message":"all quiet"}`}, {"say x", `call report_updates {"message":"after all"}`}} {
			if v, err := h.m.Do(t.Context(), playing(task(mode(routines.Always)), lines...)); err != nil || v.State != Done {
				t.Errorf("%s, %v", v.State, err)
			}
		}
	})
}

func TestTheTailTellsWhatWasSaidBeforeThatAReportIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		defer h.serve()()
		v, err := h.m.Do(t.Context(), playing(task(mode(routines.Always)), "say All is quiet.", "stop", `call report_updates {"message":"fine"}`))
		testkit.Must(t, err)
		page, _ := h.m.Tail(v.ID, 0)
		said := slices.IndexFunc(page.Lines, func(l tail.Line) bool { return l.Text == "All is quiet." })
		due := slices.IndexFunc(page.Lines, func(l tail.Line) bool { return l.Text == textMustReport })
		if said < 0 || due < said {
			t.Errorf("said at %d, due at %d: %+v", said, due, page.Lines)
		}
	})
}
