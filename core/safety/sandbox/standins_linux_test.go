package sandbox_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/sandbox"
	"ollimbot/core/safety/sandbox/sandboxtest"
)

// fresh returns a directory in which no closed place exists except its secrets.
func fresh(t *testing.T) *ground {
	t.Helper()
	return newGround(t, nil)
}

// left returns the names in the data directory.
func left(t *testing.T, g *ground) string {
	t.Helper()
	entries, err := os.ReadDir(g.data)
	testkit.Must(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func TestASandboxLeavesNothingInTheDirectory(t *testing.T) {
	testkit.Alone(t)
	for _, layer := range []string{"bubblewrap", "landlock"} {
		g := fresh(t)
		if layer == "landlock" {
			g.box = sandboxtest.Landlock(t, sandbox.Options{Dir: g.data, Home: g.home})
		}
		before := left(t, g)
		for way := range ways {
			if out, err := g.run(t, way, "test -d notes && ! (echo x > CLAUDE.md) && ! mkdir .claude/x"); err != nil {
				t.Errorf("%s, %s: %v, %s", layer, way, err, out)
			}
			if diff := cmp.Diff(before, left(t, g)); diff != "" {
				t.Errorf("%s, %s leaves:\n%s", layer, way, diff)
			}
		}
	}
}

// A running process keeps its covers when another one has ended.
func TestACoverOfAMissingFileStaysUntilTheLastProcessHasEnded(t *testing.T) {
	testkit.Alone(t)
	g := fresh(t)
	before := left(t, g)
	then, done := g.begun(t, g.box.Engine, "echo x > CLAUDE.md")
	if out, err := g.run(t, "a skill's command", "true"); err != nil {
		t.Fatalf("%v, %s", err, out)
	}
	if _, err := then("go"); err == nil {
		t.Error("a command has made CLAUDE.md")
	}
	if left(t, g) == before {
		t.Error("nothing covered the missing files")
	}
	done()
	if diff := cmp.Diff(before, left(t, g)); diff != "" {
		t.Errorf("it leaves:\n%s", diff)
	}
}

// Files that the user writes while a command runs, and the user's empty files, stay; leftovers of a
// killed bot are removed.
func TestOnlyWhatASandboxHasMadeIsRemoved(t *testing.T) {
	testkit.Alone(t)
	g := fresh(t)
	testkit.Must(t, os.WriteFile(g.data+"/CLAUDE.local.md", nil, 0o600))
	cmd := exec.Command("/bin/true")
	done := g.box.Command(cmd) // of a bot that is killed
	if !strings.Contains(left(t, g), ".mcp.json") {
		t.Fatal("nothing covers the missing files")
	}
	testkit.Must(t, os.WriteFile(g.data+"/CLAUDE.md", []byte("Be kind.\n"), 0o600))
	testkit.Must(t, os.Chtimes(g.data+"/CLAUDE.md", time.Unix(1, 0), time.Unix(1, 0))) // as a copy may have it
	g.box = sandboxtest.Box(t, sandbox.Options{Dir: g.data, Home: g.home})
	if out, err := g.run(t, "a skill's command", "true"); err != nil {
		t.Fatalf("%v, %s", err, out)
	}
	if got, want := left(t, g), ".claude .env CLAUDE.local.md CLAUDE.md notes reminders routines skills state webhooks"; got != want {
		t.Errorf("there is %s, want %s", got, want)
	}
	done()
	if got, want := left(t, g), ".env CLAUDE.local.md CLAUDE.md notes state"; got != want {
		t.Errorf("there is %s, want %s", got, want)
	}
}

// Files that appeared since the engine's process began are covered for its next command.
func TestWhatAppearsLaterIsCoveredForTheNextCommand(t *testing.T) {
	testkit.Alone(t)
	for _, script := range []string{"mv deep x", "mv deep/a deep/x", "echo x > deep/a/CLAUDE.md", "grep . deep/.env"} {
		g := fresh(t)
		then, done := g.begun(t, g.box.Engine, `exec "$CLAUDE_CODE_SHELL" -c "$x"`)
		testkit.Must(t, os.MkdirAll(g.data+"/deep/a", 0o700))
		testkit.Must(t, os.WriteFile(g.data+"/deep/a/CLAUDE.md", []byte("mine"), 0o600))
		testkit.Must(t, os.WriteFile(g.data+"/deep/.env", []byte(secret), 0o600))
		if out, err := then(script); err == nil || strings.Contains(out, secret) {
			t.Errorf("%s came through: %s", script, out)
		}
		done()
	}
}
