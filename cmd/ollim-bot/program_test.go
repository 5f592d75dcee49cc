package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ollimbot/cmd/internal/console"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/config"
)

// spoken is what a command gave.
type spoken struct {
	out, err string
	status   int
}

// shell runs a program to its end.
func shell(t testing.TB, exe string, env []string, args ...string) spoken {
	t.Helper()
	return piped(t, "", exe, env, args...)
}

// piped is shell with a standard input.
func piped(t testing.TB, in, exe string, env []string, args ...string) spoken {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, strings.NewReader(in), &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return spoken{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// inProcess is the program in this process, with a whole environment.
func inProcess(env []string, in string, out, errs io.Writer) *process {
	getenv := func(name string) string {
		for _, v := range slices.Backward(env) { // the last one counts
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		return ""
	}
	return &process{Process: console.Process{
		In: strings.NewReader(in), Out: out, Err: errs, Getenv: getenv, Environ: func() []string { return env }, Now: time.Now,
	}}
}

// world is where a bot lives: a home with a data directory, the environment of all that is started, and the program.
type world struct {
	*program // once it has been started
	t        *testing.T
	home     string
	data     string
	env      []string
}

// newWorld is a world without git settings of this machine, to which a test adds variables.
func newWorld(t *testing.T, more ...string) *world {
	t.Helper()
	temp := shortDir(t)
	w := &world{t: t, home: filepath.Join(temp, "home")}
	w.data = filepath.Join(w.home, ".ollim-bot")
	testkit.Must(t, os.Mkdir(w.home, 0o700))
	w.env = append([]string{
		"HOME=" + w.home, "TMPDIR=" + temp, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TERM=xterm-256color", "OLLIM_TIMEZONE=UTC",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
	}, more...)
	return w
}

// shortDir is a directory with a short path, as sockets need it.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "t")
	testkit.Must(t, err)
	t.Cleanup(func() { testkit.Must(t, os.RemoveAll(dir)) })
	return dir
}

// launch starts the program.
func (w *world) launch(args ...string) {
	w.t.Helper()
	w.program = launch(w.t, w.env, args...)
}

// shell runs a command line of the program to its end.
func (w *world) shell(args ...string) spoken {
	w.t.Helper()
	return shell(w.t, built(w.t), w.env, args...)
}

// runs runs a command of the program's, which succeeds.
func (w *world) runs(args ...string) string {
	w.t.Helper()
	got := w.shell(args...)
	if got.status != exitDone {
		w.t.Fatalf("%s: %+v", args, got)
	}
	return got.out
}

// setenv sets a variable of everything that is started from now on.
func (w *world) setenv(name, value string) { w.env = config.With(w.env, name, value) }

// file writes a file of the data directory, or another one, as its user would.
func (w *world) file(name, text string) {
	w.t.Helper()
	put(w.t, w.path(name), text)
}

func (w *world) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(w.data, name)
}

// read is a file of the data directory, "" where there is none.
func (w *world) read(name string) string { return stored(w.path(name)) }

func (w *world) has(name string) bool { return exists(w.path(name)) }

// gets waits until a file of the data directory has some words.
func (w *world) gets(file string, words ...string) {
	w.t.Helper()
	w.until(fmt.Sprintf("%s has %q", file, words), func() bool {
		text := w.read(file)
		return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
	})
}

// program is ollim-bot as a process beside the test.
type program struct {
	tb  testing.TB
	cmd *exec.Cmd
	in  io.WriteCloser
	out output
}

// output is what a program prints while it runs.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *output) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(b)
}

func (w *output) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// launch starts ollim-bot, which ends with the test at the latest.
func launch(t *testing.T, env []string, args ...string) *program {
	t.Helper()
	p := &program{tb: t, cmd: exec.Command(built(t), args...)}
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = env, &p.out, &p.out
	var err error
	p.in, err = p.cmd.StdinPipe()
	testkit.Must(t, err)
	testkit.Must(t, p.cmd.Start())
	t.Cleanup(func() {
		if p.cmd.ProcessState == nil {
			_ = p.cmd.Process.Signal(os.Interrupt)
			_ = p.wait()
		}
		if t.Failed() {
			t.Logf("the program said:\n%s", p.out.String())
		}
	})
	return p
}

// types gives the program a line.
func (p *program) types(line string) {
	p.tb.Helper()
	_, err := io.WriteString(p.in, line+"\n")
	testkit.Must(p.tb, err)
}

// hears waits until the program has said something.
func (p *program) hears(text string) {
	p.tb.Helper()
	p.until(text, func() bool { return strings.Contains(p.out.String(), text) })
}

// asks gives the program a line and waits for what it says to it.
func (p *program) asks(line, answer string) {
	p.tb.Helper()
	p.types(line)
	p.hears(answer)
}

// until waits for something that the program does.
func (p *program) until(what string, done func() bool) {
	p.tb.Helper()
	if !eventually(patience, done) {
		p.tb.Fatalf("it never came to this: %s", what)
	}
}

// untilAsked is until for something that another program has to be asked.
func (p *program) untilAsked(what string, done func() bool) {
	p.tb.Helper()
	if !asking(patience, done) {
		p.tb.Fatalf("no answer ever came to this: %s", what)
	}
}

// stops interrupts the program.
func (p *program) stops() {
	p.tb.Helper()
	testkit.Must(p.tb, p.cmd.Process.Signal(os.Interrupt))
	p.ends()
}

// ends waits for the program's own end, for which it has a reason.
func (p *program) ends() {
	p.tb.Helper()
	if err := p.wait(); err != nil {
		p.tb.Errorf("it ended with %v", err)
	}
}

func (p *program) kill() {
	p.tb.Helper()
	testkit.Must(p.tb, p.cmd.Process.Kill())
	_ = p.cmd.Wait() // it was killed
}

func (p *program) wait() error {
	_ = p.in.Close() // it ends all the same
	limit := time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() })
	defer limit.Stop()
	return p.cmd.Wait()
}

// patience is how long a test waits for something that another process does.
const patience = 2 * time.Minute

// eventually asks again and again, because programs work beside the test, and gives up after a while.
func eventually(limit time.Duration, done func() bool) bool {
	for over := time.Now().Add(limit); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(over) {
			return false
		}
	}
	return true
}

// asking is eventually for a question that starts a program, which costs more than to wait: it is asked less and less
// often, and at least once a second.
func asking(limit time.Duration, done func() bool) bool {
	pause, next := 20*time.Millisecond, time.Time{}
	return eventually(limit, func() bool {
		if time.Now().Before(next) {
			return false
		}
		if done() {
			return true
		}
		next = time.Now().Add(pause)
		pause = min(pause*3/2, time.Second)
		return false
	})
}

// listens waits until a port of this machine accepts connections.
func listens(t testing.TB, port string) {
	t.Helper()
	if !eventually(patience, func() bool {
		conn, err := net.Dial("tcp", "127.0.0.1:"+port)
		return err == nil && conn.Close() == nil
	}) {
		t.Fatalf("nothing listens on port %s", port)
	}
}

// source is a file of the repository.
func source(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", path))
	testkit.Must(t, err)
	return string(data)
}

// stored is what a file holds, "" where there is none.
func stored(elem ...string) string {
	data, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		return ""
	}
	return string(data)
}

// put writes a file, as its user would.
func put(t testing.TB, path, text string) {
	t.Helper()
	testkit.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	testkit.Must(t, os.WriteFile(path, []byte(text), 0o600))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// aMinuteAgo is when a task is due that fires at once.
func aMinuteAgo() string { return time.Now().Add(-time.Minute).UTC().Format(time.RFC3339) }
