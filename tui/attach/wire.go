package attach

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// protocol is the version of what follows. Hello.Protocol, hello.Version and a bye's text keep their meaning in all of
// them, so that either end can say what does not fit.
const protocol = 1

const (
	// maxLine is the longest line in either direction, in bytes.
	maxLine = 64 << 10
	// patience is how long the other end may take for what needs no user.
	patience = 10 * time.Second
)

// hello is the client's first line. Its input and output come with it.
type hello struct {
	Protocol int      `json:"protocol"`
	Version  string   `json:"version"` // of the program
	Token    string   `json:"token"`
	Env      []string `json:"env"`              // the variables that Counts accepts
	Editor   string   `json:"editor,omitempty"` // the user's choice
	From     string   `json:"from,omitempty"`   // the address of an SSH client
	Shell    bool     `json:"shell,omitempty"`  // can be suspended
	Plain    bool     `json:"plain,omitempty"`
	Typed    bool     `json:"typed,omitempty"` // a person types the lines of plain mode
	ReadOnly bool     `json:"read_only,omitempty"`
	Theme    string   `json:"theme,omitempty"`
	Notice   string   `json:"notice,omitempty"` // shown once
}

// message is each other line.
type message struct {
	Do string `json:"do"`
	// Signal of "signal".
	Signal syscall.Signal `json:"signal,omitempty"`
	// Argv of "run".
	Argv []string `json:"argv,omitempty"`
	// Status of "done" is that of a program that has failed, Text why a program could not be started.
	Status  string `json:"status,omitempty"`
	Missing bool   `json:"missing,omitempty"`
	// Text of "bye" says why; empty if the viewer has quit. Ended means that the bot ends and may return.
	Text  string `json:"text,omitempty"`
	Ended bool   `json:"ended,omitempty"`
}

// The values of message.Do.
const (
	doSignal   = "signal"   // client: it has got one
	doDone     = "done"     // client: after doRun and doSuspend
	doAttached = "attached" // bot: the terminal is taken next
	doRun      = "run"      // bot: run a program on the terminal, which is given back
	doSuspend  = "suspend"  // bot: stop until the shell continues
	doBye      = "bye"      // bot: this is the end; the terminal is given back
)

// wire is one end of a connection.
type wire struct {
	conn  *net.UnixConn
	lines *bufio.Scanner
	mu    sync.Mutex // for writing
}

// newWire reads first, and then from the connection.
func newWire(conn *net.UnixConn, first []byte) *wire {
	w := &wire{conn: conn, lines: bufio.NewScanner(io.MultiReader(bytes.NewReader(first), conn))}
	w.lines.Buffer(nil, maxLine)
	return w
}

// send writes a line, with which files can be passed. The caller keeps its own.
func (w *wire) send(line any, files ...*os.File) error {
	data, err := json.Marshal(line)
	if err != nil {
		return err
	}
	data = append(data, '\n')
	if len(data) > maxLine {
		return errors.New("the line is too long")
	}
	var rights []byte
	if len(files) > 0 {
		var fds []int
		for _, f := range files {
			fds = append(fds, int(f.Fd()))
		}
		rights = unix.UnixRights(fds...)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.conn.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	n, _, err := w.conn.WriteMsgUnix(data, rights, nil)
	if err == nil && n < len(data) {
		_, err = w.conn.Write(data[n:])
	}
	return err
}

// receive reads a line. At the end of the connection it returns io.EOF.
func (w *wire) receive() (m message, err error) {
	if !w.lines.Scan() {
		if err := w.lines.Err(); err != nil {
			return m, err
		}
		return m, io.EOF
	}
	if err := json.Unmarshal(w.lines.Bytes(), &m); err != nil {
		return m, errNotOurs
	}
	return m, nil
}

// errNotOurs is the error of a line that this program does not send.
var errNotOurs = errors.New("the other end is another program")

// passed is how many files come with a hello.
const passed = 2

// greet reads a client's hello and the files that came with it, within patience.
func greet(conn *net.UnixConn) (w *wire, h hello, files []*os.File, err error) {
	defer func() {
		if err != nil {
			closeAll(files)
		}
	}()
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return nil, h, nil, err
	}
	var text []byte
	buf, rights := make([]byte, 4<<10), make([]byte, unix.CmsgSpace(4*passed))
	for !bytes.ContainsRune(text, '\n') {
		n, r, flags, _, err := conn.ReadMsgUnix(buf, rights)
		if err == nil && n == 0 {
			err = io.EOF
		}
		if err != nil {
			return nil, h, files, err
		}
		more, err := opened(rights[:r])
		files = append(files, more...)
		if text = append(text, buf[:n]...); err != nil || flags&unix.MSG_CTRUNC != 0 || len(text) > maxLine {
			return nil, h, files, errNotOurs
		}
	}
	line, rest, _ := bytes.Cut(text, []byte("\n"))
	if err := json.Unmarshal(line, &h); err != nil || len(files) != passed {
		return nil, h, files, errNotOurs
	}
	return newWire(conn, rest), h, files, conn.SetReadDeadline(time.Time{})
}

// opened returns the files of a control message.
func opened(rights []byte) (files []*os.File, err error) {
	list, err := unix.ParseSocketControlMessage(rights)
	if err != nil {
		return nil, fmt.Errorf("read the files: %w", err)
	}
	for _, m := range list {
		fds, err := unix.ParseUnixRights(&m)
		if err != nil {
			return files, fmt.Errorf("read the files: %w", err)
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "viewer"))
		}
	}
	return files, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // the client has its own
	}
}
