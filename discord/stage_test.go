package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/discord/discordtest"
	"ollimbot/discord/stream"
)

// secret is a token that must be found in no log.
const secret = "MTIz.c2VjcmV0.dG9rZW4"

// scrap collects log lines.
type scrap struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *scrap) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

func (s *scrap) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

// stage is a Discord, a data directory, and the bot between them.
type stage struct {
	t    testing.TB
	s    *discordtest.Server
	dir  *store.Dir
	log  *scrap
	born time.Time // when the program started; zero is when the surface is made
	d    *Discord
	bot  *core.Bot
	stop func()
	pace *tuning // nil is quick
}

func newStage(t testing.TB, o discordtest.Options) *stage {
	t.Helper()
	o.Token = secret
	st := &stage{t: t, s: discordtest.Start(t, o), log: new(scrap)}
	dir := storetest.At(t, filepath.Join(t.TempDir(), "data"))
	st.dir = dir
	t.Cleanup(func() {
		if strings.Contains(st.log.String(), secret) {
			t.Error("the token is in the log")
		}
		if t.Failed() {
			t.Logf("log:\n%s", st.log)
		}
	})
	return st
}

func (st *stage) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(st.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func (st *stage) options() Options {
	return Options{
		Token: secret, API: st.s.URL() + "/api/v10", Log: st.logger(), Version: "1.0", BotName: "olli",
		Dir: st.dir, Zone: time.UTC,
	}
}

// write puts a file into the data directory.
func (st *stage) write(rel, text string) {
	st.t.Helper()
	path := st.dir.Path(rel)
	testkit.Must(st.t, os.MkdirAll(filepath.Dir(path), 0o700))
	testkit.Must(st.t, os.WriteFile(path, []byte(text), 0o600))
}

// surface makes the surface alone.
func (st *stage) surface(o Options) *Discord {
	st.t.Helper()
	pace := tuning{line: stream.NewLine(time.Millisecond, 20*time.Millisecond), hurry: 100} // Discord's are tested where they are kept
	if st.pace != nil {
		pace = *st.pace
	}
	pace.start = st.born
	d, err := newTuned(o, pace)
	testkit.Must(st.t, err)
	st.d = d
	return d
}

func (st *stage) liveOn(o Options, engine agent.Engine) {
	st.t.Helper()
	d := st.surface(o)
	bot, err := core.New(core.Options{
		Dir: st.dir, Env: config.Env{Zone: time.UTC}, Engine: engine, EngineName: "script",
		Log: st.logger(), Remote: d, Still: true,
	})
	testkit.Must(st.t, err)
	st.bot = bot
	st.run(bot.Run)
}

func (st *stage) run(f func(context.Context) error) {
	st.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	var ended error
	group.Go(func() { ended = f(ctx) })
	var once sync.Once
	st.stop = func() {
		once.Do(func() {
			cancel()
			group.Wait()
			if ended != nil {
				st.t.Errorf("it ended with %v", ended)
			}
		})
	}
	st.t.Cleanup(st.stop)
}

// play is a message that the script engine plays.
func play(lines ...string) string {
	return "```script\n" + strings.Join(lines, "\n") + "\n```"
}

// reminder is a background reminder that is due in d and plays a script.
func (st *stage) reminder(id string, in time.Duration, lines ...string) {
	st.write("reminders/"+id+".md", fmt.Sprintf("---\nid: %q\nrun-at: %q\nbackground: true\ndescription: \"Task %s\"\n---\nDo it.\n\n%s\n",
		id, time.Now().UTC().Add(in).Format(time.RFC3339Nano), id, play(lines...)))
}

// stub is a bot that notes what it is asked, and answers as it is told to.
type stub struct {
	mu    sync.Mutex
	asked []command.Value
	heard string
	shown core.Snapshot
	// answer gives the outcome; nil is an empty one.
	answer func(context.Context, command.Value) (command.Outcome, error)
	// suggest gives what could be typed; nil repeats it.
	suggest func(typed string) []string
	woken   chan struct{}
}

func newStub(answer func(context.Context, command.Value) (command.Outcome, error)) *stub {
	return &stub{answer: answer, woken: make(chan struct{}, 1)}
}

func (b *stub) Do(ctx context.Context, c command.Value) (command.Outcome, error) {
	b.mu.Lock()
	b.asked = append(b.asked, c)
	if h, ok := c.(command.Receive); ok {
		b.heard = h.Key
	}
	b.mu.Unlock()
	select {
	case b.woken <- struct{}{}:
	default:
	}
	if b.answer == nil {
		return command.Outcome{}, nil
	}
	return b.answer(ctx, c)
}

func (b *stub) LastReceived(string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.heard
}

func (b *stub) Suggest(_, _, typed string) []string {
	if b.suggest == nil {
		return []string{typed}
	}
	return b.suggest(typed)
}

func (b *stub) Snapshot() core.Snapshot {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.shown
}

func (b *stub) all() []command.Value {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]command.Value(nil), b.asked...)
}

// wait waits until so many things were asked.
func (b *stub) wait(t testing.TB, n int) []command.Value {
	t.Helper()
	over := time.NewTimer(2 * time.Minute) // with the race detector on a busy machine
	defer over.Stop()
	for {
		b.mu.Lock()
		there := len(b.asked) >= n
		b.mu.Unlock()
		if there {
			return b.all()
		}
		select {
		case <-b.woken:
		case <-over.C:
			t.Fatalf("%d things were asked, want %d: %.2000s", len(b.all()), n, fmt.Sprint(b.all()))
		}
	}
}

// do carries out a command of the dashboard, which must succeed.
func (st *stage) do(c command.Value) command.Outcome {
	st.t.Helper()
	out, err := st.bot.Do(st.t.Context(), c)
	testkit.Must(st.t, err)
	return out
}

var png = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89")

// age makes what the bot remembers of its messages older.
func (st *stage) age(d time.Duration) {
	st.t.Helper()
	var list []map[string]json.RawMessage // ids are larger than a float holds
	if found, err := st.dir.ReadJSON("state/fork_messages.json", &list); err != nil || !found || len(list) == 0 {
		st.t.Fatalf("%v, %v, %v", list, found, err)
	}
	for _, m := range list {
		ts, err := strconv.ParseFloat(string(m["ts"]), 64)
		testkit.Must(st.t, err)
		m["ts"] = json.RawMessage(strconv.FormatFloat(ts-d.Seconds(), 'f', 6, 64))
	}
	testkit.Must(st.t, st.dir.WriteJSON("state/fork_messages.json", list))
}

// await waits until the bot is as expected.
func (p *player) await(ok func(core.Snapshot) bool) core.Snapshot {
	p.t.Helper()
	over := time.NewTimer(2 * time.Minute)
	defer over.Stop()
	v := p.stage.bot.Viewer(true)
	defer v.Close()
	for {
		if s := p.stage.bot.Snapshot(); ok(s) {
			return s
		}
		select {
		case <-v.Changed():
		case <-over.C:
			p.t.Fatalf("in vain: %s\n%s", p.line, p.s.State())
		}
	}
}

// killed ends the bot as a power failure does: Discord hears nothing of it.
func (st *stage) killed() {
	st.t.Helper()
	var before file
	_, err := st.dir.PeekJSON(stateFile, &before)
	testkit.Must(st.t, err)
	lift := st.s.Fault(discordtest.Match{PathPrefix: "/channels", Times: -1}, discordtest.Plan{Status: 403, Body: `{"message":"x","code":50001}`})
	st.stop()
	lift()
	testkit.Must(st.t, st.dir.WriteJSON(stateFile, before))
}

// made are the reminders whose file name contains a word.
func (st *stage) made(word string) (paths []string) {
	for _, r := range st.bot.Index().Set().RemindersByTime() {
		if strings.Contains(r.Path, word) {
			paths = append(paths, r.Path)
		}
	}
	return paths
}

// loggedOut is an engine without a login.
type loggedOut struct {
	agent.Engine
	code chan string
}

func (loggedOut) Open(context.Context, agent.SessionOptions) (agent.Session, error) {
	return nil, errors.New("not logged in")
}

func (loggedOut) Status() agent.Status {
	return agent.Status{LoginNeeded: true, Problem: "not logged in"}
}
func (loggedOut) OnChange(func()) {}
func (loggedOut) Login(context.Context) (url string, err error) {
	return "https://login.example/1", nil
}
func (l loggedOut) Finish(_ context.Context, code string) error { l.code <- code; return nil }
