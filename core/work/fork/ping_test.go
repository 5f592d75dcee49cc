package fork

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/budget"
	"ollimbot/routines"
)

// sendings are the ways to reach the user, all with the same rules.
var sendings = map[string]func(*run, bool) agent.ToolResult{
	"ping": func(r *run, critical bool) agent.ToolResult {
		return r.tools.Ping(context.Background(), "Water the plants", critical, false)
	},
	"embed": func(r *run, critical bool) agent.ToolResult {
		return r.tools.Embed(context.Background(), post.Embed{Title: "Plants"}, critical)
	},
	"file": func(r *run, critical bool) agent.ToolResult {
		if err := r.o.Dir.Write("plants.md", []byte("Water them.")); err != nil {
			panic(err)
		}
		return r.tools.SendFile(context.Background(), "plants.md", "", critical)
	},
}

func TestPingRules(t *testing.T) {
	tests := map[string]struct {
		task     routines.Task
		prepare  func(*harness)
		critical bool
		want     []string // substrings of the answer
		not      string
		sent     int
		tokens   float64
		daily    int
		crit     int
	}{
		"a ping costs a token and counts": {task: task(), want: []string{"sent"}, sent: 1, tokens: 4, daily: 1},
		"a task that may not ping is refused": {
			task: task(noPing), want: []string{"disabled", "report_updates"}, tokens: 5,
		},
		"and even its critical ping is": {
			task: task(noPing), critical: true, want: []string{"disabled"}, tokens: 5,
		},
		"an empty bucket refuses": {
			task: task(), prepare: func(h *harness) { h.drain(0) },
			want: []string{"Budget exhausted", "0 of 5", "report_updates", "next one is free in"}, tokens: 0, daily: 5,
		},
		"a critical ping passes an empty bucket": {
			task: task(), prepare: func(h *harness) { h.drain(0) }, critical: true,
			want: []string{"sent"}, sent: 1, tokens: 0, daily: 5, crit: 1,
		},
		"a conversation refuses": {
			task: task(), prepare: func(h *harness) { h.busy = true },
			want: []string{"mid-conversation", "report_updates", "critical=True"}, tokens: 5,
		},
		"a critical ping passes a conversation": {
			task: task(), prepare: func(h *harness) { h.busy = true }, critical: true,
			want: []string{"sent"}, sent: 1, tokens: 5, crit: 1,
		},
		"quiet hours refuse and say until when": {
			task:    task(),
			prepare: func(h *harness) { h.quiet = time.Now().Add(90 * time.Minute) },
			want:    []string{"Quiet hours or a mute last until 1:30 AM", "report_updates", "critical=True"}, tokens: 5,
		},
		"a critical ping passes quiet hours": {
			task: task(), prepare: func(h *harness) { h.quiet = time.Now().Add(time.Hour) }, critical: true,
			want: []string{"sent"}, sent: 1, tokens: 5, crit: 1,
		},
		"capacity 0 is muted, not exhausted": {
			task: task(),
			prepare: func(h *harness) {
				zero := 0
				if _, _, err := h.o.Budget.Set(h.m.o.now(), &zero, nil); err != nil {
					h.t.Fatal(err)
				}
			},
			want: []string{"Muted", "capacity is 0"}, not: "exhausted",
		},
		"a blocked task is not sent to a report that it cannot make": {
			task: task(mode(routines.Blocked)), prepare: func(h *harness) { h.busy = true },
			want: []string{"mid-conversation"}, not: "report_updates", tokens: 5,
		},
	}
	for name, tt := range tests {
		for kind, send := range sendings {
			t.Run(name+"/"+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := newHarness(t)
					if tt.prepare != nil {
						tt.prepare(h)
					}
					r := h.run(tt.task)
					answer := send(r, tt.critical)
					for _, w := range tt.want {
						if !strings.Contains(answer.Text, w) {
							t.Errorf("answer %q lacks %q", answer.Text, w)
						}
					}
					if tt.not != "" && strings.Contains(answer.Text, tt.not) {
						t.Errorf("answer %q holds %q", answer.Text, tt.not)
					}
					if answer.IsError != (tt.sent == 0) {
						t.Errorf("IsError %v with %d sent", answer.IsError, tt.sent)
					}
					state, reserved := h.o.Budget.State(h.m.o.now())
					got := []any{len(h.sent()), state.Available, state.DailyUsed, state.CriticalUsed, reserved}
					want := []any{tt.sent, tt.tokens, tt.daily, tt.crit, 0}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("sent, tokens, daily, critical, reserved:\n%s", diff)
					}
					v := r.status.snapshot()
					if v.Pings != tt.sent || v.Refused != 1-tt.sent || v.Critical != tt.crit {
						t.Errorf("counters: %d pings, %d refused, %d critical", v.Pings, v.Refused, v.Critical)
					}
				})
			})
		}
	}
}

func TestOnePingOrEmbedPerForkAndACriticalOneCountsAsIt(t *testing.T) {
	tests := []struct {
		first, second         string
		firstCrit, secondCrit bool
		sent                  int
	}{
		{"ping", "ping", false, false, 1},
		{"embed", "embed", false, false, 1},
		{"ping", "embed", false, false, 1},
		{"ping", "ping", true, false, 1},
		{"ping", "ping", false, true, 2},
		{"embed", "ping", true, true, 2},
		{"file", "ping", false, false, 1},
		{"embed", "file", false, false, 1},
		{"file", "file", true, true, 2},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s %v then %s %v", tt.first, tt.firstCrit, tt.second, tt.secondCrit), func(t *testing.T) {
			h := newHarness(t)
			r := h.run(task())
			if a := sendings[tt.first](r, tt.firstCrit); a.IsError {
				t.Fatal(a.Text)
			}
			a := sendings[tt.second](r, tt.secondCrit)
			if len(h.sent()) != tt.sent {
				t.Fatalf("%d sent, want %d: %s", len(h.sent()), tt.sent, a.Text)
			}
			if tt.sent == 1 && !strings.Contains(a.Text, "Already sent 1 ping") {
				t.Errorf("answer %q", a.Text)
			}
		})
	}
}

func TestAPingSaysWhereItComesFrom(t *testing.T) {
	h := newHarness(t)
	r := h.run(task())
	r.tools.Ping(t.Context(), "Water the plants", true, false)
	r.tools.Embed(t.Context(), post.Embed{Title: "Plants"}, true)
	posts := h.sent()
	for _, p := range posts {
		if p.Context != "bg" || p.Source != "Email sweep" || !p.Critical || p.Nonce == "" {
			t.Errorf("post: %+v", p)
		}
	}
	if posts[0].Nonce == posts[1].Nonce {
		t.Error("two messages share a nonce")
	}
	if posts[1].Embed.Footer != "" { // P8
		t.Errorf("footer %q", posts[1].Embed.Footer)
	}
	if diff := cmp.Diff([]string{"ping critical: Water the plants", "ping critical: Plants"}, tailOf(r.status.ring)); diff != "" {
		t.Errorf("the tail says\n%s", diff)
	}
}

func TestASendThatFailsGivesTheTokenBackAndMayBeTriedAgain(t *testing.T) {
	h := newHarness(t)
	h.failed = errors.New("no route to Discord")
	r := h.run(task())
	a := r.tools.Ping(t.Context(), "hello", false, false)
	if !a.IsError || !strings.Contains(a.Text, "no route to Discord") {
		t.Errorf("answer %+v", a)
	}
	state, reserved := h.o.Budget.State(h.m.o.now())
	if state.Available != 5 || reserved != 0 || state.DailyUsed != 0 || r.status.snapshot().Pings != 0 {
		t.Errorf("after a failed send: %v tokens, %d reserved, %d used", state.Available, reserved, state.DailyUsed)
	}
	h.set(func() { h.failed = nil })
	if a := r.tools.Ping(t.Context(), "hello", false, false); a.IsError {
		t.Errorf("second try: %s", a.Text)
	}
	if reason := r.tools.stopRule(t.Context(), false); reason == "" {
		t.Error("the delivered ping must be reported")
	}
}

func TestAMessageIsPaidInTheFileBeforeItIsSent(t *testing.T) {
	h := newHarness(t)
	var seen []budget.State
	h.poster = func(_ context.Context, p post.Post) (post.MessageID, error) {
		if before, _ := h.o.Budget.State(h.m.o.now()); len(seen) == 0 && before.Whole() != 5 {
			t.Errorf("%v tokens are left while the network is waited for", before.Available)
		}
		if err := p.Begin(); err != nil {
			return "", err
		}
		s, _ := budget.NewBucket(h.dir, time.UTC, nil).State(h.m.o.now()) // like after a crash at this moment
		seen = append(seen, s)
		return "1", nil
	}
	h.m = h.manager()
	h.run(task()).tools.Ping(t.Context(), "hello", false, false)
	h.run(task()).tools.Ping(t.Context(), "hello", true, false)
	if len(seen) != 2 || seen[0].Whole() != 4 || seen[0].DailyUsed != 1 || seen[1].CriticalUsed != 1 {
		t.Errorf("while it was sent the file said %+v", seen)
	}
}

func TestACriticalPingGoesOutThoughItCannotBeCounted(t *testing.T) {
	h := newHarness(t)
	h.troubles = []string{"ping budget was not saved"}
	defer breakBudget(t, h)()
	r := h.run(task())
	if a := r.tools.Ping(t.Context(), "hello", false, false); !a.IsError || !strings.Contains(a.Text, "critical=True") {
		t.Errorf("a plain one that cannot be paid: %+v", a)
	}
	if a := r.tools.Ping(t.Context(), "the house is on fire", true, false); a.IsError || len(h.sent()) != 1 {
		t.Errorf("answer %+v, %d sent", a, len(h.sent()))
	}
	if lines := strings.Join(tailOf(r.status.ring), "\n"); !strings.Contains(lines, "not counted") {
		t.Errorf("the tail says %s", lines)
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

func TestTwoPingsRacingSendOne(t *testing.T) {
	h := newHarness(t)
	r := h.run(task())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { r.tools.Ping(t.Context(), "me first", false, false) })
	}
	wg.Wait()
	if v := r.status.snapshot(); len(h.sent()) != 1 || v.Pings != 1 || v.Refused != 7 || h.tokens() > 4.01 || h.tokens() < 4 {
		t.Errorf("%d sent, %d refused, %v tokens left", len(h.sent()), v.Refused, h.tokens())
	}
}

func TestTwoRunsRacingForTheLastTokenSendOne(t *testing.T) {
	h := newHarness(t)
	h.drain(1)
	var wg sync.WaitGroup
	for range 6 {
		r := h.run(task())
		wg.Go(func() { r.tools.Ping(t.Context(), "the last one", false, false) })
	}
	wg.Wait()
	if len(h.sent()) != 1 {
		t.Errorf("%d sent with one token", len(h.sent()))
	}
}

// The journal tells the user why a message did or did not arrive.
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
		again.ID = "a1b2c3d4"
		own := post.Button{Label: "Draft", Action: "agent:draft it"}
		var buttons [][]post.Button // of each message
		for range 2 {
			r := h.run(task(), func(j *Job) { j.Reminder = again })
			r.tools.Ping(t.Context(), "Take your pills", false, false)
			r.tools.Embed(t.Context(), post.Embed{Title: "Pills", Description: "the blue ones", Buttons: []post.Button{own}}, true)
		}
		for _, p := range h.sent() {
			buttons = append(buttons, append(post.Remind("a1b2c3d4"), post.NotUseful(p.Nonce)))
		}
		once := h.run(task(), func(j *Job) { j.Reminder = &routines.Reminder{Task: task()} })
		once.tools.Ping(t.Context(), "Only once", true, false)
		second := textUntilDone + " · for the second time"
		want := []*post.Embed{
			{Title: "Email sweep", Footer: textUntilDone, Buttons: buttons[0]},
			{Title: "Pills", Description: "the blue ones", Footer: textUntilDone, Buttons: append(buttons[1], own)},
			{Title: "Email sweep", Footer: second, Buttons: buttons[2]},
			{Title: "Pills", Description: "the blue ones", Footer: second, Buttons: append(buttons[3], own)},
			nil,
		}
		var got []*post.Embed
		for _, p := range h.sent() {
			got = append(got, p.Embed)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestACardWithItsOwnDoneGetsNoSecondOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		r := h.run(task())
		own := post.Button{Label: "done", Action: "agent:water them"}
		r.tools.Embed(t.Context(), post.Embed{Title: "Plants", Description: "Water them?", Buttons: []post.Button{own}}, true)
		want := append([]post.Button{own}, post.Ping(h.sent()[0].Nonce)[1:]...)
		if diff := cmp.Diff(want, h.sent()[0].Embed.Buttons); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAnEndedRunAnswersNoMoreCalls(t *testing.T) {
	h := newHarness(t)
	r := h.run(task())
	r.tools.close()
	if a := r.tools.Ping(t.Context(), "late", true, false); !a.IsError || len(h.sent()) != 0 {
		t.Errorf("answer %+v", a)
	}
	if a := r.tools.Report(t.Context(), "late"); !a.IsError || len(h.o.Updates.Peek()) != 0 {
		t.Errorf("answer %+v", a)
	}
}

// After any sequence of calls: at most one non-critical message, which is the first, and
// tokens and counters match the sent messages.
func TestPropertyCallsNeverBreakTheRules(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		h := newHarness(t)
		h.drain(rapid.IntRange(0, 3).Draw(rt, "tokens"))
		before, _ := h.o.Budget.State(h.m.o.now())
		r := h.run(task())
		plain, critical := 0, 0
		for range rapid.IntRange(1, 8).Draw(rt, "calls") {
			h.set(func() {
				h.busy = rapid.Bool().Draw(rt, "busy")
				h.failed = nil
				if rapid.IntRange(0, 3).Draw(rt, "fails") == 0 {
					h.failed = errors.New("no")
				}
			})
			crit := rapid.Bool().Draw(rt, "critical")
			a := r.tools.Ping(t.Context(), "x", crit, false)
			switch {
			case a.IsError:
			case crit:
				critical++
			default:
				if plain+critical > 0 {
					rt.Fatal("a plain ping after another one")
				}
				plain++
			}
		}
		after, reserved := h.o.Budget.State(h.m.o.now())
		if len(h.sent()) != plain+critical || reserved != 0 ||
			after.DailyUsed-before.DailyUsed != plain || after.CriticalUsed != critical || budgetWhole(before)-budgetWhole(after) != plain {
			rt.Fatalf("sent %d, plain %d, critical %d: before %+v, after %+v", len(h.sent()), plain, critical, before, after)
		}
	})
}

func budgetWhole(s budget.State) int { return s.Whole() }

func TestAMessageThatDoesNotLeaveSaysWhyInTheTailAndTheAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		answer string
	}{
		"no channel": {post.ErrNoChannel, toolset.TextNoChannel + answerReport},
		"refused":    {errors.New("403\nforbidden"), "could not be delivered"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			h.failed = c.err
			r := h.run(task())
			if a := r.tools.Ping(t.Context(), "hello", false, false); !a.IsError || !strings.Contains(a.Text, c.answer) {
				t.Errorf("answer %+v, want %q", a, c.answer)
			}
			if lines := tailOf(r.status.ring); len(lines) != 1 || !strings.HasPrefix(lines[0], "error ping could not be sent") {
				t.Errorf("the tail says %q", lines)
			}
			if v := r.status.snapshot(); v.Pings != 0 || v.Refused != 0 || h.tokens() != 5 {
				t.Errorf("%d pings, %d refused, %v tokens", v.Pings, v.Refused, h.tokens())
			}
		})
	}
}
