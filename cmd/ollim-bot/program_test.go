package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
)

// program is a program that runs beside the test.
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

// until waits for something that the program does.
func (p *program) until(what string, done func() bool) {
	p.tb.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(4 * patience) // a turn of many calls, beside other tests
	for !done() {
		select {
		case <-tick.C:
		case <-deadline:
			p.tb.Fatalf("it never came to this: %s", what)
		}
	}
}

// ends waits for the program's own end, for which it has a reason.
func (p *program) ends() {
	p.tb.Helper()
	if err := p.wait(); err != nil {
		p.tb.Errorf("it ended with %v", err)
	}
}

// stops interrupts the program.
func (p *program) stops() {
	p.tb.Helper()
	testkit.Must(p.tb, p.cmd.Process.Signal(os.Interrupt))
	p.ends()
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

// stored is what a file holds, "" where there is none.
func stored(elem ...string) string {
	data, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		return ""
	}
	return string(data)
}

// put writes a file, as its user would.
func put(t *testing.T, path, text string) {
	t.Helper()
	testkit.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	testkit.Must(t, os.WriteFile(path, []byte(text), 0o600))
}
