package fork

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ollimbot/core/agent"
)

func toolUse(tool string, input map[string]string) agent.ToolUse {
	data, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return agent.ToolUse{ID: "x", Name: tool, Input: data}
}

func bash(command string) agent.ToolUse {
	return toolUse("Bash", map[string]string{"command": command})
}

func TestWhatABackgroundRunMayUse(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "state"), 0o700); err != nil {
		t.Fatal(err)
	}
	file := func(tool, path string) agent.ToolUse { return toolUse(tool, map[string]string{"file_path": path}) }
	tests := []struct {
		name                string
		allowed, disallowed []string
		use                 agent.ToolUse
		want                bool
	}{
		{"a command of the list", []string{"Bash(ollim-bot tasks *)"}, nil, bash("ollim-bot tasks list"), true},
		{"the bare command too", []string{"Bash(ollim-bot tasks *)"}, nil, bash("ollim-bot tasks"), true},
		{"no longer word", []string{"Bash(ollim-bot tasks *)"}, nil, bash("ollim-bot tasksx"), false},
		{"another command", []string{"Bash(ollim-bot tasks *)"}, nil, bash("rm -rf /"), false},
		{"exact means exact", []string{"Bash(ollim-bot help)"}, nil, bash("ollim-bot help me"), false},
		{"the older colon form", []string{"Bash(npm run:*)"}, nil, bash("npm run test"), true},
		{"a star inside", []string{"Bash(git * status)"}, nil, bash("git -C x status"), true},
		{"a chained command", []string{"Bash(ollim-bot tasks *)"}, nil, bash("ollim-bot tasks list; rm -rf /"), false},
		{"a piped command", []string{"Bash(ollim-bot tasks *)"}, nil, bash("ollim-bot tasks list | sh"), false},
		{"a command in the background", []string{"Bash(ollim-bot tasks *)"}, nil, bash("ollim-bot tasks & rm x"), false},
		{"a second line", []string{"Bash(ollim-bot tasks *)"}, nil, bash("ollim-bot tasks\nrm x"), false},
		{"a substitution", []string{"Bash(ollim-bot tasks *)"}, nil, bash("ollim-bot tasks add $(cat x)"), false},
		{"a substitution in double quotes", []string{"Bash(ollim-bot tasks *)"}, nil, bash("ollim-bot tasks add \"`cat x`\""), false},
		{"a redirection", []string{"Bash(ollim-bot tasks *)"}, nil, bash("ollim-bot tasks list > state/config.json"), false},
		{"a semicolon in quotes", []string{"Bash(ollim-bot tasks *)"}, nil, bash(`ollim-bot tasks add "milk; eggs & more"`), true},
		{"anything in single quotes", []string{"Bash(ollim-bot tasks *)"}, nil, bash("ollim-bot tasks add '$(x) `y`'"), true},
		{"an open quote", []string{"Bash(ollim-bot tasks *)"}, nil, bash(`ollim-bot tasks add "x`), false},
		{"all of Bash", []string{"Bash"}, nil, bash("ls; ls"), true},
		{"all but what is disallowed", []string{"Bash"}, []string{"Bash(rm *)"}, bash("ls; rm x"), false},
		{"and the rest still", []string{"Bash"}, []string{"Bash(rm *)"}, bash("ls; cat x"), true},
		{"markdown anywhere", []string{"Read(./**.md)"}, nil, file("Read", "routines/a.md"), true},
		{"by its absolute path", []string{"Read(./**.md)"}, nil, file("Read", filepath.Join(root, "USER.md")), true},
		{"nothing else", []string{"Read(./**.md)"}, nil, file("Read", "state/config.json"), false},
		{"nothing outside", []string{"Read(./**.md)"}, nil, file("Read", "../secret.md"), false},
		{"one folder", []string{"Read(notes/*.md)"}, nil, file("Read", "notes/deep/a.md"), false},
		{"an absolute glob", []string{"Read(//srv/**)"}, nil, file("Read", "/srv/a/b"), true},
		{"a glob over markdown", []string{"Glob(./**.md)"}, nil, toolUse("Glob", map[string]string{"pattern": "**/*.md"}), true},
		{"a glob over everything", []string{"Glob(./**.md)"}, nil, toolUse("Glob", map[string]string{"pattern": "**"}), false},
		{"a search in markdown", []string{"Grep(./**.md)"}, nil, toolUse("Grep", map[string]string{"pattern": "x", "glob": "*.md"}), true},
		{"a search everywhere", []string{"Grep(./**.md)"}, nil, toolUse("Grep", map[string]string{"pattern": "x"}), false},
		{"a bare name", []string{"WebSearch"}, nil, toolUse("WebSearch", map[string]string{"query": "x"}), true},
		{"a domain", []string{"WebFetch(domain:example.com)"}, nil, toolUse("WebFetch", map[string]string{"url": "https://docs.example.com/x"}), true},
		{"another domain", []string{"WebFetch(domain:example.com)"}, nil, toolUse("WebFetch", map[string]string{"url": "https://example.com.evil.net/"}), false},
		{"a server's tools", []string{"mcp__docs__*"}, nil, toolUse("mcp__docs__search", nil), true},
		{"another server's", []string{"mcp__docs__*"}, nil, toolUse("mcp__docs2__search", nil), false},
		{"no pattern for all servers", []string{"mcp__*"}, nil, toolUse("mcp__docs__search", nil), false},
		{"the bot's own tools", nil, nil, toolUse("mcp__discord__ping_user", nil), true},
		{"but not a disallowed one", nil, []string{"mcp__discord__discord_embed"}, toolUse("mcp__discord__discord_embed", nil), false},
		{"both names of delegation", []string{"Task"}, nil, toolUse("Agent", map[string]string{"subagent_type": "x"}), true},
		{"one subagent", []string{"Agent(user-proxy)"}, nil, toolUse("Task", map[string]string{"subagent_type": "user-proxy"}), true},
		{"a skill", []string{"Skill(email-triage *)"}, nil, toolUse("Skill", map[string]string{"skill": "email-triage"}), true},
		{"nothing by default", nil, nil, bash("ls"), false},
		{"input that is no object", []string{"Read(./**.md)"}, nil, agent.ToolUse{Name: "Read", Input: json.RawMessage(`"x.md"`)}, false},
		{"markdown is writable where allowed", []string{"Write(**.md)"}, nil, file("Write", "notes/a.md"), true},
		{"state is not", []string{"Write"}, nil, file("Write", "state/notes.md"), false},
		{"nor by detour", []string{"Edit"}, nil, file("Edit", "notes/../state/x.md"), false},
		{"nor the folder itself", []string{"Write"}, nil, file("Write", "state"), false},
		{"nor without a path", []string{"Write"}, nil, toolUse("Write", nil), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newPermit(root, tt.allowed, tt.disallowed).decide(tt.use)
			if d.Allow != tt.want {
				t.Errorf("allowed %v, want %v (%s)", d.Allow, tt.want, d.Reason)
			}
			if d.Allow {
				return
			}
			if !strings.Contains(d.Reason, "not available in background forks") && !strings.Contains(d.Reason, "write-protected") {
				t.Errorf("reason %q", d.Reason)
			}
		})
	}
}

func TestLinksDoNotLeadIntoStateOrOutOfTheDirectory(t *testing.T) {
	base := t.TempDir()
	root, outside := filepath.Join(base, "data"), filepath.Join(base, "outside")
	for _, d := range []string{filepath.Join(root, "state"), filepath.Join(root, "notes"), outside} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"notes/door":    filepath.Join(root, "state"),
		"notes/new.md":  filepath.Join(root, "state", "not-yet.md"), // dangling
		"notes/away.md": filepath.Join(outside, "x.md"),
		"notes/loop.md": "loop.md",
	} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(root, filepath.Join(base, "alias")); err != nil {
		t.Fatal(err)
	}
	p := newPermit(root, []string{"Write(**.md)", "Edit", "Read(./**.md)"}, nil)
	for _, tt := range []struct {
		tool, path string
		want       bool
	}{
		{"Edit", "notes/door/config.json", false},
		{"Write", "notes/door/a.md", false},
		{"Write", "notes/new.md", false},
		{"Write", "notes/loop.md", false},
		{"Write", "notes/away.md", false},
		{"Read", "notes/away.md", false},
		{"Edit", filepath.Join(base, "alias", "state", "x.md"), false},
		{"Write", "notes/plain.md", true},
	} {
		if d := p.decide(toolUse(tt.tool, map[string]string{"file_path": tt.path})); d.Allow != tt.want {
			t.Errorf("%s %s: allowed %v (%s)", tt.tool, tt.path, d.Allow, d.Reason)
		}
	}
}
