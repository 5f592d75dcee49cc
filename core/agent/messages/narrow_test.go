package messages

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/agent/messages/dialect"
	"ollimbot/core/agent/messages/dialect/dialecttest"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/guide"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/storage/store/storetest"
)

// local runs an engine for a server of local models, with the prompts and tools of the bot. keys are those of the model
// in providers.yaml.
func local(t *testing.T, api dialect.API, o dialecttest.Options, keys string) (*rig, *dialecttest.Server, func(...func(*agent.SessionOptions)) agent.Session) {
	t.Helper()
	played := claudetest.Start(t, claudetest.Options{})
	o.Backend = played.URL()
	if o.Models == nil {
		o.Models = []dialecttest.Model{{Name: "qwen3:8b", Can: []string{"completion", "tools"}, Window: 40_960}}
	}
	server := dialecttest.Start(t, o)
	r := newRigFor(t, "")
	const file = "local:\n  base-url: %s\n  api: %s\n  models:\n    - {name: 'qwen3:8b', aliases: [haiku]%s}\n"
	storetest.Put(t, r.dir, provider.File, fmt.Sprintf(file, server.URL, api, keys))
	return r, server, func(change ...func(*agent.SessionOptions)) agent.Session {
		t.Helper()
		return r.open(append([]func(*agent.SessionOptions){func(o *agent.SessionOptions) {
			g := guide.Options{UserName: "Ada", BotName: "Ollie", Zone: "Europe/Berlin"}
			o.Settings.Model = "local/qwen3:8b"
			o.SystemPrompt, o.BriefPrompt = guide.SystemPrompt(r.dir, g), guide.BriefPrompt(r.dir, g)
			o.Tools = toolset.Tools(nil)
		}}, change...)...)
	}
}

// E1: the first request was about 8,000 tokens, twice the window that Ollama has on small machines.
func TestTheFirstRequestLeavesRoomInEveryWindow(t *testing.T) {
	testkit.Alone(t)
	for _, window := range []int{4_096, 8_192, 16_384, 32_768} {
		_, server, open := local(t, dialect.Ollama, dialecttest.Options{}, fmt.Sprintf(", window: %d", window))
		s := open()
		got := say(s, script(claudetest.Step{Text: "Good morning."}))
		if got.err != nil || got.text != "Good morning." || got.result.IsError {
			t.Fatalf("%d: %q, %+v, %v", window, got.text, got.result, got.err)
		}
		size := 0
		for _, x := range s.(*session).listed(provider.Model{Window: window}) {
			size += x.size()
		}
		if room := window / toolPart * bytesPerToken; window < narrowWindow && size > room {
			t.Errorf("%d: tools of %d bytes, with room for %d", window, size, room)
		}
		q := server.Requests()[0]
		if !slices.IsSorted(q.Tools) {
			t.Errorf("%d: the tools are in no order: %q", window, q.Tools)
		}
		t.Logf("window %6d: %5d tokens, %d tools, asked for num_ctx %d", window, q.Bytes/4, len(q.Tools), q.Window)
		if q.Window != window || q.Bytes/4 > window/2 || strings.Contains(string(q.Body), `"think":true`) {
			t.Errorf("%d: the first request has %d tokens of %d", window, q.Bytes/4, q.Window)
		}
		if brief := strings.Contains(q.System, "Most tools are not listed"); brief != (window < narrowWindow) {
			t.Errorf("%d: the prompt is brief: %v", window, brief)
		}
	}
}

func TestAWindowIsNarrowAndFullAtItsBounds(t *testing.T) {
	for window, want := range map[int]bool{0: false, 1: true, narrowWindow - 1: true, narrowWindow: false} {
		if narrow(provider.Model{Window: window}) != want {
			t.Errorf("a window of %d is narrow: %v", window, !want)
		}
	}
	for window, least := range map[int]int{0: 150_000, 1_000_000: 150_000, 200_000: 150_000, 100_000: 75_000, narrowWindow: 18_432, 20_000: 13_000} {
		for tokens, want := range map[int]bool{least - 1: false, least: true} {
			full := talk{model: provider.Model{Window: window}, tokens: tokens}
			if full.full() != want {
				t.Errorf("%d of %d tokens are full: %v", tokens, window, !want)
			}
		}
	}
	for said, want := range map[string]int{
		"This model's maximum context length is 4096 tokens": 4096, "the available context size (8192 tokens)": 8192, `{"n_ctx": 2048}`: 2048, "N_CTX=16384": 16384,
		"maximum context length is 512": 0, "the context is 4096": 0, "": 0,
	} {
		if got := windowIn(said); got != want {
			t.Errorf("%q names %d, want %d", said, got, want)
		}
	}
}

// E1: a prompt that the server cut was answered without its beginning.
func TestACutPromptIsNoticedAndSentAgainSoThatItFits(t *testing.T) {
	testkit.Alone(t)
	for _, cuts := range []bool{true, false} { // or it is refused, with the size
		_, server, open := local(t, dialect.OpenAI, dialecttest.Options{Cut: cuts, Window: 4_096}, "")
		s := open()
		got := say(s, script(claudetest.Step{Text: "Good morning."}))
		list := server.Requests()
		if got.err != nil || got.text != "Good morning." || len(list) != 2 || len(find[agent.Notice](got)) != 0 {
			t.Fatalf("cut %v: %q, %v, %d requests, %v", cuts, got.text, got.err, len(list), got.events)
		}
		if list[0].Bytes/4 <= 4_096 || list[1].Bytes/4 > 3_000 {
			t.Errorf("cut %v: %d tokens, then %d", cuts, list[0].Bytes/4, list[1].Bytes/4)
		}
		if got := say(open(), script(claudetest.Step{Text: "Here."})); got.text != "Here." || len(server.Requests()) != 3 {
			t.Errorf("cut %v: the next session: %q, %d requests", cuts, got.text, len(server.Requests()))
		}
	}
}

func TestAToolThatIsNotListedIsFoundAndCalledUnderTheSameRules(t *testing.T) {
	testkit.Alone(t)
	var asked []string
	r, server, open := local(t, dialect.Ollama, dialecttest.Options{}, ", window: 4096")
	s := open(func(o *agent.SessionOptions) {
		r.notes(o)
		water := &o.Tools[len(o.Tools)-1]
		water.Name, water.Description = "water_plants", "Waters the plants in the garden."
		water.Schema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)
		o.Hooks.PreTool = func(_ context.Context, u agent.ToolUse) agent.Decision {
			asked = append(asked, u.Name)
			return u.Allowed()
		}
	})
	got := say(s, script(
		claudetest.Step{Tool: findTool, Input: map[string]any{"words": "water garden"}},
		claudetest.Step{Tool: callTool, Input: map[string]any{"tool": "mcp__discord__water_plants", "arguments": map[string]any{"n": 1}}},
		claudetest.Step{Tool: callTool, Input: map[string]any{"tool": "Write"}},
		claudetest.Step{Tool: callTool, Input: map[string]any{"what": "?"}},
		claudetest.Step{Tool: findTool, Input: map[string]any{"words": "zeppelin"}},
		claudetest.Step{Text: "Watered."}))
	ends := find[agent.ToolEnd](got)
	if got.err != nil || got.text != "Watered." || len(ends) != 5 || fmt.Sprint(r.called) != `[{"n":1}]` {
		t.Fatalf("%q, %v, called %v, %+v", got.text, got.err, r.called, ends)
	}
	holds(t, "the search", ends[0].Text, `mcp__discord__water_plants: Waters the plants in the garden.`)
	holds(t, "the search", ends[0].Text, `"n":{"type":"integer"}`)
	if ends[1].Name != "mcp__discord__water_plants" || fmt.Sprint(asked) != "[mcp__discord__water_plants Write]" {
		t.Errorf("the hook saw %v; the end is of %s", asked, ends[1].Name)
	}
	holds(t, "a call without a tool", ends[3].Text, "find_tool")
	holds(t, "a search for nothing", ends[4].Text, "No tool fits")
	if q := server.Requests()[0]; strings.Contains(fmt.Sprint(q.Tools), "water_plants") || !strings.Contains(fmt.Sprint(q.Tools), "add_reminder") {
		t.Errorf("listed: %v", q.Tools)
	}
}

// A model that repeats itself without end, on a server that does not count its words.
func TestAnAnswerThatDoesNotEndIsStoppedOnce(t *testing.T) {
	testkit.Alone(t)
	var asked atomic.Int32
	words := strings.Repeat("again and ", 100_000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "application/x-ndjson")
		for r.Context().Err() == nil {
			if _, err := fmt.Fprintf(w, `{"model":"m","message":{"role":"assistant","content":%q},"done":false}`+"\n", words); err != nil {
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	r := newRigFor(t, "")
	storetest.Put(t, r.dir, provider.File, fmt.Sprintf("local:\n  base-url: %s\n  api: ollama\n  models: [m]\n", server.URL))
	got := say(r.open(func(o *agent.SessionOptions) { o.Settings.Model = "local/m" }), "Say it again.")
	holds(t, "the error", got.fate(), "does not end: it was stopped")
	if n := asked.Load(); n != 1 {
		t.Errorf("it was asked %d times", n)
	}
}

func TestUsageThatIsNotReportedIsEstimated(t *testing.T) {
	testkit.Alone(t)
	for _, api := range []dialect.API{dialect.OpenAI, dialect.Ollama} {
		var charges []agent.Charge
		_, server, open := local(t, api, dialecttest.Options{NoUsage: true, Window: 32_768}, "")
		s := open(func(o *agent.SessionOptions) {
			o.Hooks.Charge = func(c agent.Charge) { charges = append(charges, c) }
		})
		got := say(s, script(claudetest.Step{Text: "Good morning."}))
		want := len(server.Requests()[0].Body) / 5
		if got.err != nil || got.result.Usage.InputTokens < want || got.result.Usage.OutputTokens == 0 {
			t.Errorf("%s: %+v, %v", api, got.result.Usage, got.err)
		}
		if len(charges) != 1 || !charges[0].About || !charges[0].Used.Free {
			t.Errorf("%s: charged %+v", api, charges)
		}
	}
}

func TestAMessageLongerThanTheWindowIsRefusedWithASentence(t *testing.T) {
	testkit.Alone(t)
	_, server, open := local(t, dialect.Ollama, dialecttest.Options{}, ", window: 4096")
	s := open()
	got := say(s, strings.Repeat("all work and no play ", 2_000))
	if got.err == nil && !got.result.IsError || len(server.Requests()) > 0 {
		t.Fatalf("%+v, %v, %d requests", got.result, got.err, len(server.Requests()))
	}
	holds(t, "the error", got.fate(), "window of 4,096 tokens")
	got = say(s, strings.Repeat("all work and no play ", 900)) // it passes, and does not fit beside the instructions
	holds(t, "the error", got.fate(), "no room for the message")
	if got := say(s, script(claudetest.Step{Text: "Here."})); got.text != "Here." {
		t.Errorf("%q, %v", got.text, got.err)
	}
}

func TestALongConversationInANarrowWindowIsSummedUpEarly(t *testing.T) {
	testkit.Alone(t)
	_, server, open := local(t, dialect.Ollama, dialecttest.Options{}, ", window: 8192")
	s := open()
	done := 0
	for i := range 12 {
		got := say(s, script(claudetest.Step{Text: fmt.Sprintf("Answer %d.", i)})+strings.Repeat(" we talk and talk", 150))
		if got.err != nil || !strings.Contains(got.text, fmt.Sprintf("Answer %d.", i)) {
			t.Fatalf("%d: %q, %v", i, got.text, got.err)
		}
		for _, c := range find[agent.Compacting](got) {
			if c.Done {
				done++
			}
		}
	}
	if done == 0 {
		t.Error("nothing was summed up")
	}
	for i, q := range server.Requests() {
		if q.Bytes/4 > 8192*3/4 {
			t.Errorf("request %d has %d tokens", i, q.Bytes/4)
		}
	}
}

func TestAResultTakesNoMoreThanAQuarterOfANarrowWindow(t *testing.T) {
	testkit.Alone(t)
	_, server, open := local(t, dialect.Ollama, dialecttest.Options{}, ", window: 4096")
	s := open(func(o *agent.SessionOptions) {
		o.Tools = []agent.Tool{bot("long", func(string) agent.ToolResult { return agent.ToolResult{Text: strings.Repeat("plum ", 20_000)} })}
	})
	if got := say(s, script(claudetest.Step{Tool: "mcp__discord__long"}, claudetest.Step{Text: "Done."})); got.err != nil || got.text != "Done." {
		t.Fatalf("%q, %v", got.text, got.err)
	}
	if q := server.Requests()[1]; q.Bytes/4 > 3_500 || !strings.Contains(string(q.Body), "Read it in parts") {
		t.Errorf("%d tokens", q.Bytes/4)
	}
}

// What a local model or its server cannot do is said, and only then.
func TestWhatALocalModelCannotDoIsSaid(t *testing.T) {
	testkit.Alone(t)
	plain := dialecttest.Options{Models: []dialecttest.Model{{Name: "qwen3:8b", Can: []string{"completion"}, Window: 8192}}}
	cuts, talks := dialecttest.Options{Cut: true, Window: 1_024}, dialecttest.Options{Window: 32_768}
	const morning, wrote = "Good morning.", "wrote the call of a tool as text"
	for _, c := range []struct {
		api               dialect.API
		o                 dialecttest.Options
		keys, text, more  string
		notice, says, has string // a notice, the error, a part of the prompt
	}{
		{dialect.OpenAI, cuts, "", morning, strings.Repeat(" and more of it", 400), "has read only 1,024 tokens", "", ""},
		{dialect.Ollama, plain, ", tools: false", morning, "", "", "", "you have no tools"},
		{dialect.Ollama, plain, "", morning, "", "", "write tools: false for this one", ""},
		{dialect.OpenAI, talks, "", "<tool_call>\n{\"name\": \"Read\", \"arguments\": {}}\n</tool_call>", "", wrote, "", ""},
		{dialect.OpenAI, talks, "", "```json\n{\"name\": \"mcp__discord__add_reminder\", \"arguments\": {}}```", "", wrote, "", ""},
		{dialect.OpenAI, talks, "", "{\"name\": \"Ada\", \"age\": 36}", "", "", "", ""},
		{dialect.OpenAI, talks, "", "I could call Read.", "", "", "", ""},
	} {
		_, server, open := local(t, c.api, c.o, c.keys)
		got := say(open(), script(claudetest.Step{Text: c.text})+c.more)
		notes := find[agent.Notice](got)
		if (len(notes) == 1) != (c.notice != "") || (got.text == c.text) != (c.says == "") || (got.err == nil) != (c.says == "") {
			t.Errorf("%q: %q, %v, %v", c.text, got.text, notes, got.err)
			continue
		}
		holds(t, "the notice", fmt.Sprint(notes), c.notice)
		holds(t, "the error", fmt.Sprint(got.err), c.says)
		if q := server.Requests(); c.has != "" && (len(q[0].Tools) != 0 || !strings.Contains(q[0].System, c.has)) {
			t.Errorf("%v, %.200s", q[0].Tools, q[0].System)
		}
	}
}
