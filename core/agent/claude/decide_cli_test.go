package claude

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/agent/callback"
	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/toolset"
)

// outcome returns the end of a turn's only call.
func outcome(t *testing.T, h told) agent.ToolEnd {
	t.Helper()
	ends := all[agent.ToolEnd](h)
	if len(ends) != 1 || h.result(t).IsError {
		t.Fatalf("%d calls, %+v", len(ends), h.events)
	}
	return ends[0]
}

// TestWithTheRealCLITheRunDecidesAboutItsCalls makes one process call tools that the run's hooks
// and its permission answer differently.
func TestWithTheRealCLITheRunDecidesAboutItsCalls(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t)
	var objects atomic.Bool
	run := &hostRun{
		pre: func(u agent.ToolUse) agent.Decision {
			switch in := string(u.Input); {
			case strings.Contains(in, "denied"):
				return agent.Decision{Reason: "the bot keeps " + u.Name + " to itself"}
			case strings.Contains(in, "faulty"):
				panic("bug")
			case strings.Contains(in, "# ask"):
				return agent.Decision{Digest: u.Digest(), Allow: true, Ask: true}
			}
			return u.Allowed()
		},
		ask: func(u agent.ToolUse) agent.Decision {
			return agent.Decision{Digest: u.Digest(), Allow: strings.Contains(string(u.Input), "yes"), Reason: "the user said no"}
		},
		stop: func(bool) string {
			if objects.Load() {
				return "call report_updates first"
			}
			return ""
		},
	}
	testkit.Must(t, os.WriteFile(filepath.Join(r.dir, ".env"), []byte("TOKEN=hush"), 0o600))
	s := r.open(func(o *agent.SessionOptions) {
		mine := run.options()
		o.Hooks, o.Permission = mine.Hooks, mine.Permission
	})
	for _, c := range []struct {
		command  string
		runs     bool
		says     string
		asked    int
		finished int // calls reported to PostTool
	}{
		{"touch denied", false, "the bot keeps Bash to itself", 0, 0},
		{"touch faulty", false, callback.AnswerFault, 0, 0},
		{"touch yes", true, "", 1, 1},
		{"touch no", false, "the user said no", 1, 0},
		// The CLI allows read-only commands without asking. The hook asks for permission, because
		// many commands can read a file of secrets.
		{"cat .env", true, "hush", 0, 1},
		{"cat .env # ask", false, "the user said no", 1, 0},
	} {
		asked, finished := len(run.seen("ask")), len(run.seen("post"))
		end := outcome(t, say(t, s, claudetest.Script(bash(c.command), claudetest.Step{Text: "done"})))
		if end.Denied == c.runs || end.IsError == c.runs || !strings.Contains(end.Text, c.says) {
			t.Errorf("%s ends as %+v", c.command, end)
		}
		if a, f := len(run.seen("ask"))-asked, len(run.seen("post"))-finished; a != c.asked || f != c.finished {
			t.Errorf("%s: asked %d times, %d calls have succeeded", c.command, a, f)
		}
		if file, made := strings.CutPrefix(c.command, "touch "); made {
			if _, err := os.Stat(filepath.Join(r.dir, file)); (err == nil) != c.runs {
				t.Errorf("%s has run: %v", c.command, err == nil)
			}
		}
	}

	objects.Store(true)
	stops := len(run.seen("stop"))
	h := say(t, s, claudetest.Script(claudetest.Step{Text: "first end"}, claudetest.Step{Text: "second end"}, claudetest.Step{Text: "third end"}))
	if end := h.result(t); end.IsError || end.Text != "second end" {
		t.Errorf("the result is %+v", end)
	}
	if asked := run.seen("stop")[stops:]; len(asked) != 2 || asked[0].Again || !asked[1].Again {
		t.Errorf("the stop hook was asked %+v", asked)
	}
	if !strings.Contains(string(r.last().Raw), "call report_updates first") {
		t.Error("the model was not told why it may not end")
	}
}

func TestWithTheRealCLIEveryToolMakesItsRoundTrip(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t)
	var mu sync.Mutex
	arrived := map[string]string{}
	tools := toolset.Tools(nil)
	var blocks []claudetest.Block
	for i, tool := range tools {
		tools[i].Call = func(_ context.Context, a agent.Approved) agent.ToolResult {
			mu.Lock()
			defer mu.Unlock()
			arrived[tool.Name] = string(a.Input())
			return agent.ToolResult{Text: "did " + tool.Name, IsError: tool.Name == toolset.SendFile}
		}
		blocks = append(blocks, claudetest.Block{Type: "tool_use", Name: toolset.Prefix + tool.Name, Input: map[string]any{"message": "for " + tool.Name}})
	}
	begun, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	s := r.open(func(o *agent.SessionOptions) { o.Tools = append(slices.Clone(tools), waitingTool(begun, ended)) })
	h := say(t, s, claudetest.Script(claudetest.Step{Blocks: blocks}, claudetest.Step{Text: "done"}))
	told := map[string]agent.ToolEnd{}
	for _, e := range all[agent.ToolEnd](h) {
		told[e.Name] = e
	}
	offered := r.requests()[0].Tools
	for _, tool := range tools {
		if !slices.Contains(offered, toolset.Prefix+tool.Name) {
			t.Errorf("%s was not offered to the model", tool.Name)
		}
		if want := `{"message":"for ` + tool.Name + `"}`; arrived[tool.Name] != want {
			t.Errorf("%s was called with %s", tool.Name, arrived[tool.Name])
		}
		if got := told[toolset.Prefix+tool.Name]; got.Text != "did "+tool.Name || got.IsError != (tool.Name == toolset.SendFile) {
			t.Errorf("%s ends as %+v", tool.Name, got)
		}
	}

	// An interruption cancels a running tool of the bot.
	done := make(chan struct{})
	go func() {
		defer close(done)
		if end := say(t, s, claudetest.Script(claudetest.Step{Tool: toolset.Prefix + "wait"}, claudetest.Step{Text: "not reached"})).result(t); !end.Interrupted {
			t.Errorf("the turn ended as %+v", end)
		}
	}()
	<-begun
	testkit.Must(t, s.Interrupt(t.Context()))
	<-ended
	<-done
	if h := say(t, s, claudetest.Script(claudetest.Step{Text: "yes"})); h.text() != "yes" {
		t.Errorf("the next turn gives %q", h.text())
	}
}

func TestAToolCanEndTheTurnAndLeavesNoInterruptionInTheHistory(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t)
	leave := func(o *agent.SessionOptions) {
		o.Tools = []agent.Tool{{
			Name: "leave", Description: "Leaves.", Schema: []byte(`{"type":"object","properties":{}}`),
			Call: func(context.Context, agent.Approved) agent.ToolResult {
				return agent.ToolResult{Text: "it is so", EndTurn: true}
			},
		}}
	}
	s := r.open(leave)
	h := say(t, s, claudetest.Script(claudetest.Step{Text: "I go.", Tool: "mcp__discord__leave", Input: map[string]any{}}, claudetest.Step{Text: "Too much."}))
	if end := h.result(t); end.Interrupted || end.IsError || h.text() != "I go." || len(r.requests()) != 1 {
		t.Errorf("it says %q in %d requests and ends as %+v", h.text(), len(r.requests()), end)
	}
	if h := say(t, s, "and on "+claudetest.Script(claudetest.Step{Text: "Fine."})); h.text() != "Fine." {
		t.Errorf("the next turn says %q", h.text())
	}
	for _, never := range []string{"interrupted by user", "No response requested"} {
		if strings.Contains(string(r.last().Raw), never) {
			t.Errorf("the history says %q", never)
		}
	}
}

// The guard judges a file by its predicted contents after a call, so the command has to produce
// what the table in core/safety/policy says.
func TestTheCommandEditsAsTheGuardSays(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t)
	data, err := os.ReadFile(filepath.Join("..", "..", "safety", "policy", "testdata", "edits.json"))
	testkit.Must(t, err)
	var edits []struct {
		Name, File, Before, After string
		Missing                   bool
		Varies                    bool // differs between versions of the command
		With                      map[string]any
	}
	testkit.Must(t, json.Unmarshal(data, &edits))
	var reads, edited []claudetest.Block // which a request for each would take most of a minute
	for _, e := range edits {
		path := filepath.Join(r.dir, e.File)
		if !e.Missing {
			testkit.Must(t, os.WriteFile(path, letters(e.Before), 0o600))
			reads = append(reads, claudetest.Block{Type: "tool_use", Name: "Read", Input: map[string]any{"file_path": path}})
		}
		tool := "Edit"
		if e.With["content"] != nil {
			tool = "Write"
		}
		e.With["file_path"] = path
		edited = append(edited, claudetest.Block{Type: "tool_use", Name: tool, Input: e.With})
	}
	say(t, r.open(), claudetest.Script(claudetest.Step{Blocks: reads}, claudetest.Step{Blocks: edited}, claudetest.Step{Text: "done"})).result(t)
	for _, e := range edits {
		got, err := os.ReadFile(filepath.Join(r.dir, e.File))
		if err != nil || !e.Varies && string(got) != string(letters(e.After)) {
			t.Errorf("%s: %q, want %q (%v)", e.Name, got, letters(e.After), err)
		}
	}
}

// letters writes bytes as letters, one for each.
func letters(s string) []byte {
	var out []byte
	for _, c := range s {
		out = append(out, byte(c))
	}
	return out
}
