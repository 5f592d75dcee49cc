package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/base/testkit"
)

// BenchmarkAHundredForks is the memory of a bot while a hundred runs wait for the model in the
// middle of an answer. Each has twenty tools of an MCP server: found by words, or all of them in
// its request, where their definitions are just short enough.
func BenchmarkAHundredForks(b *testing.B) {
	b.Run("tools found by words", func(b *testing.B) {
		hundredForks(b, func() string { return weather(b, 19).URL }, 0)
	})
	b.Run("tools in each request", func(b *testing.B) {
		hundredForks(b, func() string { return terse(b, 20).URL }, 20)
	})
}

// terse is an MCP server whose tools say as little as they can.
func terse(b *testing.B, tools int) *httptest.Server {
	b.Helper()
	s := sdk.NewServer(&sdk.Implementation{Name: "w", Version: "1"}, nil)
	for i := range tools {
		s.AddTool(&sdk.Tool{Name: fmt.Sprintf("t%d", i), Description: "A tool.", InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return &sdk.CallToolResult{}, nil
			})
	}
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil))
	b.Cleanup(web.Close)
	return web
}

// hundredForks measures with a server at an address. Each request has so many of its tools.
func hundredForks(b *testing.B, address func() string, tools int) {
	const forks = 100
	exe := binary(b)
	for b.Loop() {
		api := claudetest.Start(b, claudetest.Options{})
		root := household(b, 100)
		testkit.Must(b, os.WriteFile(filepath.Join(root, ".mcp.json"), fmt.Appendf(nil, `{"mcpServers": {"w": {"type": "http", "url": %q}}}`, address()), 0o600))
		testkit.Must(b, os.MkdirAll(filepath.Join(root, "state"), 0o700))
		testkit.Must(b, os.WriteFile(filepath.Join(root, "state", "settings.json"), fmt.Appendf(nil, `{"max_background_forks": %d}`, forks), 0o600))
		start := func() *exec.Cmd {
			cmd := exec.CommandContext(b.Context(), exe, "run", "--engine", "messages", "--headless", "--data-dir", root)
			cmd.Env = append(os.Environ(), "ANTHROPIC_BASE_URL="+api.URL(), "ANTHROPIC_API_KEY=k", "GIT_CONFIG_GLOBAL="+os.DevNull)
			cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
			testkit.Must(b, cmd.Start())
			return cmd
		}
		stop := func(cmd *exec.Cmd) {
			_ = cmd.Process.Signal(os.Interrupt)
			_ = cmd.Wait() // it was interrupted
		}
		// The first start learns the server's tools, the second has them from the beginning.
		first := start()
		settle(b, 4*time.Second)
		stop(first)
		testkit.Must(b, os.MkdirAll(filepath.Join(root, "reminders"), 0o700))
		at := time.Now().Add(10 * time.Second).UTC().Format(time.RFC3339)
		for i := range forks {
			script := claudetest.Script(claudetest.Step{Text: "The landlord asks about Thursday, and the rest can wait.", Hold: "all", HoldAfter: 1})
			text := fmt.Sprintf("---\nid: \"%08x\"\nrun-at: %q\ndescription: \"Run %d\"\nbackground: true\nallowed-tools: [mcp__w]\n---\n%s\n", 0xb0000000+i, at, i, script)
			testkit.Must(b, os.WriteFile(filepath.Join(root, "reminders", fmt.Sprintf("run%03d.md", i)), []byte(text), 0o600))
		}
		cmd := start()
		settle(b, 5*time.Second)
		b.ReportMetric(resident(b, cmd.Process.Pid), "MB-idle")
		ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
		err := api.Wait(ctx, func(all []claudetest.Request) bool { return len(claudetest.ForModel(all)) >= forks })
		cancel()
		asked := claudetest.ForModel(api.Requests())
		settle(b, 2*time.Second)
		b.ReportMetric(resident(b, cmd.Process.Pid), "MB-resident")
		b.ReportMetric(peak(b, cmd.Process.Pid), "MB-peak")
		b.ReportMetric(float64(len(asked)), "requests")
		api.Release("all")
		stop(cmd)
		testkit.Must(b, err)
		for _, r := range asked {
			if n := len(slices.DeleteFunc(slices.Clone(r.Tools), func(name string) bool { return !strings.HasPrefix(name, "mcp__w__") })); n != tools {
				b.Fatalf("a request has %d tools of the server, not %d: %q", n, tools, r.Tools)
			}
		}
	}
}
