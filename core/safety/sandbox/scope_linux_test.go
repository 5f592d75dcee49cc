package sandbox_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/sandbox"
	"ollimbot/core/safety/sandbox/sandboxtest"
)

// userManager starts a separate systemd for the test, and returns the folder with its socket. Only
// root can make it believe that systemd started the machine.
func userManager(t *testing.T) string {
	t.Helper()
	runtime := t.TempDir()
	testkit.Must(t, os.Chmod(runtime, 0o700))
	cmd := exec.CommandContext(t.Context(), "unshare", "--mount", "sh", "-c",
		"mkdir -p /run/systemd && mount -t tmpfs tmpfs /run/systemd && mkdir /run/systemd/system && exec /lib/systemd/systemd --user --unit=basic.target")
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + t.TempDir(), runtimeVar + "=" + runtime}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		return ""
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // interrupted
		close(ended)
	}()
	t.Cleanup(func() { <-ended })
	socket := filepath.Join(runtime, "systemd/private")
	for {
		if _, err := os.Stat(socket); err == nil {
			return runtime
		}
		select {
		case <-ended:
			return ""
		case <-time.After(10 * time.Millisecond):
		}
	}
}

const runtimeVar = "XDG_RUNTIME_DIR"

// recorder is a systemd-run that records its arguments and becomes the command.
const recorder = `#!/bin/sh
[ -n "$XDG_RUNTIME_DIR" ] || exit 9
echo "$*" >>"%s"
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
`

// recorded returns a ground whose systemd-run is the recorder, and its records.
func recorded(t *testing.T, box func(testing.TB, sandbox.Options) *sandbox.Box) (g *ground, program string, started func() string, logout func()) {
	t.Helper()
	g = newGround(t, settled)
	bin, runtime := t.TempDir(), t.TempDir()
	log := filepath.Join(bin, "log")
	testkit.Program(t, filepath.Join(bin, "systemd-run"), fmt.Sprintf(recorder, log))
	testkit.Must(t, os.Mkdir(filepath.Join(runtime, "systemd"), 0o700))
	listener, err := net.Listen("unix", filepath.Join(runtime, "systemd/private"))
	testkit.Must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	g.box = box(t, sandbox.Options{Dir: g.data, Home: g.home, Runtime: runtime, Search: bin + ":/usr/bin:/bin"})
	return g, filepath.Join(bin, "systemd-run"), func() string {
		text, _ := os.ReadFile(log)
		testkit.Must(t, os.RemoveAll(log))
		return string(text)
	}, func() { _ = listener.Close() }
}

func TestASandboxStartsInAScopeOfTheUsersSystemd(t *testing.T) {
	testkit.Alone(t)
	for layer, box := range map[string]func(testing.TB, sandbox.Options) *sandbox.Box{"bubblewrap": sandboxtest.Box, "Landlock": sandboxtest.Landlock} {
		g, program, started, logout := recorded(t, box)
		if s := g.box.State(); !s.Scope || !strings.Contains(started(), "/true") {
			t.Fatalf("%s: no scope was tried: %+v", layer, s)
		}
		for way := range ways {
			out, err := g.run(t, way, "echo at $XDG_RUNTIME_DIR.")
			list := started()
			if err != nil || out != "at .\n" || strings.Count(list, "\n") != 1 {
				t.Errorf("%s, %s: %q, %v, started %q", layer, way, out, err, list)
			}
			if !strings.HasPrefix(list, "--user --scope --quiet --collect --property=MemoryMax=50% --property=TasksMax=1024 -- ") {
				t.Errorf("%s, %s: %q", layer, way, list)
			}
		}
		cmd := exec.Command("/bin/true")
		g.box.Git(cmd)()
		if cmd.Path == program {
			t.Errorf("%s: git runs in a scope", layer)
		}
		logout()
		if out, err := g.run(t, "a skill's command", "echo on"); err != nil || out != "on\n" || started() != "" {
			t.Errorf("%s, without systemd: %q, %v", layer, out, err)
		}
	}
}

// The real one, if root can start it: the limit of tasks applies to root, too.
func TestAScopeLimitsAllProcessesTogether(t *testing.T) {
	testkit.Alone(t)
	boxes := map[string]func(testing.TB, sandbox.Options) *sandbox.Box{"bubblewrap": sandboxtest.Box, "Landlock": sandboxtest.Landlock}
	grounds := map[string]*ground{}
	for layer, box := range boxes {
		grounds[layer] = newGround(t, settled)
		grounds[layer].box = box(t, sandbox.Options{Dir: grounds[layer].data, Home: grounds[layer].home})
	}
	runtime := userManager(t)
	if runtime == "" || os.Getuid() != 0 {
		t.Log("no systemd can be started for a user here; the recorder stands in for it")
		return
	}
	for layer, box := range boxes {
		g := grounds[layer]
		before := g.box.State()
		g.box = box(t, sandbox.Options{Dir: g.data, Home: g.home, Runtime: runtime})
		if s := g.box.State(); !s.Scope || before.Scope || layer == "Landlock" && strings.Contains(s.String(), "processes") {
			t.Errorf("%s: %+v: %s", layer, s, s)
		}
		for _, way := range []string{"a skill's command", "claude itself"} {
			many := `python3 -c 'import os, signal
n = 0
try:
  for n in range(1500):
    if os.fork() == 0:
      os.closerange(0, 3)
      signal.pause()
except BlockingIOError: print(900 < n < 1024)'`
			if out, err := g.run(t, way, many); err != nil || out != "True\n" {
				t.Errorf("%s, %s: %q, %v", layer, way, out, err)
			}
		}
	}
}
