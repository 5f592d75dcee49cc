package claudetest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/base/testkit"
)

// command is a running claude command, driven by lines of its protocol.
type command struct {
	t   *testing.T
	in  io.WriteCloser
	out *bufio.Reader
}

// line contains the fields of an output line that these tests use.
type line struct {
	Type     string `json:"type"`
	Subtype  string `json:"subtype"`
	Result   string `json:"result"`
	IsError  bool   `json:"is_error"`
	Terminal string `json:"terminal_reason"`
	Status   int    `json:"api_error_status"`
	Raw      string `json:"-"`
}

// startCLI runs the real command against s. It ends with the test.
func startCLI(t *testing.T, s *claudetest.Server, args ...string) *command {
	t.Helper()
	path := claudetest.RequireCLI(t)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 2*time.Minute)
	args = append([]string{
		"-p", "--output-format", "stream-json", "--input-format", "stream-json", "--verbose", "--setting-sources=", "--strict-mcp-config",
	}, args...)
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env, cmd.Dir = claudetest.CLIEnv(t, s), t.TempDir()
	cmd.WaitDelay = 10 * time.Second
	in, err := cmd.StdinPipe()
	testkit.Must(t, err)
	out, err := cmd.StdoutPipe()
	testkit.Must(t, err)
	testkit.Must(t, cmd.Start())
	t.Cleanup(func() {
		if err := in.Close(); err != nil {
			t.Log(err)
		}
		if _, err := io.Copy(io.Discard, out); err != nil {
			t.Logf("read the rest: %v", err)
		}
		err := cmd.Wait() // 1 after a failed turn, which does not matter here
		t.Logf("the command ended: %v", err)
		cancel()
	})
	return &command{t: t, in: in, out: bufio.NewReaderSize(out, 1<<16)}
}

func (c *command) write(v any) {
	c.t.Helper()
	b, err := json.Marshal(v)
	testkit.Must(c.t, err)
	if _, err := c.in.Write(append(b, '\n')); err != nil {
		c.t.Fatal(err)
	}
}

// say sends a prompt. The constant last block keeps "@" and "/" in it literal.
func (c *command) say(text string) {
	c.t.Helper()
	block := func(s string) map[string]string { return map[string]string{"type": "text", "text": s} }
	c.write(map[string]any{"type": "user", "message": map[string]any{
		"role": "user", "content": []any{block(text), block("(end of message)")},
	}})
}

// until reads lines up to the first of a type.
func (c *command) until(kind string) (line, []line) {
	c.t.Helper()
	var seen []line
	for {
		raw, err := c.out.ReadString('\n')
		if err != nil {
			c.t.Fatalf("the command ended before a %s line: %v", kind, err)
		}
		l := line{Raw: raw}
		if err := json.Unmarshal([]byte(raw), &l); err != nil {
			c.t.Fatalf("%v: %s", err, raw)
		}
		seen = append(seen, l)
		if l.Type == kind {
			return l, seen
		}
	}
}

func statuses(all []claudetest.Request) string {
	var out []string
	for _, r := range claudetest.ForModel(all) {
		kind := "whole"
		if r.Stream {
			kind = "stream"
		}
		out = append(out, fmt.Sprintf("%d %s", r.Status, kind))
	}
	return strings.Join(out, ", ")
}

// TestTheRealCommandUnderstandsEveryKindOfAnswer plays every feature to the claude command: deltas,
// failures, compaction and retries.
func TestTheRealCommandUnderstandsEveryKindOfAnswer(t *testing.T) {
	testkit.Alone(t)
	claudetest.RequireCLI(t)
	type step = claudetest.Step
	input := func(command string) map[string]any {
		return map[string]any{"command": command, "description": "a test"}
	}
	for _, c := range []struct {
		name     string
		prompt   string
		result   string // a part of the result's text
		isError  bool
		requests string // statuses of the requests for the model, as a pattern
	}{
		{
			"text", claudetest.Script(step{Thinking: "Well.", Text: "Good morning."}),
			"Good morning.", false, "200 stream",
		},
		{"no script", "good evening", "I heard: good evening (end of message)", false, "200 stream"},
		{
			"a tool loop", claudetest.Script(step{Text: "I look.", Tool: "Bash", Input: input("echo from the shell")}, step{Text: "Done."}),
			"Done.", false, "200 stream, 200 stream",
		},
		{
			"two tools in one answer", claudetest.Script(step{Blocks: []claudetest.Block{
				{Type: "tool_use", Name: "Bash", Input: input("echo one")},
				{Type: "tool_use", Name: "Bash", Input: input("echo two")},
			}}, step{Text: "Both."}),
			"Both.", false, "200 stream, 200 stream",
		},
		{
			"a limit that passes", claudetest.Script(step{Error: 429, RetryAfter: "0", Times: 2, Text: "At last."}),
			"At last.", false, "429 stream, 429 stream, 200 stream",
		},
		{
			"an overload that stays", claudetest.Script(step{Error: 529, RetryAfter: "0"}),
			"529", true, "529 stream, 529 stream, 529 stream",
		},
		{
			"a connection that breaks", claudetest.Script(step{Text: "A sentence that breaks off, and then does not.", DropAfter: 1, Times: 1}),
			"and then does not.", false, "200 stream, 200 (whole|stream)", // newer versions request a stream again
		},
		{
			"an error in the stream", claudetest.Script(step{Text: "A sentence that stops, and then does not.", SSEError: "overloaded_error", Times: 1}),
			"and then does not.", false, "200 stream, 200 whole",
		},
		{
			"a subagent", claudetest.Script(step{Tool: "Agent", Input: map[string]any{
				"description": "ask", "subagent_type": "general-purpose", "prompt": claudetest.Script(step{Text: "The subagent speaks."}),
			}}, step{Text: "It spoke."}),
			"It spoke.", false, "200 stream, 200 stream, 200 stream",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := claudetest.Start(t, claudetest.Options{Key: "the-key"})
			cli := startCLI(t, s)
			cli.say(c.prompt)
			l, seen := cli.until("result")
			if !strings.Contains(l.Result, c.result) || l.IsError != c.isError {
				t.Errorf("the result is %s\n%v", l.Raw, seen)
			}
			if got := statuses(s.Requests()); !regexp.MustCompile("^" + c.requests + "$").MatchString(got) {
				t.Errorf("the requests were %q, want %q", got, c.requests)
			}
		})
	}
	t.Run("compaction", func(t *testing.T) { t.Parallel(); compacts(t) })
	t.Run("interrupt", func(t *testing.T) { t.Parallel(); interrupts(t) })
}

// compacts answers that a prompt is too long, and then expects a compaction.
func compacts(t *testing.T) {
	s := claudetest.Start(t, claudetest.Options{})
	cli := startCLI(t, s, "--model", "haiku") // a model with a long window may first try without it
	for i := range 4 {
		cli.say(fmt.Sprintf("talk %d %s", i, claudetest.Script(claudetest.Step{Text: strings.Repeat("words ", 200)})))
		cli.until("result")
	}
	cli.say(claudetest.Script(claudetest.Step{PromptTooLong: true, Times: 1, Text: "Now it fits."}))
	l, seen := cli.until("result")
	if l.Result != "Now it fits." || !slices.ContainsFunc(seen, func(l line) bool { return l.Subtype == "compact_boundary" }) {
		t.Errorf("after a prompt that was too long: %v", seen)
	}
	cli.write(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": "/compact"}})
	l, seen = cli.until("result")
	if l.IsError || !slices.ContainsFunc(seen, func(l line) bool { return l.Subtype == "compact_boundary" }) {
		t.Errorf("after /compact: %v", seen)
	}
	cli.say(claudetest.Script(claudetest.Step{Text: "And on."}))
	cli.until("result")
	all := claudetest.ForModel(s.Requests())
	if last := all[len(all)-1]; !strings.Contains(last.Messages[0].Text, "summed up by the fake API") {
		t.Errorf("the summary is not in the history: %.300s", last.Messages[0].Text)
	}
	if i := slices.IndexFunc(all, func(r claudetest.Request) bool { return r.Status == http.StatusBadRequest }); i != 4 {
		t.Errorf("request %d was refused, want the fifth", i)
	}
}

// interrupts ends an answer that hangs, and one that hangs in its middle.
func interrupts(t *testing.T) {
	s := claudetest.Start(t, claudetest.Options{})
	cli := startCLI(t, s, "--include-partial-messages")
	for i, step := range []claudetest.Step{{Hold: "never"}, {Text: "Half of a sentence, then nothing.", Hold: "never", HoldAfter: 1}} {
		cli.say(claudetest.Script(step))
		if step.HoldAfter == 0 {
			testkit.Must(t, s.Wait(t.Context(), func(all []claudetest.Request) bool { return len(claudetest.ForModel(all)) == i+1 }))
		} else {
			for l := (line{}); !strings.Contains(l.Raw, "content_block_delta"); {
				l, _ = cli.until("stream_event")
			}
		}
		cli.write(map[string]any{"type": "control_request", "request_id": fmt.Sprint(i), "request": map[string]any{"subtype": "interrupt"}})
		if l, _ := cli.until("result"); l.Terminal != "aborted_streaming" {
			t.Errorf("the result is %s", l.Raw)
		}
		if err := s.Wait(t.Context(), func(all []claudetest.Request) bool { return claudetest.ForModel(all)[i].Left }); err != nil {
			t.Error(err)
		}
	}
	cli.say(claudetest.Script(claudetest.Step{Text: "Still here."}))
	if l, _ := cli.until("result"); l.Result != "Still here." {
		t.Errorf("after the interrupts: %s", l.Raw)
	}
}
