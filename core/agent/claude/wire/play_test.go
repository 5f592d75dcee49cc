package wire

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
)

// stage is a connection, the command at the other ends of its pipes, and notes of all that happens.
type stage struct {
	*Conn
	in  *io.PipeWriter // the command's output
	out *io.PipeReader // its input
	g   sync.WaitGroup
	end context.CancelFunc

	mu    sync.Mutex
	notes []string
	step  time.Time
}

// accents is a long text.
var accents = regexp.MustCompile("éé+")

func (s *stage) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := strings.TrimSuffix(fmt.Sprintf(format, args...), "\n")
	text = accents.ReplaceAllStringFunc(text, func(run string) string { return fmt.Sprintf("%dé", utf8.RuneCountInString(run)) })
	if d := time.Since(s.step); d > 0 {
		text += " after " + d.String()
	}
	s.notes = append(s.notes, text)
}

// Write notes a line of the log.
func (s *stage) Write(line []byte) (int, error) {
	s.note("logs %s", line)
	return len(line), nil
}

// take returns the notes since the last call, sorted, because what is done beside each other has no order.
func (s *stage) take() []string {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	notes := s.notes
	s.notes, s.step = nil, time.Now()
	slices.Sort(notes)
	return notes
}

// open runs a connection in a bubble, where it may be given something unusual.
func open(t *testing.T, handler Handler, given string) *stage {
	r, in := io.Pipe()
	out, w := io.Pipe()
	s := &stage{in: in, out: out, step: time.Now()}
	read := io.Reader(r)
	if strings.Contains(given, "a pipe that cannot be closed") {
		read = struct{ io.Reader }{r}
	}
	if strings.Contains(given, "no handler") {
		handler = nil
	}
	log := slog.New(slog.NewTextHandler(s, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		switch {
		case a.Key == slog.TimeKey:
			return slog.Attr{}
		case a.Key == "stack" && strings.Contains(a.Value.String(), ".go:") && !strings.Contains(a.Value.String(), "secret"):
			return slog.String("stack", "(calls)")
		}
		return a
	}}))
	s.Conn = New(read, w, Options{Handler: handler, Log: log, Line: func(l Line) {
		s.note("delivers %q %q %s", l.Type, l.Subtype, l.Raw)
		if !l.At.Equal(time.Now()) {
			s.note("read at %s", l.At)
		}
	}})
	ctx, cancel := context.WithCancel(t.Context())
	s.end = cancel
	s.g.Go(func() {
		err := s.Run(ctx)
		s.note("returns %v", err)
	})
	s.g.Go(func() {
		<-s.Ended()
		s.note("ends")
	})
	s.g.Go(func() {
		lines := bufio.NewScanner(out)
		for !strings.Contains(given, "a command that does not read") && lines.Scan() {
			s.note("writes %s", lines.Text())
		}
	})
	return s
}

// ask sends a control request and notes what comes of it.
func (s *stage) ask(ctx context.Context, name string, request any) {
	s.g.Go(func() {
		response, err := s.Request(ctx, request)
		refused := (*RequestError)(nil)
		switch {
		case errors.As(err, &refused):
			s.note("%s of %s is refused: %q, %v", name, refused.Subtype, refused.Message, err)
		case errors.Is(err, ErrClosed):
			s.note("%s is closed", name)
		case err != nil:
			s.note("%s fails: %v", name, err)
		default:
			s.note("%s gets %s", name, response)
		}
	})
}

// says writes bytes as the command.
func (s *stage) says(line string) {
	if _, err := io.WriteString(s.in, line); err != nil {
		s.note("cannot say %s: %v", line, err)
	}
}

// unmarshallable panics where an answer is encoded.
type unmarshallable struct{}

func (unmarshallable) MarshalJSON() ([]byte, error) { panic("secret of the marshaller") }

// teller plays a story and writes down what comes of its steps, a single line behind "=>".
type teller struct {
	*stage
	asked   int
	release chan struct{}
}

// handle answers a request as its subtype says.
func (n *teller) handle(ctx context.Context, subtype string, request json.RawMessage) (any, error) {
	switch subtype {
	case "nothing":
		return nil, nil
	case "something":
		n.note("handles %s", request)
		return map[string]any{"behavior": "allow"}, nil
	case "error":
		return nil, errors.New("not\nnow")
	case "silent error":
		return nil, errors.New("")
	case "panic in the answer":
		return unmarshallable{}, nil
	case "no JSON":
		return func() {}, nil
	case "stubborn":
		<-n.release
		return nil, ctx.Err()
	case "patient", "slow":
		<-ctx.Done()
		if subtype == "slow" {
			time.Sleep(time.Hour)
		}
		n.note("stops %s", subtype)
		return nil, ctx.Err()
	}
	panic("secret of the handler")
}

// play takes one step.
func (n *teller) play(t *testing.T, step string) {
	what, rest, _ := strings.Cut(strings.ReplaceAll(step, "9999é", strings.Repeat("é", 9999)), " ")
	switch what {
	case "says":
		n.says(rest + "\n")
	case "last": // and nothing after it
		n.says(rest)
		_ = n.in.Close()
	case "asks":
		id, subtype, _ := strings.Cut(rest, " ")
		n.says(fmt.Sprintf(`{"type":"control_request","request_id":%q,"request":{"subtype":%q}}`+"\n", id, subtype))
	case "cancels":
		n.says(fmt.Sprintf(`{"type":"control_cancel_request","request_id":%q}`+"\n", rest))
	case "answers":
		id, rest, _ := strings.Cut(rest, " ")
		n.says(fmt.Sprintf(`{"type":"control_response","response":{"request_id":%q,%s}}`+"\n", id, rest))
	case "send":
		switch err := n.Send(json.RawMessage(rest)); {
		case errors.Is(err, ErrClosed):
			n.note("send is closed")
		case err != nil:
			n.note("send fails: %v", err)
		}
	case "flood":
		for range 1000 {
			testkit.Must(t, n.Send(struct{}{}))
		}
	case "request", "hurry":
		n.asked++
		ctx, name := t.Context(), fmt.Sprintf("request %d", n.asked)
		if what == "hurry" {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, time.Second)
			t.Cleanup(cancel)
		}
		n.ask(ctx, name, json.RawMessage(rest))
	case "read":
		var read []string
		for _, l := range linesOf(t, rest) {
			read = append(read, decoders[l.Type](l))
		}
		n.note("%s", strings.Join(read, "\n"))
	case "wait":
		d, err := time.ParseDuration(rest)
		testkit.Must(t, err)
		time.Sleep(d)
	case "look":
		read := "never"
		if at := n.LastRead(); !at.IsZero() {
			read = time.Since(at).String() + " ago"
		}
		n.note("pending %d, read %s", n.Pending(), read)
	case "release":
		close(n.release)
	case "cancel":
		n.end()
	case "lose":
		_ = n.in.CloseWithError(errors.New("the pipe is gone"))
	case "deafen":
		_ = n.out.CloseWithError(errors.New("the reader is gone"))
	default:
		t.Fatalf("no step %q", step)
	}
}

// tell plays the lines of a story that begin with ">", and returns them with what came of each. The last thing that
// happens is that the command ends.
func tell(t *testing.T, story string) (got string) {
	synctest.Test(t, func(t *testing.T) {
		n := &teller{release: make(chan struct{})}
		given, _, _ := strings.Cut(story, "\n")
		n.stage = open(t, n.handle, given)
		var lines []string
		for line := range strings.Lines(story) {
			step, ok := strings.CutPrefix(strings.TrimSpace(line), "> ")
			if !ok {
				continue
			}
			step, _, _ = strings.Cut(step, " => ")
			if !strings.HasPrefix(step, "given ") {
				n.play(t, step)
			}
			notes := n.take()
			if len(notes) == 1 && !strings.Contains(notes[0], "\n") { // it is behind the step
				step, notes = step+" => "+notes[0], nil
			}
			lines = append(append(lines, "> "+step), notes...)
		}
		got = strings.Join(lines, "\n")
		_ = n.in.Close()
		n.end()
		select {
		case <-n.release:
		default:
			close(n.release)
		}
		n.g.Wait()
		if len(n.waiting) > 0 || n.Pending() > 0 {
			t.Errorf("%d requests wait, %d are pending", len(n.waiting), n.Pending())
		}
	})
	return got
}

// stories plays a file of testdata/stories. A line with ">" is a step; the lines below it are all that comes of it.
func stories(t *testing.T, file string) {
	t.Helper()
	goldentest.Stories(t, filepath.Join("stories", file+".txt"), tell)
}
