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

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/procgroup"
	"ollimbot/core/safety/sandbox"
	"ollimbot/core/storage/config"
)

const (
	// parting is how long a server has to end after its input has.
	parting = 2 * time.Second
	// waitDelay is how long a dead server's output is waited for: a process that it has left
	// behind may hold it open.
	waitDelay = 5 * time.Second
	// maxLogLine is how much of a line of a server's log is kept.
	maxLogLine = 2_000
)

// Fence puts a server's process into a sandbox; see sandbox.Box.Server.
type Fence interface {
	Server(s sandbox.Server, cmd *exec.Cmd) (done func())
}

// process is the program of a stdio server.
type process struct {
	cmd   *exec.Cmd
	in    io.Closer
	ended chan struct{} // closed when it has, and its group is gone
	done  func()        // of the fence

	mu   sync.Mutex
	why  error  // why its output ended early
	last string // the last line that it logged
}

// start starts the server's program. log gets what it writes to standard error, and stray what it
// prints that is no message.
func (h *Host) start(s Server, log func(line string), stray func(line string)) (*process, sdk.Transport, error) {
	place := h.o.Dir.Path(filepath.Join(folder, s.Name))
	if err := os.MkdirAll(place, 0o700); err != nil {
		return nil, nil, fmt.Errorf("make the server's folder: %w", err)
	}
	env := h.environment(s, place)
	path, err := find(s.Command, config.Lookup(env, "PATH"))
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.CommandContext(h.ctx, path, s.Args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = place, env, waitDelay
	p := &process{cmd: cmd, ended: make(chan struct{}), done: func() {}}
	if h.o.Fence != nil {
		p.done = h.o.Fence.Server(sandbox.Server{Folder: place, Hosts: s.Network, Shown: namedPaths(s.Args)}, cmd)
	}
	procgroup.Own(cmd)
	stdin, stdout, err := p.pipes()
	if err != nil {
		p.done()
		return nil, nil, err
	}
	cmd.Stderr = &lineWriter{line: func(line string) {
		p.mu.Lock()
		p.last = line
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
		_ = stdout.CloseWithError(err) // nobody reads on; it never fails
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

// pipes are the ends of the server's input and output. The output is a pipe of our own:
// exec's would be closed by Wait, with what has not been read of it.
func (p *process) pipes() (in io.WriteCloser, out *io.PipeReader, err error) {
	in, err = p.cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	reader, writer := io.Pipe()
	p.cmd.Stdout = writer
	done := p.done
	p.done = func() {
		_ = writer.Close() // the reader sees the end
		done()
	}
	return in, reader, nil
}

// end lets the server end, and kills its group if it does not. It waits until that is done.
func (p *process) end() {
	_ = p.in.Close() // that of a dead process is closed already
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

// fate says why the server does not answer, if it has ended; "" if it runs.
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
	return text
}

// passed are the variables that every server gets, if the bot has them.
var passed = []string{"PATH", "LANG", "LC_ALL", "TZ"}

// environment is what a server gets: what it is given, and a home directory of its own.
func (h *Host) environment(s Server, place string) []string {
	var env []string
	for _, name := range passed {
		if v, ok := h.o.Lookup(name); ok && v != "" {
			env = append(env, name+"="+v)
		}
	}
	env = append(env, "HOME="+place, "TMPDIR="+os.TempDir()) // a sandbox has a folder of its own for that
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

// find is the path of a program: as it is written, or on PATH.
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

// namedPaths are the absolute paths among the arguments: the user has named them, so the
// server may read them.
func namedPaths(args []string) (list []string) {
	for _, a := range args {
		if filepath.IsAbs(a) {
			list = append(list, a)
		}
	}
	return list
}

// lineWriter cuts what is written into lines.
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

// cutLine cuts the first line off, or what would become too long.
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
