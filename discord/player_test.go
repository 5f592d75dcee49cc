package discord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/agent"
	"ollimbot/core/agent/messages/dialect/dialecttest"
	"ollimbot/core/agent/script"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/post"
	"ollimbot/discord/discordtest"
	"ollimbot/discord/stream"
)

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
			p := &player{t: t}
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

// player plays a story.
type player struct {
	*stage
	place
	t       testing.TB
	line    string // the step
	server  discordtest.Options
	given   []func(*Options)
	pace    float64 // of the engine
	paced   *tuning // Discord's; nil is quick
	engine  agent.Engine
	ears    *stub // nil with a real bot
	heard   int   // of what the stub was asked
	rules   [][2]string
	held    chan struct{} // closed by the step "release"
	started bool
	names   map[string]place
	seen    map[string]string // IDs of buttons, by message and label, as they were first
	texts   []string          // of the user
	from    int               // the number of requests at the step "from here"
	written int               // and of the bot's messages
	posted  []post.MessageID
	answer  chat.RemoteAnswer
}

var (
	folded  = regexp.MustCompile(`(\d+)×\(([^()]*)\)`)
	escapes = regexp.MustCompile(`\\([[:punct:]])`)
)

// plays does steps.
func (p *player) plays(steps string) {
	p.t.Helper()
	for line := range strings.Lines(strings.ReplaceAll(steps, " ⇒ ", "\n")) {
		if p.line = strings.TrimSpace(line); p.line == "" {
			continue
		}
		verb, arg, _ := strings.Cut(p.line, " ")
		if strings.HasPrefix(verb, "/") {
			verb, arg = "/", verb[1:]+" "+arg
		}
		arg = strings.NewReplacer("⏎", "\n", "␣", " ").Replace(folded.ReplaceAllStringFunc(arg, func(all string) string {
			parts := folded.FindStringSubmatch(all)
			return strings.Repeat(parts[2], number(parts[1]))
		}))
		if p.stage == nil && verb != "given" {
			p.stage = newStage(p.t, p.server)
			p.seen, p.names, p.held = map[string]string{}, map[string]place{}, make(chan struct{})
		}
		switch give, do := givens[verb], acts[verb]; {
		case give != nil:
			give(p, p.known(arg))
		case do == nil:
			p.t.Fatalf("no step %q", p.line)
		default:
			if !p.started && verb != "begin" {
				p.begin()
				p.arrives(1)
			}
			do(p, p.known(arg))
		}
	}
}

// end ends the bot, which must have been asked nothing more than the story says.
func (p *player) end() {
	p.t.Helper()
	if p.started {
		p.stage.stop()
	}
	if p.ears != nil {
		for _, c := range p.ears.all()[p.heard:] {
			p.t.Errorf("it also heard %q", p.spoken(c))
		}
	}
}

// known puts what the story cannot know into a step.
func (p *player) known(arg string) string {
	if p.stage == nil || !strings.Contains(arg, "$") {
		return arg
	}
	pairs := []string{"$bot", p.s.Bot().ID, "$owner", p.s.Owner().ID, "$card", p.card, "$mine", p.mine, "$channel", p.s.User().Channel()}
	if p.bot != nil && p.started {
		look := p.stage.bot.Snapshot()
		pairs = append(pairs, "$headline", look.Headline().Text(), "$left", look.Budget.State.Left())
		if strings.Contains(arg, "$follows") {
			out, err := p.stage.bot.Do(p.t.Context(), command.SetConfig{Key: "daily_cap", Value: "0"})
			p.check(err == nil && out.Follows != "", "a limit of nothing has no consequence")
			pairs = append(pairs, "$follows", out.Follows)
		}
		for i, name := range []string{"$this-week", "$last-week"} {
			r, err := p.stage.bot.Reads().Week(context.Background(), i)
			testkit.Must(p.t, err)
			pairs = append(pairs, name, strings.Join(r.Lines(), "\n"))
		}
	}
	return strings.NewReplacer(pairs...).Replace(arg)
}

// begin starts the bot.
func (p *player) begin() {
	p.t.Helper()
	o := p.options()
	for _, give := range p.given {
		give(&o)
	}
	p.started, p.stage.pace = true, p.paced
	if p.ears != nil {
		d := p.surface(o)
		p.run(func(ctx context.Context) error { return d.Run(ctx, p.ears) })
		return
	}
	if p.engine == nil {
		p.engine = pen{script.New(script.Options{Pace: p.pace}), p.stage}
	}
	p.liveOn(o, p.engine)
}

// again starts the next one.
func (p *player) again() {
	p.t.Helper()
	n := len(p.s.State().Identifies)
	p.begin()
	p.arrives(n + 1)
}

// arrives waits for the bot's session of that number.
func (p *player) arrives(n int) {
	p.t.Helper()
	p.until(func(f discordtest.State) bool {
		return len(f.Identifies) >= n && f.Up() && f.Said(p.s.Bot(), "is here") && len(f.Commands) > 0
	})
}

// until waits for what the step says.
func (p *player) until(ok func(discordtest.State) bool) discordtest.State {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	state, err := p.s.WaitContext(ctx, p.line, ok)
	testkit.Must(p.t, err)
	return state
}

// polls waits for what nothing announces.
func (p *player) polls(ok func() bool) {
	p.t.Helper()
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
	p.t.Helper()
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
	p.t.Helper()
	return p.newest(p.until(func(f discordtest.State) bool { return p.newest(f, text) != nil }), text)
}

// becomes waits until the card is as expected.
func (p *player) becomes(ok func(*discordtest.Message) bool) *discordtest.Message {
	p.t.Helper()
	m := p.until(func(f discordtest.State) bool { m := f.Message(p.card); return m != nil && ok(m) }).Message(p.card)
	p.shows(m)
	return m
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
	p.t.Helper()
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
	i := slices.IndexFunc(m.Buttons, func(b discordgo.Button) bool { return b.Label == label })
	if i < 0 {
		return ""
	}
	return m.Buttons[i].CustomID
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

// spoken is what the bot was asked, in words.
func (p *player) spoken(c command.Value) string {
	named := func(key string) string {
		for name, at := range p.names {
			if key == at.mine || key == at.card {
				return name
			}
		}
		return cmp.Or(map[string]string{p.card: "the card"}[key], key)
	}
	switch c := c.(type) {
	case command.Receive:
		text := c.Text
		if c.Label != "" {
			text += " (" + string(c.Label) + ")"
		}
		if c.ReplyTo != "" {
			text += " (about " + named(string(c.ReplyTo)) + ")"
		}
		for _, f := range c.Files {
			text += " +" + f.Name
		}
		return text + map[bool]string{true: " …"}[c.More]
	case command.Reword:
		return "edit " + named(c.Key) + ": " + c.Text + map[bool]string{true: "gone"}[c.Gone]
	case command.Slash:
		return c.Line
	case command.Click:
		return "click " + named(string(c.Message)) + " " + c.ID
	case command.Login:
		return "login " + c.Code
	}
	return fmt.Sprintf("%#v", c)
}

// replies is the stub's answer: the first of the rules whose beginning fits.
func (p *player) replies(ctx context.Context, c command.Value) (command.Outcome, error) {
	for _, r := range p.rules {
		if !strings.HasPrefix(p.spoken(c), r[0]) {
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
		case "write": // an answer, and ends the turn
			done := make(chan error)
			a := p.d.Answer(chat.AnswerOptions{})
			a.Append(rest)
			a.End(false, func([]post.MessageID) {})
			close(done)
			return command.Outcome{Done: done}, nil
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
		give := map[string]func(*Options){
			"the status line": func(o *Options) { o.StatusLine = func() bool { return true } },
			"no status line":  func(o *Options) { o.StatusLine = func() bool { return false } },
			"a login":         func(o *Options) { o.LoginPending = func() bool { return true } },
			"no login":        func(o *Options) { o.LoginPending = nil },
			"no font": func(o *Options) {
				o.Draw = func(context.Context, string) ([]byte, string, error) { return nil, "", errors.New("no font") }
			},
			"pictures": func(o *Options) {
				o.Draw = func(_ context.Context, name string) ([]byte, string, error) { return png, "of " + name, nil }
			},
		}[what]
		switch {
		case what == "no contract": // what the story does is not in Discord's description
			p.server.NoContract = true
		case what == "Discord's pace":
			p.paced = &tuning{line: stream.NewLine(stream.SendEvery, stream.EditEvery)}
		case what == "a team":
			p.server.Team = true
		case what == "logged out":
			p.engine = loggedOut{script.New(script.Options{}), make(chan string, 1)}
		case what == "pace":
			p.pace, _ = strconv.ParseFloat(value, 64)
		case give == nil:
			p.t.Fatalf("not given: %q", what)
		}
		if give != nil {
			p.given = append(p.given, give)
		}
	},
	"stub": func(p *player, arg string) { // plays the bot, and answers by rules: "the beginning: the answer"
		p.ears = cmp.Or(p.ears, newStub(p.replies))
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
		p.reminder(id, duration(p, in), strings.Split(lines, " ; ")...)
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
