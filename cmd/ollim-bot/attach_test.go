package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"ollimbot/core/base/testkit"
	"ollimbot/core/base/unixsocket"
)

// server is the built program as a bot without a dashboard.
type server struct {
	t         *testing.T
	exe, root string
	home      string
	temp      string // where a bot that is killed leaves its folders; the path is short, as sockets need it
	out       output
	cmd       *exec.Cmd
}

func serveViewers(t *testing.T, env ...string) *server {
	t.Helper()
	temp, err := os.MkdirTemp("", "t")
	testkit.Must(t, err)
	t.Cleanup(func() { testkit.Must(t, os.RemoveAll(temp)) })
	s := &server{t: t, exe: built(t), root: filepath.Join(temp, "data"), home: filepath.Join(temp, "home"), temp: temp}
	s.start(env...)
	t.Cleanup(s.kill)
	return s
}

func (s *server) env() []string {
	return []string{
		"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + s.temp, "TERM=xterm-256color", "LANG=C.UTF-8", "GIT_CONFIG_GLOBAL=" + os.DevNull,
	}
}

func (s *server) start(env ...string) {
	s.t.Helper()
	s.cmd = exec.CommandContext(s.t.Context(), s.exe, "run", "--headless", "--engine", "script", "--data-dir", s.root)
	s.cmd.Env, s.cmd.Stdout = append(s.env(), env...), &s.out
	testkit.Must(s.t, s.cmd.Start())
	s.opened()
}

// opened waits until the bot accepts viewers.
func (s *server) opened() {
	s.t.Helper()
	for over := time.Now().Add(patience); time.Now().Before(over); time.Sleep(20 * time.Millisecond) {
		if conn, err := unixsocket.Dial(filepath.Join(s.root, "state", "attach.sock")); err == nil {
			_ = conn.Close()
			return
		}
	}
	s.t.Fatal("the bot opens no socket")
}

// logs waits until the bot has logged a text.
func (s *server) logs(text string) {
	s.t.Helper()
	for over := time.Now().Add(patience); !strings.Contains(s.out.String(), text); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(over) {
			s.t.Fatalf("%q is not in the log:\n%s", text, s.out.String())
		}
	}
}

func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait() // killed
}

// attach is a client's command line.
func (s *server) attach(args ...string) *exec.Cmd {
	return exec.Command(s.exe, append([]string{"attach", "--data-dir", s.root}, args...)...)
}

// answers runs a command without a terminal.
func (s *server) answers(in, name string, args ...string) (out, said string, status int) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), name, args...)
	var o, e bytes.Buffer
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = s.env(), strings.NewReader(in), &o, &e
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

func TestTheClientOutlivesTheBot(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	s := serveViewers(t)
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
		if status := c.leave(); status != 0 {
			t.Errorf("q ends it with %d:\n%s", status, c.text())
		}
	}
	for _, args := range [][]string{{"attach", "--plain", "--read-only"}, {"--plain"}} {
		out, said, status := s.answers("status\nquit\n", s.exe, append(args, "--data-dir", s.root)...)
		if status != 0 || !strings.Contains(out, "5 of 5 pings left") {
			t.Errorf("%q: %d, %q, %q", args, status, out, said)
		}
	}
	if _, said, status := s.answers("", s.exe, "attach", "--data-dir", s.root); status != 1 || !strings.Contains(said, "this is not a terminal: use --plain") {
		t.Errorf("without a terminal: %d, %q", status, said)
	}
	s.kill()
	if _, said, status := s.answers("", s.exe, "attach", "--plain", "--data-dir", s.root); status != 1 || !strings.Contains(said, "no bot is running in "+s.root+"; run `ollim-bot` to start one") {
		t.Errorf("without a bot: %d, %q", status, said)
	}
}

// A data directory may have a longer path than a socket.
func TestABotDeepInTheFileSystemAcceptsViewers(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	temp := t.TempDir()
	s := &server{t: t, exe: built(t), root: filepath.Join(temp, strings.Repeat("long/", 30), "data"), home: temp, temp: temp}
	s.start()
	t.Cleanup(s.kill)
	if out, said, status := s.answers("quit\n", s.exe, "attach", "--plain", "--data-dir", s.root); status != 0 || !strings.Contains(out, "pings left") {
		t.Errorf("%d, %q, %q", status, out, said)
	}
}

func TestWhatWasForTheSSHServerIsIgnoredWithOneNotice(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	s := serveViewers(t)
	if strings.Contains(s.out.String(), "without effect") {
		t.Errorf("nothing is left over:\n%s", s.out.String())
	}
	s.kill()
	put(t, filepath.Join(s.root, "authorized_keys"), "ssh-ed25519 AAAA ada\n")
	put(t, filepath.Join(s.root, "state", "ssh_host_ed25519_key"), "a key")
	s.start("OLLIM_ATTACH=0.0.0.0:2226")
	want := "settings or files of an earlier version have no effect"
	s.logs(want)
	if got := s.out.String(); strings.Count(got, want) != 1 || !strings.Contains(got, "OLLIM_ATTACH, authorized_keys, state/ssh_host_ed25519_key") {
		t.Errorf("the log has:\n%s", got)
	}
	if out, said, status := s.answers("quit\n", s.exe, "attach", "--host", "ada@server:2226", "-i", "id", "--plain", "--data-dir", s.root); status != 0 ||
		!strings.Contains(out, "pings left") || strings.Count(said, "without effect now: --host") != 1 {
		t.Errorf("%d, %q, %q", status, out, said)
	}
	page := pageOf(t, "cli.md")
	for _, name := range append([]string{ignoredVariable, "ollim-bot attach --host"}, ignoredFiles...) {
		if !strings.Contains(page, "`"+name+"`") {
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
		out, err := exec.CommandContext(t.Context(), "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", at(name)).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	port := somePort(t)
	put(t, at("authorized_keys"), line+" "+string(read(t, at("id.pub"))))
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
	for over := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			_ = conn.Close()
			break
		}
		if time.Now().After(over) {
			t.Fatalf("sshd does not start: %v\n%s", err, said.String())
		}
	}
	return []string{
		"-F", os.DevNull, "-p", port, "-i", at("id"), "-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none", "-o", "StrictHostKeyChecking=accept-new",
		"-o", "UserKnownHostsFile=" + at("known"), "-o", "LogLevel=ERROR", "127.0.0.1",
	}
}

// The way from elsewhere that docs/attach.md describes.
func TestAStockSSHServerGivesTheSameDashboard(t *testing.T) {
	testkit.Alone(t)
	s := serveViewers(t)
	host, err := os.Hostname()
	testkit.Must(t, err)
	command := fmt.Sprintf("%s attach --data-dir %s", s.exe, s.root)
	full := sshd(t, "")

	v := startCommand(t, exec.Command("ssh", append(append([]string{"-t"}, full...), command)...), s.env())
	v.sees("q detach")
	v.sees("@" + host[:min(len(host), 24)])
	v.typeKeys("1")
	v.sees("▸ 1 Ping budget")
	v.typeKeys("+")
	v.sees("capacity 5 → 6")
	testkit.Must(t, pty.Setsize(v.device, &pty.Winsize{Cols: 70, Rows: 24}))
	v.sees("2 Schedule  3 Updates") // tabs
	v.typeKeys("q")
	if status := v.leave(); status != 0 {
		t.Errorf("q ends ssh with %d", status)
	}
	if out, said, status := s.answers("", "ssh", append(full, command)...); status != 1 || !strings.Contains(said, "not a terminal") {
		t.Errorf("without -t: %d, %q, %q", status, out, said)
	}
	if out, said, status := s.answers("budget\nquit\n", "ssh", append(full, command+" --plain")...); status != 0 || !strings.Contains(out, "5 of 6 pings left") {
		t.Errorf("plain: %d, %q, %q", status, out, said)
	}
	if out, said, status := s.answers("", "ssh", append(full, s.exe+" status --json --data-dir "+s.root)...); status != 0 || !strings.Contains(out, `"running": true`) {
		t.Errorf("status: %d, %q, %q", status, out, said)
	}

	looks := sshd(t, fmt.Sprintf(`restrict,pty,command="%s --read-only"`, command))
	v = startCommand(t, exec.Command("ssh", append(append([]string{"-t"}, looks...), "whatever", "is", "asked")...), s.env())
	v.sees("read-only")
	v.typeKeys("1")
	v.sees("▸ 1 Ping budget")
	v.typeKeys("+")
	v.sees("the dashboard is read-only")
	v.typeKeys("\x1a")
	v.sees("there is no shell to return to")
	v.typeKeys("q")
	if status := v.leave(); status != 0 {
		t.Errorf("q ends ssh with %d", status)
	}
	if out, _, status := s.answers("budget\nquit\n", s.exe, "attach", "--plain", "--data-dir", s.root); status != 0 || !strings.Contains(out, "5 of 6 pings left") {
		t.Errorf("after it: %d, %q", status, out)
	}
}
