package messages

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/agent/messages/history"
	"ollimbot/core/base/testkit"
)

// used returns an answer with this many input tokens.
func used(tokens int, body string) func(*http.Request) canned {
	return streams(strings.Replace(body, `"input_tokens":100`, fmt.Sprintf(`"input_tokens":%d`, tokens), 1))
}

func TestALongHistoryIsSummedUpBeforeTheNextMessage(t *testing.T) {
	for _, c := range []struct {
		name   string
		tokens int
		answer func(*http.Request) canned
		server bool
	}{
		{"by the server", 151_000, used(151_000, reply("compaction", object{"type": "compaction", "content": "They plan a trip.", "sign": "x"})), true},
		{"by the model, where the server says something else", 151_000, used(151_000, reply("end_turn", saying("They plan a trip."))), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var kept []string
			b := newBench(t,
				used(c.tokens, reply("end_turn", saying("Yes."))),
				used(c.tokens, reply("tool_use", saying("I write it down."), use("a", "mcp__discord__note", object{"n": 1}))),
				used(c.tokens, reply("end_turn", saying("done"))),
				c.answer,
				streams(reply("end_turn", saying("To Rome."))))
			s := b.open(func(o *agent.SessionOptions) {
				o.Tools, o.Allowed = []agent.Tool{noting("note", &kept)}, []string{"Write(./**.md)"}
			})
			say(t, s, "we plan a trip")
			got := say(t, s, "where to?")
			if got.err != nil || got.text != "To Rome." || len(kept) != 1 {
				t.Fatalf("%q, %v, kept %v", got.text, got.err, kept)
			}
			told := find[agent.Compacting](got)
			if len(told) != 2 || told[0].Done || !told[1].Done || !told[1].Auto || told[0].PreTokens < 151_000 {
				t.Errorf("told %+v", told)
			}
			holds(t, "the agent is asked", fmt.Sprint(b.sent(1).Messages[2].Content), "USER.md")
			if q := b.sent(3); string(q.Context) == "" {
				t.Error("the server is not asked")
			} else if beta := b.wire.headers[3].Get("anthropic-beta"); beta != "compact-2026-01-12" {
				t.Errorf("the beta is %q", beta)
			}
			last := b.sent(4)
			want := "uau"
			if c.server {
				want = "au"
			}
			if last.roles() != want || strings.Contains(b.wire.bodies[4], "we plan a trip") || len(last.Tools) == 0 || len(last.System) == 0 {
				t.Errorf("behind it %s is sent: %s", last.roles(), b.wire.bodies[4][len(b.wire.bodies[4])-600:])
			}
			holds(t, "the summary", fmt.Sprint(last.Messages[0].Content), "They plan a trip.")
			if beta := b.wire.headers[4].Get("anthropic-beta"); (beta != "") != c.server {
				t.Errorf("behind it the beta is %q", beta)
			}
			file, err := os.ReadFile(b.dir.Path(history.Folder + "/" + s.ID() + ".jsonl"))
			testkit.Must(t, err)
			holds(t, "the file", string(file), "we plan a trip")
			if taken, err := b.engine.HasMessage(t.Context(), s.ID(), sha("we plan a trip")); err != nil || !taken {
				t.Errorf("what was said before counts as taken: %v, %v", taken, err)
			}
			testkit.Must(t, s.Close())
			again := newBenchAt(t, b.dir.Root(), streams(reply("end_turn", saying("Still Rome."))))
			s = again.open(func(o *agent.SessionOptions) { o.Resume = s.ID() })
			say(t, s, "still?")
			if q := again.sent(0); q.roles() != want+"au" {
				t.Errorf("opened anew it holds %s", q.roles())
			}
		})
	}
}

func TestTheCommandMakesAShortHistoryShorterAndKeepsAWish(t *testing.T) {
	b := newBench(t, streams(reply("end_turn", saying("Yes."))), streams(reply("end_turn", saying("It is about tea."))), streams(reply("end_turn", saying("Green."))))
	s := b.open()
	if got := send(t, s, agent.Message{Command: agent.Compact}); got.err != nil || b.count() != 0 || got.result.Text == "" {
		t.Errorf("an empty one: %+v, %v", got.result, got.err)
	}
	say(t, s, "tea")
	got := send(t, s, agent.Message{Command: agent.Compact, Text: "keep the tea"})
	if told := find[agent.Compacting](got); got.err != nil || len(told) != 2 || told[0].Auto {
		t.Errorf("%+v, %v", told, got.err)
	}
	holds(t, "the request", b.wire.bodies[1], "keep the tea")
	if b.sent(1).Context != nil {
		t.Error("the server is asked for a short history")
	}
	if got := say(t, s, "which?"); got.text != "Green." || b.sent(2).roles() != "uau" {
		t.Errorf("%q, %s", got.text, b.sent(2).roles())
	}
}

func TestACompactionThatFailsLeavesTheHistoryAsItIs(t *testing.T) {
	b := newBench(t, used(160_000, reply("end_turn", saying("Yes."))), with(400, "application/json", `{"error":{"message":"no"}}`), streams(reply("end_turn", saying("On."))))
	s := b.open()
	say(t, s, "one")
	got := say(t, s, "two")
	notes := find[agent.Notice](got)
	if got.err != nil || got.text != "On." || len(notes) != 1 || b.sent(2).roles() != "uau" {
		t.Errorf("%q, %v, %v, %s", got.text, got.err, notes, b.sent(2).roles())
	}
}

func TestAPromptThatDoesNotFitIsMadeShorterByItsOldestPart(t *testing.T) {
	long := with(400, "application/json", `{"error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`)
	yes := streams(reply("end_turn", saying("Yes.")))
	b := newBench(t, yes, yes, yes, long, long, streams(reply("end_turn", saying("It was about much."))), streams(reply("end_turn", saying("On."))))
	s := b.open()
	for _, text := range []string{"alpha-1 " + strings.Repeat("a", 4000), "beta-2 " + strings.Repeat("b", 4000), "gamma-3 " + strings.Repeat("c", 4000)} {
		say(t, s, text)
	}
	got := say(t, s, "fourth")
	if got.err != nil || got.text != "On." {
		t.Fatalf("%q, %v", got.text, got.err)
	}
	if short := b.wire.bodies[5]; strings.Contains(short, "alpha-1") || !strings.Contains(short, "gamma-3") || strings.Contains(short, "fourth") {
		t.Errorf("summed up is %.300s", short)
	}
	b.sent(5).valid(t)
	b.sent(6).valid(t)
	holds(t, "the last request", b.wire.bodies[6], "It was about much.")
	if q := b.sent(6); q.roles() != "uau" || q.Messages[2].Content[0]["text"] != "fourth" {
		t.Errorf("the message behind the summary is %v", q.Messages)
	}
}

func TestAPromptThatNeverFitsIsTold(t *testing.T) {
	b := newBench(t, with(400, "application/json", `{"error":{"message":"the request exceeds the available context size"}}`))
	s := b.open()
	got := say(t, s, "hello")
	holds(t, "the end", fmt.Sprint(got.err, got.result.Text), "too long")
	if b.count() > 8 {
		t.Errorf("%d requests were made", b.count())
	}
}

func TestReasonsToStop(t *testing.T) {
	cut := strings.Replace(reply("max_tokens", saying("Half a"), use("a", "mcp__discord__note", `{"n":"unfin`)), event(object{"type": "content_block_stop", "index": 1}), "", 1)
	for _, c := range []struct {
		name    string
		answers []func(*http.Request) canned
		text    string
		roles   string // of the last request
		notice  string
		called  int
	}{
		{"an answer that is too long goes on", []func(*http.Request) canned{streams(cut), streams(reply("end_turn", saying("sentence.")))}, "Half a\nsentence.", "uau", "", 0},
		{
			"the server pauses",
			[]func(*http.Request) canned{
				streams(reply("pause_turn", saying("Searching."), object{"type": "server_tool_use", "id": "s", "name": "web_search", "input": object{}})), streams(reply("end_turn", saying("Found."))),
			},
			"Searching.\nFound.", "ua", "", 0,
		},
		{"the model refuses", []func(*http.Request) canned{streams(reply("refusal", saying("I can")))}, "I can", "u", "refused", 0},
		{"the window is full", []func(*http.Request) canned{streams(reply("model_context_window_exceeded", saying("Well")))}, "Well", "u", "window", 0},
		{"a stop that nobody knows", []func(*http.Request) canned{streams(reply("tomorrow", saying("Well")))}, "Well", "u", "", 0},
		{"a call with another reason to stop", []func(*http.Request) canned{streams(reply("end_turn", use("a", "mcp__discord__note", object{}))), streams(reply("end_turn", saying("Ok.")))}, "Ok.", "uau", "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var called []string
			b := newBench(t, c.answers...)
			s := b.open(func(o *agent.SessionOptions) { o.Tools = []agent.Tool{noting("note", &called)} })
			got := say(t, s, "hello")
			if got.err != nil || got.text != c.text || b.sent(b.count()-1).roles() != c.roles || len(called) != c.called || b.count() != len(c.answers) {
				t.Errorf("%q, %v, %s, %d requests", got.text, got.err, b.sent(b.count()-1).roles(), b.count())
			}
			notes := find[agent.Notice](got)
			if (c.notice == "") != (len(notes) == 0) {
				t.Errorf("notices %v", notes)
			} else if c.notice != "" {
				holds(t, "the notice", notes[0].Text, c.notice)
			}
			b.wire.answers = append(b.wire.answers, streams(reply("end_turn", saying("Next."))))
			if got := say(t, s, "next"); got.err != nil {
				t.Error(got.err)
			}
			b.sent(b.count() - 1).valid(t)
			if c.notice == "refused" && b.sent(b.count()-1).roles() != "u" {
				t.Errorf("what was refused is still there: %s", b.sent(b.count()-1).roles())
			}
		})
	}
}

func TestThinkingIsAskedForAsTheModelTakesIt(t *testing.T) {
	for _, c := range []struct{ model, setting, thinking, output string }{
		{"opus", "", `{"type":"adaptive","display":"summarized"}`, ``},
		{"opus", "off", `{"type":"adaptive","display":"summarized"}`, `{"effort":"low"}`},
		{"opus", "adaptive", `{"type":"adaptive","display":"summarized"}`, ``},
		{"opus", "2000", `{"type":"adaptive","display":"summarized"}`, `{"effort":"low"}`},
		{"opus", "8000", `{"type":"adaptive","display":"summarized"}`, `{"effort":"medium"}`},
		{"sonnet", "off", `{"type":"between_tools"}`, ``},
		{"haiku", "off", `{"type":"disabled"}`, ``},
		{"anthropic/claude-next", "adaptive", ``, ``},
	} {
		b := newBench(t, streams(reply("end_turn", saying("Yes."))))
		s := b.open(func(o *agent.SessionOptions) { o.Settings = agent.Settings{Model: c.model, Thinking: c.setting} })
		say(t, s, "hello")
		if q := b.sent(0); string(q.Thinking) != c.thinking || string(q.Output) != c.output {
			t.Errorf("%s with thinking %q asks for %s and %s", c.model, c.setting, q.Thinking, q.Output)
		}
	}
	b := newBench(t, streams(""))
	if _, err := b.engine.Open(t.Context(), agent.SessionOptions{Settings: agent.Settings{Thinking: "much"}}); err == nil {
		t.Error("a setting that is none was taken")
	}
}
