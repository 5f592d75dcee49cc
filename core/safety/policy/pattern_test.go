package policy

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/routines"
)

func TestWhatABackgroundRunMayUse(t *testing.T) {
	g, root := newGuard(t)
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
		{"a blank that only looks like one belongs to the word", []string{"Bash(ollim-bot help)"}, nil, bash("ollim-bot help\u00a0"), false},
		{"a line break that is none", []string{"Bash(ollim-bot help)"}, nil, bash("ollim-bot help\u0085"), false},
		{"blanks around a command", []string{"Bash(ollim-bot help)"}, nil, bash(" \tollim-bot help  "), true},
		{"exact means exact", []string{"Bash(ollim-bot help)"}, nil, bash("ollim-bot help me"), false},
		{"the older colon form", []string{"Bash(npm run:*)"}, nil, bash("npm run test"), true},
		{"a star inside", []string{"Bash(git * status)"}, nil, bash("git -C x status"), true},
		{"a variable before a command", []string{"Bash(A=*)"}, nil, bash("A=b ls"), true},
		{"not one that is added to", []string{"Bash(A+=*)"}, nil, bash("A+=b ls"), false},
		{"nor an element", []string{"Bash(A[0]=*)"}, nil, bash("A[0]=b ls"), false},
		{"nor a list", []string{"Bash(A=*)"}, nil, bash("A=(b) ls"), false},
		{"nor one without a command", []string{"Bash(A=*)"}, nil, bash("A=b"), false},
		{"all of Bash", []string{"Bash"}, nil, bash("ls; ls"), true},
		{"all of Bash by a star", []string{"Bash(*)"}, nil, bash("ls; ls"), true},
		{"all of Bash by empty brackets", []string{"Bash()"}, nil, bash("ls; ls"), true},
		{"all but what is disallowed", []string{"Bash"}, []string{"Bash(rm *)"}, bash("ls; rm x"), false},
		{"also in a group", []string{"Bash"}, []string{"Bash(rm *)"}, bash("{ rm x; }"), false},
		{"also in quotes", []string{"Bash"}, []string{"Bash(rm *)"}, bash(`"rm" 'x'`), false},
		{"also with a backslash", []string{"Bash"}, []string{"Bash(rm *)"}, bash(`r\m x`), false},
		{"also below others", []string{"Bash"}, []string{"Bash(rm *)"}, bash("if true; then echo $('rm' x); fi"), false},
		{"also in a shell of its own", []string{"Bash"}, []string{"Bash(rm *)"}, bash(`sh -c "ls; rm x"`), false},
		{"and the rest still", []string{"Bash"}, []string{"Bash(rm *)"}, bash("ls; cat x"), true},
		{"markdown anywhere", []string{"Read(./**.md)"}, nil, file("Read", "routines/a.md"), true},
		{"by its absolute path", []string{"Read(./**.md)"}, nil, file("Read", filepath.Join(root, "USER.md")), true},
		{"nothing else", []string{"Read(./**.md)"}, nil, file("Read", "notes/config.json"), false},
		{"nothing outside", []string{"Read(./**.md)"}, nil, file("Read", "../secret.md"), false},
		{"one folder", []string{"Read(notes/*.md)"}, nil, file("Read", "notes/deep/a.md"), false},
		{"an absolute glob", []string{"Read(//srv/**)"}, nil, file("Read", "/srv/a/b"), true},
		{"an absolute glob has an end", []string{"Read(//srv/**)"}, nil, file("Read", "/srv/../etc/x"), false},
		{"a disallowed file", []string{"Read"}, []string{"Read(./private/**)"}, file("Read", "notes/../private/x"), false},
		{"beside a disallowed file", []string{"Read"}, []string{"Read(./private/**)"}, file("Read", "notes/x"), true},
		{"a glob over markdown", []string{"Glob(./**.md)"}, nil, toolUse("Glob", fields{"pattern": "**/*.md"}), true},
		{"a glob over everything", []string{"Glob(./**.md)"}, nil, toolUse("Glob", fields{"pattern": "**"}), false},
		{"a glob with alternatives", []string{"Glob(./**.md)"}, nil, toolUse("Glob", fields{"pattern": "notes/{a,b}.md"}), true},
		{
			"an absolute glob below a folder",
			[]string{"Glob(./**.md)"},
			nil,
			toolUse("Glob", fields{"path": "notes", "pattern": "/etc/*.md"}), false,
		},
		{"a glob with a way out", []string{"Glob(./**.md)"}, nil, toolUse("Glob", fields{"pattern": "{../x,y}.md"}), false},
		{"a search in markdown", []string{"Grep(./**.md)"}, nil, toolUse("Grep", fields{"pattern": "x", "glob": "*.md"}), true},
		{"a search everywhere", []string{"Grep(./**.md)"}, nil, toolUse("Grep", fields{"pattern": "x"}), false},
		{"a search elsewhere", []string{"Grep(./**.md)"}, nil, toolUse("Grep", fields{"path": "/etc", "glob": "*.md"}), false},
		{"a search in two globs", []string{"Grep(./**.md)"}, nil, toolUse("Grep", fields{"glob": "*.json x.md"}), false},
		{"a search in alternatives", []string{"Grep(./**.md)"}, nil, toolUse("Grep", fields{"glob": "{a,b}.md"}), false},
		{"a search in all but one", []string{"Grep(./**.md)"}, nil, toolUse("Grep", fields{"glob": "!x.md"}), false},
		{
			"an unclear search where one is disallowed",
			[]string{"Grep"},
			[]string{"Grep(state/**)"},
			toolUse("Grep", fields{"glob": "state/*.json,x"}), false,
		},
		{"a bare name", []string{"WebSearch"}, nil, toolUse("WebSearch", fields{"query": "x"}), true},
		{"a domain", []string{"WebFetch(domain:example.com)"}, nil, toolUse("WebFetch", fields{"url": "https://docs.example.com/x"}), true},
		{"another domain", []string{"WebFetch(domain:example.com)"}, nil, toolUse("WebFetch", fields{"url": "https://example.com.evil.net/"}), false},
		{"a domain as a user's name", []string{"WebFetch(domain:example.com)"}, nil, toolUse("WebFetch", fields{"url": "https://example.com@evil.net/"}), false},
		{"a server's tools", []string{"mcp__docs__*"}, nil, toolUse("mcp__docs__search", nil), true},
		{"another server's", []string{"mcp__docs__*"}, nil, toolUse("mcp__docs2__search", nil), false},
		{"no pattern for all servers", []string{"mcp__*"}, nil, toolUse("mcp__docs__search", nil), false},
		{"the bot's own tools", nil, nil, toolUse("mcp__discord__ping_user", nil), true},
		{"but not a disallowed one", nil, []string{"mcp__discord__discord_embed"}, toolUse("mcp__discord__discord_embed", nil), false},
		{"nor the names", nil, nil, toolUse("mcp__discord__update_names", nil), false},
		{"save where a list names them", []string{"mcp__discord__update_names"}, nil, toolUse("mcp__discord__update_names", nil), true},
		{"both names of delegation", []string{"Task"}, nil, toolUse("Agent", fields{"subagent_type": "x"}), true},
		{"one subagent", []string{"Agent(user-proxy)"}, nil, toolUse("Task", fields{"subagent_type": "user-proxy"}), true},
		{"a skill", []string{"Skill(email-triage *)"}, nil, toolUse("Skill", fields{"skill": "email-triage"}), true},
		{"a skill in its other field", []string{"Skill(email-triage *)"}, nil, toolUse("Skill", fields{"command": "email-triage"}), true},
		{"nothing by default", nil, nil, bash("ls"), false},
		{"input that is no object", []string{"Read(./**.md)"}, nil, agent.ToolUse{Name: "Read", Input: json.RawMessage(`"x.md"`)}, false},
		{"no name", []string{""}, nil, agent.ToolUse{}, false},
		{"markdown is writable where allowed", []string{"Write(**.md)"}, nil, file("Write", "notes/a.md"), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rules := Rules{Allowed: tt.allowed, Disallowed: tt.disallowed}
			d := g.Session(Scope{Kind: Background, Rules: rules}).Permission(t.Context(), tt.use)
			if d.Allow != tt.want {
				t.Errorf("allowed %v, want %v (%s)", d.Allow, tt.want, d.Reason)
			}
			if !d.Allow && !strings.Contains(d.Reason, "not available in background forks") {
				t.Errorf("reason %q", d.Reason)
			}
			own := strings.HasPrefix(tt.use.Name, "mcp__discord__")
			if got := Compile(root, rules).Allows(tt.use); got != tt.want && !own {
				t.Errorf("the set allows %v, want %v", got, tt.want)
			}
		})
	}
}

func TestOneAllowedCommandOpensNoOther(t *testing.T) {
	set := Compile(t.TempDir(), Rules{Allowed: []string{"Bash(ollim-bot tasks *)"}})
	for _, tt := range []struct {
		command string
		want    bool
	}{
		{"ollim-bot tasks list; rm -rf /", false},
		{"ollim-bot tasks list && rm x", false},
		{"ollim-bot tasks list | sh", false},
		{"ollim-bot tasks & rm x", false},
		{"ollim-bot tasks\nrm x", false},
		{"ollim-bot tasks \\\nrm x", false},
		{"ollim-bot tasks add $(cat x)", false},
		{"ollim-bot tasks add \"`cat x`\"", false},
		{"ollim-bot tasks add `cat x`", false},
		{"ollim-bot tasks list > state/config.json", false},
		{"ollim-bot tasks add <(cat x)", false},
		{`ollim-bot tasks add "x`, false},
		{`ollim-bot tasks add $'\'' ; rm x #'`, false},
		{`ollim-bot tasks add $"x"`, false},
		{`ollim-bot tasks add "${X:=\$(rm y)}" "${X@P}"`, false},
		{`ollim-bot tasks add $[1+1]`, false},
		{`ollim-bot tasks add \"; rm x #"`, false},
		{"ollim-bot tasks #\"\nrm x #\"", false},
		{"ollim-bot tasks add x#1", true},
		{"! ollim-bot tasks", false},
		{"ollim-bot tasks add @(x|y)", false},
		{"ollim-bot tasks add $SECRET", false},
		{"ollim-bot tasks add $a", false},
		{"ollim-bot tasks add $z", false},
		{"ollim-bot tasks add $A", false},
		{"ollim-bot tasks add $Z", false},
		{"ollim-bot tasks add $_x", false},
		{"ollim-bot tasks add $((1+1))", false},
		{"ollim-bot tasks add x 2>/dev/null", false},
		{"ollim-bot tasks add <<E\nx\nE", false},
		{"ollim-bot tasks add x\x00", false},
		{"ollim-bot tasks add " + strings.Repeat("(", 1<<20), false},
		{"ollim-bot tasks add '" + strings.Repeat("x", 1<<20) + "'", false},
		{"ollim-bot tasks add $HOME/x.md $1", true},

		{`ollim-bot tasks add "milk; eggs & more"`, true},
		{"ollim-bot tasks add '$(x) `y` ${z}'", true},
		{`ollim-bot tasks add "for $5"`, true},
		{`ollim-bot tasks add a\;b`, true},
		{`ollim-bot tasks add "it's"`, true},
		{`ollim-bot tasks add 'the "one"'`, true},
	} {
		if got := set.Allows(bash(tt.command)); got != tt.want {
			t.Errorf("%s: allowed %v, want %v", tt.command, got, tt.want)
		}
	}
}

func TestGlobsMatchFilesAsTheListSays(t *testing.T) {
	for _, tt := range []struct {
		glob, path string
		want       bool
	}{
		{"**.md", "a.md", true},
		{"**.md", "a/b/c.md", true},
		{"**.md", "a.txt", false},
		{"**/*.md", "a.md", true},
		{"**/*.md", "a/b.md", true},
		{"**/x", "x", true},
		{"**/x", "a/b/x", true},
		{"**/x", "ax", false},
		{"**", "anything/at/all", true},
		{"*.md", "a.md", true},
		{"*.md", "a/b.md", false},
		{"a/*/c", "a/b/c", true},
		{"a/*/c", "a/b/b/c", false},
		{"?.md", "a.md", true},
		{"?.md", "/.md", false},
		{"?.md", "ab.md", false},
		{"a+b.md", "a+b.md", true},
		{"a+b.md", "aab.md", false},
		{"a\n**", "a\nb\nc", true},
		{"x", "x\n", false},
	} {
		if got := routines.Glob(tt.glob).MatchString(tt.path); got != tt.want {
			t.Errorf("%q on %q: %v, want %v", tt.glob, tt.path, got, tt.want)
		}
	}
}
