package choice

import (
	"cmp"
	"context"
	"crypto/sha256"
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
	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

// In a story the user talks to sessions of three engines that remember what each session heard: "NAME> " begins a message to one. Below
// is what the engines hear and answer, and what the user reads; a single note is behind "=>". player.do has the other lines.
func TestConversationsMoveBetweenEnginesAsTheirStoriesSay(t *testing.T) {
	goldentest.Stories(t, "stories/moves.txt", func(t *testing.T, story string) (got string) {
		synctest.Test(t, func(t *testing.T) { got = play(t, story) })
		return got
	})
}

// memory is an engine that remembers the messages to each of its sessions.
type memory struct {
	*player
	name    string
	heard   map[string][]string // by session
	fails   string              // how, and why
	sums    string              // how it sums a conversation up; else by repeating it
	changed func()
}

func (m *memory) HasSession(id string) bool { return m.heard[id] != nil }

func (m *memory) HasMessage(_ context.Context, id string, digest [sha256.Size]byte) (bool, error) {
	return slices.ContainsFunc(m.heard[id], func(s string) bool { return sha256.Sum256([]byte(s)) == digest }), nil
}

func (m *memory) Status() agent.Status {
	return agent.Status{Version: m.name, LoginNeeded: strings.Contains(m.fails, "login"), LoginURL: strings.Repeat("https://login", strings.Count(m.fails, "login")), Processes: []agent.Process{{PID: len(m.name)}}}
}

func (m *memory) OnChange(changed func()) { m.changed = changed }

func (m *memory) Run(ctx context.Context) error {
	m.note("%s runs", m.name)
	<-ctx.Done()
	m.note("%s ends", m.name)
	return nil
}

func (m *memory) Open(_ context.Context, o agent.SessionOptions) (agent.Session, error) {
	id := o.Resume
	if id != "" && m.heard[id] == nil {
		return nil, agent.ErrNoSession
	}
	if how, why, _ := strings.Cut(m.fails, " "); how == "opens" {
		return nil, errors.New(why)
	}
	if o.Resume == "" || o.Fork {
		id = cmp.Or(o.ID, store.NewUUID())
	}
	c := &conversation{memory: m, id: id, o: o}
	if label := m.label(id); o.Permission == nil { // else it is for a summary
		m.note("%s opens %s%s", m.name, label, map[bool]string{true: " of this ID"}[o.ID != ""])
	}
	return c, nil
}

// account is an engine with a login.
type account struct{ *memory }

func (a account) Login(context.Context) (string, error) { return "https://" + a.name, nil }

func (a account) Finish(_ context.Context, code string) error {
	return fmt.Errorf("%s takes %s", a.name, code)
}

type conversation struct {
	*memory
	id string
	o  agent.SessionOptions
}

func (c *conversation) ID() string                      { return c.id }
func (c *conversation) Interrupt(context.Context) error { return c.did("interrupted") }

func (c *conversation) Close() error {
	if c.o.Permission != nil {
		return c.did("asked for a summary of " + c.label(c.o.Resume))
	}
	return c.did("closed")
}

func (c *conversation) did(what string) error {
	c.note("%s is %s", c.label(c.id), what)
	return nil
}

func (c *conversation) Configure(_ context.Context, s agent.Settings) error {
	if how, why, _ := strings.Cut(c.fails, " "); how == "sets" {
		return errors.New(why)
	}
	c.o.Settings = c.o.Settings.With(s)
	return c.did(fmt.Sprintf("set to %+v", s))
}

func (c *conversation) Send(_ context.Context, m agent.Message) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		how, why, _ := strings.Cut(c.fails, " ")
		failed := agent.Result{SessionID: c.id, IsError: true, Unavailable: how != "errs", Text: why, Usage: agent.Usage{InputTokens: 10, Free: true}}
		switch how {
		case "fails", "errs":
			c.note("%s is asked", c.label(c.id))
			yield(failed, nil)
			return
		case "stops":
			yield(agent.Result{SessionID: c.id, Interrupted: true}, nil)
			return
		case "breaks":
			yield(nil, fmt.Errorf("%w: %s", agent.ErrUnavailable, why))
			return
		}
		before := c.heard[c.id]
		if before == nil {
			before = c.heard[c.o.Resume]
		}
		answer := c.name + " answers"
		if m.Text == promptSummary {
			c.o.Hooks.Charge(agent.Charge{})
			for _, ask := range []func(context.Context, agent.ToolUse) agent.Decision{c.o.Permission, c.o.Hooks.PreTool} {
				if d := ask(context.Background(), agent.ToolUse{}); d.Allow || d.Reason != noTools {
					c.note("a summary may use tools: %+v", d)
				}
			}
			if answer = c.sums; answer == "" {
				answer = "SUMMARY OF " + strings.Join(before, ", ")
			}
		} else {
			as := strings.TrimSpace(fmt.Sprint(c.o.Settings.Model, " ", c.o.Settings.Thinking, " ", c.o.Settings.Mode))
			c.note("%s hears %q as %q", c.label(c.id), plain(m.Text), as)
			c.heard[c.id] = append(slices.Clone(before), plain(m.Text))
		}
		end := agent.Result{SessionID: c.id, Usage: agent.Usage{InputTokens: 1, Free: true}}
		switch {
		case answer == "errs":
			yield(nil, errors.New("it broke"))
			return
		case answer == "fails":
			yield(failed, nil)
			return
		case answer == "is interrupted":
			end.Interrupted, end.Text = true, "Half of it"
		case answer == "is long":
			end.Text = strings.Repeat("x", maxSummary+1)
		case answer == "takes words back":
			_ = yield(agent.Text{Delta: "Oh."}, nil) && yield(agent.Rewind{Bytes: 99}, nil) &&
				yield(agent.Text{Delta: "Good. Wrong."}, nil) && yield(agent.Rewind{Bytes: len(" Wrong.")}, nil)
		case answer == "says it at the end":
			end.Text = "At the end."
		case !yield(agent.Text{Delta: answer}, nil):
			return
		case how == "ends":
			end = failed
		}
		yield(end, nil)
	}
}

// plain names our own texts to models.
func plain(text string) string {
	text = strings.ReplaceAll(text, strings.Repeat("x", maxSummary-1)+"…", "A CUT SUMMARY")
	for name, form := range map[string]string{"CARRIED": promptCarried, "FORKED": promptFork} {
		head, foot, _ := strings.Cut(form, "%s")
		if rest, is := strings.CutPrefix(text, head); is {
			before, after, _ := strings.Cut(rest, foot)
			return name + " " + before + strings.Repeat(" | ", min(1, len(after))) + after
		}
	}
	return text
}

// player plays a story.
type player struct {
	t                     *testing.T
	ctx                   context.Context
	e                     *Engine
	engines               map[string]*memory
	sessions              map[string]agent.Session
	chosen, model, recent string
	main, saved           string // the name of the main session, and its ID after its last turn
	fallback, labels      []string

	mu  sync.Mutex // engines run side by side
	out []string
}

func (p *player) note(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out = append(p.out, strings.TrimRight("  "+strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "⏎"), " "))
}

// label names a session of an engine.
func (p *player) label(id string) string {
	if !slices.Contains(p.labels, id) {
		p.labels = append(p.labels, id)
	}
	return fmt.Sprint("session ", slices.Index(p.labels, id)+1)
}

func play(t *testing.T, story string) string {
	p := &player{t: t, ctx: t.Context(), chosen: Claude, engines: map[string]*memory{}, sessions: map[string]agent.Session{}}
	for _, name := range []string{Claude, Messages, Script} {
		p.engines[name] = &memory{player: p, name: name, heard: map[string][]string{}}
	}
	p.e = New(Options{
		Dir: storetest.Prepared(t), Log: slog.New(slog.DiscardHandler),
		Members:  []Member{{Claude, account{p.engines[Claude]}}, {Messages, p.engines[Messages]}, {Script, p.engines[Script]}},
		Chosen:   func() (string, string) { return p.chosen, p.model },
		Fallback: func() []string { return p.fallback },
		Server: func(model string) string {
			server, _, _ := strings.Cut(model, "/")
			return server
		},
		Main:   func() string { return p.saved },
		Recent: func() string { return p.recent },
		Tell:   func(text string) { p.note("the user reads: %s", text) },
	})
	for line := range strings.SplitSeq(story, "\n") {
		if strings.HasPrefix(line, "  ") {
			continue
		}
		line, _, _ = strings.Cut(line, " => ")
		p.out = append(p.out, line)
		verb, rest, _ := strings.Cut(line, " ")
		begun := len(p.out)
		if name, says := strings.CutSuffix(verb, ">"); says {
			p.say(name, rest)
		} else if verb != "" {
			p.do(verb, rest)
		}
		if len(p.out) == begun+1 { // a single note is in the line itself
			p.out = append(p.out[:begun-1], line+" => "+strings.TrimSpace(p.out[begun]))
		}
	}
	return strings.Join(p.out, "\n")
}

func (p *player) do(verb, rest string) {
	first, second, _ := strings.Cut(rest, " ")
	ctx := p.ctx
	switch verb {
	case "chosen":
		p.chosen, p.model = first, second
	case "fallback":
		p.fallback = strings.Fields(rest)
	case "recent":
		p.recent = rest
	case "main": // the name of the main session
		p.main = rest
	case "open", "named", "fork", "resume": // NAME MODEL, or NAME PARENT MODEL
		o := agent.SessionOptions{Settings: agent.Settings{Model: second}, Fork: verb == "fork", Hooks: agent.Hooks{Charge: func(agent.Charge) {}}}
		switch verb {
		case "named":
			o.ID = store.NewUUID()
		case "fork", "resume":
			parent, model, _ := strings.Cut(second, " ")
			o.Resume, o.Settings.Model = store.NewUUID(), model
			if s := p.sessions[parent]; s != nil {
				o.Resume = s.ID()
			}
		}
		s, err := p.e.Open(ctx, o)
		if err != nil {
			p.note("fails: %v", err)
			return
		}
		p.sessions[first] = s
	case "fails", "breaks", "opens", "errs", "ends", "sets", "stops": // ENGINE WHY: how it is out of reach
		p.engines[first].fails = verb + " " + second
	case "back":
		p.engines[first].fails = ""
	case "sums":
		p.engines[first].sums = second
	case "later":
		d, err := time.ParseDuration(rest)
		testkit.Must(p.t, err)
		time.Sleep(d)
	case "set":
		testkit.Must(p.t, p.sessions[first].Configure(ctx, agent.Settings{Model: second, Mode: "plan", Thinking: "low"}))
	case "glance": // NAME TEXT: its reader stops after the first event
		for ev, err := range p.sessions[first].Send(ctx, agent.Message{Text: second}) {
			testkit.Must(p.t, err)
			p.note("%T", ev)
			break
		}
	case "stop": // the program, as for all that follows
		stopped, stop := context.WithCancel(ctx)
		stop()
		p.ctx = stopped
	case "interrupt":
		testkit.Must(p.t, p.sessions[first].Interrupt(ctx))
	case "close":
		testkit.Must(p.t, p.sessions[first].Close())
	case "has": // NAME TEXT, or by the label of a session at an engine
		id := ""
		if s := p.sessions[first]; s != nil {
			id = s.ID()
		} else if n := int(first[0] - '1'); n < len(p.labels) {
			id = p.labels[n]
		}
		has, err := p.e.HasMessage(ctx, id, sha256.Sum256([]byte(second)))
		p.note("%v, the session is known: %v, %v", has, p.e.HasSession(id), err)
	case "status":
		s := p.e.Status()
		p.note("%s of %s, %d processes, warning %q, login %v %s", s.Version, s.Name, len(s.Processes), s.Warning, s.LoginNeeded, s.LoginURL)
	case "watch":
		p.e.OnChange(func() { p.note("the status changes") })
		for _, m := range p.engines {
			m.changed()
		}
	case "login":
		url, err := p.e.Login(ctx)
		p.note("%s %v, %v", url, err, p.e.Finish(ctx, "code"))
	case "run":
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		testkit.Must(p.t, p.e.Run(ctx))
		slices.Sort(p.out[len(p.out)-6:])
	default:
		p.t.Fatalf("no line begins with %s", verb)
	}
}

// say sends a message and notes what the user gets.
func (p *player) say(name, text string) {
	for ev, err := range p.sessions[name].Send(p.ctx, agent.Message{Text: text}) {
		switch ev := ev.(type) {
		case agent.Text:
			if last := len(p.out) - 1; strings.Contains(p.out[last], " hears ") && strings.HasSuffix(ev.Delta, " answers") {
				p.out[last] += ", and " + ev.Delta
			} else {
				p.note("says %s", ev.Delta)
			}
		case agent.Notice:
			p.note("notice: %s", ev.Text)
		case agent.Result:
			if name == p.main {
				p.saved = ev.SessionID
			}
			if ev.IsError || ev.Interrupted {
				p.note(map[bool]string{true: "fails: %s", false: "is interrupted%s"}[ev.IsError], ev.Text)
			}
			if ev.Usage.InputTokens != 1 {
				p.note("used %d", ev.Usage.InputTokens)
			}
		}
		if err != nil {
			p.note("error: %v", err)
		}
	}
}

func TestMovesAreBoundedAndTheirCirclesEnd(t *testing.T) {
	e := New(Options{Dir: storetest.Prepared(t), Log: slog.New(slog.DiscardHandler)})
	for i := range maxMoves + 10 {
		e.move(fmt.Sprint(i), fmt.Sprint(i+1))
	}
	if list := e.moves(); len(list) != maxMoves || e.before("60") != "59" || e.after("0") != "" {
		t.Errorf("%d moves", len(list))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := e.Run(ctx); err != nil || ctx.Err() == nil {
		t.Errorf("without work it ends before the program: %v", err)
	}
	e.move("a", "b")
	e.move("b", "a")
	if _, err := e.HasMessage(t.Context(), "a", [32]byte{}); err != nil {
		t.Error(err)
	}
	if _, err := e.Login(t.Context()); err == nil || err.Error() != e.Finish(t.Context(), "x").Error() {
		t.Errorf("without an engine that has a login: %v", err)
	}
}
