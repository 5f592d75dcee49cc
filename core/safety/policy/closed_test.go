package policy

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
)

func TestCommandsThatAnEngineTakesForReadingAreDecidedHere(t *testing.T) {
	g, _ := newGuard(t)
	asking := g.Session(Scope{Mode: func() Mode { return Ask }})
	if d := asking.PreTool(context.Background(), bash("cat .env")); !d.Allow || !d.Ask {
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

// A place is closed under every name that leads to it.
func TestAClosedPlaceHasNoOtherName(t *testing.T) {
	base := t.TempDir()
	g, root := guardAt(t, filepath.Join(base, "data"))
	vault := filepath.Join(base, "vault")
	for _, dir := range []string{vault, filepath.Join(root, "skills", "day"), filepath.Join(root, ".claude")} {
		testkit.Must(t, os.MkdirAll(dir, 0o700))
	}
	write(t, filepath.Join(vault, "env"), "TOKEN=x")
	write(t, filepath.Join(root, "skills", "day", "table.csv"), "x")
	link(t, filepath.Join(vault, "env"), filepath.Join(root, ".env"))
	link(t, "../skills", filepath.Join(root, ".claude", "skills"))
	testkit.Must(t, os.Link(filepath.Join(vault, "env"), filepath.Join(root, "notes", "hard.md")))
	s := g.Session(Scope{Rules: everything})
	for path, want := range map[string]bool{
		"notes/hard.md":                      false,
		filepath.Join(vault, "env"):          false,
		".claude/skills/day/table.csv":       true, // a skill, by the engine's name for it
		"skills/day/table.csv":               true,
		".claude/settings.json":              false,
		"notes/.claude/x.md":                 false,
		"notes/\u200b.env":                   false,
		".env. ":                             false,
		".ENV":                               false,
		"\u017ftate/config.json":             false,
		"/home/user/.ssh/config":             false,
		"/srv/backup/id_rsa":                 false,
		"notes/token.json":                   false,
		"notes/tokens.md":                    true,
		"notes/CLAUDE.md":                    true, // it may be read
		"notes/environment.txt":              true,
		"notes/state/x.md":                   true,
		"tool-policy.yaml":                   true,
		"notes/../.claude/skills/../x/y.csv": false,
	} {
		if d := s.PreTool(t.Context(), file("Read", path)); d.Allow != want {
			t.Errorf("%q: %+v", path, d)
		}
	}
}

func TestARefusalSaysWhyAPlaceIsClosed(t *testing.T) {
	g, _ := newGuard(t)
	for path, want := range map[string]string{
		"state/config.json": answerState, ".env": answerSecret, "/srv/backup/id_rsa": answerKey, ".git/config": answerGit,
		".claude/settings.json": answerSettings, ".mcp.json": answerSettings,
	} {
		if d := g.Session(Scope{Rules: everything}).PreTool(t.Context(), file("Read", path)); d.Allow || d.Reason != want {
			t.Errorf("%s: %+v", path, d)
		}
	}
}

// A list opens a place for reading by its name, never by a wildcard.
func TestAListOpensAPlaceByItsName(t *testing.T) {
	g, root := newGuard(t)
	for _, tt := range []struct {
		pattern, path string
		want          bool
	}{
		{"Read(./state/config.json)", "state/config.json", true},
		{"Read(./state/config.json)", "state/sessions.json", false},
		{"Read(./state/**)", "state/sessions.json", true},
		{"Read(//" + root[1:] + "/state/*.json)", "state/sessions.json", true},
		{"Read(./**.json)", "state/config.json", false},
		{"Read(./st*/config.json)", "state/config.json", false},
		{"Read", "state/config.json", false},
		{"Read(*)", "state/config.json", false},
		{"Read(./.claude/agents/**.md)", ".claude/agents/x.md", true},
		{"Read(./**.md)", ".claude/agents/x.md", false},
		{"Read(./.env)", ".env", false},
		{"Read(./.git/**)", ".git/config", false},
		{"Grep(./state/*.json)", "state/config.json", false},
	} {
		for _, kind := range []Kind{Main, Background} {
			s := g.Session(Scope{Kind: kind, Rules: Rules{Allowed: []string{tt.pattern}}})
			if d := s.Permission(t.Context(), file("Read", tt.path)); d.Allow != tt.want {
				t.Errorf("%s, %s: %+v", tt.pattern, tt.path, d)
			}
		}
		s := g.Session(Scope{Rules: Rules{Allowed: []string{tt.pattern, "Write"}}, Mode: func() Mode { return BypassPermissions }})
		if d := s.Permission(t.Context(), writing(tt.path, "x")); d.Allow {
			t.Errorf("%s lets %s be written", tt.pattern, tt.path)
		}
	}
}

// The folder of a search is checked even if its glob could mean several files.
func TestASearchInAClosedFolderIsRefusedWhateverItsGlob(t *testing.T) {
	g, _ := newGuard(t)
	for _, glob := range []string{"", "*.json", "{a,b}.json", "!x", "a b"} {
		u := toolUse("Grep", fields{"pattern": "x", "path": "state", "glob": glob})
		if d := g.Session(Scope{Rules: everything}).PreTool(t.Context(), u); d.Allow || d.Reason != answerState {
			t.Errorf("%q: %+v", glob, d)
		}
	}
}

// A folder that cannot be searched may contain anything.
func TestASearchThatCannotBeCheckedIsRefused(t *testing.T) {
	g, _ := newGuard(t)
	for folder, want := range map[string]bool{"notes": true, "none": true, strings.Repeat("x", 300): false} {
		u := toolUse("Grep", fields{"pattern": "x", "path": folder})
		if d := g.Session(Scope{Rules: everything}).PreTool(t.Context(), u); d.Allow != want {
			t.Errorf("%.10s: %+v", folder, d)
		}
	}
}

// An engine may read the files that the arguments of a skill name.
func TestTheArgumentsOfASkillOpenNoClosedFile(t *testing.T) {
	g, _ := newGuard(t)
	s := g.Session(Scope{Rules: Rules{Allowed: []string{"Skill", "Read(./state/config.json)"}}})
	for args, want := range map[string]bool{
		"about notes/a.md": true, "about state/config.json": true, "about state/sessions.json": false, "about '.env'": false,
	} {
		d := s.PreTool(t.Context(), toolUse("Skill", fields{"skill": "day", "args": args}))
		if d.Allow != want {
			t.Errorf("%s: %+v", args, d)
		}
	}
}

// Long results that the engine saved to disk can be read; its settings, its login and other
// sessions cannot.
func TestLongResultsCanBeReadAndNothingBesideThem(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	g, _ := newGuard(t)
	s := g.Session(Scope{Rules: Rules{Allowed: MainTools()}})
	for path, want := range map[string]bool{
		"~/.claude/projects/-data/1a2b/tool-results/x.txt":                  true,
		"~/.claude/projects/-data/1a2b.jsonl":                               false,
		"~/.claude/projects/-data/1a2b/tool-results/../../../../x/y/z.json": false,
		"~/.claude/settings.json":                                           false,
		"~/.claude/.credentials.json":                                       false,
	} {
		if d := s.PreTool(t.Context(), file("Read", path)); d.Allow != want {
			t.Errorf("%s: %+v", path, d)
		}
		if d := s.PreTool(t.Context(), writing(path, "x")); d.Allow {
			t.Errorf("%s can be written", path)
		}
	}
}
