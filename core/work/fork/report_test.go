package fork

import (
	"errors"
	"fmt"
	"slices"
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

func TestABlockedTaskCannotReport(t *testing.T) {
	h := newHarness(t)
	r := h.run(task(mode(routines.Blocked)))
	a := r.tools.Report(t.Context(), "hello")
	lines := tailOf(r)
	if !a.IsError || a.Text != answerReportBlocked || len(h.o.Updates.Peek()) != 0 || !slices.Equal(lines, []string{"refuse " + textReportRefused}) {
		t.Errorf("answer %+v, the tail is %q", a, lines)
	}
}

func TestARunThatOwesAReportMayNotStopOnce(t *testing.T) {
	for _, c := range []struct {
		mode   routines.Mode
		before string // what the run did
		owes   string
	}{
		{routines.Always, "", stopAlways},
		{routines.Always, "ping", stopAlways},
		{routines.Always, "report", ""},
		{routines.OnPing, "", ""},
		{routines.OnPing, "ping", stopOnPing},
		{routines.OnPing, "embed", stopOnPing},
		{routines.OnPing, "file", stopOnPing},
		{routines.OnPing, "leave", stopOnPing},
		{routines.OnPing, "ping report", ""},
		{routines.OnPing, "report ping", stopOnPing},
		{routines.Freely, "ping", ""},
		{routines.Blocked, "ping", ""},
		{"a mode from the future", "ping", stopOnPing},
	} {
		h := newHarness(t)
		h.limits.QuietMessages = 3
		again, r := h.run(task(mode(c.mode))), h.run(task(mode(c.mode)))
		for _, r := range []*run{again, r} {
			for did := range strings.FieldsSeq(c.before) {
				switch did {
				case "report":
					r.tools.Report(t.Context(), "hello")
				case "leave":
					leave(r, false)
				default:
					sendings[did](r, true)
				}
			}
		}
		if again.tools.stopRule(t.Context(), true) != "" {
			t.Errorf("%+v: a turn that continues because of the hook was blocked", c)
		}
		if got := r.tools.stopRule(t.Context(), false); got != c.owes || slices.Contains(tailOf(r), "note "+textMustReport) != (c.owes != "") {
			t.Errorf("%+v: %q, the tail is %q", c, got, tailOf(r))
		}
		if r.tools.stopRule(t.Context(), false) != "" {
			t.Errorf("%+v: it blocked twice", c)
		}
	}
}

func TestARunThatOwesAReportIsSentBackOnceAndThenItsUpdateSaysSo(t *testing.T) {
	reported := []string{"tool report_updates", "report fine", "result " + answerReported, "note done"}
	const lazy, report, due = "error no report: " + textNoReport, `call report_updates {"message":"fine"}`, "note " + textMustReport
	for name, c := range map[string]struct {
		lines []string
		state State
		tail  []string
	}{
		"it reports":       {[]string{report}, Done, reported},
		"when sent back":   {[]string{"say a", "stop", report}, Done, append([]string{"text a", due}, reported...)},
		"it is stubborn":   {[]string{"say a", "stop", "say no", "stop", "say never"}, NoReport, []string{"text a", due, "text no", lazy}},
		"it says one word": {[]string{"say a", "stop", "stop"}, NoReport, []string{"text a", due, lazy}},
	} {
		served(t, func(t *testing.T, h *harness) {
			v, err := h.m.Do(t.Context(), playing(task(mode(routines.Always)), c.lines...))
			reports := map[State]int{Done: 1}[c.state]
			if err != nil || v.State != c.state || v.Reports != reports || (v.Error == "") != (c.state == Done) {
				t.Errorf("%s: %+v, %v", name, v, err)
			}
			if diff := cmp.Diff(c.tail, h.lines(v.ID)); diff != "" {
				t.Errorf("%s: the tail is\n%s", name, diff)
			}
			said := map[State]string{Done: "fine", NoReport: fmt.Sprintf(updateNoReport, "Email sweep")}[c.state]
			if list := h.o.Updates.Peek(); len(list) != 1 || list[0].Message != said {
				t.Errorf("%s: updates: %+v", name, list)
			}
			if again, err := Ledger(h.dir, 5); err != nil || len(again) != 1 || again[0].State != c.state {
				t.Errorf("%s: the ledger says %+v, %v", name, again, err)
			}
		})
	}
}

func TestAFollowUpIsScheduledOnceWithWhatTheChainInherits(t *testing.T) {
	root := routines.Reminder{
		Task: routines.Task{
			Kind: routines.KindReminder, ID: "root0001", Path: "reminders/x.md", Description: "Laundry", Body: "Is it dry?",
			Background: true, Model: "haiku", Thinking: true, Isolated: true, Mode: routines.Blocked, AllowPing: true,
			Disallowed: []string{"Bash(rm *)"}, Skills: []string{"home"},
		},
		MaxChain: 3,
	}
	later := func(depth int, parent string) *routines.Reminder {
		r := root
		r.ChainDepth, r.ChainParent = depth, parent
		return &r
	}
	for name, c := range map[string]struct {
		chain   *routines.Reminder
		fail    error
		minutes int
		want    string
		parent  string // of what is scheduled; empty if nothing is
	}{
		"no minutes":       {later(1, "parent01"), nil, 0, "between 1 and 10080", ""},
		"more than a week": {later(1, "parent01"), nil, 10081, "between 1 and 10080", ""},
		"a first check":    {later(0, ""), nil, 45, "45 minutes", "root0001"},
		"a second check":   {later(1, "parent01"), nil, 45, "45 minutes", "parent01"},
		"the last check":   {later(3, "parent01"), nil, 45, "limit reached", ""},
		"a routine":        {nil, nil, 45, "no active reminder context", ""},
		"a full disk":      {later(1, "parent01"), errors.New("disk full"), 45, "disk full", ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newHarness(t)
			h.book.fail = c.fail
			r := h.run(root.Task, func(j *Job) { j.Reminder = c.chain })
			a := r.tools.FollowUp(t.Context(), c.minutes)
			kind := map[bool]string{true: "refuse ", false: "note "}[a.IsError]
			if lines := tailOf(r); a.IsError != (c.parent == "") || !strings.Contains(a.Text, c.want) || !slices.Equal(lines, []string{kind + shown(a.Text)}) {
				t.Errorf("%s: %+v, the tail is %q", name, a, lines)
			}
			var want []routines.Reminder
			if c.parent != "" {
				next := *c.chain
				next.ID, next.Path, next.Description, next.ChainParent = "00000001", "", "", c.parent
				next.ChainDepth, next.RunAt = next.ChainDepth+1, time.Now().UTC().Add(45*time.Minute)
				want = []routines.Reminder{next}
			}
			if diff := cmp.Diff(want, h.book.List()); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
			h.book.fail = nil
			if a := r.tools.FollowUp(t.Context(), 45); c.parent != "" && !strings.Contains(a.Text, "already scheduled") || c.fail != nil && a.IsError {
				t.Errorf("%s: a second one: %+v", name, a)
			}
		})
	}
}

func TestTheStopHookThatPanicsHoldsNoRunBack(t *testing.T) {
	h := newHarness(t)
	h.troubles = []string{"stop hook failed", "internal fault in the stop hook: "}
	r := h.run(task(mode(routines.Always)))
	r.tools.status.lines = nil
	if got := r.tools.stopRule(t.Context(), false); got != "" {
		t.Errorf("it blocks with %q", got)
	}
}
