package fork

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/script"
	"ollimbot/core/base/tail"
	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/session"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
	"ollimbot/routines/when"
)

// harness is a manager in a temporary directory that records everything around it.
type harness struct {
	t    testing.TB
	dir  *store.Dir
	o    Options
	m    *Manager
	book *book

	mu     sync.Mutex
	poster func(context.Context, post.Post) (post.MessageID, error) // implements Post
	posts  []post.Post
	failed error // the error of Post
	busy   bool
	quiet  time.Time
	muted  time.Time
	stops  []string // the routines to stop
	// unstopped is the error of Stop.
	unstopped error
	limits    Limits

	log bytes.Buffer
	// troubles are the expected log entries.
	troubles []string
}

func newHarness(t testing.TB, change ...func(*Options)) *harness {
	t.Helper()
	dir := storetest.Prepared(t)
	h := &harness{t: t, dir: dir, book: &book{}}
	log := slog.New(slog.NewTextHandler(&h.log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	t.Cleanup(h.readLog)
	h.o = Options{
		Dir: dir, Zone: time.UTC, Log: log, Engine: script.New(script.Options{Pace: 1}),
		Budget: budget.NewBucket(dir, time.UTC, log), Tally: budget.NewTally(dir, time.UTC, log), Journal: budget.NewJournal(dir, time.UTC, log),
		Updates: updates.NewQueue(dir, time.UTC, log), Sessions: session.NewStore(dir, time.UTC, log),
		Changed: func() {}, Host: h, Guard: policy.New(policy.Options{Dir: dir, Zone: time.UTC, Log: log}),
	}
	h.poster = h.post
	for _, c := range change {
		c(&h.o)
	}
	h.m = h.manager()
	return h
}

// readLog fails if the log lacks an expected entry, or has an unexpected one.
func (h *harness) readLog() {
	text := h.log.String()
	for _, trouble := range h.troubles {
		if !strings.Contains(text, trouble) {
			h.t.Errorf("the log does not say %q:\n%s", trouble, text)
		}
	}
	for line := range strings.Lines(text) {
		if !slices.ContainsFunc(h.troubles, func(trouble string) bool { return strings.Contains(line, trouble) }) {
			h.t.Errorf("the log has %s", line)
		}
	}
}

func (h *harness) manager() *Manager {
	h.t.Helper()
	m, err := NewManager(h.o)
	testkit.Must(h.t, err)
	return m
}

// serve runs the manager; the returned function stops it and waits.
func (h *harness) serve() (stop func()) {
	ctx, cancel := context.WithCancel(h.t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := h.m.Run(ctx); err != nil {
			h.t.Error(err)
		}
	})
	synctest.Wait()
	return func() { cancel(); wg.Wait() }
}

// served runs a test in a bubble, beside a manager that serves its queue.
func served(t *testing.T, test func(t *testing.T, h *harness), change ...func(*Options)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, change...)
		defer h.serve()()
		test(t, h)
	})
}

// start queues a job and lets it run as far as it can at this moment; end waits for its end.
func (h *harness) start(j Job) (end func() (View, error)) {
	var wg sync.WaitGroup
	var v View
	var err error
	wg.Go(func() { v, err = h.m.Do(h.t.Context(), j) })
	synctest.Wait()
	return func() (View, error) { wg.Wait(); return v, err }
}

// done runs a job that has to succeed.
func (h *harness) done(j Job) View {
	h.t.Helper()
	v, err := h.m.Do(h.t.Context(), j)
	if err != nil || v.State != Done {
		h.t.Errorf("%s is %s: %v", v.Title, v.State, err)
	}
	return v
}

// lines returns the tail of a run.
func (h *harness) lines(id string) []string {
	page, _ := h.m.Tail(id, 0)
	return texts(page.Lines)
}

// wants checks that a text has all parts.
func wants(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%s: %q lacks %q", what, text, p)
		}
	}
}

func (h *harness) Post(ctx context.Context, p post.Post) (post.MessageID, error) {
	return h.poster(ctx, p)
}

func (h *harness) Busy() (bool, time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.busy, h.quiet
}

func (h *harness) Muted() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.muted
}

func (h *harness) Limits() Limits {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.limits
}

func (h *harness) SystemPrompt() string { return "" }
func (h *harness) BriefPrompt() string  { return "" }

func (h *harness) Reminders(policy.Writer) toolset.ReminderBook { return h.book }

// Stop records the request, and fails as the harness is set to.
func (h *harness) Stop(_ policy.Writer, routine string, s toolset.Stop) (toolset.Stopped, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stops = append(h.stops, fmt.Sprint(routine, " ", s.Reason, " ", s.End))
	return toolset.Stopped{Answer: toolset.TextPaused, Said: "It paused itself: " + s.Reason, Briefly: "paused itself"}, h.unstopped
}

func (h *harness) post(_ context.Context, p post.Post) (post.MessageID, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failed != nil && !errors.Is(h.failed, post.ErrUnknown) {
		return "", h.failed
	}
	if err := p.Begin(); err != nil || h.failed != nil {
		return "", errors.Join(err, h.failed)
	}
	p.Before = nil
	h.posts = append(h.posts, p)
	return post.MessageID(fmt.Sprint(len(h.posts))), nil
}

func (h *harness) sent() []post.Post {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]post.Post(nil), h.posts...)
}

func (h *harness) set(change func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change()
}

// drain leaves that many tokens in the bucket.
func (h *harness) drain(left int) {
	h.t.Helper()
	for {
		now := h.m.o.now()
		state, _ := h.o.Budget.State(now)
		if state.Whole() <= left {
			return
		}
		if unsaved, err := h.o.Budget.Try(false, func(pay func() error) (bool, error) { return true, pay() }); unsaved != nil || err != nil {
			h.t.Fatal(unsaved, err)
		}
	}
}

func (h *harness) tokens() float64 {
	state, _ := h.o.Budget.State(h.m.o.now())
	return state.Available
}

// task returns a background routine with the defaults of the file format.
func task(change ...func(*routines.Task)) routines.Task {
	t := routines.Task{
		Kind: routines.KindRoutine, ID: "a1b2c3d4", Description: "Email sweep", Body: "Sweep.",
		Background: true, Thinking: true, Mode: routines.OnPing, AllowPing: true,
	}
	for _, c := range change {
		c(&t)
	}
	return t
}

func mode(m routines.Mode) func(*routines.Task) { return func(t *routines.Task) { t.Mode = m } }

func noPing(t *routines.Task) { t.AllowPing = false }

// playing returns a job whose prompt is a script for the offline engine.
func playing(t routines.Task, lines ...string) Job {
	return Job{Task: t, Allowed: []string{"Read(./**.md)"}, Prompt: func(context.Context) string {
		return "[routine-bg:" + t.ID + "]\n```script\n" + strings.Join(lines, "\n") + "\n```\n"
	}}
}

// run returns a run whose tools can be called without an engine.
func (h *harness) run(t routines.Task, change ...func(*Job)) *run {
	j := playing(t, "stop")
	for _, c := range change {
		c(&j)
	}
	return newRun(&h.m.o, j, h.m.stop)
}

// texts formats lines as "kind text".
func texts(lines []tail.Line) (list []string) {
	for _, l := range lines {
		list = append(list, string(l.Kind)+" "+l.Text)
	}
	return list
}

// tailOf returns the lines of a run that no manager has.
func tailOf(r *run) []string { return texts(r.status.ring.Read(0).Lines) }

// book is an in-memory reminder book.
type book struct {
	mu   sync.Mutex
	list []routines.Reminder
	fail error
}

func (b *book) Add(_ context.Context, r routines.Reminder) (routines.Reminder, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fail != nil {
		return r, b.fail
	}
	r.ID = fmt.Sprintf("%08x", len(b.list)+1)
	b.list = append(b.list, r)
	return r, nil
}

func (b *book) Continue(ctx context.Context, _, next routines.Reminder) (routines.Reminder, error) {
	return b.Add(ctx, next)
}

func (b *book) List() []routines.Reminder {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]routines.Reminder(nil), b.list...)
}

func (b *book) Cancel(string) (bool, error) { return false, nil }

func (b *book) Times() when.Reader { return when.Reader{Now: time.Now().UTC()} }

// engineFunc is an engine of a single function, for behaviour that the offline engine
// lacks.
type engineFunc func(ctx context.Context, o agent.SessionOptions) (agent.Session, error)

func (f engineFunc) Open(ctx context.Context, o agent.SessionOptions) (agent.Session, error) {
	return f(ctx, o)
}

// opening gives a harness that engine.
func opening(open engineFunc) func(*Options) { return func(o *Options) { o.Engine = open } }

// telling is a session whose turn is a list of events. Without one it is rude: it ignores interrupts and its context
// until it is closed.
type telling struct {
	events  []agent.Event
	once    sync.Once
	closed  chan struct{}
	closing error // the error of Close
}

// emits gives a harness an engine of such sessions.
func emits(events ...agent.Event) func(*Options) {
	return opening(func(_ context.Context, o agent.SessionOptions) (agent.Session, error) {
		for _, ev := range events {
			if r, is := ev.(agent.Result); is && o.Hooks.Charge != nil {
				o.Hooks.Charge(agent.Charge{Used: r.Usage})
			}
		}
		return &telling{events: events, closed: make(chan struct{})}, nil
	})
}

func (s *telling) ID() string { return "11111111-2222-4333-8444-555555555555" }

func (s *telling) Send(context.Context, agent.Message) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		for _, ev := range s.events {
			if !yield(ev, nil) {
				return
			}
		}
		if len(s.events) == 0 && yield(agent.Text{Delta: "la la la\n"}, nil) {
			<-s.closed
			yield(nil, fmt.Errorf("the process is gone"))
		}
	}
}

func (s *telling) Interrupt(context.Context) error                 { return nil }
func (s *telling) Configure(context.Context, agent.Settings) error { return nil }
func (s *telling) Close() error                                    { s.once.Do(func() { close(s.closed) }); return s.closing }
