package policy

import (
	"log/slog"
	"testing"

	"ollimbot/core/safety/label"
	"ollimbot/core/storage/store/storetest"
)

// A server's tools act whatever it says of them, and what it returns is a stranger's word unless
// the user trusts it. // M10
func TestAServersToolActsAndItsAnswerIsAStrangersWord(t *testing.T) {
	g := New(Options{
		Dir: storetest.Prepared(t), Log: slog.New(slog.DiscardHandler),
		Trusted: func(server string) bool { return server == "home" },
	})
	weather, home := toolUse("mcp__weather__forecast", fields{}), toolUse("mcp__home__lamp", fields{})
	run := func(allowed ...string) *Session {
		return g.Session(Scope{Kind: Background, Rules: Rules{Allowed: allowed}})
	}
	if d := run(BackgroundTools()...).PreTool(t.Context(), weather); d.Allow {
		t.Error("a background run has a tool that its file does not name")
	}
	for _, pattern := range []string{"mcp__weather", "mcp__weather__*", "mcp__weather__forecast"} {
		s := run(pattern, "mcp__home")
		for range 2 {
			if d := s.PreTool(t.Context(), home); !d.Allow {
				t.Errorf("a trusted server's tool: %+v", d)
			}
		}
		if d := s.PreTool(t.Context(), weather); !d.Allow || s.Label() != label.From("MCP server weather") {
			t.Errorf("%s: %+v, label %q", pattern, d, s.Label())
		}
		if d := s.PreTool(t.Context(), home); d.Allow {
			t.Errorf("%s: a labeled run may still act", pattern)
		}
	}
}
