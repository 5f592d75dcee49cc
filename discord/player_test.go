package discord

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/agent/messages/dialect/dialecttest"
	"ollimbot/core/agent/script"
	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/post"
	"ollimbot/discord/discordtest"
	"ollimbot/discord/stream"
)

// secret is a token that must be found in no log.
const secret = "MTIz.c2VjcmV0.dG9rZW4"

// story is what breaks, and the steps that show it: one a line, each with a verb of givens or acts. The bot starts
// before the first act. Steps may also stand in one line, with ⇒ between them. ⏎ is a line break, 3×(a) is aaa, and ▸
// stands before what the script engine plays, with its lines between semicolons. What a story expects, it waits for, unless its verb says otherwise.
type story struct{ name, steps string }

// tell plays stories beside each other.
func tell(t *testing.T, stories ...story) {
	t.Helper()
	t.Parallel()
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			p := newPlayer(t)
			p.plays(s.steps)
			p.end()
		})
	}
}

// place is where the user looks: a message of the bot, one of the user, and a window.
type place struct {
	card, mine string
	window     discordtest.Interaction
}

// player plays a story: it has a Discord, a data directory, and the bot between them.
type player struct {
	place
	t       testing.TB
	line    string // the step
	server  discordtest.Options
	s       *discordtest.Server
	dir     *store.Dir
	log     bytes.Buffer
	logging sync.Mutex // guards log
	given   []func(*Options)
	pace    tuning  // that makes tests short: Discord's is tested where it is kept
	speed   float64 // of the engine
	engine  agent.Engine
	d       *Discord
	bot     *core.Bot // nil with a stub
	ears    *stub     // nil with a real bot
	stop    func()    // nil until it has started
	fate    string    // is in the error with which the bot ends
	heard   int       // of what the stub was asked
	rules   [][2]string
	held    chan struct{} // closed by the step "release"
	begun   chan bool     // a slow transcription has
	words   chan string   // that it gives
	names   map[string]place
	seen    map[string]string // IDs of buttons, by message and label, as they were first
	texts   []string          // of the user
	from    int               // the number of requests at the step "from here"
	written int               // and of the bot's messages
	posted  []post.MessageID
	answer  chat.RemoteAnswer
}

func newPlayer(t testing.TB) *player {
	return &player{
		t: t, pace: tuning{line: stream.NewLine(time.Millisecond, 20*time.Millisecond), hurry: 100},
		seen: map[string]string{}, names: map[string]place{}, held: make(chan struct{}), begun: make(chan bool, 1), words: make(chan string, 1),
	}
}

// prepare makes what the first step needs.
func (p *player) prepare() {
	if p.dir != nil {
		return
	}
	p.server.Token = secret
	if p.s == nil {
		p.s = discordtest.Start(p.t, p.server)
	}
	p.dir = storetest.At(p.t, filepath.Join(p.t.TempDir(), "data"))
	p.t.Cleanup(func() {
		if p.logged(secret) > 0 {
			p.t.Error("the token is in the log")
		}
		if p.t.Failed() {
			p.t.Logf("log:\n%s", p.log.String())
		}
	})
}

func (p *player) Write(line []byte) (int, error) {
	p.logging.Lock()
	defer p.logging.Unlock()
	return p.log.Write(line)
}

// logged is how often the log has a text.
func (p *player) logged(text string) int {
	p.logging.Lock()
	defer p.logging.Unlock()
	return strings.Count(p.log.String(), text)
}

func (p *player) options() Options {
	return Options{
		Token: secret, API: p.s.URL() + "/api/v10", Version: "1.0", BotName: "olli", Dir: p.dir, Zone: time.UTC,
		Log: slog.New(slog.NewTextHandler(p, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
}

// write puts a file into the data directory.
func (p *player) write(rel, text string) {
	testkit.Must(p.t, os.MkdirAll(filepath.Dir(p.dir.Path(rel)), 0o700))
	testkit.Must(p.t, os.WriteFile(p.dir.Path(rel), []byte(text), 0o600))
}

var escapes = regexp.MustCompile(`\\([[:punct:]])`)

// plays does steps.
func (p *player) plays(steps string) {
	for line := range strings.Lines(strings.ReplaceAll(steps, " ⇒ ", "\n")) {
		if p.line = strings.TrimSpace(line); p.line == "" {
			continue
		}
		verb, arg, _ := strings.Cut(p.line, " ")
		if strings.HasPrefix(verb, "/") {
			verb, arg = "/", verb[1:]+" "+arg
		}
		arg = strings.NewReplacer("⏎", "\n", "␣", " ").Replace(goldentest.Repeated(arg))
		if verb != "given" {
			p.prepare()
		}
		switch give, do := givens[verb], acts[verb]; {
		case give != nil:
			give(p, p.known(arg))
		case do == nil:
			p.t.Fatalf("no step %q", p.line)
		default:
			if p.stop == nil && verb != "begin" && verb != "fails" {
				p.begin()
				p.arrives(1)
			}
			do(p, p.known(arg))
		}
	}
}

// end ends the bot, which must have been asked nothing more than the story says.
func (p *player) end() {
	if p.stop(); p.ears != nil {
		for _, c := range p.ears.all()[p.heard:] {
			p.t.Errorf("it also heard %q", spoken(c, p.named))
		}
	}
}

// known puts what the story cannot know into a step.
func (p *player) known(arg string) string {
	if p.s == nil || !strings.Contains(arg, "$") {
		return arg
	}
	pairs := []string{"$bot", p.s.Bot().ID, "$owner", p.s.Owner().ID, "$card", p.card, "$mine", p.mine, "$channel", p.s.User().Channel()}
	if p.bot != nil {
		look := p.bot.Snapshot()
		pairs = append(pairs, "$headline", look.Headline().Text(), "$left", look.Budget.State.Left())
		if one := waitsNow(look); one != nil {
			says := map[bool]string{true: one.Waits, false: one.Proposed.Says()}[one.Proposed.Version == ""]
			pairs = append(pairs, "$waits", says, "$diff", strings.TrimSpace(one.Proposed.Diff))
		}
		if strings.Contains(arg, "$follows") {
			out, err := p.bot.Do(p.t.Context(), command.SetConfig{Key: "daily_cap", Value: "0"})
			p.check(err == nil && out.Follows != "", "a limit of nothing has no consequence")
			pairs = append(pairs, "$follows", out.Follows)
		}
		for i, name := range []string{"$this-week", "$last-week"} {
			r, err := p.bot.Reads().Week(context.Background(), i)
			testkit.Must(p.t, err)
			pairs = append(pairs, name, strings.Join(r.Lines(), "\n"))
		}
	}
	return strings.NewReplacer(pairs...).Replace(arg)
}

// surface makes the surface alone.
func (p *player) surface(o Options) *Discord {
	var err error
	p.d, err = newTuned(o, p.pace)
	testkit.Must(p.t, err)
	return p.d
}

// begin starts the bot. It ends with the story, or with stop.
func (p *player) begin() {
	o := p.options()
	for _, give := range p.given {
		give(&o)
	}
	d := p.surface(o)
	run := func(ctx context.Context) error { return d.Run(ctx, p.ears) }
	if p.ears == nil {
		p.engine = cmp.Or[agent.Engine](p.engine, pen{script.New(script.Options{Pace: p.speed}), p.write})
		var err error
		p.bot, err = core.New(core.Options{
			Dir: p.dir, Env: config.Env{Zone: time.UTC}, Engine: p.engine, EngineName: "script", Log: p.options().Log, Remote: d, Still: true,
		})
		testkit.Must(p.t, err)
		run = p.bot.Run
	}
	p.run(run)
}

func (p *player) run(f func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	var ended error
	group.Go(func() { ended = f(ctx) })
	p.stop = sync.OnceFunc(func() {
		cancel()
		group.Wait()
		p.check((ended == nil) == (p.fate == "") && strings.Contains(fmt.Sprint(ended), p.fate), "it ended with %v", ended)
	})
	p.t.Cleanup(p.stop)
}

// again starts the next one.
func (p *player) again() {
	n := len(p.s.State().Identifies)
	p.begin()
	p.arrives(n + 1)
}

// arrives waits for the bot's session of that number.
func (p *player) arrives(n int) {
	p.until(func(f discordtest.State) bool {
		return len(f.Identifies) >= n && f.Up() && f.Said(p.s.Bot(), "is here") && len(f.Commands) > 0
	})
}

// until waits for what the step says.
func (p *player) until(ok func(discordtest.State) bool) discordtest.State {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	state, err := p.s.WaitContext(ctx, p.line, ok)
	testkit.Must(p.t, err)
	return state
}

// polls waits for what nothing announces.
func (p *player) polls(ok func() bool) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(2 * time.Minute); !ok(); <-tick.C {
		if time.Now().After(end) {
			p.t.Fatalf("in vain: %s\n%s", p.line, p.s.State())
		}
	}
}

// check fails the story, and continues.
func (p *player) check(ok bool, format string, args ...any) {
	if !ok {
		p.t.Errorf("%s: %s", p.line, fmt.Sprintf(format, args...))
	}
}

// played is a message, with what the engine plays behind ▸.
func played(arg string) string {
	words, lines, plays := strings.Cut(arg, "▸")
	if !plays {
		return arg
	}
	return strings.TrimLeft(strings.TrimSpace(words)+"\n\n", "\n") + play(strings.Split(strings.TrimSpace(lines), " ; ")...)
}

// textOf is all that a message says, without the signs that keep Discord from reading Markdown.
func textOf(m *discordtest.Message) string {
	text := escapes.ReplaceAllString(m.Content, "$1")
	for _, e := range m.Embeds {
		text += "\n" + e.Title + "\n" + e.Description
		for _, f := range e.Fields {
			text += "\n" + f.Name + ": " + f.Value
		}
		if e.Footer != nil {
			text += "\n" + e.Footer.Text
		}
	}
	return text
}

// newest is the bot's newest message that says a text.
func (p *player) newest(f discordtest.State, text string) *discordtest.Message {
	for _, m := range slices.Backward(f.Sent(p.s.Bot())) {
		if strings.Contains(textOf(m), text) {
			return m
		}
	}
	return nil
}

// says waits for a message of the bot.
func (p *player) says(text string) *discordtest.Message {
	return p.newest(p.until(func(f discordtest.State) bool { return p.newest(f, text) != nil }), text)
}

// becomes waits until the card is as expected.
func (p *player) becomes(ok func(*discordtest.Message) bool) {
	p.shows(p.until(func(f discordtest.State) bool { m := f.Message(p.card); return m != nil && ok(m) }).Message(p.card))
}

// shows makes a message the card, and remembers its buttons as they were first; no message is none.
func (p *player) shows(m *discordtest.Message) bool {
	if m == nil {
		return false
	}
	p.card = m.ID
	for _, b := range m.Buttons {
		p.seen[m.ID+b.Label] = cmp.Or(p.seen[m.ID+b.Label], b.CustomID)
	}
	return true
}

// first is the first of the messages that is as expected, or nil.
func first(list []*discordtest.Message, ok func(*discordtest.Message) bool) *discordtest.Message {
	if i := slices.IndexFunc(list, ok); i >= 0 {
		return list[i]
	}
	return nil
}

// opened is the window that the last interaction opens.
func (p *player) opened() *discordtest.Modal {
	return find(p.until(func(f discordtest.State) bool { return find(f, p.window.ID).Modal != nil }), p.window.ID).Modal
}

// tells sends a message of the user.
func (p *player) tells(text string) {
	p.mine = p.s.User().Say(text).ID
	p.texts = append(p.texts, text)
}

func number(text string) int { n, _ := strconv.Atoi(text); return n }

// look is the card as it is now.
func (p *player) look() *discordtest.Message { return p.s.State().Message(p.card) }

// labels are the words on a card's buttons, in brackets those that are disabled.
func labels(m *discordtest.Message) string {
	var list []string
	for _, b := range m.Buttons {
		if b.Disabled {
			b.Label = "(" + b.Label + ")"
		}
		list = append(list, b.Label)
	}
	return strings.Join(list, ", ")
}

// button is the ID of a card's button.
func button(m *discordtest.Message, label string) string {
	for _, b := range m.Buttons {
		if b.Label == label {
			return b.CustomID
		}
	}
	return ""
}

// menu is the ID of the card's menu with a choice.
func menu(m *discordtest.Message, value string) string {
	for _, s := range m.Menus {
		if slices.ContainsFunc(s.Options, func(o discordgo.SelectMenuOption) bool { return o.Value == value }) {
			return s.CustomID
		}
	}
	return ""
}

// find is the interaction as it is now.
func find(f discordtest.State, id string) discordtest.Interaction {
	return f.Interactions[slices.IndexFunc(f.Interactions, func(i discordtest.Interaction) bool { return i.ID == id })]
}

// pairs are "name=value | name=value".
func pairs(arg string) (list [][2]string) {
	for part := range strings.SplitSeq(arg, " | ") {
		if name, value, ok := strings.Cut(part, "="); ok {
			list = append(list, [2]string{strings.TrimSpace(name), value})
		}
	}
	return list
}

// named is the name of the user's message or of the bot's with an ID.
func (p *player) named(id string) string {
	for name, at := range p.names {
		if id != "" && (id == at.mine || id == at.card) {
			return name
		}
	}
	return cmp.Or(map[bool]string{true: "the card"}[id != "" && id == p.card], id)
}

// spoken is what the bot was asked, in words.
func spoken(c command.Value, named func(id string) string) (text string) {
	add := func(format, value string) {
		if value != "" {
			text += fmt.Sprintf(format, value)
		}
	}
	switch c := c.(type) {
	case command.Receive:
		add("%s", c.Text)
		add(" (from %s)", strings.TrimPrefix(c.From, name))
		add(" (%s)", string(c.Label))
		add(" (about %s)", named(string(c.ReplyTo)))
		for _, f := range c.Files {
			add(" +%s", f.Name)
		}
		add("%s", map[bool]string{true: " …"}[c.More])
		return text
	case command.Reword:
		return "edit " + named(c.Key) + ": " + c.Text + map[bool]string{true: "gone"}[c.Gone]
	case command.Slash:
		return c.Line
	case command.Click:
		return strings.TrimSuffix("click "+c.ID+" on "+named(string(c.Message)), " on ")
	case command.Login:
		return "login " + c.Code
	}
	return fmt.Sprintf("%#v", c)
}

// replies is the stub's answer: the first of the rules whose beginning fits.
func (p *player) replies(ctx context.Context, c command.Value) (command.Outcome, error) {
	text := spoken(c, func(id string) string { return id })
	for _, r := range p.rules {
		if !strings.HasPrefix(text, r[0]) {
			continue
		}
		verb, rest, _ := strings.Cut(r[1], " ")
		switch verb {
		case "panic":
			panic("a fault")
		case "error":
			return command.Outcome{}, errors.New(rest)
		case "turn": // that does not end
			return command.Outcome{Done: make(chan error)}, nil
		case "hold":
			select {
			case <-p.held:
				return command.Outcome{Message: rest}, nil
			case <-ctx.Done():
				return command.Outcome{}, ctx.Err()
			}
		}
		return command.Outcome{Message: r[1]}, nil
	}
	return command.Outcome{}, nil
}

// givens are what is there before the bot starts, or happens beside it.
var givens = map[string]func(*player, string){
	"given": func(p *player, arg string) {
		what, value, _ := strings.Cut(arg, ": ")
		gives := func(give func(*Options)) { p.given = append(p.given, give) }
		switch what {
		case "the status line", "no status line":
			gives(func(o *Options) { o.StatusLine = func() bool { return what == "the status line" } })
		case "a login":
			gives(func(o *Options) { o.LoginPending = func() bool { return true } })
		case "no login":
			gives(func(o *Options) { o.LoginPending = nil })
		case "the token":
			gives(func(o *Options) { o.Token = config.Secret(value) })
		case "the owner":
			gives(func(o *Options) { o.OwnerID = value })
		case "pictures", "no font":
			gives(func(o *Options) {
				o.Draw = func(_ context.Context, name string) ([]byte, string, error) {
					return png, "of " + name, map[bool]error{true: errors.New("no font")}[what == "no font"]
				}
			})
		case "a transcriber":
			p.transcribes(says(value))
		case "a slow transcriber":
			gives(p.transcribesSlowly)
		case "no contract": // what the story does is not in Discord's description
			p.server.NoContract = true
		case "Discord's pace":
			p.pace = tuning{line: stream.NewLine(stream.SendEvery, stream.EditEvery)}
		case "a team":
			p.server.Team = true
		case "logged out":
			p.engine = loggedOut{script.New(script.Options{}), make(chan string, 1)}
		case "pace":
			p.speed, _ = strconv.ParseFloat(value, 64)
		default:
			p.t.Fatalf("not given: %q", what)
		}
	},
	"stub": func(p *player, arg string) { // plays the bot, and answers by rules: "the beginning: the answer"
		p.ears = cmp.Or(p.ears, &stub{answer: p.replies})
		if about, answer, ok := strings.Cut(arg, ": "); ok {
			p.rules = append(p.rules, [2]string{strings.TrimSuffix(about, "*"), answer})
		}
	},
	"file": func(p *player, arg string) {
		path, text, _ := strings.Cut(arg, " ")
		p.write(path, text)
	},
	"ollama": func(p *player, _ string) { // a server with one model
		server := dialecttest.Start(p.t, dialecttest.Options{Models: []dialecttest.Model{
			{Name: "qwen3:8b", Can: []string{"completion", "tools"}, Window: 40_960, Size: 5 << 30},
		}})
		p.write("providers.yaml", "local:\n  base-url: "+server.URL+"\n  api: ollama\n  models: [{name: \"qwen3:8b\", window: 16384}]\n")
	},
	"remove": func(p *player, path string) { testkit.Must(p.t, p.dir.Remove(path)) },
	"tidy":   func(p *player, body string) { p.write(tidyFile, tidy(body)) },
	"routine": func(p *player, arg string) { // runs when it is started
		head, lines, _ := strings.Cut(arg, ": ")
		id, name, _ := strings.Cut(head, " ")
		const file = "---\nid: %q\ncron: \"0 4 1 1 *\"\nbackground: true\ndescription: %q\n---\nDo it.\n\n%s\n"
		p.write("routines/"+id+".md", fmt.Sprintf(file, id, name, play(strings.Split(lines, " ; ")...)))
	},
	"reminder": func(p *player, arg string) {
		head, lines, _ := strings.Cut(arg, ": ")
		id, in, _ := strings.Cut(head, " ")
		const file = "---\nid: %q\nrun-at: %q\nbackground: true\ndescription: \"Task %s\"\n---\nDo it.\n\n%s\n"
		at := time.Now().UTC().Add(duration(p, in)).Format(time.RFC3339Nano)
		p.write("reminders/"+id+".md", fmt.Sprintf(file, id, at, id, play(strings.Split(lines, " ; ")...)))
	},
	"fault": func(p *player, arg string) { // METHOD PATH TIMES lost; "stored" means that the request takes effect
		arg, stored := strings.CutPrefix(arg, "stored ")
		f := append(strings.Fields(arg), "", "")
		plan := map[string]discordtest.Plan{
			"lost": discordtest.Lost(), "garbled": discordtest.Garbled(), "broken": discordtest.Broken(number(f[4])),
			"refused": discordtest.Refused(number(f[4]), number(f[5])), "page": {Status: 200, Body: f[4]}, "hold": {Hold: f[4]},
		}[f[3]]
		p.s.Fault(discordtest.Match{Method: strings.Trim(f[0], "*"), PathPrefix: f[1], Times: number(strings.Replace(f[2], "all", "-1", 1)), AfterStored: stored}, plan)
	},
	"lift":  func(p *player, _ string) { p.s.NoFaults() },
	"down":  func(p *player, _ string) { p.s.Down() },
	"up":    func(p *player, _ string) { p.s.Up() },
	"early": func(p *player, text string) { p.s.User().Say(played(text)) }, // before the first start
}

// await waits until the bot is as expected.
func (p *player) await(ok func(core.Snapshot) bool) (s core.Snapshot) {
	p.polls(func() bool { s = p.bot.Snapshot(); return ok(s) })
	return s
}

// play is a message that the script engine plays.
func play(lines ...string) string {
	return "```script\n" + strings.Join(lines, "\n") + "\n```"
}

// do carries out a command of the dashboard, which must succeed.
func (p *player) do(c command.Value) {
	_, err := p.bot.Do(p.t.Context(), c)
	testkit.Must(p.t, err)
}

var png = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89")

// killed ends the bot as a power failure does: Discord hears nothing of it.
func (p *player) killed() {
	var before file
	_, err := p.dir.PeekJSON(stateFile, &before)
	testkit.Must(p.t, err)
	lift := p.s.Fault(discordtest.Match{PathPrefix: "/channels", Times: -1}, discordtest.Refused(403, 50001))
	p.stop()
	lift()
	testkit.Must(p.t, p.dir.WriteJSON(stateFile, before))
}

// stub is a bot that notes what it is asked, and answers as it is told to.
type stub struct {
	mu    sync.Mutex
	asked []command.Value
	heard string
	shown core.Snapshot
	// answer gives the outcome; nil is an empty one. suggest gives what could be typed; nil repeats it.
	answer  func(context.Context, command.Value) (command.Outcome, error)
	suggest func(typed string) []string
}

func (b *stub) Do(ctx context.Context, c command.Value) (command.Outcome, error) {
	b.mu.Lock()
	b.asked = append(b.asked, c)
	if h, ok := c.(command.Receive); ok {
		b.heard = h.Key
	}
	b.mu.Unlock()
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

// asked is what the stub was asked, once there is so much of it.
func (p *player) asked(n int) []command.Value {
	p.polls(func() bool { return len(p.ears.all()) >= n })
	return p.ears.all()
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
