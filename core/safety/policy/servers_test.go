package policy

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/safety/label"
	"ollimbot/core/storage/store/storetest"
)

// A server's tools count as acting, whatever the server claims, and their results as untrusted
// unless the user trusts the server. // M10
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

// A tool found by the tool search is judged as itself, however it is called.
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

// 31: an edit of the MCP servers' file waits for the user, with any tool and in any mode; the call
// itself never writes it.
func TestAnEditOfTheServersFileWaitsForTheUser(t *testing.T) {
	old := `{"mcpServers": {"a": {"command": "x"}}}`
	edited := fields{"file_path": ".mcp.json", "old_string": `"x"`, "new_string": `"y"`}
	for name, c := range map[string]struct {
		rules   Rules
		mode    Mode
		kind    Kind
		use     agent.ToolUse
		label   label.Label
		trusted bool
		waits   string // empty if it does not
		says    string
	}{
		"a conversation writes":          {Rules{}, Ask, Main, writing(".mcp.json", "{}"), "", false, "{}", "kept"},
		"it edits":                       {Rules{}, AcceptEdits, Main, toolUse("Edit", edited), "", false, strings.Replace(old, "x", "y", 1), "kept"},
		"permissions are bypassed":       {Rules{}, BypassPermissions, Main, writing("./notes/../.mcp.json", "{}"), "", false, "{}", "kept"},
		"a run that may write":           {everything, Ask, Background, writing(".mcp.json", "{}"), "", false, "{}", "kept"},
		"a run that may not":             {Rules{}, Ask, Background, writing(".mcp.json", "{}"), "", false, "", "not available"},
		"nobody is asked":                {Rules{}, DontAsk, Main, writing(".mcp.json", "{}"), "", false, "", "requires permission"},
		"a run that has read mail":       {everything, Ask, Background, writing(".mcp.json", "{}"), "mail", false, "", "untrusted text"},
		"a run whose file trusts it":     {everything, Ask, Background, writing(".mcp.json", "{}"), "mail", true, "{}", "kept"},
		"a conversation with mail in it": {Rules{}, Ask, Main, writing(".mcp.json", "{}"), "mail", false, "", "untrusted text"},
		"what cannot be foreseen":        {Rules{}, Ask, Main, toolUse("Edit", fields{"file_path": ".mcp.json", "old_string": "zzz", "new_string": "y"}), "", false, "", "cannot be predicted"},
		"a folder below":                 {Rules{}, BypassPermissions, Main, writing("repo/.mcp.json", "{}"), "", false, "", "only the user changes it"},
		"another spelling":               {Rules{}, BypassPermissions, Main, writing(".MCP.json", "{}"), "", false, "", "only the user changes it"},
		"a link to it":                   {Rules{}, BypassPermissions, Main, writing("notes/link", "{}"), "", false, "", "only the user changes it"},
		"a command":                      {everything, BypassPermissions, Main, toolUse("NotebookEdit", fields{"notebook_path": ".mcp.json", "new_source": "x"}), "", false, "", "cannot be predicted"},
	} {
		t.Run(name, func(t *testing.T) {
			waits := ""
			dir := storetest.Prepared(t)
			g := New(Options{Dir: dir, Log: slog.New(slog.DiscardHandler), Propose: func(_ Writer, text []byte) string { waits = string(text); return "kept" }})
			testkit.Must(t, os.Mkdir(dir.Path("notes"), 0o700))
			storetest.Put(t, dir, ".mcp.json", old)
			link(t, filepath.Join("..", ".mcp.json"), dir.Path("notes/link"))
			taint := &Taint{Trusted: c.trusted}
			if c.label != "" {
				taint.Read(c.label)
			}
			s := g.Session(Scope{Kind: c.kind, Rules: c.rules, Mode: func() Mode { return c.mode }, Taint: taint})
			d := s.PreTool(t.Context(), c.use)
			if d.Allow || waits != c.waits || !strings.Contains(d.Reason, c.says) {
				t.Errorf("%+v; waits %q", d, waits)
			}
			if d := s.Permission(t.Context(), c.use); d.Allow {
				t.Error("it is permitted in the end")
			}
			if storetest.Text(t, dir, ".mcp.json") != old {
				t.Error("the file has changed")
			}
			if _, err := os.Stat(dir.Path(".MCP.json")); name == "another spelling" && !errors.Is(err, fs.ErrNotExist) {
				t.Skip("the file system ignores case")
			}
		})
	}
}
