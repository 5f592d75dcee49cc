package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"

	"ollimbot/core/base/testkit"
	"ollimbot/core/base/unixsocket"
)

// server is a bot without a dashboard, for viewers.
type server struct {
	*program
	t          *testing.T
	exe, root  string
	home, temp string // temp is where a bot that is killed leaves its folders
}

// serveViewers starts one, with its data directory so far down.
func serveViewers(t *testing.T, below string) *server {
	t.Helper()
	temp, err := os.MkdirTemp("", "t") // the path is short, as sockets need it
	testkit.Must(t, err)
	t.Cleanup(func() { testkit.Must(t, os.RemoveAll(temp)) })
	s := &server{t: t, exe: built(t), root: filepath.Join(temp, below, "data"), home: filepath.Join(temp, "home"), temp: temp}
	s.start()
	return s
}

func (s *server) env() []string {
	return []string{
		"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + s.temp, "TERM=xterm-256color", "LANG=C.UTF-8", "GIT_CONFIG_GLOBAL=" + os.DevNull,
	}
}

func (s *server) start(env ...string) {
	s.t.Helper()
	s.program = launch(s.t, append(s.env(), env...), "run", "--headless", "--engine", "script", "--data-dir", s.root)
	s.opened()
}

// opened waits until the bot accepts viewers.
func (s *server) opened() {
	s.t.Helper()
	s.until("a socket for viewers", func() bool {
		conn, err := unixsocket.Dial(filepath.Join(s.root, "state", "attach.sock"))
		return err == nil && conn.Close() == nil
	})
}

// attach is a client's command line.
func (s *server) attach(args ...string) *exec.Cmd {
	return exec.Command(s.exe, append([]string{"attach", "--data-dir", s.root}, args...)...)
}

// gives runs a command without a terminal, which has to end with a status and print a text, as an error if it fails.
func (s *server) gives(status int, text, in, name string, args ...string) spoken {
	s.t.Helper()
	got := piped(s.t, in, name, s.env(), args...)
	said := got.out
	if status != exitDone {
		said = got.err
	}
	if got.status != status || !strings.Contains(said, text) {
		s.t.Errorf("%s %q: %+v", name, args, got)
	}
	return got
}

func TestTheClientOutlivesTheBot(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	s := serveViewers(t, "")
	v := startCommand(t, exec.Command(s.exe, "--data-dir", s.root), s.env()) // beside a bot, this attaches
	small := startCommand(t, s.attach("--theme", "light"), s.env())
	testkit.Must(t, pty.Setsize(small.device, &pty.Winsize{Cols: 70, Rows: 24}))
	small.sees("2 Schedule  3 Updates") // tabs
	v.sees("q detach")
	for range 2 {
		s.kill() // leaves its socket and its token behind
		v.sees("reconnecting in")
		small.sees("reconnecting in")
		s.start()
		v.sees("q detach")
		small.sees("detach")
	}
	for _, c := range []*terminal{v, small} {
		c.typeKeys("q")
		c.leaves()
	}
	s.gives(exitDone, "5 of 5 pings left", "status\nquit\n", s.exe, "attach", "--plain", "--read-only", "--data-dir", s.root)
	s.gives(exitDone, "5 of 5 pings left", "status\nquit\n", s.exe, "--plain", "--data-dir", s.root)
	s.gives(exitFailed, "this is not a terminal: use --plain", "", s.exe, "attach", "--data-dir", s.root)
	s.kill()
	s.gives(exitFailed, "no bot is running in "+s.root+"; run `ollim-bot` to start one", "", s.exe, "attach", "--plain", "--data-dir", s.root)
}

// Its data directory has a longer path than a socket may have.
func TestWhatWasForTheSSHServerIsIgnoredWithOneNotice(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	s := serveViewers(t, strings.Repeat("long/", 30))
	want := "settings or files of an earlier version have no effect"
	if strings.Contains(s.out.String(), want) {
		t.Errorf("nothing is left over:\n%s", s.out.String())
	}
	s.kill()
	put(t, filepath.Join(s.root, "authorized_keys"), "ssh-ed25519 AAAA ada\n")
	put(t, filepath.Join(s.root, "state", "ssh_host_ed25519_key"), "a key")
	s.start("OLLIM_ATTACH=0.0.0.0:2226")
	s.hears(want)
	if got := s.out.String(); strings.Count(got, want) != 1 || !strings.Contains(got, "OLLIM_ATTACH, authorized_keys, state/ssh_host_ed25519_key") {
		t.Errorf("the log has:\n%s", got)
	}
	got := s.gives(exitDone, "pings left", "quit\n", s.exe, "attach", "--host", "ada@server:2226", "-i", "id", "--plain", "--data-dir", s.root)
	if strings.Count(got.err, "without effect now: --host") != 1 {
		t.Errorf("it says %q", got.err)
	}
	for _, name := range append([]string{ignoredVariable, "ollim-bot attach --host"}, ignoredFiles...) {
		if !strings.Contains(source(t, "docs/cli.md"), "`"+name+"`") {
			t.Errorf("docs/cli.md does not name %s", name)
		}
	}
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
	s := serveViewers(t, "")
	host, err := os.Hostname()
	testkit.Must(t, err)
	command := fmt.Sprintf("%s attach --data-dir %s", s.exe, s.root)
	full := sshd(t, "")
	ssh := func(words ...string) *terminal {
		return startCommand(t, exec.Command("ssh", append([]string{"-t"}, words...)...), s.env())
	}

	v := ssh(append(full, command)...)
	v.sees("q detach")
	v.sees("@" + host[:min(len(host), 24)])
	v.shows("▸ 1 Ping budget", "1")
	v.shows("capacity 5 → 6", "+")
	testkit.Must(t, pty.Setsize(v.device, &pty.Winsize{Cols: 70, Rows: 24}))
	v.sees("2 Schedule  3 Updates") // tabs
	v.typeKeys("q")
	v.leaves()
	s.gives(exitFailed, "not a terminal", "", "ssh", append(full, command)...)
	s.gives(exitDone, "5/6 available", "budget\nquit\n", "ssh", append(full, command+" --plain")...)
	s.gives(exitDone, `"running": true`, "", "ssh", append(full, s.exe+" status --json --data-dir "+s.root)...)

	v = ssh(append(sshd(t, fmt.Sprintf(`restrict,pty,command="%s --read-only"`, command)), "whatever", "is", "asked")...)
	v.sees("read-only")
	v.shows("▸ 1 Ping budget", "1")
	v.shows("the dashboard is read-only", "+")
	v.shows("there is no shell to return to", "\x1a")
	v.typeKeys("q")
	v.leaves()
	s.gives(exitDone, "5/6 available", "budget\nquit\n", s.exe, "attach", "--plain", "--data-dir", s.root)
}
