package messages

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"ollimbot/core/agent"
	"ollimbot/core/agent/messages/history"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
)

func TestATurnThatGetsSomewhereContinues(t *testing.T) {
	var answers []served
	for i := range 3 * maxIdle {
		answers = append(answers, calls(note(object{"n": i})))
	}
	b := newBench(t, append(answers, done)...)
	if got := b.says(b.open(b.notes), "go", "Done."); got.result.Stopped != "" || len(b.called) != 3*maxIdle {
		t.Errorf("%q, %d calls", got.result.Stopped, len(b.called))
	}
}

func TestATurnEndsAfterFourHundredRequests(t *testing.T) {
	b := newBench(t, counts())
	got := say(b.open(b.notes), "go")
	holds(t, "why it stopped", got.result.Stopped, "after 400 requests")
	if b.count() != 400 {
		t.Errorf("%d requests", b.count())
	}
}

// affords asks before each further request, and answers as said.
func affords(asked *[]agent.Spending, answers func(n int) (float64, string)) func(*agent.SessionOptions) {
	return func(o *agent.SessionOptions) {
		o.Hooks.Afford = func(_ context.Context, x agent.Spending) (float64, string) {
			*asked = append(*asked, x)
			return answers(len(*asked))
		}
	}
}

// Requests were made without checking the cost of the turn: $153 in 12 seconds.
func TestATurnAsksBeforeItCostsMore(t *testing.T) {
	for said, want := range map[string]int{"": 4, "too much": 2} {
		var asked []agent.Spending
		more := counts()
		b := newBench(t, more, more, more, done)
		got := say(b.open(b.notes, affords(&asked, func(n int) (float64, string) {
			if n < 2 {
				return 7, ""
			}
			return 9, said
		})), "go")
		if got.err != nil || b.count() != want || len(asked) != min(want, 3) || got.result.Stopped != said || got.result.IsError {
			t.Errorf("%q: %v, %d requests, %d questions, %+v", said, got.err, b.count(), len(asked), got.result)
		}
		first, second := asked[0], asked[1]
		rises := second.Used.CostUSD > first.Used.CostUSD && first.Used.CostUSD > 0
		if first.Allowed != 0 || second.Allowed != 7 || !rises || !strings.Contains(first.Model, "haiku") {
			t.Errorf("asked %+v", asked)
		}
	}
}

// A subagent's requests count for the turn.
func TestASubagentAsksForTheWholeTurn(t *testing.T) {
	var asked []agent.Spending
	b := newBench(t, calls(task("look")), calls(use("b", "mcp__discord__note", object{})), done)
	got := say(b.open(b.notes, affords(&asked, func(n int) (float64, string) {
		return 0, map[int]string{2: "too much"}[n] // the subagent is about to make its second request
	})), "go")
	if got.result.Stopped != "too much" || b.count() != 2 || len(asked) != 2 || asked[1].Used.CostUSD <= asked[0].Used.CostUSD {
		t.Errorf("%d requests, asked %+v, %+v", b.count(), asked, got.result)
	}
}

// M14: answers that break off cost money, and were requested again up to ten times.
func TestAnswersThatBreakOffCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		whole := reply("end_turn", saying(strings.Repeat("word ", 4000)))
		b := newBench(t, streams(whole[:len(whole)*3/4]))
		about := 0
		s := b.open(func(o *agent.SessionOptions) {
			o.Hooks.Charge = func(c agent.Charge) {
				if c.About && c.Used.OutputTokens >= 2000 {
					about++
				}
			}
		})
		got := say(s, "go")
		if !got.result.IsError || b.count() != maxIdle || about != maxIdle || got.result.Usage.OutputTokens < maxIdle*2000 || b.took(s, "go") {
			t.Errorf("%d requests, %d charges, %+v, %v", b.count(), about, got.result, got.err)
		}
		testkit.Must(t, s.Close())
	})
}

// task is a call that starts a subagent.
func task(about string) object {
	return use("task "+about, "Agent", object{"description": about, "prompt": about, "subagent_type": "general-purpose"})
}

func TestTenMegabytesInOneBlockAreTakenAndSentBack(t *testing.T) {
	long := strings.Repeat("ä <b> and so on ", 10<<20/17)
	b := newBench(t, calls(saying(long), note(object{"n": long})), done)
	if got := say(b.open(b.notes), "hello"); got.err != nil || got.text != long+"\nDone." || len(b.called) != 1 {
		t.Errorf("%d bytes, %v, %d calls", len(got.text), got.err, len(b.called))
	}
	if b.sent(1).Messages[1].Content[0]["text"] != long {
		t.Error("the text was changed on the way back")
	}
}

func TestAnUnknownSessionIsNamed(t *testing.T) {
	b := newBench(t, done)
	for _, o := range []agent.SessionOptions{{Resume: store.NewUUID()}, {Resume: store.NewUUID(), Fork: true}, {Resume: "../../etc/passwd"}} {
		_, err := b.engine.Open(t.Context(), o)
		holds(t, "the error", fmt.Sprint(err), agent.ErrNoSession.Error())
	}
	s := b.open()
	b.says(s, "hello", "Done.")
	b.write(history.Folder+"/folder"+history.Ext+"/x", "")
	for id, want := range map[string]bool{s.ID(): true, strings.ToUpper(s.ID()): true, "": false, store.NewUUID(): false, "../" + s.ID(): false, "folder": false} {
		has, err := b.engine.HasMessage(t.Context(), id, sha256.Sum256([]byte("hello")))
		if known := b.engine.HasSession(id); known != want || has != want || err != nil && id != "folder" {
			t.Errorf("%q is known: %v, has the message: %v, %v", id, known, has, err)
		}
	}
}

func TestThePermissionOfAPlaceIsThatOfTheSession(t *testing.T) {
	for _, c := range []struct {
		hook, permission agent.Decision
		want             string
	}{
		{agent.Decision{Allow: true}, agent.Decision{Reason: "unasked"}, ""},
		{agent.Decision{Allow: true, Ask: true}, agent.Decision{Allow: true}, ""},
		{agent.Decision{Allow: true, Ask: true}, agent.Decision{Reason: "he said no"}, "he said no"},
		{agent.Decision{Reason: "never"}, agent.Decision{Allow: true}, "never"},
	} {
		s := newBench(t, done).open(func(o *agent.SessionOptions) {
			of := func(u agent.ToolUse, d agent.Decision) agent.Decision { d.Digest = u.Digest(); return d }
			o.Hooks.PreTool = func(_ context.Context, u agent.ToolUse) agent.Decision { return of(u, c.hook) }
			o.Permission = func(_ context.Context, u agent.ToolUse) agent.Decision { return of(u, c.permission) }
		})
		if got := s.(*session).judge(t.Context(), agent.ToolUse{Name: "Read"}); got != c.want {
			t.Errorf("%+v: %q, want %q", c, got, c.want)
		}
	}
}

func TestTheModelsOfTheStatusHaveAllTheirNames(t *testing.T) {
	var got []string
	for _, m := range newBench(t, done).engine.Status().Models() {
		got = append(got, fmt.Sprint(m.Names, m.OwnMeasure, m.AlwaysThinks))
	}
	want := "[claude-opus-5-5 anthropic/claude-opus-5-5 opus ] true true; [claude-sonnet-5-5 anthropic/claude-sonnet-5-5 sonnet] true false; " +
		"[claude-haiku-5-5 anthropic/claude-haiku-5-5 haiku] true false; [claude-fable-5-2 anthropic/claude-fable-5-2 fable] true true"
	if list := strings.Join(got, "; "); list != want {
		t.Errorf("the models are %s", list)
	}
}
