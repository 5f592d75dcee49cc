package messages

import (
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/base/testkit"
)

func TestATurnOfTextArrivesInPiecesAndCosts(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t)
	s := r.open()
	got := say(t, s, claudetest.Script(claudetest.Step{Thinking: "hmm", Text: "Good morning, this is a longer text that streams.", In: 1000, Out: 100}))
	if got.err != nil || got.text != "Good morning, this is a longer text that streams." || len(find[agent.Text](got)) < 2 {
		t.Errorf("the turn gave %q, %v", got.text, got.err)
	}
	if u := got.result.Usage; u.InputTokens != 1000 || u.OutputTokens != 100 || u.CostUSD <= 0 || got.result.SessionID != s.ID() {
		t.Errorf("the result is %+v", got.result)
	}
	again := say(t, s, "and now?")
	holds(t, "the second answer", again.text, "and now?")
	if q := r.requests(); len(q) != 2 || len(q[1].Messages) != 3 || q[1].Messages[1].Blocks[0].Thinking != "hmm" {
		t.Errorf("the second request holds %+v", q[1].Messages)
	}
}
