package fork

import (
	"context"
	"errors"
	"fmt"
	"os"
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
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/label"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/budget"
	"ollimbot/routines"
)

// sendings are the ways to reach the user, all with the same rules.
var sendings = map[string]func(context.Context, *run, bool) agent.ToolResult{
	kindPing: func(ctx context.Context, r *run, critical bool) agent.ToolResult {
		return r.tools.Ping(ctx, "Water the plants", critical, false)
	},
	kindEmbed: func(ctx context.Context, r *run, critical bool) agent.ToolResult {
		return r.tools.Embed(ctx, post.Embed{Title: "Plants"}, critical)
	},
	kindFile: func(ctx context.Context, r *run, critical bool) agent.ToolResult {
		if err := r.o.Dir.Write("plants.md", []byte("Water them.")); err != nil {
			panic(err)
		}
		return r.tools.SendFile(ctx, "plants.md", "", critical)
	},
}

// leave leaves a silent message.
func leave(ctx context.Context, r *run, _ bool) agent.ToolResult {
	return r.tools.Ping(ctx, "The parcel has arrived", false, true)
}

// What a story of a message may begin with.
var circumstances = map[string]func(*harness){
	"no token":       func(h *harness) { h.drain(0) },
	"a conversation": func(h *harness) { h.busy = true },
	"quiet hours":    func(h *harness) { h.quiet = time.Now().Add(90 * time.Minute) },
	"a mute":         func(h *harness) { h.muted = time.Now().Add(time.Hour); h.quiet = h.muted },
	"capacity 0": func(h *harness) {
		_, _, err := h.o.Budget.Set(h.m.o.now(), new(int), nil)
		testkit.Must(h.t, err)
	},
	"quiet ones are off": func(h *harness) { h.limits.QuietMessages = 0 },
	"three quiet ones today": func(h *harness) {
		for range 3 {
			leave(h.t.Context(), h.run(task()), false)
		}
		h.posts = nil
	},
	"a tally that fails": func(h *harness) {
		testkit.Must(h.t, os.MkdirAll(h.dir.Path("state/.ping_tally.lock"), 0o700))
	},
	"a disk that fails": func(h *harness) {
		h.t.Cleanup(breakBudget(h.t, h))
	},
}

func TestWhetherAMessageLeavesAndWhatItCosts(t *testing.T) {
	const ping, critical, quiet = "ping", "critical", "quiet"
	const instead = answerReport + answerOrCritical
	blocked, pills := task(mode(routines.Blocked)), task(essential)
	mail := func(j *Job) { j.Label = label.From("mail") }
	trusted := func(j *Job) { mail(j); j.Trusted = true }
	exhausted := fmt.Sprintf(answerExhausted, 5) + fmt.Sprintf(answerNextToken, 90) + instead
	late := fmt.Sprintf(answerQuiet, "1:30 AM") + instead
	const disabled = answerDisabled + answerReport
	for name, c := range map[string]struct {
		when string
		task routines.Task
		kind string
		job  func(*Job)
		// refused is the answer and briefly the reason in the journal; empty if the message leaves.
		refused, briefly string
		paid             int
		free             bool // it is essential: beside the budget
		silent           bool
	}{
		"a ping costs a token and counts":            {task: task(), kind: ping, paid: 1},
		"a task that may not ping is refused":        {task: task(noPing), kind: ping, refused: disabled, briefly: briefDisabled},
		"and so is its critical ping":                {task: task(noPing), kind: critical, refused: disabled, briefly: briefDisabled},
		"an empty bucket refuses":                    {when: "no token", task: task(), kind: ping, refused: exhausted, briefly: briefExhausted},
		"a critical ping passes an empty bucket":     {when: "no token", task: task(), kind: critical},
		"a conversation refuses":                     {when: "a conversation", task: task(), kind: ping, refused: answerBusy + instead, briefly: briefBusy},
		"a critical ping passes a conversation":      {when: "a conversation", task: task(), kind: critical},
		"quiet hours refuse and say until when":      {when: "quiet hours", task: task(), kind: ping, refused: late, briefly: "quiet until 01:30"},
		"a critical ping passes quiet hours":         {when: "quiet hours", task: task(), kind: critical},
		"capacity 0 is muted, not exhausted":         {when: "capacity 0", task: task(), kind: ping, refused: answerMuted + instead, briefly: briefMuted},
		"a blocked task is not sent to report":       {when: "a conversation", task: blocked, kind: ping, refused: answerBusy + answerOrCritical, briefly: briefBusy},
		"what cannot be paid is not sent":            {when: "a disk that fails", task: task(), kind: ping, refused: "was sent." + instead, briefly: briefNoBudget},
		"a critical ping leaves, though not counted": {when: "a disk that fails", task: task(), kind: critical},
		"a quiet one costs no token":                 {task: task(), kind: quiet, silent: true},
		"even from an empty bucket":                  {when: "no token", task: task(), kind: quiet, silent: true},
		"quiet hours are about sounds":               {when: "quiet hours", task: task(), kind: quiet, silent: true},
		"a mute is about messages": {
			when: "a mute", task: task(), kind: quiet, refused: fmt.Sprintf(answerMutedUntil, "1:00 AM") + answerReport, briefly: "muted until 01:00",
		},
		"a quiet one does not interrupt":       {when: "a conversation", task: task(), kind: quiet, refused: answerBusy + answerReport, briefly: briefBusy},
		"a task that may not ping leaves none": {task: task(noPing), kind: quiet, refused: disabled, briefly: briefDisabled},
		"a quiet one with capacity 0":          {when: "capacity 0", task: task(), kind: quiet, refused: answerMuted + answerReport, briefly: briefMuted},
		"the setting forbids quiet ones":       {when: "quiet ones are off", task: task(), kind: quiet, refused: answerNoQuiet + answerReport, briefly: briefNoQuiet},
		"the fourth quiet one of a day": {
			when: "three quiet ones today", task: task(), kind: quiet, refused: fmt.Sprintf(answerQuietUsed, 3) + answerReport, briefly: briefQuietUsed,
		},
		"a quiet one of a blocked task":       {when: "a conversation", task: blocked, kind: quiet, refused: answerBusy, briefly: briefBusy},
		"an essential one costs no token":     {task: pills, kind: ping, free: true},
		"an empty bucket cannot refuse it":    {when: "no token", task: pills, kind: ping, free: true},
		"a conversation does not, either":     {when: "a conversation", task: pills, kind: ping, free: true},
		"in quiet hours it makes no sound":    {when: "quiet hours", task: pills, kind: ping, free: true, silent: true},
		"an essential run with a label pays":  {task: pills, kind: ping, job: mail, paid: 1},
		"and is refused without a token":      {when: "no token", task: pills, kind: ping, job: mail, refused: exhausted, briefly: briefExhausted},
		"the user may trust the task":         {task: pills, kind: ping, job: trusted, free: true},
		"an essential task that may not ping": {task: task(essential, noPing), kind: ping, refused: disabled, briefly: briefDisabled},
		"its critical one counts as such":     {task: pills, kind: critical},
		"its quiet one counts as such":        {task: pills, kind: quiet, silent: true},
		"a quiet one that cannot be counted":  {when: "a tally that fails", task: task(), kind: quiet, refused: "was sent." + answerReport, briefly: briefNoBudget},
	} {
		ways := sendings
		if c.kind == quiet {
			ways = map[string]func(context.Context, *run, bool) agent.ToolResult{kindPing: leave}
		}
		for kind, send := range ways {
			t.Run(name+"/"+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := newHarness(t, audited)
					h.limits.QuietMessages = 3
					if c.when != "" {
						circumstances[c.when](h)
					}
					r := h.run(c.task, func(j *Job) {
						if c.job != nil {
							c.job(j)
						}
					})
					sent, is := c.refused == "", func(b bool) int { return map[bool]int{true: 1}[b] }
					uncounted := sent && c.when == "a disk that fails"
					if uncounted {
						h.troubles = []string{"ping budget was not saved"}
					}
					before, _ := h.o.Budget.State(h.m.o.now())
					counted := h.o.Tally.At(h.m.o.now())
					a := send(t.Context(), r, c.kind == critical)
					if a.IsError == sent || !sent && a.Text != c.refused && (c.briefly != briefNoBudget || !strings.HasSuffix(a.Text, c.refused)) {
						t.Errorf("answer %+v, not %q", a, c.refused)
					}
					after, reserved := h.o.Budget.State(h.m.o.now())
					tally, v, isCritical, isQuiet := h.o.Tally.At(h.m.o.now()), r.status.snapshot(), sent && c.kind == critical, sent && c.kind == quiet
					got := []int{
						len(h.sent()), before.Whole() - after.Whole(), after.DailyUsed - before.DailyUsed, after.CriticalUsed - before.CriticalUsed, reserved,
						tally.Essential - counted.Essential, tally.Quiet - counted.Quiet, v.Pings, v.Critical, v.Essential, v.Quiet, v.Refused,
					}
					want := []int{
						is(sent), c.paid, c.paid, is(isCritical && !uncounted), 0,
						is(c.free), is(isQuiet), is(sent && !isQuiet), is(isCritical), is(c.free), is(isQuiet), is(!sent),
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("sent, tokens, daily, critical, reserved, essential, quiet of the day; pings, critical, essential, quiet, refused of the run:\n%s", diff)
					}
					list := h.o.Journal.Recent()
					p, shows := list[len(list)-1], map[string]string{kindPing: "Water the plants", kindEmbed: "Plants", kindFile: "File sent: plants.md"}[kind]
					if c.kind == quiet {
						shows = "The parcel has arrived"
					}
					if p.Kind != kind || p.Refused != c.briefly || p.Critical != (c.kind == critical) || p.Text != shows ||
						sent && (p.Quiet != c.silent || p.Essential != c.free) {
						t.Errorf("the journal has %+v", p)
					}
					says := "ping " + map[string]string{critical: textCriticalMark, quiet: textQuietMark}[c.kind] + shows
					if c.free {
						says = "ping " + textEssentialMark + shows
					}
					if !sent {
						says = "refuse " + kind + " refused: " + clean.Cut(clean.Line(a.Text), maxShown)
					}
					if lines := tailOf(r); lines[len(lines)-1] != says || len(lines) != 1+is(uncounted) || uncounted && !strings.HasPrefix(lines[0], "error not counted, ") {
						t.Errorf("the tail says %q, not %q", lines, says)
					}
					entries, _, err := h.o.Audit.Read(9)
					testkit.Must(t, err)
					var recorded []string
					for _, e := range entries {
						if e.From == "run "+r.id && e.Action != audit.InputRead {
							recorded = append(recorded, e.Action+" "+e.Detail)
						}
					}
					records := map[bool][]string{c.free: {audit.PingedBeside + " " + shows}, isQuiet: {audit.LeftQuietly + " " + shows}}
					if !slices.Equal(recorded, records[true]) {
						t.Errorf("the audit log has %q, not %q", recorded, records[true])
					}
					if !sent {
						return
					}
					if p := h.sent()[0]; p.Quiet != c.silent || p.Critical != (c.kind == critical) || p.Context != "bg" || p.Source != c.task.Description ||
						p.Nonce == "" || p.Embed != nil && p.Embed.Footer != "" { // P8
						t.Errorf("sent %+v", p)
					}
					if again := send(t.Context(), r, false); !strings.HasPrefix(again.Text, answerLimit) || h.o.Tally.At(h.m.o.now()) != tally {
						t.Errorf("a second one: %+v", again)
					}
				})
			})
		}
	}
}

// A message that was refused may be tried again and costs nothing; one that may have arrived is paid, counts, and has to be
// reported.
func TestWhatFailsAtTheSurfaceIsSaidAndPaidAsItWas(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		begun  bool // it fails after it was written down
		answer string
		paid   bool
	}{
		"refused":                 {errors.New("403\nforbidden"), false, fmt.Sprintf(answerNotSent, "403\nforbidden"), false},
		"no channel":              {post.ErrNoChannel, false, toolset.TextNoChannel + answerReport, false},
		"no channel at the end":   {errors.Join(errors.New("the bot has stopped"), post.ErrNoChannel), false, toolset.TextNoChannel + answerReport, false},
		"L5: refused, once begun": {errors.New("50007"), true, fmt.Sprintf(answerNotSent, "50007"), false},
		"no answer":               {errUnknown, true, fmt.Sprintf(answerPerhaps, errUnknown), true},
	} {
		for kind, send := range sendings {
			t.Run(name+"/"+kind, func(t *testing.T) {
				h := newHarness(t)
				fail := c.err
				h.poster = func(ctx context.Context, p post.Post) (post.MessageID, error) {
					if fail != nil && c.begun {
						testkit.Must(t, p.Begin())
					}
					if fail != nil {
						return "", fail
					}
					return h.post(ctx, p)
				}
				if c.paid {
					h.troubles = []string{"a ping may not have arrived"}
				}
				r := h.run(task())
				a := send(t.Context(), r, false)
				if !a.IsError || a.Text != c.answer {
					t.Errorf("answer %+v", a)
				}
				state, reserved := h.o.Budget.State(h.m.o.now())
				count := map[bool]int{true: 1}[c.paid]
				if v := r.status.snapshot(); v.Pings != count || v.Refused != 0 || state.Whole() != 5-count || state.DailyUsed != count || reserved != 0 {
					t.Errorf("%d pings, %d refused, %+v, %d reserved", v.Pings, v.Refused, state, reserved)
				}
				says := "error " + fmt.Sprintf(map[bool]string{false: textSendFailed, true: textPerhaps}[c.paid], kind, clean.Line(c.err.Error()))
				if lines := tailOf(r); len(lines) != 1+count || lines[0] != says {
					t.Errorf("the tail says %q", lines)
				}
				refused := map[bool]string{false: briefNotSent}[c.paid]
				if all := h.o.Journal.Recent(); c.begun != (len(all) == 1) || c.begun && (all[0].Refused != refused || all[0].Begun) {
					t.Errorf("the journal has %+v", all)
				}
				fail = nil
				if again := send(t.Context(), r, false); again.IsError != c.paid || c.paid && !strings.Contains(again.Text, "limit") {
					t.Errorf("a second try: %+v", again)
				}
				if all := h.o.Journal.Recent(); !c.paid && (all[len(all)-1].Refused != "" || all[len(all)-1].Message != "1") {
					t.Errorf("the journal has %+v", all)
				}
				if r.tools.stopRule(t.Context(), false) == "" {
					t.Error("what was sent, or may have been, need not be reported")
				}
			})
		}
	}
}

func TestAMessageIsPaidInTheFileBeforeItIsSent(t *testing.T) {
	h := newHarness(t)
	var seen []budget.State
	h.poster = func(_ context.Context, p post.Post) (post.MessageID, error) {
		if before, _ := h.o.Budget.State(h.m.o.now()); len(seen) == 0 && before.Whole() != 5 {
			t.Errorf("%v tokens are left while the network is waited for", before.Available)
		}
		testkit.Must(t, p.Begin())
		s, _ := budget.NewBucket(h.dir, time.UTC, nil).State(h.m.o.now()) // like after a crash at this moment
		seen = append(seen, s)
		return "1", nil
	}
	for _, critical := range []bool{false, true} {
		h.run(task()).tools.Ping(t.Context(), "hello", critical, false)
	}
	if len(seen) != 2 || seen[0].Whole() != 4 || seen[0].DailyUsed != 1 || seen[1].CriticalUsed != 1 {
		t.Errorf("while it was sent the file said %+v", seen)
	}
}

func TestASurfaceThatPanicsCostsNoToken(t *testing.T) {
	h := newHarness(t)
	h.poster = func(context.Context, post.Post) (post.MessageID, error) { panic("no surface") }
	r := h.run(task())
	for _, tool := range toolset.Tools(r.tools) {
		if tool.Name != toolset.PingUser {
			continue
		}
		u := agent.ToolUse{Name: tool.Name, Input: []byte(`{"message":"x"}`)}
		ping, _ := agent.Approve(u, u.Allowed())
		for range 2 { // the gate must be open again after the first
			if a := tool.Call(t.Context(), ping); !a.IsError {
				t.Errorf("answer %+v", a)
			}
		}
	}
	if state, reserved := h.o.Budget.State(h.m.o.now()); state.Available != 5 || reserved != 0 {
		t.Errorf("%v tokens, %d reserved", state.Available, reserved)
	}
}

func TestOfRacingPingsOneIsSent(t *testing.T) {
	for _, runs := range []int{1, 8} { // with five tokens, and for the last one
		h := newHarness(t)
		if runs > 1 {
			h.drain(1)
		}
		before := h.tokens()
		var wg sync.WaitGroup
		var list []*run
		for i := range 8 {
			if i < runs {
				list = append(list, h.run(task()))
			}
			r := list[len(list)-1]
			wg.Go(func() { r.tools.Ping(t.Context(), "me first", false, false) })
		}
		wg.Wait()
		pings, refused := 0, 0
		for _, r := range list {
			v := r.status.snapshot()
			pings, refused = pings+v.Pings, refused+v.Refused
		}
		if paid := before - h.tokens(); len(h.sent()) != 1 || pings != 1 || refused != 7 || paid < 0.99 || paid > 1 {
			t.Errorf("%d runs: %d sent, %d count, %d refused, %v tokens paid", runs, len(h.sent()), pings, refused, paid)
		}
	}
}

// The journal says why a message did or did not arrive.
func TestEveryPingAndWhyItWasRefusedIsInTheJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		r := h.run(task())
		now, left := h.m.o.now(), 4.0
		h.busy = true
		r.tools.Ping(t.Context(), "hello", false, false)
		h.busy, h.quiet = false, now.Add(time.Hour)
		r.tools.Ping(t.Context(), "hello", false, false)
		h.quiet = now // they end at this moment
		r.tools.Ping(t.Context(), "hello", false, false)
		r.tools.Embed(t.Context(), post.Embed{Title: "Plants"}, false)
		r.tools.Embed(t.Context(), post.Embed{Title: "Plants"}, true)
		entry := func(n int, kind, text string, p budget.Ping) budget.Ping {
			p.At, p.Task, p.Title, p.Run, p.Kind, p.Text = now, "a1b2c3d4", "Email sweep", r.id, kind, text
			if n > 0 {
				p.ID = h.sent()[n-1].Nonce
			}
			return p
		}
		want := []budget.Ping{
			entry(0, kindPing, "hello", budget.Ping{Refused: briefBusy}),
			entry(0, kindPing, "hello", budget.Ping{Refused: "quiet until 01:00"}),
			entry(1, kindPing, "hello", budget.Ping{Message: "1", Left: &left, Capacity: 5, Refill: 90}),
			entry(0, kindEmbed, "Plants", budget.Ping{Refused: briefLimit}),
			entry(2, kindEmbed, "Plants", budget.Ping{Message: "2", Left: &left, Capacity: 5, Refill: 90, Critical: true}),
		}
		if diff := cmp.Diff(want, h.o.Journal.Recent()); diff != "" {
			t.Error(diff)
		}
	})
}

// A reminder that repeats until done has the buttons that end it, and says how often it
// pinged. Two messages of one run count once.
func TestAReminderThatRepeatsCanBeEndedFromItsPing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		again := &routines.Reminder{Task: task(), UntilDone: true}
		own := post.Button{Label: "Draft", Action: "agent:draft it"}
		for range 2 {
			r := h.run(task(), func(j *Job) { j.Reminder = again })
			r.tools.Ping(t.Context(), "Take your pills", false, false)
			r.tools.Embed(t.Context(), post.Embed{Title: "Pills", Description: "the blue ones", Buttons: []post.Button{own}}, true)
		}
		once := h.run(task(), func(j *Job) { j.Reminder = &routines.Reminder{Task: task()} })
		once.tools.Ping(t.Context(), "Only once", true, false)
		var want, got []*post.Embed
		for i, p := range h.sent() {
			e := &post.Embed{Title: "Email sweep", Footer: textUntilDone, Buttons: append(post.Remind("a1b2c3d4"), post.NotUseful(p.Nonce))}
			if i%2 == 1 {
				e.Title, e.Description, e.Buttons = "Pills", "the blue ones", append(e.Buttons, own)
			}
			if i >= 2 {
				e.Footer += " · for the second time"
			}
			if i == 4 {
				e = nil
			}
			want, got = append(want, e), append(got, p.Embed)
		}
		if diff := cmp.Diff(want, got); diff != "" || len(got) != 5 {
			t.Error(diff)
		}
	})
}

func TestACardWithItsOwnDoneGetsNoSecondOne(t *testing.T) {
	h := newHarness(t)
	own := post.Button{Label: "done", Action: "agent:water them"}
	h.run(task()).tools.Embed(t.Context(), post.Embed{Title: "Plants", Description: "Water them?", Buttons: []post.Button{own}}, true)
	want := append([]post.Button{own}, post.Ping(h.sent()[0].Nonce)[1:]...)
	if diff := cmp.Diff(want, h.sent()[0].Embed.Buttons); diff != "" {
		t.Error(diff)
	}
}

func TestAnEndedRunAnswersNoMoreCalls(t *testing.T) {
	h := newHarness(t)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for r := range 20 { // the gate is free, and either may be seen first
		if a := h.run(task()).tools.Report(gone, "late"); a.Text != answerCancelled {
			t.Fatalf("call %d of one who is gone: %+v", r, a)
		}
	}
	r := h.run(task(), func(j *Job) { j.Reminder = &routines.Reminder{Task: task(), MaxChain: 2} })
	r.tools.close()
	for what, a := range map[string]agent.ToolResult{
		"ping": r.tools.Ping(t.Context(), "late", true, false), "report": r.tools.Report(t.Context(), "late"),
		"follow up": r.tools.FollowUp(t.Context(), 5), "stop": r.tools.Stop(t.Context(), toolset.Stop{Reason: "late"}),
	} {
		if !a.IsError || a.Text != answerCancelled {
			t.Errorf("%s: %+v", what, a)
		}
	}
	if len(h.sent())+len(h.o.Updates.Peek())+len(h.book.List())+len(h.stops) > 0 {
		t.Errorf("%+v, %+v, %+v, %q", h.sent(), h.o.Updates.Peek(), h.book.List(), h.stops)
	}
}

// errUnknown is returned by a surface that got no answer.
var errUnknown = fmt.Errorf("send the message: no answer within 20s: %w", post.ErrUnknown)
