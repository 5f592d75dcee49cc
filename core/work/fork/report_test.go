package fork

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

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

func TestARunThatOwesItsReportEndsSoAndAnUpdateInItsNameSaysIt(t *testing.T) {
	serving(t, func(t *testing.T, h *harness) {
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
