package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"ollimbot/core/agent/claude/claudetest"
)

// BenchmarkAHundredForks is the memory of a bot while a hundred runs wait for the model in the
// middle of an answer, beside an MCP server of twenty tools.
func BenchmarkAHundredForks(b *testing.B) {
	const forks = 100
	exe := binary(b)
	for b.Loop() {
		api := claudetest.Start(b, claudetest.Options{})
		root := household(b, 100)
		check(b, os.WriteFile(filepath.Join(root, ".mcp.json"), fmt.Appendf(nil, `{"mcpServers": {"weather": {"type": "http", "url": %q}}}`, weather(b, 19).URL), 0o600))
		check(b, os.MkdirAll(filepath.Join(root, "state"), 0o700))
		check(b, os.WriteFile(filepath.Join(root, "state", "settings.json"), fmt.Appendf(nil, `{"max_background_forks": %d}`, forks), 0o600))
		start := func() *exec.Cmd {
			cmd := exec.CommandContext(b.Context(), exe, "run", "--engine", "messages", "--headless", "--data-dir", root)
			cmd.Env = append(os.Environ(), "ANTHROPIC_BASE_URL="+api.URL(), "ANTHROPIC_API_KEY=k", "GIT_CONFIG_GLOBAL="+os.DevNull)
			cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
			check(b, cmd.Start())
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
		check(b, os.MkdirAll(filepath.Join(root, "reminders"), 0o700))
		at := time.Now().Add(10 * time.Second).UTC().Format(time.RFC3339)
		for i := range forks {
			script := claudetest.Script(claudetest.Step{Text: "The landlord asks about Thursday, and the rest can wait.", Hold: "all", HoldAfter: 1})
			text := fmt.Sprintf("---\nid: \"%08x\"\nrun-at: %q\ndescription: \"Run %d\"\nbackground: true\n---\n%s\n", 0xb0000000+i, at, i, script)
			check(b, os.WriteFile(filepath.Join(root, "reminders", fmt.Sprintf("run%03d.md", i)), []byte(text), 0o600))
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
		check(b, err)
	}
}
