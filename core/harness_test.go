package core

import (
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
	zone, err := time.LoadLocation("Europe/Berlin")
	testkit.Must(t, err)
	root := t.TempDir()
	if memory, err := os.MkdirTemp("/dev/shm", "ollim-core-"); err == nil { // fsync costs nothing there
		t.Cleanup(func() { _ = os.RemoveAll(memory) })
		root = memory
	}
	return home{t: t, root: filepath.Join(root, "data"), zone: zone}
}

func (h home) write(rel, text string) {
	h.t.Helper()
	path := filepath.Join(h.root, rel)
	testkit.Must(h.t, os.MkdirAll(filepath.Dir(path), 0o700))
	testkit.Must(h.t, os.WriteFile(path, []byte(text), 0o600))
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
		change(&o)
	}
	b, err := New(o)
	testkit.Must(h.t, err)
	idle := func(ctx context.Context) error { <-ctx.Done(); return nil }
	b.watchFiles, b.versions = idle, idle
	return b
}

// begin runs a bot until the returned function is called.
func begin(t testing.TB, b *Bot) (end func()) {
	t.Helper()
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

// listening is an engine that passes on how sessions are opened, and what they are sent before they get it.
type listening struct {
	agent.Engine
	opens func(*agent.SessionOptions) // nil if nothing is changed
	hears func(text string)
	waits func() // before the answer; nil if it comes at once
}

func (l listening) Open(ctx context.Context, o agent.SessionOptions) (agent.Session, error) {
	if l.opens != nil {
		l.opens(&o)
	}
	s, err := l.Engine.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return listened{s, l}, nil
}

type listened struct {
	agent.Session
	l listening
}

func (s listened) Send(ctx context.Context, m agent.Message) iter.Seq2[agent.Event, error] {
	s.l.hears(m.Text)
	events := s.Session.Send(ctx, m)
	return func(yield func(agent.Event, error) bool) {
		if s.l.waits != nil {
			s.l.waits()
		}
		events(yield)
	}
}

// recorder is an engine that records how sessions are opened and which messages they get.
type recorder struct {
	agent.Engine

	mu     sync.Mutex
	opened []agent.SessionOptions
	sent   []sentTo
}

type sentTo struct{ session, text string }

type recorded struct {
	agent.Session
	r *recorder
}

func (r *recorder) Open(ctx context.Context, o agent.SessionOptions) (agent.Session, error) {
	r.mu.Lock()
	r.opened = append(r.opened, o)
	r.mu.Unlock()
	s, err := r.Engine.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return recorded{s, r}, nil
}

func (s recorded) Send(ctx context.Context, m agent.Message) iter.Seq2[agent.Event, error] {
	s.r.mu.Lock()
	n := len(s.r.sent)
	s.r.sent = append(s.r.sent, sentTo{text: m.Text})
	s.r.mu.Unlock()
	return func(yield func(agent.Event, error) bool) {
		for ev, err := range s.Session.Send(ctx, m) {
			s.r.mu.Lock()
			s.r.sent[n].session = s.ID() // known after the first event
			s.r.mu.Unlock()
			if !yield(ev, err) {
				return
			}
		}
	}
}

// last returns the options of the newest session.
func (r *recorder) last() agent.SessionOptions {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.opened[len(r.opened)-1]
}

// messages returns all messages sent so far.
func (r *recorder) messages() (list []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.sent {
		list = append(list, m.text)
	}
	return list
}

func (r *recorder) lastSent() string {
	list := r.messages()
	return list[len(list)-1]
}

// to returns the messages sent to a session.
func (r *recorder) to(id string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []string
	for _, m := range r.sent {
		if m.session == id {
			list = append(list, m.text)
		}
	}
	return strings.Join(list, "\n---\n")
}

// dayOne is when each bubble begins: one o'clock at night in the zone of the stories.
var dayOne = time.Date(2000, 1, 1, 1, 0, 0, 0, time.FixedZone("", 3600))

// file is a file of a data directory.
type file struct{ rel, text string }

// plays is what the offline engine does where a text contains it.
func plays(lines ...string) string { return "```script\n" + strings.Join(lines, "\n") + "\n```" }

// task is a file with front matter.
func task(rel, front, body string) file { return file{rel, "---\n" + front + "---\n" + body + "\n"} }

// remind is a background reminder that is due so long after the story's beginning.
func remind(id string, d time.Duration, extra string, lines ...string) file {
	return task("reminders/"+id+".md", fmt.Sprintf("id: %q\nrun-at: %q\nbackground: true\ndescription: \"Task %s\"\n%s",
		id, dayOne.Add(d).Format(time.RFC3339Nano), id, extra), "Do it.\n\n"+plays(lines...))
}

// routine is a background routine.
func routine(id, cron, extra string, lines ...string) file {
	front := fmt.Sprintf("id: %q\ncron: %q\nbackground: true\ndescription: \"Task %s\"\n%s", id, cron, id, extra)
	return task("routines/"+id+".md", front, "Do it.\n\n"+plays(lines...))
}

// setting is where a story is told: what the directory holds before the bot starts, and how it is made.
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
			e := s.engine
			if e == nil {
				e = offline()
			}
			b := h.bot(e, func(o *Options) {
				if s.change != nil {
					s.change(o)
				}
			})
			end := begin(t, b)
			synctest.Wait()
			story(&world{t, h, b})
			end()
		}
	})
}

// story is tell with nothing but files.
func story(t *testing.T, files []file, stories ...func(w *world)) {
	t.Helper()
	setting{files: files}.tell(t, stories...)
}

func (h home) put(files ...file) {
	h.t.Helper()
	for _, f := range files {
		h.write(f.rel, f.text)
	}
}

// world is a bot in a story.
type world struct {
	testing.TB
	home
	*Bot
}

// is compares what was found, in words.
func is(t testing.TB, what string, got, want any) {
	t.Helper()
	if got, want := fmt.Sprint(got), fmt.Sprint(want); got != want {
		t.Errorf("%s: %s\nwant %s", what, got, want)
	}
}

// holds reports what does not hold, with what there is instead.
func holds(t testing.TB, ok bool, what string, about ...any) {
	t.Helper()
	if !ok {
		t.Errorf("%s: %+v", what, about)
	}
}

// needs is holds for what a story cannot do without.
func needs(t testing.TB, ok bool, what string, about ...any) {
	t.Helper()
	if !ok {
		t.Fatalf("%s: %+v", what, about)
	}
}

// shows reports which parts a text lacks.
func shows(t testing.TB, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s lacks %q:\n%s", what, part, text)
		}
	}
}

// lacks reports which parts a text has.
func lacks(t testing.TB, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			t.Errorf("%s has %q:\n%s", what, part, text)
		}
	}
}

// fails wants an error with those words.
func fails(t testing.TB, what string, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error, want %q", what, words)
		return
	}
	shows(t, what, err.Error(), words...)
}

func (w *world) is(what string, got, want any) {
	w.Helper()
	is(w, what, got, want)
}

func (w *world) holds(ok bool, what string, about ...any) {
	w.Helper()
	holds(w, ok, what, about...)
}

func (w *world) needs(ok bool, what string, about ...any) {
	w.Helper()
	needs(w, ok, what, about...)
}

func (w *world) shows(what, text string, parts ...string) {
	w.Helper()
	shows(w, what, text, parts...)
}

func (w *world) lacks(what, text string, parts ...string) {
	w.Helper()
	lacks(w, what, text, parts...)
}

// do carries out a command that must succeed.
func (w *world) do(c command.Value) command.Outcome {
	w.Helper()
	out, err := w.Do(w.Context(), c)
	if err != nil {
		w.Fatalf("%T: %v", c, err)
	}
	return out
}

// refuses carries out commands that must fail with those words.
func (w *world) refuses(words string, list ...command.Value) {
	w.Helper()
	for _, c := range list {
		_, err := w.Do(w.Context(), c)
		fails(w, fmt.Sprintf("%#v", c), err, words)
	}
}

// say sends a message like the chat pane, or a command of the chat, and waits a minute.
func (w *world) say(words string) command.Outcome {
	w.Helper()
	out := w.do(command.Say{Text: words})
	time.Sleep(time.Minute)
	return out
}

// please is a message that the offline engine answers by playing those lines.
func please(lines ...string) string { return "please\n\n" + plays(lines...) }

// asks says please.
func (w *world) asks(lines ...string) {
	w.Helper()
	w.say(please(lines...))
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
		for _, n := range []struct {
			n    int
			what string
		}{{f.Pings, "pinged"}, {f.Refused, "refused"}, {f.Reports, "reported"}} {
			if n.n > 0 {
				line += " " + n.what
			}
			if n.n > 1 {
				line += fmt.Sprint(" ", n.n)
			}
		}
		list = append(list, line)
	}
	return strings.Join(list, ", ")
}

// pings lists the texts of pings in the chat.
func (w *world) pings() string {
	var list []string
	for _, e := range w.Snapshot().Chat {
		if e.Role == transcript.Ping {
			list = append(list, e.Text)
		}
	}
	return strings.Join(list, " / ")
}

// pending lists the updates that wait for the conversation.
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
		if strings.Contains(one.Text, part) {
			n++
		}
	}
	return n
}

// spoke is whether the bot has said something in the conversation.
func (w *world) spoke(part string) bool {
	return slices.ContainsFunc(w.Snapshot().Chat, func(e transcript.Entry) bool { return e.Role == transcript.Bot && strings.Contains(e.Text, part) })
}

// pinged returns the newest message of a background run.
func (w *world) pinged() transcript.Entry {
	w.Helper()
	for _, e := range slices.Backward(w.Snapshot().Chat) {
		if e.Role == transcript.Ping {
			return e
		}
	}
	w.Fatalf("no ping in %+v", w.Snapshot().Chat)
	return transcript.Entry{}
}

// view is a task in the list of all.
func (w *world) view(id string) schedule.TaskView {
	w.Helper()
	for _, v := range w.Snapshot().Schedule.Tasks {
		if v.ID == id {
			return v
		}
	}
	w.Fatalf("no task %s in %+v", id, w.Snapshot().Schedule.Tasks)
	return schedule.TaskView{}
}

// preview is the prompt of a task.
func (w *world) preview(id string) string {
	w.Helper()
	text, err := w.dispatch.Preview(w.Context(), id, time.Time{}, false)
	testkit.Must(w, err)
	return text
}

// describe is the page of a task.
func (w *world) describe(id string) string {
	w.Helper()
	text, err := w.Reads().Describe(w.Context(), id)
	testkit.Must(w, err)
	return text
}

// past is what a task has done, and what its file says.
func (w *world) past(id string) command.TaskPast {
	w.Helper()
	past, err := w.Reads().Past(w.Context(), id)
	testkit.Must(w, err)
	return past
}

// output is what a run has done, line by line.
func (w *world) output(run string) string {
	var text strings.Builder
	page := w.Tail(run, 0)
	for _, l := range page.Lines {
		text.WriteString(l.Text + "\n")
	}
	return text.String()
}

func (h home) read(rel string) string {
	h.t.Helper()
	data, err := os.ReadFile(filepath.Join(h.root, rel))
	testkit.Must(h.t, err)
	return string(data)
}
