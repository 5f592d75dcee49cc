package mcp

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/lazyregexp"
	"ollimbot/core/base/procgroup"
	"ollimbot/core/safety/sandbox"
	"ollimbot/core/safety/sandbox/shim"
	"ollimbot/core/storage/config"
)

const (
	// parting is how long a server may take to exit after its input was closed.
	parting = 2 * time.Second
	// waitDelay is how long to wait for a dead server's output: a process it left behind may
	// hold it open.
	waitDelay = 5 * time.Second
	// maxLogLine is the maximum length kept of a line in a server's log.
	maxLogLine = 2_000
)

// Fence puts a server's process into a sandbox; see sandbox.Box.Server.
type Fence interface {
	Server(s sandbox.Server, cmd *exec.Cmd) (done func())
}

// process is the running program of a stdio server.
type process struct {
	cmd   *exec.Cmd
	in    io.Closer
	ended chan struct{} // closed when it has ended and its group is gone
	done  func()        // from the fence
	// fenced means that it runs in a sandbox.
	fenced bool

	mu      sync.Mutex
	why     error  // why its output ended early
	last    string // the logged line that says most: the last error, or else the last one
	telling bool   // that is an error
}

// said matches the line in which a program says what went wrong, and missing one about something that it does not find.
var (
	said    = lazyregexp.New(`^\s*(?:[\w.]*(?:Error|Exception)\b|error:|fatal:|npm (?:error|ERR!) \d{3} \d{3})`)
	missing = lazyregexp.New(`Cannot find (?:module|package)|No module named|ENOENT|No such file|not found|can't open file|` +
		`EACCES|[Pp]ermission denied|EROFS|Read-only file system`)
)

// start starts the server's program. log gets the lines of standard error, and stray the
// output that is not a message.
func (h *Host) start(s Server, log func(line string), stray func(line string)) (*process, sdk.Transport, error) {
	place := h.o.Dir.Path(filepath.Join(folder, s.Name))
	if err := h.o.Dir.MakeFolder(filepath.Join(folder, s.Name)); err != nil {
		return nil, nil, fmt.Errorf("make the server's folder: %w", err)
	}
	env := h.environment(s, place)
	path, err := find(s.Command, config.Lookup(env, "PATH"))
	if err == nil && h.o.Fence != nil {
		path, err = shim.Resolve(h.ctx, path, h.outside(env))
	}
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.CommandContext(h.ctx, path, s.Args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = place, env, waitDelay
	p := &process{cmd: cmd, ended: make(chan struct{}), done: func() {}}
	if h.o.Fence != nil {
		p.done = h.o.Fence.Server(sandbox.Server{Folder: place, Hosts: s.Network, Shown: namedPaths(s.Args)}, cmd)
		p.fenced = cmd.Path != path
	}
	procgroup.Own(cmd)
	stdin, stdout, err := p.pipes()
	if err != nil {
		p.done()
		return nil, nil, err
	}
	cmd.Stderr = &lineWriter{line: func(line string) {
		p.mu.Lock()
		if telling := said().MatchString(line); telling || !p.telling && strings.ContainsFunc(line, unicode.IsLetter) {
			p.last, p.telling = line, telling
		}
		p.mu.Unlock()
		log(line)
	}}
	p.in = stdin
	if err := cmd.Start(); err != nil {
		p.done()
		return nil, nil, fmt.Errorf(textNoStart, clean.Line(err.Error()))
	}
	out := newFrames(stdout, stray, func(err error) {
		p.mu.Lock()
		p.why = err
		p.mu.Unlock()
		_ = stdout.CloseWithError(err) // no one reads any more; it never fails
	})
	h.group.Go(func() error {
		defer close(p.ended)
		_ = cmd.Wait() // its state is in cmd.ProcessState
		procgroup.Kill(cmd)
		p.done()
		return nil
	})
	return p, &sdk.IOTransport{Reader: io.NopCloser(out), Writer: stdin, MaxLineLength: maxFrame + 1}, nil
}

// pipes returns the ends of the server's input and output. The output is our own pipe,
// because Wait would close exec's together with the unread data.
func (p *process) pipes() (in io.WriteCloser, out *io.PipeReader, err error) {
	in, err = p.cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	reader, writer := io.Pipe()
	p.cmd.Stdout = writer
	done := p.done
	p.done = func() {
		_ = writer.Close() // so that the reader sees the end
		done()
	}
	return in, reader, nil
}

// end lets the server exit, and kills its group if it does not. It waits for that.
func (p *process) end() {
	_ = p.in.Close() // that of a dead process is already closed
	timer := time.NewTimer(parting)
	defer timer.Stop()
	select {
	case <-p.ended:
		return
	case <-timer.C:
	}
	procgroup.Kill(p.cmd)
	<-p.ended
}

// settle waits a little for the end of a process that does not answer any more.
func (p *process) settle() {
	timer := time.NewTimer(parting)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
	}
}

// fate describes why the server does not answer, if it has ended; "" while it is running.
func (p *process) fate() string {
	p.mu.Lock()
	why, last := p.why, p.last
	p.mu.Unlock()
	if why != nil {
		return why.Error()
	}
	select {
	case <-p.ended:
	default:
		return ""
	}
	text := fmt.Sprintf(textEnded, p.cmd.ProcessState)
	if last != "" {
		text += fmt.Sprintf(textLastLine, clean.Cut(last, 200))
	}
	if p.fenced && missing().MatchString(last) {
		text += textUnseen
	}
	return text
}

// outside returns the environment of a program that runs outside of the sandbox for a server: with the user's home.
func (h *Host) outside(env []string) []string {
	home, _ := h.o.Lookup("HOME")
	return config.With(env, "HOME", home)
}

// passed are the variables passed to every server, if set.
var passed = []string{"PATH", "LANG", "LC_ALL", "TZ"}

// environment returns a server's environment: the configured variables, and a private
// home directory.
func (h *Host) environment(s Server, place string) []string {
	var env []string
	for _, name := range passed {
		if v, ok := h.o.Lookup(name); ok && v != "" {
			env = append(env, name+"="+v)
		}
	}
	env = append(env, "HOME="+place, "TMPDIR="+os.TempDir()) // a sandbox has its own folder for that
	names := make([]string, 0, len(s.Env))
	for name := range s.Env {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		env = config.With(env, name, s.Env[name])
	}
	return env
}

// find returns the path of a program: as written, or from PATH.
func find(command, search string) (string, error) {
	if strings.ContainsRune(command, '/') {
		if !filepath.IsAbs(command) {
			return "", fmt.Errorf(textRelative, command)
		}
		if _, err := os.Stat(command); err != nil {
			return "", fmt.Errorf(textNoProgram, command)
		}
		return command, nil
	}
	for _, dir := range filepath.SplitList(search) {
		path := filepath.Join(dir, command)
		if info, err := os.Stat(path); err == nil && filepath.IsAbs(path) && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf(textNotOnPath, command)
}

// namedPaths returns the absolute paths among the arguments. The user named them, so the
// server may read them.
func namedPaths(args []string) (list []string) {
	for _, a := range args {
		if filepath.IsAbs(a) {
			list = append(list, a)
		}
	}
	return list
}

// lineWriter splits written data into lines.
type lineWriter struct {
	line func(string)
	rest []byte
}

// Write implements io.Writer. exec calls it from one goroutine.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	for {
		before, after, ok := cutLine(w.rest)
		if !ok {
			return len(p), nil
		}
		w.rest = after
		if text := clean.Line(before); text != "" {
			w.line(clean.Cut(text, maxLogLine))
		}
	}
}

// cutLine splits off the first line, or a part of one that would become too long.
func cutLine(p []byte) (line string, rest []byte, ok bool) {
	before, after, found := strings.Cut(string(p), "\n")
	switch {
	case found:
		return before, []byte(after), true
	case len(p) > 4*maxLogLine:
		return before, nil, true
	}
	return "", p, false
}

var errStopping = errors.New(textStopping)
