package attach

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/sys/unix"

	"ollimbot/core"
	"ollimbot/core/safety/audit"
	"ollimbot/tui/plain"
	"ollimbot/tui/settings"
)

const (
	// farewell is how long a viewer has to read its last bytes.
	farewell = time.Second
	// Ended is the exit status of a viewer whose bot has ended and may return soon.
	Ended = 75
	// Limits on a viewer's input: bytes per second and at once, and bytes without a complete key, because an endless
	// sequence is parsed again with each byte.
	inRate, inBurst = 128 << 10, 256 << 10
	maxUnheard      = 256 << 10
	maxVars         = 16
	maxCommand      = 256
)

// session is one viewer.
type session struct {
	*client
	channel ssh.Channel
	term    string // of a pty, empty without one
	size    *unix.Winsize
	vars    []string
	began   bool // the command has arrived
	command string
	resized chan os.Signal
	master  atomic.Pointer[os.File]
	pumps   sync.WaitGroup
	revoke  context.CancelCauseFunc // ends the viewer with a reason
	// unheard is the number of bytes since the dashboard's last key: an endless paste would be kept in memory.
	unheard atomic.Int64
}

// session serves one channel: the viewer's settings, then its command.
func (c *client) session(ctx context.Context, fresh ssh.NewChannel) {
	channel, requests, err := fresh.Accept()
	if err != nil {
		return
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := &session{client: c, channel: channel, resized: make(chan os.Signal, 1)}
	begin := make(chan struct{})
	s.pumps.Go(func() {
		defer stop() // the other end has closed it
		for r := range requests {
			waited := !s.began
			ok := s.request(r)
			if r.WantReply {
				_ = r.Reply(ok, nil) // a lost connection ends the requests
			}
			if waited && s.began { // not before the reply, which would be too late for a short command
				close(begin)
			}
		}
	})
	select {
	case <-begin:
		s.end(ctx, s.run(ctx))
	case <-ctx.Done():
	}
	_ = channel.Close() // the other end does too
	s.pumps.Wait()
}

// request answers a request of the other end. Only the first command is started.
func (s *session) request(r *ssh.Request) (ok bool) {
	switch r.Type {
	case "pty-req":
		var p struct {
			Term                         string
			Columns, Rows, Width, Height uint32
			Modes                        string
		}
		if s.began || ssh.Unmarshal(r.Payload, &p) != nil || !word(p.Term) {
			return false
		}
		s.term, s.size = cmp.Or(p.Term, "dumb"), size(p.Columns, p.Rows)
		return true
	case "window-change":
		var p struct{ Columns, Rows, Width, Height uint32 }
		if ssh.Unmarshal(r.Payload, &p) == nil {
			s.resize(size(p.Columns, p.Rows))
		}
	case "env":
		var p struct{ Name, Value string }
		if s.began || ssh.Unmarshal(r.Payload, &p) != nil || !Counts(p.Name) || !word(p.Name) || !word(p.Value) || len(s.vars) >= maxVars {
			return false
		}
		s.vars = append(s.vars, p.Name+"="+p.Value)
		return true
	case "shell", "exec":
		var p struct{ Command string }
		if r.Type == "exec" && ssh.Unmarshal(r.Payload, &p) != nil || len(p.Command) > maxCommand || s.began {
			return false
		}
		s.began, s.command = true, p.Command
		return true
	}
	return false // forwarding of an agent or of X, sftp, signals
}

// resize changes the size of the terminal and notifies the dashboard on it.
func (s *session) resize(to *unix.Winsize) {
	if s.master.Load() == nil {
		return
	}
	_ = s.sized(to) // a closed one has no size
	select {
	case s.resized <- syscall.SIGWINCH:
	default: // the last signal has not been read yet
	}
}

// size returns a terminal's size, limited because of the cost of a frame. A client without a terminal sends none.
func size(columns, rows uint32) *unix.Winsize {
	if columns == 0 || rows == 0 {
		columns, rows = 80, 24
	}
	return &unix.Winsize{Col: uint16(min(columns, 640)), Row: uint16(min(rows, 200))}
}

// Counts reports whether a viewer's variable is used: those that describe its terminal.
func Counts(name string) bool {
	return slices.Contains([]string{"COLORTERM", "LANG", "NO_COLOR", "NO_MOTION"}, name) || strings.HasPrefix(name, "LC_")
}

// word reports whether a text is a plain word, like names of terminals and locales.
func word(text string) bool {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.+@;:", r)
	}
	return len(text) <= 64 && strings.TrimLeftFunc(text, plain) == ""
}

// refusal is the reason why a request was refused.
type refusal string

func (r refusal) Error() string { return string(r) }

// wish is a viewer's parsed command.
type wish struct {
	what     string // "dashboard", "plain" or "status"
	readOnly bool
	byKey    bool // required by the key
	json     bool
	theme    string
}

// parse parses a viewer's command; empty means the dashboard.
func parse(command string) (w wish, err error) {
	words := strings.Fields(command)
	w.what = "dashboard"
	if len(words) > 0 && !strings.HasPrefix(words[0], "-") {
		w.what, words = words[0], words[1:]
	}
	f := flag.NewFlagSet(w.what, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	switch w.what {
	case "dashboard":
		f.StringVar(&w.theme, "theme", "", "")
		f.BoolVar(&w.readOnly, "read-only", false, "")
	case "plain":
		f.BoolVar(&w.readOnly, "read-only", false, "")
	case "status":
		f.BoolVar(&w.json, "json", false, "")
	default:
		return w, refusal(textNoCommand)
	}
	switch {
	case f.Parse(words) != nil, f.NArg() > 0:
		return w, refusal(textNoCommand)
	case w.theme != "" && !slices.Contains(settings.Themes, w.theme):
		return w, refusal(fmt.Sprintf("--theme takes %s", strings.Join(settings.Themes, ", ")))
	}
	return w, nil
}

// run serves a viewer until it leaves.
func (s *session) run(ctx context.Context) error {
	w, err := parse(s.command)
	if err != nil {
		return err
	}
	if s.less() {
		return refusal(textLess)
	}
	w.byKey = s.may(permReadOnly) != ""
	w.readOnly = w.readOnly || w.byKey
	o := &s.server.o
	if w.what == "status" {
		args := []string{"status"}
		if w.json {
			args = append(args, "--json")
		}
		return s.answer(ctx, args)
	}
	switch {
	case w.what == "dashboard" && s.term == "":
		return refusal(textNoTerminal)
	case w.what == "dashboard" && s.term == "dumb":
		return refusal(textDumb)
	}
	n := s.server.viewer(1)
	defer s.server.viewer(-1)
	if n > maxViewers {
		return refusal(fmt.Sprintf(textManyViewers, maxViewers))
	}
	ctx, s.revoke = context.WithCancelCause(s.origin(ctx, s.server.serial.Add(1)))
	defer s.revoke(nil)
	s.pumps.Go(func() { s.watch(ctx) })
	viewer := o.Bot.Viewer(w.readOnly)
	defer viewer.Close()
	o.Bot.Note(ctx, audit.ViewerAttached, w.what, s.ways(w))
	o.Log.Info("a viewer has attached", "who", audit.OriginOf(ctx).From, "what", w.what, "read_only", w.readOnly)
	defer o.Log.Info("a viewer has left", "who", audit.OriginOf(ctx).From)
	if s.term != "" {
		err = s.onTerminal(ctx, w, viewer)
	} else {
		err = s.onPipe(ctx, w, viewer)
	}
	if why := refusal(""); errors.As(context.Cause(ctx), &why) {
		return why
	}
	return err
}

// onPipe shows plain mode without a terminal.
func (s *session) onPipe(ctx context.Context, w wish, viewer *core.Viewer) error {
	in, out := io.Pipe()
	s.pumps.Go(func() {
		_, err := io.Copy(out, input{s})
		_ = out.CloseWithError(err) // never fails
	})
	err := plain.Run(ctx, viewer, plain.Options{
		Input: in, Output: s.writer(s.channel), ReadOnly: w.readOnly, ByKey: w.byKey, Config: s.server.o.Settings,
	})
	_ = in.Close() // the pump ends at the next byte
	return err
}

// input is what the viewer types, as long as its key may do what it could when the viewer came.
type input struct{ *session }

func (i input) Read(b []byte) (int, error) {
	n, err := i.channel.Read(b)
	if n > 0 && i.less() {
		i.revoke(refusal(textLess))
		return 0, refusal(textLess)
	}
	return n, err
}

// watch ends a viewer that only looks, too, once its key may do less.
func (s *session) watch(ctx context.Context) {
	tick := time.NewTicker(keepalive)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if s.less() {
			s.revoke(refusal(textLess))
		}
	}
}

// ways describes how the viewer is attached, for the audit log.
func (s *session) ways(w wish) string {
	text := "full"
	if w.readOnly {
		text = permReadOnly
	}
	if key := s.may(permKey); key != "" {
		text += ", " + key
	}
	return text
}

// answer runs a read-only command. JSON is sent as one line.
func (s *session) answer(ctx context.Context, args []string) error {
	r := s.server.o.Commands(ctx, args)
	_, _ = io.WriteString(s.channel.Stderr(), r.Stderr)
	var line bytes.Buffer
	if json.Compact(&line, []byte(r.Stdout)) == nil {
		r.Stdout = line.String() + "\n"
	}
	if _, err := io.WriteString(s.writer(s.channel), r.Stdout); err != nil {
		return err
	}
	if r.Exit != 0 {
		return refusal("")
	}
	return nil
}

// end sends the exit status and, unless the viewer has quit, the reason.
func (s *session) end(ctx context.Context, err error) {
	var status uint32
	var refused refusal
	switch {
	case errors.As(err, &refused):
		status = 1
		if refused != "" {
			_, _ = io.WriteString(s.channel.Stderr(), "ollim-bot: "+string(refused)+"\r\n")
		}
	case ctx.Err() != nil: // the bot ends, or the viewer is lost
		status = Ended
		_, _ = io.WriteString(s.channel.Stderr(), textEnded+"\r\n")
	case err != nil:
		status = 1
		s.server.o.Log.Error("a viewer broke", "error", err)
		_, _ = io.WriteString(s.channel.Stderr(), textBroke+"\r\n")
	}
	// A lost connection counts as a viewer that has left.
	_, _ = s.channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{status}))
}
