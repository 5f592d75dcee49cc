// Package process owns the operating system's side of the claude command: it
// finds the command, builds its environment, starts it, watches it, stops it and
// collects the processes that it leaves behind. It must not know what is said
// over the pipes, nor sessions, nor the bot.
//
// Every process that is started here carries a mark in its environment, which
// its children inherit. The commands of the model run in sessions of their own, so that neither a process group nor a parent leads to them
// once the process has been killed; the mark does.
//
// # Orphans are found by a mark
//
// A process group and the kernel's parent-death signal reach the claude command, but not what
// the model's shell has started in its own groups. Without a sandbox, such processes survive a
// kill -9 of the bot. Everything therefore carries a mark in its environment, and the next start
// ends what bears it.
package process

import (
	"crypto/rand"
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
	"ollimbot/core/storage/config"
)

// signalled is added to a signal's number in the exit code of who tells of it.
const signalled = 128

// pipeLinger is how long the error output is read after the exit, while a child
// that was left behind holds its other end.
const pipeLinger = 200 * time.Millisecond

// Spec says what to start.
type Spec struct {
	Path string   // of the executable; see Find
	Args []string // without the name of the program
	Env  []string // the whole environment, nothing is inherited; see Environment
	Dir  string   // the working directory; empty is our own
	// Wrap puts the command into a sandbox before it starts; done is called after
	// the start. Nil starts it as it is.
	Wrap func(*exec.Cmd) (done func())
}

// Process is one started command. Its methods may be called concurrently.
type Process struct {
	cmd    *exec.Cmd
	mark   string
	boxed  bool         // the command runs under one that keeps it in a sandbox
	inside atomic.Int64 // then the command's own process id, once it was looked up; see command
	stdin  io.WriteCloser
	stdout *output
	stderr *tail

	// watcher is the one goroutine of the process: it ends soon after the command
	// has, and Stop waits for it.
	watcher   sync.WaitGroup
	done      chan struct{} // closed when reaped; err is set before
	collected chan struct{} // closed when the orphans are collected too; left is set before
	err       error
	left      error

	stopping atomic.Bool // a Stop has begun with its steps
}

// Start starts a command with pipes for its input and output, in a session and
// a process group of its own: no signal of our terminal reaches it, and it
// cannot reach the terminal. An error is one line that says what to do. Whoever
// starts a process calls Stop, also when it has ended by itself.
func Start(s Spec) (*Process, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	out, theirs, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf(msgPipes, err)
	}
	defer func() { _ = theirs.Close() }() // the command has its own by then
	p := &Process{
		mark: ownMark(s.Env), stdout: &output{file: out}, stderr: &tail{hide: secrets(s.Env)},
		done: make(chan struct{}), collected: make(chan struct{}),
	}
	p.cmd = &exec.Cmd{
		Path: s.Path, Args: append([]string{s.Path}, s.Args...), Dir: s.Dir, Env: config.With(s.Env, MarkName, p.mark),
		Stdout: theirs, Stderr: p.stderr, SysProcAttr: attributes(), WaitDelay: pipeLinger,
	}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf(msgPipes, errors.Join(err, out.Close()))
	}
	if s.Wrap != nil {
		defer s.Wrap(p.cmd)()
		p.boxed = p.cmd.Path != s.Path
	}
	living.Store(p.mark, nil) // before it runs: CollectOrphans must not meet it as a stranger
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

// live starts the command and watches it. The system ends the command when the
// thread that has started it ends, which is how it dies with us however we die:
// so the thread is kept for as long.
func (p *Process) live(begun chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := fault.Guard("starting claude", p.cmd.Start)()
	begun <- err
	if err == nil {
		p.watch()
	}
}

// watch waits for the end of the command and then collects what it has left.
func (p *Process) watch() {
	defer close(p.collected)
	p.err = fault.Guard("waiting for claude", p.await)()
	living.Delete(p.mark)
	close(p.done)
	p.left = fault.Guard("the reaper", func() error {
		_, err := collect(p.cmd.Process.Pid, func(mark string) bool { return mark == p.mark })
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
		e.Signal = syscall.SIGKILL // the sandbox tells how the command in it ended
	}
	return e
}

// Stdin is the command's input, which is closed with the command. A Write
// that waits for a reader ends with an error when it is closed, or when the
// command has ended.
func (p *Process) Stdin() io.WriteCloser { return p.stdin }

// Stdout is the command's output for one reader. What was written before the
// exit can be read after it; then comes io.EOF. Who stops reading holds the
// command up, as with any pipe.
func (p *Process) Stdout() io.Reader { return p.stdout }

// PID is the id of the process that was started, also that of its group and
// session: the command, or the sandbox that it runs in and dies with.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// StderrTail is what the command said last on its error output: at most 4 KB,
// cleaned, in one line with " | " between its lines, without the secrets of
// its environment. Long lines are cut. It is empty when nothing was said.
func (p *Process) StderrTail() string { return p.stderr.String() }

// Done is closed when the command has exited and was reaped. Children that it
// has left may still be collected then; Stop waits for that too.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err is how the command ended: nil for exit code 0, else an *ExitError. Before
// Done it is nil.
func (p *Process) Err() error {
	select {
	case <-p.done:
		return p.err
	default:
		return nil
	}
}

// Resident is the memory that the command itself uses, in bytes and without
// its children; ok is false after its end and where the system does not tell.
func (p *Process) Resident() (bytes int64, ok bool) {
	select {
	case <-p.done:
		return 0, false
	default:
		return resident(p.command())
	}
}

// command is the process id of the command itself, which in a sandbox is not
// that of what we have started. Until it is there it is that one.
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

// output is the reading end of the command's output. It is closed at its end
// and not with the process, so that nothing that was written gets lost.
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

// MarkName is the variable that every process started here carries, and that
// its children inherit. Its value is the mark that was asked for with Env.Mark,
// a slash, and a word that belongs to one process alone.
const MarkName = "OLLIM_CLAUDE_PROCESS"

// ownMark makes the mark of one process from that of its environment. With a
// mark of its own, the end of one process never touches the children of
// another.
func ownMark(env []string) string {
	return strings.ReplaceAll(config.Lookup(env, MarkName), "\x00", "") + "/" + rand.Text()
}

// living are the marks of the commands that have not ended. A program has one set
// of children, whichever part of it has started them.
var living sync.Map

// CollectOrphans ends the processes that carry a mark and whose command is gone:
// SIGTERM, a moment, SIGKILL. The mark is what Env.Mark was in an earlier run of
// the program, which may have been killed without a chance to collect; the empty
// one is nobody's. The processes of commands that still run are left alone. n is
// how many were ended. An error is one line that names what does not end.
//
// It blocks for 3 s at most and only for as long as there is something to wait
// for. Where the system cannot tell (not Linux) it does nothing.
func CollectOrphans(mark string) (n int, err error) {
	if mark == "" {
		return 0, nil
	}
	return collect(0, func(own string) bool {
		at := strings.LastIndexByte(own, '/')
		_, lives := living.Load(own)
		return at >= 0 && own[:at] == mark && !lives
	})
}
