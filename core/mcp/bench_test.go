package mcp

import (
	"encoding/json"
	"os/exec"
	"slices"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ollimbot/core/agent"
	"ollimbot/core/base/binarytest"
	"ollimbot/core/base/testkit"
)

// BenchmarkACallOfALocalServer measures a tool call through the host, alternating with
// the same call by the SDK alone, to show the host's overhead.
func BenchmarkACallOfALocalServer(b *testing.B) {
	h := running(b, stdio(b, nil, "plain"))
	at := slices.IndexFunc(h.Tools(), func(t agent.Tool) bool { return t.Name == "echo" })
	echo, use := h.Tools()[at], agent.ToolUse{Name: "echo", Input: json.RawMessage(`{"text":"hello"}`)}
	hello, _ := agent.Approve(use, use.Allowed())
	bare, err := sdk.NewClient(&sdk.Implementation{Name: "bare", Version: "1"}, nil).
		Connect(b.Context(), &sdk.CommandTransport{Command: exec.Command(binarytest.Path(), "__mcp", "plain")}, nil)
	testkit.Must(b, err)
	var ours, alone []time.Duration
	for b.Loop() {
		begun := time.Now()
		if got := echo.Call(b.Context(), hello); got.IsError {
			b.Fatal(got.Text)
		}
		ours, begun = append(ours, time.Since(begun)), time.Now()
		if _, err := bare.CallTool(b.Context(), &sdk.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "hello"}}); err != nil {
			b.Fatal(err)
		}
		alone = append(alone, time.Since(begun))
	}
	b.StopTimer()
	if err := bare.Close(); err != nil {
		b.Error(err)
	}
	median := func(list []time.Duration) float64 {
		slices.Sort(list)
		return float64(list[len(list)/2].Nanoseconds()) / 1e6
	}
	b.ReportMetric(median(ours), "ms-ours")
	b.ReportMetric(median(alone), "ms-alone")
}
