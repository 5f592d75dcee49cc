package policy

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"ollimbot/core/agent"
)

func TestTheUsersOwnFilesAreOutOfReach(t *testing.T) {
	g, root := newGuard(t)
	if err := os.Symlink(".env", filepath.Join(root, "notes.md")); err != nil {
		t.Fatal(err)
	}
	hook := g.Session(Scope{}).Hooks(nil).PreTool
	use := func(tool, field, path string) agent.ToolUse {
		input, err := json.Marshal(map[string]string{field: path})
		if err != nil {
			t.Fatal(err)
		}
		return agent.ToolUse{Name: tool, Input: input}
	}
	for _, u := range []agent.ToolUse{
		use("Read", "file_path", ".env"),
		use("Read", "file_path", filepath.Join(root, ".env")),
		use("Read", "file_path", "routines/../.env"),
		use("Read", "file_path", ".ENV"),
		use("Read", "file_path", "notes.md"),
		use("Grep", "glob", ".env"),
		use("Grep", "path", ".env"),
		use("Glob", "pattern", ".e*"),
		use("Write", "file_path", ".env"),
		use("Edit", "file_path", ".claude/settings.json"),
		use("Write", "file_path", ".claude/settings.local.json"),
		use("Write", "file_path", ".mcp.json"),
	} {
		if d := hook(context.Background(), u); d.Allow || d.Reason == "" {
			t.Errorf("%s %s: %+v", u.Name, u.Input, d)
		}
	}
	for _, u := range []agent.ToolUse{
		use("Read", "file_path", "USER.md"),
		use("Read", "file_path", ".claude/settings.json"),
		use("Read", "file_path", "env.md"),
		use("Glob", "pattern", "*.md"),
		use("Write", "file_path", ".claude/agents/helper.md"),
	} {
		if d := hook(context.Background(), u); !d.Allow {
			t.Errorf("%s %s: %+v", u.Name, u.Input, d)
		}
	}
}

func TestEveryCommandIsAskedFor(t *testing.T) {
	g, _ := newGuard(t)
	if d := g.Session(Scope{}).PreTool(context.Background(), bash("cat .env")); !d.Allow || !d.Ask {
		t.Errorf("%+v", d)
	}
	permission := g.Session(Scope{Kind: Main, Rules: Rules{Allowed: MainTools()}, Mode: func() Mode { return DontAsk }}).Permission
	for command, want := range map[string]bool{
		"ls routines": true, "ls": true, "cat .env": false, "ls; cat .env": false, "ls $(cat .env)": false, "ls `cat .env`": false, "ls > .env": false,
	} {
		if got := permission(context.Background(), bash(command)).Allow; got != want {
			t.Errorf("%s: allowed %v", command, got)
		}
	}
}
