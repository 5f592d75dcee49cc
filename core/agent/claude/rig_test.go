package claude

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/agent/claude/process"
	"ollimbot/core/agent/claude/sessionfile"
	"ollimbot/core/base/testkit"
)

// soon is the time limit for something that must happen.
const soon = 2 * time.Minute

// rig is an engine over the real command and a fake model.
type rig struct {
	t      *testing.T
	api    *claudetest.Server
	engine *Engine
	env    []string
	dir    string
}

// newRig runs an engine over the real command until the test ends, in parallel with other tests
// that do. change may change the options.
func newRig(t *testing.T, change ...func(*Options)) *rig {
	t.Helper()
	path := claudetest.RequireCLI(t)
	t.Parallel()
	api := claudetest.Start(t, claudetest.Options{})
	r := &rig{t: t, api: api, env: claudetest.CLIEnv(t, api), dir: t.TempDir()}
	o := Options{Path: path, Env: r.env, Log: testLog(t)}
	for _, f := range change {
		f(&o)
	}
	r.engine = New(o)
	runEngine(t, r.engine)
	return r
}

// runEngine runs an engine until the test ends, and then checks that nothing of it is left.
func runEngine(t testing.TB, e *Engine) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var g sync.WaitGroup
	g.Go(func() {
		if err := e.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	end = sync.OnceFunc(func() {
		cancel()
		g.Wait()
		if left := e.opened(); len(left) > 0 {
			t.Errorf("%d processes are left", len(left))
		}
	})
	t.Cleanup(end)
	<-e.begun
	return end
}

func testLog(t testing.TB) *slog.Logger {
	t.Helper()
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// options returns options for a session that allows everything.
func (r *rig) options() agent.SessionOptions {
	return agent.SessionOptions{
		Dir: r.dir, SystemPrompt: "You are the bot of a test.",
		Settings:   agent.Settings{Model: "haiku", Thinking: "off", Mode: "default"},
		Permission: func(_ context.Context, u agent.ToolUse) agent.Decision { return u.Allowed() },
	}
}

// open opens a session. change may change the options.
func (r *rig) open(change ...func(*agent.SessionOptions)) agent.Session {
	r.t.Helper()
	o := r.options()
	for _, f := range change {
		f(&o)
	}
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	s, err := r.engine.Open(ctx, o)
	testkit.Must(r.t, err)
	return s
}

// inner returns the session's current process.
func inner(s agent.Session) *session {
	r := s.(*resumable)
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

// requests returns the requests for an answer of the model.
func (r *rig) requests() []claudetest.Request {
	return claudetest.ForModel(r.api.Requests())
}

// last returns the newest request for an answer of the model.
func (r *rig) last() claudetest.Request {
	q := r.requests()
	return q[len(q)-1]
}

// knows runs a turn and checks that the model was shown this before, or with it.
func (r *rig) knows(s agent.Session, what string) {
	r.t.Helper()
	say(r.t, s, "what fruit?").result(r.t)
	if !strings.Contains(string(r.last().Raw), what) {
		r.t.Errorf("the session %s does not know %q", s.ID(), what)
	}
}

// until waits until n requests for the model have arrived.
func (r *rig) until(n int) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	testkit.Must(r.t, r.api.Wait(ctx, func(all []claudetest.Request) bool { return len(claudetest.ForModel(all)) >= n }))
}

// told is the result of a turn.
type told struct {
	events []agent.Event
	err    error
}

// say runs a turn to its end. see gets each event.
func say(t *testing.T, s agent.Session, text string, see ...func(agent.Event)) told {
	t.Helper()
	return send(t, s, agent.Message{Text: text}, see...)
}

func send(t *testing.T, s agent.Session, m agent.Message, see ...func(agent.Event)) told {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	var h told
	for ev, err := range s.Send(ctx, m) {
		if err != nil {
			h.err = err
			continue
		}
		h.events = append(h.events, ev)
		for _, f := range see {
			f(ev)
		}
	}
	if errors.Is(h.err, context.DeadlineExceeded) {
		t.Errorf("the turn did not end in time; it said %q", h.text())
	}
	return h
}

// text returns the text of the turn, without text that was taken back.
func (h told) text() string {
	var b []byte
	for _, ev := range h.events {
		switch ev := ev.(type) {
		case agent.Text:
			b = append(b, ev.Delta...)
		case agent.Rewind:
			b = b[:len(b)-ev.Bytes]
		}
	}
	return string(b)
}

// result returns the turn's result.
func (h told) result(t *testing.T) agent.Result {
	t.Helper()
	if h.err != nil {
		t.Fatalf("the turn ended with the error %v", h.err)
	}
	if len(h.events) > 0 {
		if r, ok := h.events[len(h.events)-1].(agent.Result); ok {
			return r
		}
	}
	t.Fatalf("the turn has no result: %v", h.events)
	return agent.Result{}
}

// all returns the events of one kind.
func all[E agent.Event](h told) []E {
	var list []E
	for _, ev := range h.events {
		if e, ok := ev.(E); ok {
			list = append(list, e)
		}
	}
	return list
}

// transcript returns the history file of a session.
func (r *rig) transcript(id string) string {
	return sessionfile.Path(sessionfile.ConfigDir(process.Environment(r.env, process.Env{})), r.dir, id)
}

// written waits until the command has written a text to a session's transcript, which takes about
// 0.1 s after the message.
func (r *rig) written(id, text string) {
	r.t.Helper()
	eventually(r.t, func() bool {
		b, err := os.ReadFile(r.transcript(id))
		return err == nil && strings.Contains(string(b), text)
	})
}

// eventually polls for a condition without a notification.
func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(soon); !holds(); {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("it never came")
		}
	}
}

// oneLine fails for a nil error, or one longer than a line.
func oneLine(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("there was no error")
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("the error has several lines: %q", err)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("the error %q does not say %q", err, p)
		}
	}
}

// playing returns a file that plays the command.
func playing(t *testing.T, body string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "claude")
	testkit.Must(t, os.Chmod(testkit.Program(t, path, body), mode))
	return path
}

// put writes files below a folder.
func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		testkit.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		testkit.Must(t, os.WriteFile(path, []byte(text), 0o600))
	}
}
