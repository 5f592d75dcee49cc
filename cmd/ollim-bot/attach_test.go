package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/creack/pty"

	"ollimbot/core/base/testkit"
	"ollimbot/core/base/unixsocket"
)

// server is a bot without a dashboard, for viewers.
type server struct{ *world }

func serveViewers(t *testing.T) *server {
	t.Helper()
	s := &server{newWorld(t)}
	s.start()
	return s
}

// start starts it, and waits until it accepts viewers.
func (s *server) start() {
	s.t.Helper()
	s.launch("run", "--headless", "--engine", "script")
	s.opened()
}

func (s *server) opened() {
	s.t.Helper()
	s.until("a socket for viewers", func() bool {
		conn, err := unixsocket.Dial(s.path("state/attach.sock"))
		return err == nil && conn.Close() == nil
	})
}

// sshd is a stock server on this machine, for its own user. It lets a key in with a line of authorized_keys.
func sshd(t *testing.T, line string) (args []string) {
	t.Helper()
	testkit.Campaign(t, "ssh")
	program := testkit.Needs(t, "sshd")
	testkit.Needs(t, "ssh")
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"host", "id"} {
		if got := shell(t, "ssh-keygen", nil, "-q", "-t", "ed25519", "-N", "", "-f", at(name)); got.status != 0 {
			t.Fatalf("%+v", got)
		}
	}
	port := somePort(t)
	put(t, at("authorized_keys"), line+" "+stored(at("id.pub")))
	put(t, at("config"), strings.Join([]string{
		"Port " + port, "ListenAddress 127.0.0.1", "HostKey " + at("host"), "AuthorizedKeysFile " + at("authorized_keys"),
		"PidFile none", "StrictModes no", "UsePAM no", "PasswordAuthentication no", "PermitRootLogin yes", "",
	}, "\n"))
	cmd := exec.CommandContext(t.Context(), program, "-D", "-e", "-f", at("config")) // the path has to be absolute
	var said output
	cmd.Stderr = &said
	testkit.Must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
		if t.Failed() {
			t.Logf("sshd says:\n%s", said.String())
		}
	})
	listens(t, port)
	return []string{
		"-F", os.DevNull, "-p", port, "-i", at("id"), "-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none", "-o", "StrictHostKeyChecking=accept-new",
		"-o", "UserKnownHostsFile=" + at("known"), "-o", "LogLevel=ERROR", "127.0.0.1",
	}
}

// The way from elsewhere that docs/attach.md describes.
func TestAStockSSHServerGivesTheSameDashboard(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	s := serveViewers(t)
	host, err := os.Hostname()
	testkit.Must(t, err)
	attach, to := built(t)+" attach --data-dir "+s.data, sshd(t, "")
	over := func(to []string, command string, options ...string) []string {
		return slices.Concat([]string{"ssh"}, options, to, []string{command})
	}
	show := func(words []string) *terminal { return startCommand(t, exec.Command(words[0], words[1:]...), s.env) }
	gives := func(status int, text, in string, words []string) {
		t.Helper()
		if got := piped(t, in, words[0], s.env, words[1:]...); got.status != status || !strings.Contains(got.out+got.err, text) {
			t.Errorf("%q: %+v", words, got)
		}
	}

	v := show(over(to, attach, "-t"))
	v.sees("q detach")
	v.sees("@" + host[:min(len(host), 24)])
	v.shows("▸ 1 Ping budget", "1")
	v.shows("capacity 5 → 6", "+")
	testkit.Must(t, pty.Setsize(v.device, &pty.Winsize{Cols: 70, Rows: 24}))
	v.sees("2 Schedule  3 Updates") // tabs
	v.typeKeys("q")
	v.leaves()
	gives(exitFailed, "not a terminal", "", over(to, attach))
	gives(exitDone, "5/6 available", "budget\nquit\n", over(to, attach+" --plain"))
	gives(exitDone, `"running": true`, "", over(to, built(t)+" status --json --data-dir "+s.data))

	v = show(over(sshd(t, fmt.Sprintf(`restrict,pty,command="%s --read-only"`, attach)), "whatever is asked", "-t"))
	v.sees("read-only")
	v.shows("▸ 1 Ping budget", "1")
	v.shows("the dashboard is read-only", "+")
	v.shows("there is no shell to return to", "\x1a")
	v.typeKeys("q")
	v.leaves()
	gives(exitDone, "5/6 available", "budget\nquit\n", []string{built(t), "attach", "--plain"})
}
