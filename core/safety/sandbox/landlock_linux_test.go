package sandbox_test

import (
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/binarytest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/sandbox"
	"ollimbot/core/safety/sandbox/sandboxtest"
)

func TestMain(m *testing.M) {
	binarytest.Answer(binarytest.Hidden{sandbox.HelperArg: sandbox.Helper, keepArg: keep, callsArg: tryCalls, ringArg: ring, withoutArg: without, reachArg: reach})
	os.Exit(m.Run())
}

// Attacks that Landlock does not prevent: the names of files and of interfaces are visible; in a
// folder in which new files can be created, files are closed only if they contain secrets or
// instructions; and an open file's mode and time can be changed.
var beyondLandlock = map[string]bool{
	"see what is in state": true, "see interfaces": true, "write settings of a repository below": true, "change a mode by an open file": true,
}

// beyondLandlockForTheEngine are attacks by the engine's own process that it does not prevent.
var beyondLandlockForTheEngine = []string{"change the mode of a closed file", "change the time of a closed file", "change the owner of a closed file", "add an attribute to a closed file"}

func TestLandlockKeepsAttacksInAsFarAsItGoes(t *testing.T) {
	testkit.Alone(t)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	testkit.Must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	for _, files := range []map[string]string{settled, {}} {
		g := newGround(t, files)
		g.box = sandboxtest.Landlock(t, sandbox.Options{Dir: g.data, Home: g.home, Settings: func() sandbox.Settings { return g.settings }})
		for _, way := range []string{"a skill's command", "a command of claude", "claude itself"} {
			if out, err := g.run(t, way, "test -d notes"); err != nil {
				t.Fatalf("%s does not even start: %v, %s", way, err, out)
			}
			before := g.picture(t)
			for _, a := range attacks(g, l.Addr().(*net.TCPAddr).Port) {
				engine := way == "claude itself" && (!a.engine || slices.Contains(beyondLandlockForTheEngine, a.name))
				if engine || beyondLandlock[a.name] || len(files) == 0 && unmade(a) {
					continue
				}
				if out, err := g.run(t, way, a.script); err == nil || strings.Contains(out, secret) {
					t.Errorf("%s: %s: %s", way, a.name, out)
				}
				if diff := cmp.Diff(before, g.picture(t)); diff != "" {
					t.Fatalf("%s: %s changed:\n%s", way, a.name, diff)
				}
			}
		}
	}
}

func TestOrdinaryWorkIsDoneUnderLandlock(t *testing.T) {
	testkit.Alone(t)
	g := newGround(t, settled)
	g.box = sandboxtest.Landlock(t, sandbox.Options{Dir: g.data, Home: g.home, Settings: func() sandbox.Settings { return g.settings }})
	for _, way := range []string{"a skill's command", "a command of claude", "claude itself"} {
		for script, want := range map[string]string{
			"cat notes/a.txt routines/a.md CLAUDE.md":                              "a plumminemine",
			"echo pear > notes/b.txt; mv notes/b.txt notes/c.txt; cat notes/c.txt": "pear\n",
			"cat " + g.visible + "/a.txt":                                          "a plum",
			"echo x > $TMPDIR/x && cat $TMPDIR/x":                                  "x\n",
			"date +%z":                                                             "+0545\n",
			"echo $OLLIM_SESSION":                                                  "session\n",
			"bash -c 'cat <(echo a)'":                                              "a\n",
			"echo x > repo/new && echo y > repo/.git/index && touch repo/new":      "",
		} {
			if out, err := g.run(t, way, script); out != want || err != nil {
				t.Errorf("%s: %s: %q, %v", way, script, out, err)
			}
		}
	}
}
