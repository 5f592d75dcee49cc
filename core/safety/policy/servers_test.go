package policy

import (
	"log/slog"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/brief/toolset"
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

// A tool that was found by words is judged as itself, however it is called.
func TestAToolThatWasFoundNeedsThePermissionOfThatTool(t *testing.T) {
	g := New(Options{Dir: storetest.Prepared(t), Log: slog.New(slog.DiscardHandler)})
	call := func(tool string) agent.ToolUse {
		return toolUse(toolset.Call, fields{"tool": tool, "arguments": fields{"city": "Bonn"}})
	}
	run := func(allowed ...string) *Session {
		return g.Session(Scope{Kind: Background, Rules: Rules{Allowed: allowed}})
	}
	s := run("mcp__weather__forecast")
	for range 3 {
		if d := s.PreTool(t.Context(), toolUse(toolset.Find, fields{"words": "weather"})); !d.Allow || s.Label() != "" {
			t.Errorf("a search: %+v, label %q", d, s.Label())
		}
	}
	for _, tool := range []string{"mcp__weather__delete", "mcp__home__lamp", "Bash", "mcp__discord__ping_user", "mcp__docs__read", toolset.Call, ""} {
		if d := s.PreTool(t.Context(), call(tool)); d.Allow {
			t.Errorf("%s was let pass", tool)
		}
		if d := s.Permission(t.Context(), call(tool)); d.Allow {
			t.Errorf("%s was permitted", tool)
		}
	}
	if d := s.PreTool(t.Context(), call("mcp__weather__forecast")); !d.Allow || s.Label() != label.From("MCP server weather") {
		t.Errorf("what the run may call: %+v, label %q", d, s.Label())
	}
	if d := s.PreTool(t.Context(), call("mcp__weather__forecast")); d.Allow {
		t.Error("a labeled run may still act")
	}
	set := Compile("/", Rules{Allowed: []string{"mcp__weather"}, Disallowed: []string{"mcp__weather__delete"}})
	if !set.Allows(call("mcp__weather__forecast")) || set.Allows(call("mcp__home__lamp")) || !set.Forbids(call("mcp__weather__delete")) {
		t.Error("patterns do not see which tool is called")
	}
}
