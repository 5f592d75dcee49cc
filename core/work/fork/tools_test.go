package fork

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/safety/label"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/post"
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
					leave(t.Context(), r, false)
				default:
					sendings[did](t.Context(), r, true)
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
			if err != nil || v.State != c.state || v.Reports != reports || v.Error != map[State]string{NoReport: textNoReport}[c.state] {
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

func TestARunStopsItsOwnRoutineUnlessItHasReadUntrustedText(t *testing.T) {
	for name, tt := range map[string]struct {
		change  func(*Job)
		fails   error
		refused string // part of the answer; empty if it is done
		stops   int    // how often the bot is asked to
	}{
		"its own":              {stops: 1},
		"after untrusted text": {change: func(j *Job) { j.Label = label.From("mail") }, refused: "has read untrusted text (mail)"},
		"that its file trusts": {change: func(j *Job) { j.Label, j.Trusted = label.From("mail"), true }, refused: "has read untrusted text (mail)"},
		"a reminder":           {change: func(j *Job) { j.Task.Kind = routines.KindReminder }, refused: "only available in a background run of a routine"},
		"the bot refuses":      {fails: errors.New("it is essential"), refused: "was not stopped: it is essential", stops: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness(t)
				h.unstopped = tt.fails
				r := h.run(task(), func(j *Job) {
					if tt.change != nil {
						tt.change(j)
					}
				})
				a := r.tools.Stop(t.Context(), toolset.Stop{Reason: "done"})
				if a.IsError != (tt.refused != "") || !strings.Contains(a.Text, tt.refused) || len(h.stops) != tt.stops {
					t.Errorf("%+v, asked %q", a, h.stops)
				}
				done := tt.refused == ""
				said := []string{"note It paused itself: done"}
				if !done {
					said = []string{"refuse stop_routine refused: " + a.Text}
				}
				if v := r.status.snapshot(); (v.Stopped == "paused itself") != done || (len(h.o.Updates.Peek()) == 1) != done || len(h.sent()) != 0 ||
					!slices.Equal(tailOf(r), said) {
					t.Errorf("%+v, pending %+v, sent %+v, the tail is %q", v, h.o.Updates.Peek(), h.sent(), tailOf(r))
				}
				if tt.stops == 1 && h.stops[0] != "a1b2c3d4 done false" {
					t.Errorf("asked to stop %q", h.stops)
				}
			})
		})
	}
}

func TestABackgroundRunCannotMoveTheConversation(t *testing.T) {
	for name, c := range map[string]struct {
		why, more string // what follows if the run may report
		call      func(*run) agent.ToolResult
	}{
		toolset.SaveContext:     {toolset.TextNoSave, "", func(r *run) agent.ToolResult { return r.tools.SaveContext(context.Background()) }},
		toolset.EnterFork:       {toolset.TextNoEnter, "", func(r *run) agent.ToolResult { return r.tools.EnterFork(context.Background(), "plants", 0) }},
		toolset.ExitFork:        {toolset.TextNoExit, answerReport, func(r *run) agent.ToolResult { return r.tools.ExitFork(context.Background()) }},
		toolset.UpdateNames:     {toolset.TextNoNames, "", func(r *run) agent.ToolResult { return r.tools.UpdateNames(context.Background(), "Sam", "b") }},
		toolset.ProposeReminder: {toolset.TextProposeOutside, "", func(r *run) agent.ToolResult { return r.tools.Propose(context.Background(), toolset.Promise{}) }},
	} {
		for mode, more := range map[routines.Mode]string{routines.OnPing: c.more, routines.Blocked: ""} {
			h := newHarness(t)
			r := h.run(task(func(t *routines.Task) { t.Mode = mode }))
			a := c.call(r)
			said := []string{"refuse " + name + " refused: " + clean.Cut(clean.Line(a.Text), maxShown)}
			if lines := tailOf(r); a != toolset.Refusal(c.why+more) || !slices.Equal(lines, said) {
				t.Errorf("%s: %+v, the tail is %q", name, a, lines)
			}
			if v := r.status.snapshot(); v.Refused != 0 || len(h.sent()) != 0 {
				t.Errorf("%s counts as a refused ping", name)
			}
		}
	}
}

func TestAFileIsSentWithItsNameAndRealPath(t *testing.T) {
	h := newHarness(t)
	storetest.Put(t, h.dir, "notes/week.md", "plan")
	r := h.run(task())
	if a := r.tools.SendFile(t.Context(), "notes/week.md", "Your week", false); a.IsError || a.Text != "File sent: week.md" {
		t.Fatalf("%+v", a)
	}
	root, err := filepath.EvalSymlinks(h.dir.Root())
	testkit.Must(t, err)
	want := []post.Post{{Text: "Your week", Files: []string{filepath.Join(root, "notes", "week.md")}}}
	id := identity(r.id, want[0], 0)
	want[0].Nonce, want[0].Context, want[0].Source, want[0].Buttons = id, "bg", "Email sweep", post.Ping(id)
	if diff := cmp.Diff(want, h.sent()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"ping File sent: week.md · Your week"}, tailOf(r)); diff != "" {
		t.Error(diff)
	}
}

func TestAFileThatCannotBeSentCostsNothing(t *testing.T) {
	h := newHarness(t)
	storetest.Put(t, h.dir, "state/token.json", "{}")
	r := h.run(task())
	for path, want := range map[string]string{"missing.md": "Error: file not found or not a regular file", "state/token.json": "was not sent"} {
		if a := r.tools.SendFile(t.Context(), path, "", true); !a.IsError || !strings.Contains(a.Text, want) {
			t.Errorf("%+v", a)
		}
	}
	if v := r.status.snapshot(); v.Pings != 0 || v.Refused != 0 || h.tokens() != 5 || len(h.sent()) != 0 {
		t.Errorf("%d pings, %d refused, %v tokens", v.Pings, v.Refused, h.tokens())
	}
	// Whether anything may be sent at all is checked before the file.
	if a := h.run(task(noPing)).tools.SendFile(t.Context(), "missing.md", "", false); !strings.Contains(a.Text, "disabled") {
		t.Errorf("%+v", a)
	}
}

func TestARunEndsWithAReasonWhenItHasCostTheLimitOfATurn(t *testing.T) {
	r := newHarness(t).run(task())
	for _, c := range []struct{ limit, cost float64 }{{2, 1.9}, {2, 2}, {2, 2.5}, {0, 99}} {
		left, stop := r.options(Limits{TurnCap: c.limit}).Hooks.Afford(t.Context(), agent.Spending{Used: agent.Usage{CostUSD: c.cost}, Allowed: 0.5})
		if over := c.limit > 0 && c.cost >= c.limit; (stop != "") != over || left != 0.5 {
			t.Errorf("%v of %v: %q, %v are allowed", c.cost, c.limit, stop, left)
		} else if over && c.cost > c.limit {
			if want := fmt.Sprintf(textTurnCap, "$2.50", "$2.00"); stop != want {
				t.Errorf("above it: %q, want %q", stop, want)
			}
		}
	}
}

// Hook and callback of a run decide alike, because engines allow some calls without the
// callback.
func TestARunMayUseWhatItsListsName(t *testing.T) {
	h := newHarness(t)
	r := newRun(&h.m.o, Job{
		Task: task(), Allowed: []string{"Read(./**.md)", "Write", "Bash"}, Disallowed: []string{"Bash(rm *)"},
	}, nil)
	o := r.options(Limits{})
	hooks, permission := o.Hooks, o.Permission
	for _, tt := range []struct {
		tool, input string
		want        string // part of the reason; empty: allowed
	}{
		{"Read", `{"file_path":"notes/a.md"}`, ""},
		{"Read", `{"file_path":"notes/a.json"}`, "not available in background forks"},
		{"Read", `{"file_path":"state/config.json"}`, "only where a list of tools names it"},
		{"Bash", `{"command":"ls"}`, ""},
		{"Bash", `{"command":"ls; rm x"}`, "disallowed"},
		{"Write", `{"file_path":"notes/a.txt","content":"x"}`, ""},
		{"Write", `{"file_path":"state/a.txt","content":"x"}`, "write-protected"},
		{"WebFetch", `{"url":"https://example.com"}`, "not available in background forks"},
		{"mcp__discord__ping_user", `{"message":"x"}`, ""},
	} {
		u := agent.ToolUse{Name: tt.tool, Input: []byte(tt.input)}
		for name, d := range map[string]agent.Decision{"hook": hooks.PreTool(t.Context(), u), "callback": permission(t.Context(), u)} {
			if d.Allow != (tt.want == "") || !strings.Contains(d.Reason, tt.want) {
				t.Errorf("%s %s by %s: %+v", tt.tool, tt.input, name, d)
			}
		}
	}
	broken := agent.ToolUse{Name: "Write", Input: []byte(`{"file_path":"routines/a.md","content":"x"}`)}
	if d := hooks.PreTool(t.Context(), broken); d.Allow || !strings.HasPrefix(d.Reason, "routine-validator: ") {
		t.Errorf("a broken routine: %+v", d)
	}
}

func TestARunsCommandsHaveTheRightsOfTheRun(t *testing.T) {
	var by []policy.Scope
	h := newHarness(t, func(o *Options) {
		o.Commands = func(_ context.Context, s *policy.Session, _ []string) agent.CommandResult {
			by = append(by, s.Scope())
			return agent.CommandResult{Stdout: "done"}
		}
	})
	h.troubles = []string{"command of the agent was refused"}
	r := newRun(&h.m.o, Job{Task: task(), Allowed: []string{"Bash(ollim-bot reminder *)"}, Disallowed: []string{"Bash(ollim-bot reminder cancel *)"}}, nil)
	o := r.options(Limits{})
	if got := o.Command(t.Context(), []string{"reminder", "list"}); got.Stdout != "done" {
		t.Errorf("what is allowed gives %+v", got)
	}
	for _, args := range [][]string{{"reminder", "cancel", "x"}, {"routine", "list"}} {
		if got := o.Command(t.Context(), args); got.Exit == 0 || !strings.Contains(got.Stderr, "not available in background forks") {
			t.Errorf("%q gives %+v", args, got)
		}
	}
	if len(by) != 1 || by[0].Kind != policy.Background || by[0].Session != r.id || len(by[0].Rules.Allowed) != 1 {
		t.Errorf("who asks: %+v", by)
	}
}

func TestARunRecordsTheMarkdownThatItWrites(t *testing.T) {
	var commits []string
	served(t, func(t *testing.T, h *harness) {
		// The script engine runs no tools, so the files already exist.
		for _, name := range []string{"USER.md", "other.txt"} {
			storetest.Put(t, h.dir, name, "x")
		}
		job := playing(task(),
			`ask Write {"file_path":"USER.md","content":"x"}`,
			`ask Write {"file_path":"other.txt","content":"x"}`,
			`ask Write {"file_path":"state/x.md","content":"x"}`,
			`ask Write {"file_path":"routines/x.md","content":"no front matter"}`,
			`say done`)
		job.Allowed = []string{"Write"}
		v := h.done(job)
		if diff := cmp.Diff([]string{"USER.md: auto: write USER.md"}, commits); diff != "" {
			t.Error(diff)
		}
		wants(t, "the tail", strings.Join(h.lines(v.ID), "\n"), "write-protected", "routine-validator: ")
	}, func(o *Options) { o.Commit = func(rel, message string) { commits = append(commits, rel+": "+message) } })
}
