package messages

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"ollimbot/core/agent"
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
}
