package fork

import (
	"context"
	"errors"
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
