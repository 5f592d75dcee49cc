package tools

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/procgroup"
	"ollimbot/core/base/words"
	"ollimbot/core/safety/sandbox"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
)

const (
	// commandTime limits a command whose call sets no timeout.
	commandTime = 2 * time.Minute
	// leftBehind is how long a command's children may keep its output open after its end.
	leftBehind = time.Second
	// keptHead and keptTail are the numbers of bytes shown of a long output.
	keptHead, keptTail = 8 << 10, 22 << 10
	// looksAtTemp is how often the size of a session's temporary files is checked while a command runs.
	looksAtTemp = 250 * time.Millisecond
	// maxFolder is the longest path of a working directory.
	maxFolder = 4 << 10
)

// shell runs a session's commands one after another.
type shell struct {
	// turn is held while a command runs.
	turn sync.Mutex

	mu     sync.Mutex
	folder string // where the next command starts; empty is the data directory
	temp   string // created for the first command
	closed bool
	cancel context.CancelFunc // cancels the running command
}

// tmp returns the folder of the session's temporary files, or "" before it exists.
func (s *shell) tmp() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.temp
}

// begin waits until no other command is running.
func (s *shell) begin(ctx context.Context, limit time.Duration) (context.Context, func(), error) {
	s.turn.Lock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		s.turn.Unlock()
		return nil, nil, errors.New(textClosed)
	}
	if s.temp == "" {
		temp, err := os.MkdirTemp("", "ollim-bot-shell-")
		if err == nil {
			temp, err = filepath.EvalSymlinks(temp)
		}
		if err != nil {
			s.turn.Unlock()
			return nil, nil, err
		}
		s.temp = temp
	}
	ctx, s.cancel = context.WithTimeout(ctx, limit)
	return ctx, func() { s.cancel(); s.turn.Unlock() }, nil
}

var errFull = errors.New("the temporary files of a session are too large")

// watch ends a command that puts more into the folder of temporary files than fits into the sandbox's own,
// which is in memory. This one is on the disk, because it is kept between commands. A command that
// only removes files there may run.
func (s *shell) watch(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	before := store.Size(s.tmp())
	go func() {
		tick := time.NewTicker(looksAtTemp)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if now := store.Size(s.tmp()); now > sandbox.MaxTemporary && now > before {
					cancel(errFull)
				}
			}
		}
	}()
	return ctx, cancel
}

func (s *shell) close() error {
	s.mu.Lock()
	s.closed = true
	if s.cancel != nil {
		s.cancel()
	}
	s.mu.Unlock()
	s.turn.Lock()
	defer s.turn.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	temp := s.temp
	s.temp = ""
	if temp == "" {
		return nil
	}
	return os.RemoveAll(temp)
}

// script runs the command of a call and then reports its working directory. The command stays one
// argument, so that exactly the checked text is run.
const script = `exec 9>&3 3>&-; trap 'pwd -P >&9 2>/dev/null' EXIT; eval "$1"`

// bash runs a command line in its own shell and process group.
func (b *Box) bash(ctx context.Context, c call) (Result, error) {
	limit := commandTime
	if n := c.Number("timeout"); n > 0 {
		limit = time.Duration(n) * time.Millisecond
	}
	line := c.Text("command")
	if strings.ContainsRune(line, 0) {
		return Result{}, errors.New(textZero)
	}
	ctx, end, err := b.shell.begin(ctx, limit)
	if err != nil {
		return Result{}, err
	}
	defer end()
	ctx, stop := b.shell.watch(ctx)
	defer stop(nil)
	interpreter := b.interpreter()
	cmd := exec.CommandContext(ctx, interpreter[0], append(interpreter[1:], "-c", script, "bash", line)...)
	folder, lost := b.folder()
	cmd.Dir, cmd.Env = folder, b.environment(folder)
	out := &output{}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = out, out, leftBehind
	procgroup.Own(cmd)
	where, told, err := os.Pipe()
	if err != nil {
		return Result{}, err
	}
	defer where.Close()
	cmd.ExtraFiles = []*os.File{told}
	done := b.o.Sandbox(b.shell.tmp(), cmd)
	err = cmd.Start()
	_ = told.Close() // the command has its own copy
	if err == nil {
		err = cmd.Wait()
		procgroup.Kill(cmd)
	}
	done()
	text := out.String()
	if lost {
		text = textFolderLost + text
	}
	if ctx.Err() == nil {
		text += b.moved(where)
	}
	return ended(ctx, text, limit, err)
}

// interpreter returns the path of bash with the flags that keep it from reading start-up files, or
// /bin/sh, which reads none and does not know these flags.
func (b *Box) interpreter() []string {
	for _, dir := range filepath.SplitList(cmp.Or(config.Lookup(b.o.Env, "PATH"), "/usr/local/bin:/usr/bin:/bin")) {
		path := filepath.Join(dir, "bash")
		if info, err := os.Stat(path); err == nil && filepath.IsAbs(path) && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return []string{path, "--noprofile", "--norc"}
		}
	}
	return []string{"/bin/sh"}
}

// environment returns a command's environment, which contains only harmless names.
func (b *Box) environment(folder string) []string {
	env := append(sandbox.Harmless(b.o.Env), "PWD="+folder, "CLAUDECODE=1", "GIT_EDITOR=true", "TERM=dumb", "NO_COLOR=1", "TMPDIR="+b.shell.tmp())
	if config.Lookup(env, "OLLIM_DATA_DIR") == "" {
		env = append(env, "OLLIM_DATA_DIR="+b.o.Dir)
	}
	return env
}

// folder returns where a command starts. lost means that the last command's folder is gone.
func (b *Box) folder() (path string, lost bool) {
	b.shell.mu.Lock()
	defer b.shell.mu.Unlock()
	if b.shell.folder == "" {
		return b.real, false
	}
	if info, err := os.Stat(b.shell.folder); err != nil || !info.IsDir() {
		b.shell.folder = ""
		return b.real, true
	}
	return b.shell.folder, false
}

// moved reads the folder in which a command ended. The next one starts there if it is in the data
// directory.
func (b *Box) moved(where *os.File) string {
	if err := where.SetReadDeadline(time.Now().Add(leftBehind)); err != nil {
		return ""
	}
	line, err := bufio.NewReader(io.LimitReader(where, maxFolder)).ReadString('\n')
	folder := strings.TrimSuffix(line, "\n")
	if plain, ok := store.Follow(folder); err != nil || !filepath.IsAbs(folder) || !ok || plain != folder {
		return "" // not a folder that was really reached
	}
	b.shell.mu.Lock()
	defer b.shell.mu.Unlock()
	inside := func(dir string) bool { return folder == dir || strings.HasPrefix(folder, dir+"/") }
	switch {
	case inside(b.real), inside(b.shell.temp):
		b.shell.folder = folder
		return ""
	}
	b.shell.folder = ""
	return textFolderBack
}

// ended returns the result of a command.
func ended(ctx context.Context, text string, limit time.Duration, err error) (Result, error) {
	var exit *exec.ExitError
	switch {
	case errors.Is(context.Cause(ctx), errFull):
		return Result{Text: text + fmt.Sprintf(textFull, words.Bytes(sandbox.MaxTemporary)), IsError: true}, nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return Result{Text: text + fmt.Sprintf(textTimeout, words.Long(limit)), IsError: true}, nil
	case ctx.Err() != nil:
		return Result{Text: text + textInterrupted, IsError: true}, nil
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		return Result{Text: text + fmt.Sprintf(textExit, exit.ExitCode()), IsError: true}, nil
	case errors.As(err, &exit):
		return Result{Text: text + fmt.Sprintf(textSignal, exit.String()), IsError: true}, nil
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return Result{}, fmt.Errorf(textNotStarted, err)
	case text == "":
		return Result{Text: textSilent}, nil
	}
	return Result{Text: text}, nil
}

// output keeps the beginning and the end of a command's output and drops the middle, so that a
// command neither blocks nor fills the memory.
type output struct {
	mu   sync.Mutex
	head []byte
	tail []byte // the newest bytes, up to twice keptTail
	lost int64
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := min(len(p), keptHead-len(o.head))
	o.head = append(o.head, p[:n]...)
	o.tail = append(o.tail, p[n:]...)
	if over := len(o.tail) - keptTail; over > keptTail {
		o.lost += int64(over)
		o.tail = append(o.tail[:0], o.tail[over:]...)
	}
	return len(p), nil
}

// String returns the output as text, with its middle cut.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	tail, lost := o.tail, o.lost
	if over := len(tail) - keptTail; over > 0 {
		tail, lost = tail[over:], lost+int64(over)
	}
	head := string(o.head)
	if lost > 0 {
		head += fmt.Sprintf(textOutputCut, words.Bytes(lost))
	}
	text := strings.TrimRight(clean.Text(head+string(tail)), "\n")
	if text != "" {
		text += "\n"
	}
	return text
}
