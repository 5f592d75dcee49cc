package claude

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/fakeapi"
	"ollimbot/core/agent/claude/process"
	"ollimbot/core/agent/claude/wire"
	"ollimbot/core/toolset"
)

// hosted is a real claude command whose control requests a host answers.
type hosted struct {
	t    *testing.T
	api  *fakeapi.Server
	conn *wire.Conn
	env  []string
	dir  string
	end  func() // ends the command and waits; it may be called again
}

// startAPI is a Messages API that ends with the test.
func startAPI(t *testing.T) *fakeapi.Server {
	t.Helper()
	api, err := fakeapi.Start(fakeapi.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := api.Close(); err != nil {
			t.Errorf("close the API: %v", err)
		}
	})
	return api
}

// startHosted runs the real command with a host; both end with the test.
func startHosted(t *testing.T, h *host, flags ...string) *hosted {
	t.Helper()
	path := fakeapi.RequireCLI(t)
	c := &hosted{t: t, api: startAPI(t), dir: t.TempDir()}
	c.env = fakeapi.CLIEnv(t, c.api)
	c.start(path, h, flags...)
	return c
}

func (c *hosted) start(path string, h *host, flags ...string) {
	c.t.Helper()
	child, err := process.Start(process.Spec{Path: path, Env: c.env, Dir: c.dir, Args: append([]string{
		"-p", "--output-format", "stream-json", "--input-format", "stream-json", "--verbose",
		"--permission-prompt-tool", "stdio", "--strict-mcp-config", "--setting-sources=", "--permission-mode", "default",
	}, flags...)})
	if err != nil {
		c.t.Fatal(err)
	}
	c.conn = wire.New(child.Stdout(), child.Stdin(), wire.Options{Handler: h.handle})
	ctx, cancel := context.WithCancel(context.WithoutCancel(c.t.Context()))
	var reader sync.WaitGroup
	reader.Go(func() {
		if err := c.conn.Run(ctx); err != nil && !errors.Is(err, context.Canceled) {
			c.t.Errorf("the connection ended with %v", err)
		}
	})
	c.end = sync.OnceFunc(func() {
		if err := child.Stop(ctx, time.Second); err != nil {
			c.t.Errorf("stop claude: %v", err)
		}
		cancel()
		reader.Wait()
		h.close()
		if said := child.StderrTail(); said != "" {
			c.t.Logf("claude said: %s", said)
		}
	})
	c.t.Cleanup(c.end)
	limit, stop := context.WithTimeout(c.t.Context(), 30*time.Second)
	defer stop()
	if _, err := c.conn.Request(limit, h.initialize(agent.SessionOptions{SystemPrompt: "Be brief."})); err != nil {
		c.t.Fatalf("initialize: %v", err)
	}
}

// send sends a message whose script the API plays.
func (c *hosted) send(text string, steps ...fakeapi.Step) {
	c.t.Helper()
	if len(steps) > 0 {
		text += " " + fakeapi.Script(steps...)
	}
	c.sendBlocks(wire.TextBlock(text), wire.TextBlock(lastBlock))
}

func (c *hosted) sendBlocks(blocks ...wire.Block) {
	c.t.Helper()
	if err := c.conn.Send(wire.UserMessage("", blocks)); err != nil {
		c.t.Fatal(err)
	}
}

// finish reads to the end of the turn.
func (c *hosted) finish() wire.Result {
	c.t.Helper()
	limit, stop := context.WithTimeout(c.t.Context(), 60*time.Second)
	defer stop()
	for {
		l, err := c.conn.Next(limit)
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = errors.New("claude has ended")
			}
			c.t.Fatalf("wait for the result: %v", err)
		}
		if l.Type == "result" {
			r, err := l.Result()
			if err != nil {
				c.t.Fatal(err)
			}
			return r
		}
	}
}

// results are the results of tools that the API was told of, by the tool's id.
func (c *hosted) results() map[string]string {
	found := map[string]string{}
	for _, r := range c.api.Requests() {
		for _, m := range r.Messages {
			for _, b := range m.Blocks {
				if b.Type == "tool_result" {
					found[b.ID] = b.Text
				}
			}
		}
	}
	return found
}

func TestWithTheRealCLIEveryToolMakesItsRoundTrip(t *testing.T) {
	var mu sync.Mutex
	arrived := map[string]string{}
	tools := toolset.Tools(nil)
	var blocks []fakeapi.Block
	for i, tool := range tools {
		tools[i].Call = func(_ context.Context, args json.RawMessage) agent.ToolResult {
			mu.Lock()
			defer mu.Unlock()
			arrived[tool.Name] = string(args)
			return agent.ToolResult{Text: "did " + tool.Name, IsError: tool.Name == toolset.SendFile}
		}
		blocks = append(blocks, fakeapi.Block{
			Type: "tool_use", ID: "toolu_" + tool.Name, Name: toolset.Prefix + tool.Name, Input: map[string]any{"message": "for " + tool.Name},
		})
	}
	// As with a process that waits ahead: the tools are listed before there is a run.
	h := newHost(tools, nil)
	c := startHosted(t, h, "--allowedTools", "mcp__"+server)
	if err := h.bind((&hostRun{}).options(tools...)); err != nil {
		t.Fatal(err)
	}
	c.send("call them all", fakeapi.Step{Blocks: blocks}, fakeapi.Step{Text: "done"})
	if r := c.finish(); r.IsError || r.Text != "done" {
		t.Errorf("the result is %q, error %v", r.Text, r.IsError)
	}
	offered := c.api.Requests()[len(c.api.Requests())-1].Tools
	results := c.results()
	for _, tool := range tools {
		if !slices.Contains(offered, toolset.Prefix+tool.Name) {
			t.Errorf("%s was not offered to the model", tool.Name)
		}
		if want := `{"message":"for ` + tool.Name + `"}`; arrived[tool.Name] != want {
			t.Errorf("%s was called with %s", tool.Name, arrived[tool.Name])
		}
		if got := results["toolu_"+tool.Name]; got != "did "+tool.Name {
			t.Errorf("the model was told %q of %s", got, tool.Name)
		}
	}
}

func TestWithTheRealCLIADenialByTheHookReachesTheModel(t *testing.T) {
	r := &hostRun{pre: func(_ context.Context, u agent.ToolUse) agent.Decision {
		return agent.Decision{Reason: "the bot keeps " + u.Name + " to itself"}
	}}
	h := boundHost(t, r)
	c := startHosted(t, h)
	made := filepath.Join(c.dir, "made")
	c.send("try", fakeapi.Step{Blocks: []fakeapi.Block{
		{Type: "tool_use", ID: "toolu_1", Name: "Bash", Input: map[string]any{"command": "touch " + made, "description": "d"}},
	}}, fakeapi.Step{Text: "I was refused"})
	if got := c.finish(); got.IsError || got.Text != "I was refused" {
		t.Errorf("the result is %q, error %v", got.Text, got.IsError)
	}
	if got := c.results()["toolu_1"]; !strings.Contains(got, "the bot keeps Bash to itself") {
		t.Errorf("the model was told %q", got)
	}
	if _, err := os.Stat(made); err == nil {
		t.Error("the command has run")
	}
	if !h.denied("toolu_1") || len(r.seen("ask")) != 0 || len(r.seen("post")) != 0 {
		t.Errorf("denied %v, asked %d times, %d calls succeeded", h.denied("toolu_1"), len(r.seen("ask")), len(r.seen("post")))
	}
}

func TestWithTheRealCLIAPermissionIsGivenAndRefused(t *testing.T) {
	r := &hostRun{ask: func(_ context.Context, u agent.ToolUse) agent.Decision {
		return agent.Decision{Allow: strings.Contains(string(u.Input), "yes"), Reason: "the user said no"}
	}}
	h := boundHost(t, r)
	c := startHosted(t, h)
	touch := func(id, name string) fakeapi.Block {
		return fakeapi.Block{Type: "tool_use", ID: id, Name: "Bash", Input: map[string]any{
			"command": "touch " + filepath.Join(c.dir, name), "description": "d",
		}}
	}
	c.send("try", fakeapi.Step{Blocks: []fakeapi.Block{touch("toolu_y", "yes")}},
		fakeapi.Step{Blocks: []fakeapi.Block{touch("toolu_n", "no")}}, fakeapi.Step{Text: "done"})
	if got := c.finish(); got.IsError || got.Text != "done" {
		t.Errorf("the result is %q, error %v", got.Text, got.IsError)
	}
	if _, err := os.Stat(filepath.Join(c.dir, "yes")); err != nil {
		t.Errorf("the permitted command has not run: %v", err)
	}
	if _, err := os.Stat(filepath.Join(c.dir, "no")); err == nil {
		t.Error("the refused command has run")
	}
	if got := c.results()["toolu_n"]; !strings.Contains(got, "the user said no") {
		t.Errorf("the model was told %q", got)
	}
	if h.denied("toolu_y") || !h.denied("toolu_n") {
		t.Errorf("denied: yes %v, no %v", h.denied("toolu_y"), h.denied("toolu_n"))
	}
	if n := len(r.seen("post")); n != 1 {
		t.Errorf("%d calls have succeeded, not 1", n)
	}
}

func TestWithTheRealCLIAFaultyHookLetsNothingRun(t *testing.T) {
	h := boundHost(t, &hostRun{pre: func(context.Context, agent.ToolUse) agent.Decision { panic("bug") }})
	c := startHosted(t, h)
	made := filepath.Join(c.dir, "made")
	c.send("try", fakeapi.Step{Tool: "Bash", Input: map[string]any{"command": "touch " + made, "description": "d"}}, fakeapi.Step{Text: "done"})
	c.finish()
	if _, err := os.Stat(made); err == nil {
		t.Error("the command has run")
	}
}

func TestWithTheRealCLIAStopHookBlocksOnce(t *testing.T) {
	r := &hostRun{stop: func(context.Context, bool) string { return "call report_updates first" }}
	c := startHosted(t, boundHost(t, r))
	c.send("work", fakeapi.Step{Text: "first end"}, fakeapi.Step{Text: "second end"}, fakeapi.Step{Text: "third end"})
	if got := c.finish(); got.IsError || got.Text != "second end" {
		t.Errorf("the result is %q, error %v", got.Text, got.IsError)
	}
	stops := r.seen("stop")
	if len(stops) != 2 || stops[0].Again || !stops[1].Again {
		t.Errorf("the hook was asked %+v", stops)
	}
	told := false
	for _, request := range c.api.Requests() {
		told = told || strings.Contains(string(request.Raw), "call report_updates first")
	}
	if !told {
		t.Error("the model was not told why it may not end")
	}
}

func TestWithTheRealCLIAnInterruptCancelsTheToolThatRuns(t *testing.T) {
	begun, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	wait := waitingTool(begun, ended)
	c := startHosted(t, boundHost(t, &hostRun{}, wait), "--allowedTools", "mcp__"+server)
	c.send("wait", fakeapi.Step{Tool: toolset.Prefix + "wait"}, fakeapi.Step{Text: "not reached"})
	limit, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	receive := func(what string, from <-chan struct{}) {
		select {
		case <-from:
		case <-limit.Done():
			t.Fatalf("the tool has not %s", what)
		}
	}
	receive("begun", begun)
	if _, err := c.conn.Request(limit, map[string]string{"subtype": "interrupt"}); err != nil {
		t.Fatal(err)
	}
	receive("ended", ended)
	if got := c.finish(); !got.Interrupted() {
		t.Errorf("the turn ended with %q", got.TerminalReason)
	}
	c.send("still there?", fakeapi.Step{Text: "yes"})
	if got := c.finish(); got.Text != "yes" {
		t.Errorf("the next turn gives %q", got.Text)
	}
}

func TestWithTheRealCLIAnInterruptRefusesWhatWaitsForPermission(t *testing.T) {
	waits := make(chan struct{}, 1)
	h := boundHost(t, &hostRun{ask: func(ctx context.Context, _ agent.ToolUse) agent.Decision {
		waits <- struct{}{}
		<-ctx.Done()
		return agent.Decision{Allow: true}
	}})
	c := startHosted(t, h)
	made := filepath.Join(c.dir, "made")
	c.send("try", fakeapi.Step{Blocks: []fakeapi.Block{
		{Type: "tool_use", ID: "toolu_1", Name: "Bash", Input: map[string]any{"command": "touch " + made, "description": "d"}},
	}}, fakeapi.Step{Text: "not reached"})
	limit, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	select {
	case <-waits:
	case <-limit.Done():
		t.Fatal("nobody was asked")
	}
	if _, err := c.conn.Request(limit, map[string]string{"subtype": "interrupt"}); err != nil {
		t.Fatal(err)
	}
	if got := c.finish(); !got.Interrupted() {
		t.Errorf("the turn ended with %q", got.TerminalReason)
	}
	if _, err := os.Stat(made); err == nil {
		t.Error("the command has run")
	}
}

// The CLI lets commands that only read pass without a question; the hook asks
// for one, because a file of secrets can be read by many commands.
func TestWithTheRealCLIAReadingCommandIsAskedForWhereTheHookSaysSo(t *testing.T) {
	for _, ask := range []bool{false, true} {
		r := &hostRun{
			pre: func(context.Context, agent.ToolUse) agent.Decision { return agent.Decision{Allow: true, Ask: ask} },
			ask: func(context.Context, agent.ToolUse) agent.Decision { return agent.Decision{Reason: "not this one"} },
		}
		c := startHosted(t, boundHost(t, r))
		secret := filepath.Join(c.dir, ".env")
		if err := os.WriteFile(secret, []byte("TOKEN=hush"), 0o600); err != nil {
			t.Fatal(err)
		}
		c.send("try", fakeapi.Step{Blocks: []fakeapi.Block{
			{Type: "tool_use", ID: "toolu_1", Name: "Bash", Input: map[string]any{"command": "cat .env", "description": "d"}},
		}}, fakeapi.Step{Text: "done"})
		c.finish()
		got := c.results()["toolu_1"]
		if leaked := strings.Contains(got, "hush"); leaked == ask {
			t.Errorf("asked %v: the model was told %q", ask, got)
		}
		c.end()
	}
}
