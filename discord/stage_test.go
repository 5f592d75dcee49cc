package discord

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/agent/script"
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

// quick are paces that make tests short: those of Discord are tested where they
// are kept.
func quick() tuning {
	return tuning{
		line:  stream.NewLine(time.Millisecond, 20*time.Millisecond),
		hurry: 100,
	}
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
	pace := quick()
	if st.pace != nil {
		pace = *st.pace
	}
	pace.start = st.born
	d, err := newTuned(o, pace)
	testkit.Must(st.t, err)
	st.d = d
	return d
}

// live starts the bot with the script engine. It ends with the test, or with
// stop.
func (st *stage) live() {
	st.t.Helper()
	st.liveAs(st.options())
}

func (st *stage) liveAs(o Options) {
	st.t.Helper()
	st.liveOn(o, script.New(script.Options{}))
}

func (st *stage) liveWith(engine agent.Engine) {
	st.t.Helper()
	st.liveOn(st.options(), engine)
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

// alone starts the surface with a stub for a bot.
func (st *stage) alone(bot core.Intake) { st.aloneWith(st.options(), bot) }

func (st *stage) aloneWith(o Options, bot core.Intake) {
	st.t.Helper()
	d := st.surface(o)
	st.run(func(ctx context.Context) error { return d.Run(ctx, bot) })
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

// up waits until the bot is there.
func (st *stage) up() {
	st.t.Helper()
	st.s.Wait(st.t, "the greeting", func(f discordtest.State) bool { return f.Said(st.s.Bot(), "is here") && len(f.Commands) > 0 })
}

// says waits until the bot has said something, and gives that message.
func (st *stage) says(text string) *discordtest.Message {
	st.t.Helper()
	state := st.s.Wait(st.t, "the bot saying "+text, func(f discordtest.State) bool { return st.find(f, text) != nil })
	return st.find(state, text)
}

func (st *stage) find(f discordtest.State, text string) *discordtest.Message {
	for _, m := range f.Sent(st.s.Bot()) {
		if strings.Contains(m.Content, text) || len(m.Embeds) > 0 && strings.Contains(m.Embeds[0].Title+m.Embeds[0].Description, text) {
			return m
		}
	}
	return nil
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
func (b *stub) wait(t *testing.T, n int) []command.Value {
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

// atHome runs a bot with the script engine beside the test's others, and gives its user.
func atHome(t *testing.T) (*stage, *discordtest.Person) {
	t.Helper()
	t.Parallel()
	st := newStage(t, discordtest.Options{})
	st.live()
	st.up()
	return st, st.s.User()
}

// again ends the bot, if it runs, and starts the next one.
func (st *stage) again() {
	st.t.Helper()
	st.stop()
	st.live()
	st.s.Wait(st.t, "the second session", func(f discordtest.State) bool { return len(f.Identifies) == 2 })
}

// do carries out a command of the dashboard, which must succeed.
func (st *stage) do(c command.Value) command.Outcome {
	st.t.Helper()
	out, err := st.bot.Do(st.t.Context(), c)
	testkit.Must(st.t, err)
	return out
}

// press clicks the button of a card that has these words.
func (st *stage) press(card *discordtest.Message, label string) discordtest.Interaction {
	st.t.Helper()
	return st.s.User().Click(card.ID, button(card, label))
}

// settled waits until a card has no buttons.
func (st *stage) settled(card *discordtest.Message) discordtest.State {
	st.t.Helper()
	return st.s.Wait(st.t, "the buttons to go", func(f discordtest.State) bool { return len(f.Message(card.ID).Buttons) == 0 })
}

// status asks for the card of that name.
func (st *stage) status() *discordtest.Message {
	st.t.Helper()
	st.s.User().Slash("status")
	return st.says("Status")
}
