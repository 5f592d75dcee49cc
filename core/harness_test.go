package core

import (
	"cmp"
	"context"
	"fmt"
	"iter"
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
	"ollimbot/core/agent/script"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/transcript"
	"ollimbot/routines/schedule"
)

// home is a data directory for a story, in a real time zone other than UTC.
type home struct {
	t    testing.TB
	root string
	zone *time.Location
}

func newHome(t *testing.T) home {
	t.Helper()
	root := t.TempDir()
	if memory, err := os.MkdirTemp("/dev/shm", "ollim-core-"); err == nil { // fsync costs nothing there
		t.Cleanup(func() { _ = os.RemoveAll(memory) })
		root = memory
	}
	return home{t: t, root: filepath.Join(root, "data"), zone: must(time.LoadLocation("Europe/Berlin"))(t)}
}

// must returns a result that has to be there.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		testkit.Must(t, err)
		return v
	}
}

// file is a file of a data directory.
type file struct{ rel, text string }

func (h home) put(files ...file) {
	h.t.Helper()
	for _, f := range files {
		path := filepath.Join(h.root, f.rel)
		testkit.Must(h.t, os.MkdirAll(filepath.Dir(path), 0o700))
		testkit.Must(h.t, os.WriteFile(path, []byte(f.text), 0o600))
	}
}

func (h home) write(rel, text string) { h.put(file{rel, text}) }

func (h home) read(rel string) string {
	h.t.Helper()
	return string(must(os.ReadFile(filepath.Join(h.root, rel)))(h.t))
}

func (h home) has(rel string) bool {
	_, err := os.Stat(filepath.Join(h.root, rel))
	return err == nil
}

// bot builds a bot without a file watcher and release checks.
func (h home) bot(e agent.Engine, changes ...func(*Options)) *Bot {
	h.t.Helper()
	o := Options{Dir: storetest.At(h.t, h.root), Env: config.Env{Zone: h.zone}, Engine: e, EngineName: "script", Log: slog.New(slog.DiscardHandler)}
	for _, change := range changes {
		if change != nil {
			change(&o)
		}
	}
	b := must(New(o))(h.t)
	idle := func(ctx context.Context) error { <-ctx.Done(); return nil }
	b.watchFiles, b.versions = idle, idle
	return b
}

// begin runs a bot until the returned function is called.
func begin(t testing.TB, b *Bot) (end func()) {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx) }()
	return func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("Run ended with %v", err)
		}
	}
}

func offline() agent.Engine { return script.New(script.Options{Pace: 1}) }

// recorder is an engine that records how sessions are opened and which messages they get.
type recorder struct {
	agent.Engine
	// Each may be nil: opens may change how a session is opened, hears gets the messages instead of the record, and waits
	// delays the answers.
	opens func(*agent.SessionOptions)
	hears func(text string)
	waits func()

	mu     sync.Mutex
	opened []agent.SessionOptions
	sent   []sentTo
}

type sentTo struct {
	to   agent.Session
	text string
}

type recorded struct {
	agent.Session
	r *recorder
}

func (r *recorder) Open(ctx context.Context, o agent.SessionOptions) (agent.Session, error) {
	if r.opens != nil {
		r.opens(&o)
	}
	if r.hears == nil {
		r.mu.Lock()
		r.opened = append(r.opened, o)
		r.mu.Unlock()
	}
	s, err := r.Engine.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return recorded{s, r}, nil
}

func (s recorded) Send(ctx context.Context, m agent.Message) iter.Seq2[agent.Event, error] {
	if s.r.hears != nil {
		s.r.hears(m.Text)
	} else {
		s.r.mu.Lock()
		s.r.sent = append(s.r.sent, sentTo{s.Session, m.Text})
		s.r.mu.Unlock()
	}
	events := s.Session.Send(ctx, m)
	return func(yield func(agent.Event, error) bool) {
		if s.r.waits != nil {
			s.r.waits()
		}
		events(yield)
	}
}

// last returns the options of the newest session.
func (r *recorder) last() agent.SessionOptions {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.opened[len(r.opened)-1]
}

// messages returns the messages sent so far: those of a session, or with "" of all.
func (r *recorder) messages(session string) (list []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.sent {
		if session == "" || m.to.ID() == session {
			list = append(list, m.text)
		}
	}
	return list
}

func (r *recorder) lastSent() string {
	list := r.messages("")
	return list[len(list)-1]
}

// to returns what a session was sent as one text.
func (r *recorder) to(session string) string { return strings.Join(r.messages(session), "\n---\n") }

// dayOne is when each bubble begins: one o'clock at night in the zone of the stories.
var dayOne = time.Date(2000, 1, 1, 1, 0, 0, 0, time.FixedZone("", 3600))

// plays is what the offline engine does where a text contains it, and please a message that has it do that.
func plays(lines ...string) string  { return "```script\n" + strings.Join(lines, "\n") + "\n```" }
func please(lines ...string) string { return "please\n\n" + plays(lines...) }

// task is a file with front matter.
func task(rel, front, body string) file { return file{rel, "---\n" + front + "---\n" + body + "\n"} }

// remind is a background reminder that is due so long after the story's beginning, foreground one in the conversation.
func remind(id string, d time.Duration, extra string, lines ...string) file {
	return reminderFile(id, d, "background: true\n"+extra, lines)
}

func foreground(id string, d time.Duration, lines ...string) file {
	return reminderFile(id, d, "background: false\nmax-chain: 2\n", lines)
}

func reminderFile(id string, d time.Duration, extra string, lines []string) file {
	at := dayOne.Add(d).Format(time.RFC3339Nano)
	return task("reminders/"+id+".md", fmt.Sprintf("id: %q\nrun-at: %q\ndescription: \"Task %s\"\n%s", id, at, id, extra), "Do it.\n\n"+plays(lines...))
}

// routine is a background routine.
func routine(id, cron, extra string, lines ...string) file {
	return routineOf(id, cron, extra, "Do it.\n\n"+plays(lines...))
}

func routineOf(id, cron, extra, body string) file {
	return task("routines/"+id+".md", fmt.Sprintf("id: %q\ncron: %q\nbackground: true\ndescription: \"Task %s\"\n%s", id, cron, id, extra), body)
}

// setting is what the directory holds before a story starts, and how its bot is made.
type setting struct {
	files  []file
	engine agent.Engine
	change func(*Options)
	gap    time.Duration // between the end of a bot and the start of the next one
}

// tell starts a bot over one directory for each of the stories, in a bubble.
func (s setting) tell(t *testing.T, stories ...func(w *world)) {
	t.Helper()
	h := newHome(t)
	synctest.Test(t, func(t *testing.T) {
		h.t = t
		h.put(s.files...)
		for i, story := range stories {
			if i > 0 {
				time.Sleep(s.gap)
			}
			b := h.bot(cmp.Or(s.engine, offline()), s.change)
			func() {
				defer begin(t, b)()
				synctest.Wait()
				story(h.world(b))
			}()
		}
	})
}

// story is tell with nothing but files.
func story(t *testing.T, files []file, stories ...func(w *world)) {
	t.Helper()
	setting{files: files}.tell(t, stories...)
}

// checks compare what was found, and say in words what differs.
type checks struct{ testing.TB }

func (c checks) is(what string, got, want any) {
	c.Helper()
	if got, want := fmt.Sprint(got), fmt.Sprint(want); got != want {
		c.Errorf("%s: %s\nwant %s", what, got, want)
	}
}

// holds reports what does not hold, with what there is instead.
func (c checks) holds(ok bool, what string, about ...any) {
	c.Helper()
	if !ok {
		c.Errorf("%s: %+v", what, about)
	}
}

// needs is holds for what a story cannot do without.
func (c checks) needs(ok bool, what string, about ...any) {
	c.Helper()
	if c.holds(ok, what, about...); !ok {
		c.FailNow()
	}
}

// shows reports which parts a text lacks, lacks which ones it has.
func (c checks) shows(what, text string, parts ...string) {
	c.Helper()
	for _, part := range parts {
		c.holds(strings.Contains(text, part), fmt.Sprintf("%s lacks %q", what, part), text)
	}
}

func (c checks) lacks(what, text string, parts ...string) {
	c.Helper()
	for _, part := range parts {
		c.holds(!strings.Contains(text, part), fmt.Sprintf("%s has %q", what, part), text)
	}
}

// fails wants an error with those words.
func (c checks) fails(what string, err error, words ...string) {
	c.Helper()
	if c.holds(err != nil, what+" has no error, want", words); err != nil {
		c.shows(what, err.Error(), words...)
	}
}

// world is a bot in a story.
type world struct {
	checks
	home
	*Bot
}

func (h home) world(b *Bot) *world { return &world{checks{h.t}, h, b} }

// do carries out a command that must succeed.
func (w *world) do(c command.Value) command.Outcome {
	w.Helper()
	out, err := w.Do(w.Context(), c)
	w.needs(err == nil, fmt.Sprintf("%T fails", c), err)
	return out
}

// refuses carries out commands that must fail with those words.
func (w *world) refuses(words string, list ...command.Value) {
	w.Helper()
	for _, c := range list {
		_, err := w.Do(w.Context(), c)
		w.fails(fmt.Sprintf("%#v", c), err, words)
	}
}

// say sends a message like the chat pane, or a command of the chat, and waits a minute.
func (w *world) say(words string) command.Outcome {
	w.Helper()
	out := w.do(command.Say{Text: words})
	time.Sleep(time.Minute)
	return out
}

// sleep waits so long, and until the bot is at rest.
func (w *world) sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// runs lists the background runs, newest first: task, state, and what came of it.
func (w *world) runs() string {
	var list []string
	for _, f := range w.Snapshot().Forks {
		line := f.TaskID + " " + string(f.State)
		if f.Late {
			line += " late"
		}
		for i, n := range []int{f.Pings, f.Refused, f.Reports} {
			if n > 0 {
				line += []string{" pinged", " refused", " reported"}[i]
			}
			if n > 1 {
				line += fmt.Sprint(" ", n)
			}
		}
		list = append(list, line)
	}
	return strings.Join(list, ", ")
}

// pings lists the texts of pings in the chat, pending the updates that wait for the conversation.
func (w *world) pings() string {
	var list []string
	for _, e := range w.Snapshot().Chat {
		if e.Role == transcript.Ping {
			list = append(list, e.Text)
		}
	}
	return strings.Join(list, " / ")
}

func (w *world) pending() string {
	var list []string
	for _, u := range w.Snapshot().Updates {
		list = append(list, u.Message)
	}
	return strings.Join(list, " / ")
}

// noted counts the notices with a part.
func (w *world) noted(part string) (n int) {
	for _, one := range w.Snapshot().Notices {
		n += min(1, strings.Count(one.Text, part))
	}
	return n
}

// spoke is whether the bot has said something in the conversation.
func (w *world) spoke(part string) bool {
	return slices.ContainsFunc(w.Snapshot().Chat, func(e transcript.Entry) bool { return e.Role == transcript.Bot && strings.Contains(e.Text, part) })
}

// view is a task in the list of all.
func (w *world) view(id string) schedule.TaskView {
	w.Helper()
	all := w.Snapshot().Schedule.Tasks
	i := slices.IndexFunc(all, func(v schedule.TaskView) bool { return v.ID == id })
	w.needs(i >= 0, "no task "+id, all)
	return all[i]
}

// preview is the prompt of a task, describe its page.
func (w *world) preview(id string) string {
	w.Helper()
	return must(w.dispatch.Preview(w.Context(), id, time.Time{}, false))(w)
}

func (w *world) describe(id string) string {
	w.Helper()
	return must(w.Reads().Describe(w.Context(), id))(w)
}

// output is what a run has done, line by line.
func (w *world) output(run string) string {
	var text strings.Builder
	for _, l := range w.Tail(run, 0).Lines {
		text.WriteString(l.Text + "\n")
	}
	return text.String()
}
