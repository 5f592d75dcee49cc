package chat

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/prompt"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/notice"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/session"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
	"ollimbot/routines/when"
)

// stage is a conversation in its own data directory, with a user who has a phone.
type stage struct {
	*Conversation
	o     Options
	t     *testing.T
	dir   *store.Dir
	phone *phone
	purse purse
	// adjust changes the settings. Set it before the conversation runs.
	adjust  func(*config.Runtime)
	sent    int // messages sent by say
	renewed int // how often the library was
	book    book
	profile prompt.Profile
	log     bytes.Buffer
	// troubles are the expected log entries, except failed turns reported to the user.
	troubles []string

	looking sync.Mutex
	saw     look // by the dashboard, at the last change notification
}

// look is a dashboard's view of the conversation, without the chat.
type look struct {
	busy   bool
	status string
	fork   Banner
}

func (s *stage) look() (l look) {
	l.busy, _ = s.Busy()
	l.status = s.Status()
	if b := s.Banner(); b != nil {
		l.fork = *b
	}
	return l
}

// Changed does what a dashboard does: it reads the state again.
func (s *stage) Changed() {
	s.looking.Lock()
	defer s.looking.Unlock()
	if s.Conversation != nil {
		s.saw = s.look()
	}
}

// settle waits until everything is idle. By then the dashboard must be up to date.
func (s *stage) settle() {
	s.t.Helper()
	synctest.Wait()
	s.looking.Lock()
	defer s.looking.Unlock()
	if now := s.look(); s.saw != now {
		s.t.Errorf("a dashboard still shows %+v, and not %+v", s.saw, now)
	} else if n := s.purse.underWay(); n > 0 && !now.busy {
		s.t.Errorf("%d turns count as under way after their end", n)
	}
}

// The stage is its conversation's host.
func (s *stage) Config() *config.Runtime {
	r, _, _ := config.LoadRuntime(s.dir)
	if s.adjust != nil {
		s.adjust(&r)
	}
	return &r
}
func (s *stage) SystemPrompt() string    { return "the system prompt" }
func (s *stage) BriefPrompt() string     { return "the brief prompt" }
func (s *stage) Profile() prompt.Profile { return s.profile }
func (s *stage) Reminders(w policy.Writer) toolset.ReminderBook {
	s.book.by = append(s.book.by, w)
	return &s.book
}

func (s *stage) Propose(p toolset.Promise) agent.ToolResult {
	return toolset.Said("proposed: " + p.Words)
}

func (s *stage) Hide(text string) string { return strings.ReplaceAll(text, secret, "***") }

// secret is hidden by Hide.
const secret = "hunter2-hunter2"

// purse pays for everything unless it is empty.
type purse struct {
	mu    sync.Mutex
	empty error
	spent []string
	under map[bool]int // turns under way, by whether they are a fork's
}

func (p *purse) MayTalk(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.empty
}

// MayGoOn lets every turn continue.
func (p *purse) MayGoOn(_ context.Context, s agent.Spending) (float64, string) { return s.Allowed, "" }

func (p *purse) Began(inFork bool) (ended func()) {
	add := func(n int) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.under == nil {
			p.under = map[bool]int{}
		}
		p.under[inFork] += n
	}
	add(1)
	return func() { add(-1) }
}

func (p *purse) underWay() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.under[false] + p.under[true]
}

func (p *purse) Booked(inFork bool, c agent.Charge) {
	p.mu.Lock()
	defer p.mu.Unlock()
	on := "main "
	if inFork {
		on = "fork "
	}
	if p.under[inFork] != 1 {
		on += "outside of a turn " // a kill would leave no trace of it
	}
	p.spent = append(p.spent, on+c.Model)
}

// book counts the checks that continue a chain, and records the writers.
type book struct {
	toolset.ReminderBook
	continued int
	by        []policy.Writer
}

func (b *book) Continue(_ context.Context, _, next routines.Reminder) (routines.Reminder, error) {
	b.continued++
	return next, nil
}

func (b *book) Add(_ context.Context, r routines.Reminder) (routines.Reminder, error) { return r, nil }
func (b *book) List() []routines.Reminder                                             { return nil }
func (b *book) Times() when.Reader                                                    { return when.Reader{Now: time.Now()} }

// offline is a user without a Google account.
type offline struct{}

func (offline) Redirected(context.Context, string) bool { return false }
func (offline) Click(context.Context, string, string) (string, error) {
	return "", errors.New("google is not connected")
}

// newStage creates a conversation that is not running.
func newStage(t *testing.T) *stage {
	t.Helper()
	return stageAt(t, filepath.Join(t.TempDir(), "data"), &actor{})
}

func stageAt(t *testing.T, root string, a *actor, change ...func(*Options)) *stage {
	t.Helper()
	dir := storetest.At(t, root)
	testkit.Must(t, dir.Prepare())
	s := &stage{t: t, dir: dir, phone: &phone{}}
	log, zone := slog.New(slog.NewTextHandler(&s.log, nil)), time.UTC
	asIs := func(text string) string { return text }
	o := Options{
		Rings: func(k post.Kind, _ string) bool { return k.Rings(post.Moment{}) },
		Dir:   dir, Zone: zone, Log: log, Engine: a, Remote: s.phone, RemoteName: "Phone",
		Records: Records{
			Transcript: transcript.New(transcript.Options{Dir: dir, Log: log, Zone: zone}),
			Updates:    updates.NewQueue(dir, zone, log), Sessions: session.NewStore(dir, zone, log), Runs: session.NewForkMessages(dir, log),
			Audit: audit.New(audit.Options{Dir: dir, Log: log, Hide: asIs}),
		},
		Guard: policy.New(policy.Options{Dir: dir, Zone: zone, Log: log}), Policy: policy.NewFile(dir),
		Notices: notice.NewBoard(zone, asIs, s.Changed), Commit: func(string, string) {},
		Library: func() []agent.Tool { return []agent.Tool{{Name: "borrowed"}} }, Renew: func(context.Context) { s.renewed++ },
		Host: s, Money: &s.purse, Google: offline{},
	}
	for _, f := range change {
		f(&o)
	}
	s.o, s.Conversation = o, New(o)
	o.Records.Transcript.OnChange(s.Changed)
	o.Guard.Approvals().OnChange(s.phone.Approval)
	return s
}

// run runs a story with a running conversation.
func (s *stage) run(story func(s *stage)) {
	s.t.Helper()
	ctx, stop := context.WithCancel(s.t.Context())
	done := make(chan error, 1)
	s.Recover(ctx)
	go func() { done <- s.Run(ctx) }()
	synctest.Wait()
	story(s)
	stop()
	if err := <-done; err != nil {
		s.t.Errorf("Run ended with %v", err)
	}
	s.readLog()
}

// readLog fails if the log lacks an expected entry, or has an unexpected one.
func (s *stage) readLog() {
	s.t.Helper()
	text := s.log.String()
	for _, trouble := range s.troubles {
		if !strings.Contains(text, trouble) {
			s.t.Errorf("the log does not say %q:\n%s", trouble, text)
		}
	}
	for line := range strings.Lines(text) {
		if !slices.ContainsFunc(append(s.troubles, textTurnFailed), func(trouble string) bool { return strings.Contains(line, trouble) }) {
			s.t.Errorf("the log has %s", line)
		}
	}
}

// hear receives a message from the phone.
func (s *stage) hear(key, text string) <-chan error {
	s.t.Helper()
	return s.take(command.Receive{From: "Phone", Key: key, Text: text})
}

func (s *stage) take(m command.Receive) <-chan error {
	s.t.Helper()
	done, err := s.Receive(s.t.Context(), m)
	if err != nil {
		s.t.Fatalf("receive %+v: %v", m, err)
	}
	return done
}

// occupy keeps the conversation busy until it is released.
func (s *stage) occupy() (release func()) {
	s.t.Helper()
	over := make(chan struct{})
	testkit.Must(s.t, s.queue.later(func(ctx context.Context) error {
		select {
		case <-over:
		case <-ctx.Done():
		}
		return nil
	}))
	synctest.Wait()
	return func() { close(over) }
}

// has reports whether a file exists.
func (s *stage) has(rel string) bool {
	_, err := os.Lstat(s.dir.Path(rel))
	return err == nil
}

// pass lets time pass, and everything happen that is due by then.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// phone is an in-memory remote surface that records what the user would see.
type phone struct {
	mu      sync.Mutex
	posts   []post.Post
	notes   []string
	silent  []string      // the notes without a sound
	noted   []string      // the notes with all that is special about them
	buttons []post.Button // of the notes
	texts   []*strings.Builder
	answers []AnswerOptions
	asked   []policy.Approval
	// edits are the posts that replaced others, deleted the removed ids, aside the extra
	// information shown with answers.
	edits   map[post.MessageID]post.Post
	deleted []post.MessageID
	aside   []string
	open    int // answers that have not ended
	// broken is the error of all posts, frozen that of all edits.
	broken, frozen error
}

func (p *phone) with(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do()
}

func (p *phone) Post(_ context.Context, m post.Post) (id post.MessageID, err error) {
	p.with(func() {
		if err = p.broken; err == nil {
			p.posts = append(p.posts, m)
			id = post.MessageID(fmt.Sprintf("9%03d", len(p.posts)))
		}
	})
	return id, err
}

func (p *phone) Edit(_ context.Context, id post.MessageID, m post.Post) (err error) {
	p.with(func() {
		if err = p.frozen; err != nil {
			return
		}
		if p.edits == nil {
			p.edits = map[post.MessageID]post.Post{}
		}
		p.edits[id] = m
	})
	return err
}

func (p *phone) Delete(_ context.Context, id post.MessageID) error {
	p.with(func() { p.deleted = append(p.deleted, id) })
	return nil
}
func (p *phone) Typing(context.Context) error { return nil }
func (p *phone) Small(text string, rings bool, buttons ...post.Button) {
	p.with(func() {
		p.notes, p.buttons = append(p.notes, text), append(p.buttons, buttons...)
		whole := text
		if !rings {
			p.silent, whole = append(p.silent, text), whole+" (silent)"
		}
		for _, b := range buttons {
			whole += " [" + b.Label + "]"
		}
		p.noted = append(p.noted, whole)
	})
}

func (p *phone) Approval(a policy.Approval) { p.with(func() { p.asked = append(p.asked, a) }) }

func (p *phone) Answer(o AnswerOptions) RemoteAnswer {
	a := &phoneAnswer{p: p, rang: o.Silent}
	p.with(func() { p.texts, p.answers, p.open = append(p.texts, &a.text), append(p.answers, o), p.open+1 })
	return a
}

// approvals returns the shown tool calls, asked and settled.
func (p *phone) approvals() (list []policy.Approval) {
	p.with(func() { list = append(list, p.asked...) })
	return list
}

type phoneAnswer struct {
	p    *phone
	text strings.Builder
	rang bool
}

func (a *phoneAnswer) Rings() (rings bool) {
	a.p.with(func() { rings = !a.rang && a.text.Len() == 0 })
	return rings
}
func (a *phoneAnswer) Rang() { a.p.with(func() { a.rang = true }) }

func (a *phoneAnswer) Append(d string) { a.p.with(func() { a.text.WriteString(d) }) }
func (a *phoneAnswer) Rewind(n int) {
	a.p.with(func() {
		kept := a.text.String()[:a.text.Len()-n]
		a.text.Reset()
		a.text.WriteString(kept)
	})
}
func (a *phoneAnswer) Tool(label string, denied bool) { a.note("tool %s denied=%v", label, denied) }
func (a *phoneAnswer) Status(label string)            { a.note("status %s", label) }
func (a *phoneAnswer) Compacting(ev agent.Compacting) { a.note("compacting done=%v", ev.Done) }

// End shows the answer as a message with the id "8" and its number.
func (a *phoneAnswer) End(emptyIsFine bool, shown func([]post.MessageID)) {
	if a.p.with(func() { a.p.open-- }); emptyIsFine {
		a.note("it may be empty")
	}
	if a.text.Len() == 0 {
		shown(nil)
		return
	}
	n := 0
	a.p.with(func() { n = slices.Index(a.p.texts, &a.text) + 1 })
	shown([]post.MessageID{post.MessageID(fmt.Sprintf("8%03d", n))})
}

func (a *phoneAnswer) note(format string, args ...any) {
	a.p.with(func() { a.p.aside = append(a.p.aside, fmt.Sprintf(format, args...)) })
}

// jam makes every operation with a lock fail until mend is called.
func (s *stage) jam(name string) (mend func()) {
	s.t.Helper()
	lock := s.dir.Path("state/." + name + ".lock")
	if err := os.Remove(lock); err != nil && !errors.Is(err, os.ErrNotExist) {
		s.t.Fatal(err)
	}
	testkit.Must(s.t, os.Symlink(lock, lock)) // a loop, which cannot be opened
	return func() { testkit.Must(s.t, os.Remove(lock)) }
}
