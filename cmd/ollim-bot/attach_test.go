package main

import (
	"bytes"
	"encoding/json"
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
)

// server is the built program as a bot without a dashboard, with a port for viewers.
type server struct {
	t         *testing.T
	exe, root string
	home      string
	temp      string // where a bot that is killed leaves its folders; the path is short, as sockets need it
	port      string
	cmd       *exec.Cmd
}

func serveViewers(t *testing.T) *server {
	t.Helper()
	temp, err := os.MkdirTemp("", "t") // short: the path of a socket has at most a hundred bytes
	check(t, err)
	t.Cleanup(func() { check(t, os.RemoveAll(temp)) })
	s := &server{t: t, exe: built(t), root: filepath.Join(temp, "data"), home: filepath.Join(temp, "home"), temp: temp, port: somePort(t)}
	s.start()
	t.Cleanup(s.kill)
	return s
}

func (s *server) env() []string {
	return []string{
		"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + s.temp, "TERM=xterm-256color", "LANG=C.UTF-8", "GIT_CONFIG_GLOBAL=" + os.DevNull,
	}
}

func (s *server) start() {
	s.t.Helper()
	s.cmd = exec.CommandContext(s.t.Context(), s.exe, "run", "--headless", "--engine", "script", "--data-dir", s.root)
	s.cmd.Env = append(s.env(), "OLLIM_ATTACH="+s.port)
	check(s.t, s.cmd.Start())
	for over := time.Now().Add(patience); time.Now().Before(over); time.Sleep(20 * time.Millisecond) {
		if conn, err := net.Dial("tcp", "127.0.0.1:"+s.port); err == nil {
			_ = conn.Close()
			return
		}
	}
	s.t.Fatal("the bot opens no port")
}

func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait() // killed
}

// keyFor makes a key with ssh-keygen, and lets it in with what stands before it.
func (s *server) keyFor(option string) string {
	s.t.Helper()
	path := filepath.Join(s.t.TempDir(), "id")
	if out, err := exec.CommandContext(s.t.Context(), "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path).CombinedOutput(); err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
	if option == "unknown" {
		return path
	}
	f, err := os.OpenFile(filepath.Join(s.root, "authorized_keys"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	check(s.t, err)
	defer f.Close()
	if _, err := fmt.Fprintf(f, "%s %s", option, read(s.t, path+".pub")); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// ssh are the arguments of the OpenSSH client with a key.
func (s *server) ssh(key string, more ...string) []string {
	return append([]string{
		"-F", os.DevNull, "-p", s.port, "-i", key, "-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none", "-o", "StrictHostKeyChecking=accept-new",
		"-o", "UserKnownHostsFile=" + filepath.Join(s.home, "known"), "-o", "LogLevel=ERROR", "ada@127.0.0.1",
	}, more...)
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

func TestTheStockSSHClientGivesTheSameDashboard(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	testkit.Needs(t, "ssh")
	s := serveViewers(t)
	full, looks, stranger := s.keyFor(""), s.keyFor("read-only"), s.keyFor("unknown")

	v := startCommand(t, exec.Command("ssh", s.ssh(full)...), s.env())
	v.sees("@" + hostName(t))
	v.sees("q detach")
	v.typeKeys("1")
	v.sees("▸ 1 Ping budget")
	v.typeKeys("+")
	v.sees("capacity 5 → 6")
	check(t, pty.Setsize(v.device, &pty.Winsize{Cols: 70, Rows: 24}))
	v.sees("2 Schedule  3 Updates") // tabs
	v.typeKeys("q")
	if status := v.leave(); status != 0 {
		t.Errorf("q ends ssh with %d", status)
	}

	v = startCommand(t, exec.Command("ssh", s.ssh(looks)...), s.env())
	v.sees("read-only")
	v.typeKeys("1")
	v.sees("▸ 1 Ping budget")
	v.typeKeys("+")
	v.sees("the dashboard is read-only")
	_ = v.cmd.Process.Kill() // the bot goes on
	v.leave()

	if out, said, status := s.answers("budget\nquit\n", "ssh", s.ssh(full, "plain")...); status != 0 || !strings.Contains(out, "5 of 6 pings left") {
		t.Errorf("plain: %d, %s\n%s", status, out, said)
	}
	out, said, status := s.answers("", "ssh", s.ssh(looks, "status", "--json")...)
	var facts struct{ Running bool }
	if err := json.Unmarshal([]byte(out), &facts); err != nil || !facts.Running || strings.Count(out, "\n") != 1 || status != 0 {
		t.Errorf("status: %d, %v, %q, %q", status, err, out, said)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{append([]string{"-T"}, s.ssh(full)...), "needs a terminal"},
		{s.ssh(full, "rm", "-rf", "/"), "choose dashboard"},
		{append([]string{"-o", "BatchMode=yes"}, s.ssh(stranger)...), "Permission denied"},
		{append([]string{"-W", "127.0.0.1:1"}, s.ssh(full)...), "stdio forwarding failed"},
		{append([]string{"-s"}, s.ssh(full, "sftp")...), "subsystem request failed"},
	} {
		if _, said, status := s.answers("", "ssh", c.args...); status == 0 || !strings.Contains(said, c.want) {
			t.Errorf("%q: status %d, %q", c.args, status, said)
		}
	}

	v = startCommand(t, exec.Command("ssh", s.ssh(full)...), s.env())
	v.sees("q detach")
	check(t, s.cmd.Process.Signal(os.Interrupt))
	v.sees("the bot has ended")
	if status := v.leave(); status != 75 {
		t.Errorf("the end of the bot ends ssh with %d", status)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("the bot ends with %v", err)
	}
}

func TestOurClientOutlivesTheBot(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	testkit.Needs(t, "ssh") // for its keys
	s := serveViewers(t)
	v := startCommand(t, exec.Command(s.exe, "--data-dir", s.root), s.env()) // it was refused before
	v.sees("q detach")
	key := s.keyFor("")
	far := startCommand(t, exec.Command(s.exe, "attach", "--host", "ada@127.0.0.1:"+s.port, "-i", key, "--theme", "light"), s.env())
	far.sees("is not known yet")
	doctor, _, _ := s.answers("", s.exe, "doctor", "--data-dir", s.root)
	_, mark, _ := strings.Cut(doctor, "host key: ")
	if mark, _, _ = strings.Cut(mark, "\n"); !strings.HasPrefix(mark, "SHA256:") || !strings.Contains(far.text(), mark) {
		t.Errorf("doctor says %q; the client:\n%s", mark, far.text())
	}
	far.typeKeys("yes\r")
	far.sees("@" + hostName(t))
	for range 2 {
		s.kill() // leaves its socket behind
		v.sees("reconnecting in")
		far.sees("reconnecting in")
		s.start()
		v.sees("q detach")
		far.sees("q detach")
	}
	for _, c := range []*terminal{v, far} {
		c.typeKeys("q")
		if status := c.leave(); status != 0 {
			t.Errorf("q ends it with %d:\n%s", status, c.text())
		}
	}
	out, _, status := s.answers("", s.exe, "attach", "--data-dir", s.root, "--", "status", "--json")
	if status != 0 || !json.Valid([]byte(out)) || strings.Count(out, "\n") != 1 {
		t.Errorf("status: %d, %q", status, out)
	}
	if out, said, status := s.answers("budget\nquit\n", s.exe, "attach", "--plain", "--read-only", "--data-dir", s.root); status != 0 || !strings.Contains(out, "pings left") {
		t.Errorf("plain: %d, %q, %q", status, out, said)
	}
	if out, _, status := s.answers("budget\nquit\n", s.exe, "--plain", "--data-dir", s.root); status != 0 || !strings.Contains(out, "pings left") {
		t.Errorf("plain beside it: %d, %q", status, out)
	}
	s.kill()
	if _, said, status := s.answers("", s.exe, "attach", "--plain", "--data-dir", s.root); status != 1 || !strings.Contains(said, "attach to") {
		t.Errorf("without a bot: %d, %q", status, said)
	}
}

// hostName is what a dashboard of another machine shows of this one.
func hostName(t *testing.T) string {
	t.Helper()
	name, err := os.Hostname()
	check(t, err)
	return name[:min(len(name), 24)]
}
