package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/base/words"
	"ollimbot/core/brief/skill"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/session"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/money"
	"ollimbot/core/work/updates"
)

// talk is a bot, its conversation and its engine, which note what they are asked to do. It is a Host's Conversation and
// Engine.
type talk struct {
	agent.Engine
	*testing.T
	Host
	config   config.Runtime
	settings agent.Settings
	mode     policy.Mode
	model    agent.Model
	busy     bool
	fails    error
	result   agent.Result
	saved    int
	did      []string
	undo     Value
}

func (h *talk) does(format string, args ...any) error {
	h.did = append(h.did, fmt.Sprintf(format, args...))
	return h.fails
}

func (h *talk) Settings(inFork bool) agent.Settings {
	if inFork {
		_ = h.does("settings of a fork")
	}
	return h.settings
}
func (h *talk) CurrentSettings() agent.Settings { return h.settings }
func (h *talk) SetModel(_ context.Context, name string) error {
	h.settings.Model = name
	return h.does("model %s", name)
}

func (h *talk) SetThinking(_ context.Context, mode string) error {
	h.settings.Thinking = mode
	return h.does("thinking %s", mode)
}
func (h *talk) Mode() policy.Mode { return h.mode }
func (h *talk) SetMode(_ context.Context, m policy.Mode) error {
	h.mode = m
	return h.does("mode %s", m)
}

func (h *talk) ConfigChanged(_ context.Context, key string) error { return h.does("changed %s", key) }

func (h *talk) Command(_ context.Context, m agent.Message) (string, agent.Result, int, error) {
	return "", h.result, h.saved, h.does("command %s %q", m.Command, m.Text)
}
func (h *talk) Clear(context.Context) (bool, error) { return h.busy, h.does("clear") }
func (h *talk) Attach(path string) (string, error) {
	return path + " is attached", h.does("attach %s", path)
}
func (h *talk) EnterFork(topic string) error    { return h.does("fork %q", topic) }
func (h *talk) Interrupt(context.Context) error { return h.does("interrupt") }
func (h *talk) Busy() (bool, time.Time)         { return h.busy, time.Time{} }
func (h *talk) OnChange(func())                 {}
func (h *talk) Status() agent.Status {
	return agent.Status{Models: func() []agent.Model { return []agent.Model{h.model} }}
}

func newTalk(t *testing.T) *talk {
	dir, zone := storetest.Prepared(t), time.FixedZone("here", 3600)
	storetest.Put(t, dir, "skills/setup/SKILL.md", "---\nname: setup\ndescription: Sets up\n---\nAsk.\n")
	r, _, err := config.LoadRuntime(dir)
	testkit.Must(t, err)
	h := &talk{T: t, config: r, mode: policy.DontAsk}
	lines := func(ctx context.Context, args []string) (string, error) { return strings.Join(args, "+"), h.fails }
	h.Host = Host{
		Chat: h, Engine: h, Budget: budget.NewBucket(dir, zone, nil), Tally: budget.NewTally(dir, zone, nil), Sessions: session.NewStore(dir, zone, nil), Dir: dir,
		Version: "0.1", Now: func() time.Time { return time.Now().In(zone) }, Config: func() *config.Runtime { return &h.config },
		SetConfig: func(r *config.Runtime) { h.config = *r },
		Follows: func(key, value string) string {
			return map[string]string{"daily_cap 1": "that is spent already"}[key+" "+value]
		},
		CheckModel: func(name string) error {
			return map[bool]error{true: errors.New("no provider has " + name)}[name == "far/zeta" || !strings.Contains(name, "/")]
		},
		Models: func(context.Context) []ModelChoice {
			return []ModelChoice{{"local/qwen3", "small", "It is slow."}, {"local/plain", "", ""}}
		},
		Lift: func(_ context.Context, undo bool) (string, error) {
			return fmt.Sprint("lifted, undone ", undo), h.fails
		},
		Costs: func(days int) (CostReport, error) {
			_ = h.does("costs of %s", words.Count(days, "day"))
			s := money.Total(money.Row{Used: agent.Usage{CostUSD: 1.5}, Requests: 2, About: 1})
			span := money.Span{Spent: s, Cap: 2}
			return CostReport{
				Days: make([]CostDay, days), Spent: s, Money: money.State{Today: span, Month: span, Reserved: 0.5, Lifted: true},
				Parts: []PartCost{{For: money.Fork, Dollars: 1.5, Requests: 2}, {For: money.Before, Dollars: 9}},
			}, h.fails
		},
		Status: func() []string { return []string{"all is well", "nothing waits"} }, Card: func() *post.Embed { return &post.Embed{Title: "All is well"} },
		Week: func(_ context.Context, ago int) ([]string, error) {
			return []string{fmt.Sprint("the week ", ago, " ago"), "2 pings"}, h.fails
		},
		Servers: lines, Google: lines,
		Record: func(_ context.Context, e audit.Entry) { _ = h.does("record %s %s %s", e.Action, e.Subject, e.Detail) },
		Follow: func(_ context.Context, s skill.Skill, filled string) error {
			return h.does("follow %s %q", s.Name, filled)
		},
		Add: func(_ context.Context, a AddTask) (Outcome, error) {
			_ = h.does("add %s %q %q, before it %q", a.At.Format("Mon 15:04"), a.Description, a.Message, a.Ahead)
			return Outcome{Message: "added"}, h.fails
		},
		Line: func(_ context.Context, l Line) (Outcome, error) { return Outcome{Printed: "ran " + l.Text}, h.fails },
		Restart: func() {
			_ = h.does("restart, in the history %v", strings.Contains(storetest.Text(t, dir, "state/session_history.jsonl"), string(session.Restarting)))
		},
	}
	return h
}

// is sets what a story begins with or goes on with.
func (h *talk) is(what string) {
	word, rest, _ := strings.Cut(what, " ")
	switch word {
	case "busy":
		h.busy = true
	case "fails":
		h.fails = errors.New(rest)
	case "works":
		h.fails = nil
	case "always-thinks":
		h.model = agent.Model{Names: []string{"haiku", "opus", ""}, AlwaysThinks: true}
	case "own-measure":
		h.model = agent.Model{Names: []string{"haiku", "opus", ""}, OwnMeasure: true}
	case "session":
		testkit.Must(h, h.Sessions.SaveMain(h.Now(), "6f1c0a52-8a63-4a3e-9d1e-0c2b7a9f4e11"))
	case "later":
		d, err := time.ParseDuration(rest)
		testkit.Must(h, err)
		time.Sleep(d)
	case "compacts":
		_, err := fmt.Sscan(rest, &h.result.Turns, &h.saved)
		testkit.Must(h, err)
	case "fixed":
		h.ZoneFixed = rest
	case "unrestartable":
		h.Restart = nil
	case "offline":
		h.Models, h.Line = nil, nil
	case "no-setup":
		testkit.Must(h, h.Dir.Remove("skills/setup/SKILL.md"))
	default:
		h.Fatalf("no circumstance %q", what)
	}
}

// shown is a card in lines.
func shown(e *post.Embed) (lines []string) {
	if e == nil {
		return []string{"no card"}
	}
	lines = append(lines, strings.TrimSpace(fmt.Sprintf("# %s %s", e.Title, e.Color)))
	if e.Description != "" {
		lines = append(lines, e.Description)
	}
	for _, f := range e.Fields {
		lines = append(lines, f.Name+" | "+strings.ReplaceAll(f.Value, "\n", " | "))
	}
	for _, b := range e.Buttons {
		lines = append(lines, fmt.Sprintf("[%s] %s %s", b.Label, b.Style, b.Action))
	}
	for _, s := range e.Selects {
		line := s.Hint + " " + s.Action
		for _, c := range s.Choices {
			line += fmt.Sprintf(" (%s=%s%s%s)", c.Label, c.Value, strings.TrimSuffix(" "+c.About, " "), map[bool]string{true: " chosen"}[c.Chosen])
		}
		lines = append(lines, line)
	}
	return lines
}

// plays plays a story: a line of the conversation, a card, or a circumstance in brackets, and below it what came of it.
func (h *talk) plays(story string) string {
	var out []string
	for line := range strings.Lines(story) {
		if line = strings.TrimRight(line, "\n"); strings.HasPrefix(line, " ") || line == "" {
			continue
		}
		out, h.did = append(out, line), nil
		var says []string
		var err error
		verb, rest, _ := strings.Cut(line, " ")
		switch {
		case strings.HasPrefix(line, "("):
			h.is(strings.Trim(line, "()"))
			continue
		case strings.HasPrefix(line, "/"):
			var o Outcome
			o, err = Slash{Line: line}.CarryOut(h.Context(), h.Host)
			says = strings.Split(o.Message, "\n")
			if picture := (Slash{Line: line}).Picture(); picture != "" {
				says = append(says, "picture "+picture)
			}
		case verb == "card":
			says = shown(Slash{Line: rest}.Card(h.Host))
		case verb == "group":
			says = shown(GroupCard(h.config, rest))
		case verb == "setting":
			says = shown(SettingCard(h.config, rest, h.models(h.Context())))
		case verb == "sure":
			key, value, _ := strings.Cut(rest, " ")
			says = shown(SureCard(SetConfig{Key: key, Value: value}, h.Follows(key, value)))
		case verb == "set": // as a surface with undo does
			key, value, _ := strings.Cut(rest, " ")
			var o Outcome
			o, err = SetConfig{Key: key, Value: value}.CarryOut(h.Context(), h.Host)
			says, h.undo = []string{cmp.Or(o.Message, o.Follows)}, o.Undo
		case verb == "undo":
			var o Outcome
			o, err = h.undo.(SetConfig).CarryOut(h.Context(), h.Host)
			says, h.undo = []string{o.Message}, o.Undo
		default:
			h.Fatalf("no step %q", line)
		}
		if err != nil {
			no := new(NoLineError)
			says = append(slices.DeleteFunc(says, func(s string) bool { return s == "" }), map[bool]string{true: "no line: ", false: "error: "}[errors.As(err, &no)]+err.Error())
		}
		for _, did := range h.did {
			says = append(says, "* "+did)
		}
		for _, s := range says {
			out = append(out, strings.TrimRight("  "+s, " "))
		}
	}
	return strings.Join(out, "\n")
}

func TestTheConversationsCommandsDoAndAnswerAsTheirStoriesSay(t *testing.T) {
	goldentest.Stories(t, "slash.txt", func(t *testing.T, story string) (got string) {
		synctest.Test(t, func(t *testing.T) { got = newTalk(t).plays(story) })
		return got
	})
}

func TestTheCardOfSettingsHasThemAllByTheirGroups(t *testing.T) {
	h := newTalk(t)
	e := SettingsCard(h.config)
	if lines := shown(e); lines[0] != "# Settings" || len(e.Fields) != len(config.Groups) || len(e.Selects) != 1 {
		t.Errorf("%q", lines)
	}
	for i, g := range config.Groups {
		var want []string
		for _, l := range config.InGroup(h.config, g) {
			want = append(want, l.About.Name+": "+l.Long)
		}
		if f := e.Fields[i]; f.Name != g || f.Value != strings.Join(want, "\n") {
			t.Errorf("%+v", f)
		}
	}
}

func TestChangesOfTheBudgetAndOfUpdatesAreSaidAndUndone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, zone := storetest.Prepared(t), time.UTC
		queue := updates.NewQueue(dir, zone, nil)
		testkit.Must(t, queue.Append(time.Now(), "Two mails."))
		all := Handlers{}
		all.Add(BudgetHandlers(budget.NewBucket(dir, zone, nil), zone)...)
		all.Add(UpdateHandlers(queue)...)
		number := func(n int) *int { return &n }
		key := queue.Peek()[0].Key
		changed := audit.Entry{Action: audit.BudgetChanged}
		var undo Value
		for _, c := range []struct {
			do       Value // nil undoes the one before
			says     string
			decision audit.Entry
			undo     string
			fails    string
		}{
			{SetBudget{Capacity: number(6), RefillMinutes: number(60)}, "capacity 5 → 6, refill 90 → 60 min", changed, "{5 90 5}", ""},
			{nil, "capacity 6 → 5, refill 60 → 90 min", changed, "{6 60 5}", ""},
			{nil, "capacity 5 → 6, refill 90 → 60 min", changed, "{5 90 5}", ""},
			{SetBudget{Capacity: number(6)}, "the ping budget is unchanged", audit.Entry{}, "<nil>", ""},
			{SetBudget{Capacity: number(0)}, "capacity 6 → 0, pings are muted", changed, "{6 60 5}", ""},
			{SetBudget{Capacity: number(-1)}, "", audit.Entry{}, "", "capacity -1 is out of range: choose 0 to 1000 tokens (0 mutes all but critical pings)"},
			{DiscardUpdate{Key: key}, "update discarded", audit.Entry{Action: audit.UpdateDiscarded, Subject: key}, "", ""},
			{nil, "update restored", audit.Entry{Action: audit.UpdateRestored, Subject: key}, "{" + key + "}", ""},
			{DiscardUpdate{Key: "none"}, "", audit.Entry{}, "", updates.ErrGone.Error()},
		} {
			if c.do == nil {
				c.do = undo
			}
			out, err := all.Do(t.Context(), c.do)
			if c.fails != "" {
				if err == nil || err.Error() != c.fails {
					t.Errorf("%+v: %v", c.do, err)
				}
				continue
			}
			if undo = out.Undo; err != nil || out.Message != c.says || out.Decision != c.decision || c.undo != "" && fmt.Sprint(undo) != c.undo {
				t.Errorf("%+v: %+v, %v", c.do, out, err)
			}
		}
		if _, err := all.Do(t.Context(), Interrupt{}); err == nil || err.Error() != "nothing carries out command.Interrupt" {
			t.Errorf("%v", err)
		}
		if list := queue.Peek(); len(list) != 1 {
			t.Errorf("pending %+v", list)
		}
		defer func() {
			if said := fmt.Sprint(recover()); said != "two handlers for command.DiscardUpdate" {
				t.Errorf("a second handler: %s", said)
			}
		}()
		all.Add(UpdateHandlers(queue)...)
	})
}
