// Package process manages the claude command as a process: it finds the command, builds its
// environment, starts, watches and stops it, and collects the processes that it leaves behind. It
// must not know the protocol on the pipes, sessions, or the bot.
package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"ollimbot/core/base/fault"
	"ollimbot/core/base/procgroup"
)

// signalled is added to a signal's number in a sandbox's exit code.
const signalled = 128

// pipeLinger is how long the error output is read after the exit while an orphan may hold the other
// end.
const pipeLinger = 200 * time.Millisecond

// Spec describes the process to start.
type Spec struct {
	Path string   // of the executable; see Find
	Args []string // without the program's name
	Env  []string // the complete environment; see Environment
	Dir  string   // the working directory; empty is the current one
	// Wrap sandboxes the command before it starts; done is called after it has ended. Nil means no
	// sandbox.
	Wrap func(*exec.Cmd) (done func())
}

// Process is one started command. Its methods may be called concurrently.
type Process struct {
	cmd    *exec.Cmd
	mark   string
	boxed  bool         // the command runs in a sandbox
	unwrap func()       // releases the sandbox
	inside atomic.Int64 // ID of the command in the sandbox, once known; see command
	stdin  io.WriteCloser
	stdout *output
	stderr *tail

	// watcher is the process's only goroutine. It ends soon after the command, and Stop waits for
	// it.
	watcher   sync.WaitGroup
	done      chan struct{} // closed when reaped; err is set before
	collected chan struct{} // closed when the orphans are collected; left is set before
	err       error
	left      error

	stopping atomic.Bool // a Stop is in progress
}

// Start starts a command with pipes for its input and output, in its own session and process group,
// so that neither the terminal's signals reach it nor it the terminal. An error is one line that
// says what to do. Call Stop for every started process, even if it has exited by itself.
func Start(s Spec) (*Process, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	out, theirs, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf(msgPipes, err)
	}
	defer func() { _ = theirs.Close() }() // the command has its own copy by then
	env, mark := procgroup.Mark(s.Env)
	p := &Process{
		mark: mark, stdout: &output{file: out}, stderr: &tail{hide: secrets(s.Env)},
		done: make(chan struct{}), collected: make(chan struct{}),
	}
	p.cmd = &exec.Cmd{
		Path: s.Path, Args: append([]string{s.Path}, s.Args...), Dir: s.Dir, Env: env,
		Stdout: theirs, Stderr: p.stderr, SysProcAttr: attributes(), WaitDelay: pipeLinger,
	}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf(msgPipes, errors.Join(err, out.Close()))
	}
	p.unwrap = func() {}
	if s.Wrap != nil {
		p.unwrap = s.Wrap(p.cmd)
		p.boxed = p.cmd.Path != s.Path
	}
	living.Store(p.mark, nil) // stored before the process runs, so that CollectOrphans spares it
	begun := make(chan error, 1)
	p.watcher.Go(func() { p.live(begun) })
	if err = <-begun; err == nil {
		return p, nil
	}
	p.watcher.Wait()
	living.Delete(p.mark)
	_ = out.Close()
	if p.cmd.Err != nil {
		return nil, fmt.Errorf(msgSandbox, p.cmd.Err)
	}
	return nil, s.explain(err)
}

// live starts the command and watches it. It keeps its thread, because the system ends the command
// with the thread that started it; this way the command dies with the bot.
func (p *Process) live(begun chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer p.unwrap()
	err := fault.Guard("starting claude", p.cmd.Start)()
	begun <- err
	if err == nil {
		p.watch()
	}
}

// watch waits for the end of the command and then collects its orphans.
func (p *Process) watch() {
	defer close(p.collected)
	p.err = fault.Guard("waiting for claude", p.await)()
	living.Delete(p.mark)
	close(p.done)
	p.left = fault.Guard("the reaper", func() error {
		_, err := procgroup.Collect(func(mark string) bool { return mark == p.mark })
		_ = syscall.Kill(-p.PID(), syscall.SIGKILL) // for systems without marks; an ended group is fine
		return err
	})()
}

// await reaps the command.
func (p *Process) await() error {
	err := p.cmd.Wait()
	state := p.cmd.ProcessState
	if state == nil {
		return fmt.Errorf(msgLost, err)
	}
	if state.Success() {
		return nil
	}
	e := &ExitError{Code: state.ExitCode(), Stderr: p.StderrTail()}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.Signal = status.Signal()
	} else if p.boxed && e.Code == signalled+int(syscall.SIGKILL) {
		e.Signal = syscall.SIGKILL // the sandbox reports the command's signal
	}
	return e
}

// Stdin returns the command's input, which is closed with the command. A blocked Write returns an
// error when the input is closed or the command has ended.
func (p *Process) Stdin() io.WriteCloser { return p.stdin }

// Stdout returns the command's output, for one reader. Output written before the exit can still be
// read afterwards, followed by io.EOF. A full pipe blocks the command.
func (p *Process) Stdout() io.Reader { return p.stdout }

// PID returns the ID of the started process, its group and its session. The process is the command,
// or the sandbox it runs in.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// StderrTail returns the end of the command's error output: at most 4 KB, cleaned, on one line with
// " | " between lines, without the secrets of its environment. Long lines are cut.
func (p *Process) StderrTail() string { return p.stderr.String() }

// Done is closed when the command has exited and has been reaped. Its orphans may still be ending;
// Stop waits for that too.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err returns how the command ended: nil for exit code 0, otherwise an *ExitError. It is nil before
// Done is closed.
func (p *Process) Err() error {
	select {
	case <-p.done:
		return p.err
	default:
		return nil
	}
}

// Resident returns the command's own memory in bytes, without its children. ok is false after its
// end and on systems that do not report it.
func (p *Process) Resident() (bytes int64, ok bool) {
	select {
	case <-p.done:
		return 0, false
	default:
		return resident(p.command())
	}
}

// command returns the ID of the command itself, which in a sandbox differs from the started
// process. Until the command exists it returns the started process.
func (p *Process) command() int {
	if !p.boxed {
		return p.PID()
	}
	if pid := p.inside.Load(); pid != 0 {
		return int(pid)
	}
	if pid, ok := innermost(p.PID(), filepath.Base(p.cmd.Path)); ok {
		p.inside.Store(int64(pid))
		return pid
	}
	return p.PID()
}

// output is the reading end of the command's output. It is closed at EOF rather than with the
// process, so that nothing is lost.
type output struct {
	file *os.File
	err  error
}

func (o *output) Read(b []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.file.Read(b)
	if err != nil {
		o.err = err
		_ = o.file.Close()
	}
	return n, err
}

// living contains the marks of all commands in the program that have not ended.
var living sync.Map

// CollectOrphans ends the processes with a mark whose command has exited: SIGTERM, a short pause,
// SIGKILL. The mark is Env.Mark of an earlier run of the program, which may have been killed; an
// empty one matches nothing. Processes of running commands are spared. n is the number of ended
// processes. The error is one line with those that do not end.
//
// It blocks for at most 3 s, and only while it waits for a process. On systems other than Linux it
// does nothing.
func CollectOrphans(mark string) (n int, err error) {
	if mark == "" {
		return 0, nil
	}
	return procgroup.Collect(func(own string) bool {
		at := strings.LastIndexByte(own, '/')
		_, lives := living.Load(own)
		return at >= 0 && own[:at] == mark && !lives
	})
}
