package messages

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
)

// asksToSum is what a request says to a server that sums up by itself.
const asksToSum = `{"edits":[{"pause_after_compaction":true,"trigger":{"type":"input_tokens","value":50000},"type":"compact_20260112"}]}`

func TestALongHistoryIsSummedUpBeforeTheNextMessage(t *testing.T) {
	for _, c := range []struct {
		name, roles, beta string
		answer            served
	}{
		{"by the server", "au", "compact-2026-01-12", used(151_000, "compaction", object{"type": "compaction", "content": "They plan a trip.", "sign": "x"})},
		{"by the model, where the server says something else", "uau", "", used(151_000, "end_turn", saying("They plan a trip."))},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, used(151_000, "end_turn", saying("Yes.")), used(151_000, "tool_use", saying("I write it down."), note(object{"n": 1})),
				used(151_000, "end_turn", saying("done")), c.answer, ends("To Rome."))
			s := b.open(b.notes, func(o *agent.SessionOptions) { o.Allowed = []string{"Write(./**.md)"} })
			say(s, "we plan a trip")
			got := b.says(s, "where to?", "To Rome.")
			told := find[agent.Compacting](got)
			if len(told) != 2 || told[0].Done || !told[1].Done || !told[1].Auto || told[0].PreTokens < 151_000 || len(b.called) != 1 {
				t.Errorf("told %+v, kept %v", told, b.called)
			}
			holds(t, "what the agent is asked", b.sent(1).told(2), "USER.md")
			if beta := b.wire.headers[3].Get("anthropic-beta"); string(b.sent(3).Context) != asksToSum || beta != "compact-2026-01-12" {
				t.Errorf("the server is asked with %s and the beta %q", b.sent(3).Context, beta)
			}
			last := b.sent(4)
			if last.roles() != c.roles || strings.Contains(b.wire.bodies[4], "we plan a trip") || len(last.Tools) == 0 || len(last.System) == 0 {
				t.Errorf("behind it %s is sent: %s", last.roles(), b.wire.bodies[4][len(b.wire.bodies[4])-600:])
			}
			holds(t, "the summary", last.told(0), "They plan a trip.")
			if beta := b.wire.headers[4].Get("anthropic-beta"); beta != c.beta {
				t.Errorf("behind it the beta is %q", beta)
			}
			file, err := os.ReadFile(b.file(s))
			testkit.Must(t, err)
			holds(t, "the file", string(file), "we plan a trip")
			if !b.took(s, "we plan a trip") {
				t.Error("what was said before does not count as taken")
			}
			again, s := b.again(s, ends("Still Rome."))
			say(s, "still?")
			if q := again.sent(0); q.roles() != c.roles+"au" {
				t.Errorf("in another engine it holds %s", q.roles())
			}
		})
	}
}

func TestTheCommandMakesAShortHistoryShorterAndKeepsAWish(t *testing.T) {
	b := newBench(t, ends("Yes."), ends("It is about tea."), ends("Green."))
	s := b.open()
	if got := send(s, agent.Message{Command: agent.Compact}); got.err != nil || b.count() != 0 || got.result.Text == "" {
		t.Errorf("an empty one: %+v, %v", got.result, got.err)
	}
	say(s, "tea")
	got := send(s, agent.Message{Command: agent.Compact, Text: "keep the tea"})
	if told := find[agent.Compacting](got); got.err != nil || len(told) != 2 || told[0].Auto {
		t.Errorf("%+v, %v", told, got.err)
	}
	holds(t, "the request", b.wire.bodies[1], "keep the tea")
	b.says(s, "which?", "Green.")
	if b.sent(1).Context != nil || b.sent(2).roles() != "uau" {
		t.Errorf("the server is asked for a short history with %s, then %s", b.sent(1).Context, b.sent(2).roles())
	}
}

func TestACompactionThatFailsLeavesTheHistoryAsItIs(t *testing.T) {
	b := newBench(t, used(160_000, "end_turn", saying("Yes.")), refusal(400, "", "no"), ends("On."))
	s := b.open()
	say(s, "one")
	if got := b.says(s, "two", "On."); len(find[agent.Notice](got)) != 1 || b.sent(2).roles() != "uau" {
		t.Errorf("%v, %s", find[agent.Notice](got), b.sent(2).roles())
	}
}

func TestAPromptThatDoesNotFitIsMadeShorterByItsOldestPart(t *testing.T) {
	b := newBench(t, done, done, done, tooLongPrompt, tooLongPrompt, ends("It was about much."), ends("On."))
	s := b.open()
	for _, text := range []string{"alpha-1 ", "beta-2 ", "gamma-3 "} {
		say(s, text+strings.Repeat("a", 4000))
	}
	b.says(s, "fourth", "On.")
	if short := b.wire.bodies[5]; strings.Contains(short, "alpha-1") || !strings.Contains(short, "gamma-3") || strings.Contains(short, "fourth") {
		t.Errorf("summed up is %.300s", short)
	}
	b.sent(5).valid(t)
	q := b.sent(6)
	q.valid(t)
	holds(t, "the last request", b.wire.bodies[6], "It was about much.")
	if q.roles() != "uau" || q.Messages[2].Content[0]["text"] != "fourth" {
		t.Errorf("the message behind the summary is %v", q.Messages)
	}
}

// M4: a summary lost the newest message and its pictures.
func TestTheNewestMessageSurvivesACompactionAsItWas(t *testing.T) {
	one, sum, on := note(object{}), ends("They talked."), ends("On.")
	for name, answers := range map[string][]served{
		"before its answer":            {done, tooLongPrompt, sum, on},
		"between its calls":            {done, calls(one), tooLongPrompt, sum, on},
		"between its calls, by length": {done, used(151_000, "tool_use", one), sum, on},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, answers...)
			s := b.open(b.notes)
			say(s, "hello")
			const text = "what is in <this> picture?"
			got := send(s, agent.Message{Text: text, Images: []agent.Image{{MediaType: "image/png", Data: []byte("png")}}})
			if got.err != nil || got.text != "On." || b.count() != len(answers) || !b.took(s, text) {
				t.Fatalf("%q, %v, %d requests", got.text, got.err, b.count())
			}
			q := b.last()
			q.valid(t)
			holds(t, "the newest message", q.told(len(q.Messages)-1), text)
			holds(t, "the newest message", q.told(len(q.Messages)-1), "image/png")
		})
	}
}

// M5: the message stayed in the history although the user was told to send it again, and so did the prompt to save.
func TestAMessageThatFindsNoRoomWasNeverSent(t *testing.T) {
	b := newBench(t, ends("Yes."), tooLongPrompt, ends("Saved."), refusal(400, "", "no"), ends("On."))
	s := b.open(func(o *agent.SessionOptions) { o.Allowed = []string{"Write(./**.md)"} })
	say(s, "one")
	if got := say(s, "zebra"); !got.result.IsError || len(find[agent.Notice](got)) != 1 || b.took(s, "zebra") {
		t.Errorf("%+v, %v", got.result, got.err)
	}
	b.says(s, "three", "On.")
	if q := b.sent(4); q.roles() != "uau" || strings.Contains(b.wire.bodies[4], "zebra") || strings.Contains(b.wire.bodies[4], "USER.md") {
		t.Errorf("%s is sent: %v", q.roles(), fmt.Sprint(q.Messages))
	}
	file, err := os.ReadFile(b.file(s))
	testkit.Must(t, err)
	holds(t, "the file", string(file), "zebra")
}
