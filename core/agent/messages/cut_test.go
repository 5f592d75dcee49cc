package messages

import (
	"fmt"
	"strings"
	"testing"

	"ollimbot/core/agent"
)

// M1: the model was asked 400 times, and never learned that its call had been cut off.
func TestACallThatIsAlwaysCutEndsTheTurnSoon(t *testing.T) {
	var called []string
	b := newBench(t, streams(reply(stopMaxTokens, saying("Writing."), use("a", "mcp__discord__note", `{"n":"unfin`))))
	s := b.open(func(o *agent.SessionOptions) { o.Tools = []agent.Tool{noting("note", &called)} })
	got := say(t, s, "write a long file")
	if got.err != nil || len(called) > 0 || b.count() != maxLonger+1 {
		t.Errorf("%v, called %v, %d requests", got.err, called, b.count())
	}
	if notes := find[agent.Notice](got); len(notes) != 1 {
		t.Errorf("notices %v", notes)
	} else {
		holds(t, "the notice", notes[0].Text, "smaller parts")
	}
	last := b.sent(b.count() - 1)
	last.valid(t)
	holds(t, "the result of the call", fmt.Sprint(last.Messages[2].Content), "cut off at 10 tokens")
	b.wire.answers = append(b.wire.answers, streams(reply("end_turn", saying("Next."))))
	if got := say(t, s, "next"); got.err != nil {
		t.Error(got.err)
	}
	b.sent(b.count() - 1).valid(t)
}

// M3: a call that was cut off before its first argument ran without any.
func TestOnlyTheWholeCallsOfACutAnswerRun(t *testing.T) {
	for _, input := range []any{"", object{}, object{"n": "all"}} {
		var called []string
		b := newBench(t,
			streams(reply(stopMaxTokens, use("a", "mcp__discord__note", object{"n": "first"}), use("b", "mcp__discord__note", input))),
			streams(reply("end_turn", saying("Done."))))
		s := b.open(func(o *agent.SessionOptions) { o.Tools = []agent.Tool{noting("note", &called)} })
		if got := say(t, s, "do it"); got.err != nil || got.text != "Done." {
			t.Errorf("%v: %q, %v", input, got.text, got.err)
		}
		if len(called) != 1 || called[0] != `{"n":"first"}` {
			t.Errorf("%v: called %v", input, called)
		}
		b.sent(1).valid(t)
	}
}

// M2: a word that was cut off continued on a new line, and after the last continuation the turn
// ended without a notice.
func TestATextThatIsAlwaysCutEndsWithANotice(t *testing.T) {
	b := newBench(t, streams(reply(stopMaxTokens, saying("And so on"))))
	got := say(t, b.open(), "tell me everything")
	if notes := find[agent.Notice](got); got.text != strings.Repeat("And so on", maxLonger+1) || got.result.Text != got.text || got.err != nil || b.count() != maxLonger+1 || len(notes) != 1 {
		t.Errorf("%v, %d requests, notices %v", got.err, b.count(), notes)
	}
}
