package core

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/post"
)

// phone is an in-memory remote surface that records what the user would see.
type phone struct {
	mu      sync.Mutex
	posts   []post.Post
	texts   []string // of answers
	smalls  []string
	asked   []policy.Approval
	broken  error // the result of sending
	stopped error // the result of Run, at once
	bye     bool
}

// with reads or changes what the phone has.
func (p *phone) with(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do()
}

func (p *phone) Post(_ context.Context, m post.Post) (id post.MessageID, err error) {
	if err := m.Begin(); err != nil {
		return "", err
	}
	p.with(func() {
		if err = p.broken; err == nil {
			p.posts = append(p.posts, m)
			id = post.MessageID(fmt.Sprintf("9%03d", len(p.posts)))
		}
	})
	return id, err
}

func (p *phone) Run(ctx context.Context, _ Intake) error {
	if p.stopped == nil {
		<-ctx.Done()
	}
	return p.stopped
}

func (p *phone) Answer(chat.AnswerOptions) chat.RemoteAnswer {
	a := &phoneAnswer{p: p}
	p.with(func() {
		a.n = len(p.texts)
		p.texts = append(p.texts, "")
	})
	return a
}

func (p *phone) Small(text string, _ bool, _ ...post.Button) {
	p.with(func() { p.smalls = append(p.smalls, text) })
}

func (p *phone) Approval(a policy.Approval)                            { p.with(func() { p.asked = append(p.asked, a) }) }
func (p *phone) Edit(context.Context, post.MessageID, post.Post) error { return nil }
func (p *phone) Delete(context.Context, post.MessageID) error          { return nil }
func (p *phone) Typing(context.Context) error                          { return nil }
func (p *phone) Farewell(context.Context)                              { p.bye = true }
func (p *phone) Status() SurfaceStatus                                 { return SurfaceStatus{Name: "Phone", State: "up", OK: true} }
func (p *phone) OnChange(func())                                       {}

type phoneAnswer struct {
	p *phone
	n int
}

func (a *phoneAnswer) Append(d string) { a.p.with(func() { a.p.texts[a.n] += d }) }
func (a *phoneAnswer) Rewind(n int) {
	a.p.with(func() { a.p.texts[a.n] = a.p.texts[a.n][:len(a.p.texts[a.n])-n] })
}
func (a *phoneAnswer) Tool(string, bool)           {}
func (a *phoneAnswer) Rings() bool                 { return true }
func (a *phoneAnswer) Rang()                       {}
func (a *phoneAnswer) Status(string)               {}
func (a *phoneAnswer) Compacting(agent.Compacting) {}
func (a *phoneAnswer) End(_ bool, shown func([]post.MessageID)) {
	shown([]post.MessageID{post.MessageID(fmt.Sprintf("8%03d", a.n))})
}

// remotely plays a story of a bot whose user has a phone.
func remotely(t *testing.T, p *phone, files []file, tale func(w *world)) {
	t.Helper()
	setting{files: files, change: func(o *Options) { o.Remote = p }}.tell(t, tale)
}

func TestWordsFromElsewhereAreHeardOnceAndAskedAboutThere(t *testing.T) {
	p := &phone{}
	remotely(t, p, nil, func(w *world) {
		hear := func(key, text string) command.Outcome {
			out := w.do(command.Receive{From: "Phone", Key: key, Text: text})
			w.sleep(time.Minute)
			return out
		}
		out := hear("101", please(`say hello there`))
		select {
		case err := <-out.Done:
			testkit.Must(w, err)
		default:
			w.Error("the answer is there and its sender does not know")
		}
		for _, again := range []string{"101", "99"} {
			w.holds(hear(again, please(`say twice`)).Done == nil, "heard again", again)
		}
		w.is("the phone shows", p.texts, []string{"hello there"})
		w.is("last heard", w.LastReceived("Phone"), "101")
		hear("102", "/clear") // words that look like a command are words
		w.is("answers", len(p.texts), 2)
		w.say("/permissions default")
		w.do(command.Receive{From: "Phone", Key: "103", Text: please(`ask Bash {"command":"rm x"}`, `say after it`)})
		w.sleep(5 * time.Second)
		w.needs(len(p.asked) == 1 && p.asked[0].Verdict == "", "asked", p.asked)
		w.do(command.Answer{ID: p.asked[0].ID, Verdict: policy.Deny})
		w.sleep(time.Minute)
		w.holds(len(p.asked) == 2 && p.asked[1].Verdict == policy.Deny, "with its outcome", p.asked)
	})
	checks{t}.holds(p.bye, "there was no goodbye")
}

func TestWhileACommandIsTypedOnThePhoneTimesAndTitlesAreOffered(t *testing.T) {
	files := []file{foreground("dddd0002", 2*time.Hour), foreground("dddd0001", time.Hour), routine("bbbb0003", "0 3 1 1 *", "")}
	for i := range mostSuggestions {
		files = append(files, foreground(fmt.Sprintf("eeee%04d", i), 30*time.Hour))
	}
	was := command.Table // of which no command in Discord names a task or a run
	defer func() { command.Table = was }()
	command.Table = append([]command.Command{{
		Name: "poke", In: command.InDiscord, Args: []command.Arg{{Kind: command.Task, Name: "task"}, {Kind: command.Run, Name: "run"}},
	}}, was...)
	story(t, files, func(w *world) {
		w.do(command.FireNow{ID: "bbbb0003"})
		w.sleep(time.Minute)
		for _, c := range []struct{ name, option, typed, want string }{
			{"remind", "when", "", strings.Join(suggestedTimes, " | ")},
			{"remind", "when", " Evening", "Evening | 18:00"},
			{"remind", "when", "to", "tomorrow 9:00 | tomorrow evening"},
			{"remind", "when", "2", "20 minutes"},
			{"remind", "when", "tomorrow 9:00", "tomorrow 9:00 | Sun 2 Jan 09:00"},
			{"remind", "when", "never", ""},
			{"remind", "what", "ddd", "ddd | Task dddd0001 | Task dddd0002"},
			{"remind", "what", " task B ", "task B | Task bbbb0003"},
			{"remind", "what", "", "Task dddd0001 | Task dddd0002"},
			{"remind", "nothing", "x", ""},
			{"poke", "task", " task B", "Task bbbb0003"},
			{"poke", "run", "", "Task bbbb0003"},
			{"poke", "run", "d", ""},
		} {
			got := w.Suggest(c.name, c.option, c.typed)
			if c.option == "what" && c.typed == "" {
				w.is("offers", len(got), mostSuggestions)
				got = got[:2]
			}
			w.is(c.option+" "+c.typed, strings.Join(got, " | "), c.want)
		}
		w.is("for a command without a list", len(w.Suggest("timezone", "zone", "Eur")), 0)
	})
}

func TestTheBotOutlivesItsRemoteSurfaceAndPaysForNothingUndelivered(t *testing.T) {
	p := &phone{stopped: errors.New("the token is wrong"), broken: errors.New("no network")}
	plants := remind("dddd0009", time.Second, "", `call ping_user {"message":"Water the plants?"}`, aReport)
	remotely(t, p, []file{plants}, func(w *world) {
		before := w.Snapshot().Budget.State.Available
		w.sleep(time.Minute)
		w.lacks("the chat", fmt.Sprint(w.Snapshot().Chat), "plants")
		w.holds(w.Snapshot().Budget.State.Available >= before, "a token was spent", before, w.Snapshot().Budget.State)
		w.say(please(`say still here`))
		w.holds(w.spoke("still here") && w.noted("the token is wrong") > 0, "notices", w.Snapshot().Notices)
		w.shows("the other surface", strings.Join(p.smalls, "\n"), "in the dashboard")
	})
}

func TestEachViewerHasWakeUpsOfItsOwn(t *testing.T) {
	story(t, nil, func(w *world) {
		woken := func(v *Viewer) bool {
			select {
			case <-v.Changed():
				return true
			default:
				return false
			}
		}
		one, two, gone := w.Viewer(false), w.Viewer(true), w.Viewer(false)
		gone.Close()
		gone.Close()
		w.viewers.notify()
		w.viewers.notify()
		for _, v := range []*Viewer{one, two} {
			<-v.Changed()
			w.is("woken twice for what it has not looked at", woken(v), false)
			v.Close()
		}
		w.is("woken though it is closed", woken(gone), false)
		w.is("viewers that are left", len(w.viewers.open), 0)
	})
}

func TestAReadOnlyViewerChangesNothing(t *testing.T) {
	const loud = "Hear !`touch ran; echo it`."
	story(t, []file{
		task("skills/loud/SKILL.md", "name: loud\ndescription: Loud.\n", loud),
		task("routines/r.md", "id: \"bbbb0002\"\ncron: \"0 3 1 1 *\"\nskills: [loud]\n", "Good morning."),
	}, func(w *world) {
		v := w.Viewer(true)
		defer v.Close()
		for _, c := range []command.Value{
			command.SetBudget{Capacity: new(6)},
			command.Say{Text: "hello"},
			command.FireNow{ID: "bbbb0002"},
			command.Pause{ID: "bbbb0002", Paused: true},
			command.EditTask{ID: "bbbb0002"},
			command.DeleteTask{ID: "bbbb0002"},
			command.Answer{},
			command.UserActive{},
			command.MarkSeen{},
			command.SetConfig{Key: "quiet_hours", Value: "off"},
			command.Login{},
			command.Slash{Line: "/restart"},
			command.Interrupt{},
			nil,
		} {
			_, err := v.Do(w.Context(), c)
			w.fails(fmt.Sprintf("%T", c), err, "read-only")
		}
		w.is("the budget", w.Snapshot().Budget.State.Capacity, 5)
		_, describe := v.Describe(w.Context(), "bbbb0002")
		_, costs := v.Costs(w.Context(), 1)
		_, runs := v.Runs(w.Context(), command.Mark{}, 5)
		_, past := v.Past(w.Context(), "bbbb0002")
		_, away := v.Away(w.Context())
		testkit.Must(w, errors.Join(describe, costs, runs, past, away))
		w.shows("the preview", must(v.Preview(w.Context(), "bbbb0002"))(w), loud)
		w.holds(!w.has("ran"), "the command of a skill ran")
	})
}

// A read-only viewer may have every line of the command line carried out that changes nothing, and no other.
func TestAReadOnlyViewerRunsOnlyLinesThatChangeNothing(t *testing.T) {
	story(t, nil, func(w *world) {
		ran := ""
		w.o.UserCommands = func(_ context.Context, args []string) (agent.CommandResult, command.Value) {
			ran = strings.Join(args, " ")
			return agent.CommandResult{Stdout: "done\n"}, nil
		}
		for _, readOnly := range []bool{true, false} {
			v, lines, refused := w.Viewer(readOnly), 0, 0
			for _, c := range command.List(command.InShell) {
				ran = ""
				line := c.Name + " 0123abcd"
				if c.Takes(command.Task) && c.Takes(command.Moment) {
					line += " 2h"
				}
				_, err := v.Do(w.Context(), command.Line{Text: line, Sure: true})
				if c.In&command.InPlain != 0 && (!readOnly || !c.Writes) {
					w.holds(err == nil && ran == line, "a line that changes nothing", readOnly, line, ran, err)
					lines++
				} else {
					w.holds(err != nil && ran == "", "a line that was carried out", readOnly, line)
					refused++
				}
			}
			w.holds(lines >= 20 && refused >= 15, "lines, and refused ones", readOnly, lines, refused)
			v.Close()
		}
	})
}

func TestABotLivesWhileItsLoopsTurnAndKeepsAnotherOneOut(t *testing.T) {
	alive := func(b *Bot) error {
		ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
		defer stop()
		return b.Alive(ctx)
	}
	story(t, nil, func(w *world) {
		began := time.Now()
		for range 201 { // probes must not fill the queue
			testkit.Must(w, alive(w.Bot))
		}
		w.holds(time.Since(began) <= time.Second, "a bot that waits answers after", time.Since(began))
		var running *store.RunningError
		err := w.bot(offline()).Run(w.Context())
		w.holds(errors.As(err, &running), "a second bot on the same directory ended with", err)
	})
	checks{t}.fails("a bot that was never started", alive(newHome(t).bot(offline())))
}

func TestTheBotWorksOnceTheDashboardHasPainted(t *testing.T) {
	for name, c := range map[string]struct{ after, works time.Duration }{ // of the first frame, 0 for never; when the bot starts working
		"a frame":                     {300 * time.Millisecond, 300 * time.Millisecond},
		"a terminal that is not read": {0, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			tea := task("routines/tea.md", "id: \"cccc1003\"\ncron: \"0 12 * * *\"\n", "Tea.")
			h := newHome(t)
			synctest.Test(t, func(t *testing.T) {
				h.t = t
				h.put(tea)
				shown := make(chan struct{})
				w := h.world(h.bot(offline(), func(o *Options) { o.Shown = shown }))
				defer begin(t, w.Bot)()
				if c.after != 0 {
					time.AfterFunc(c.after, func() { close(shown) })
				}
				w.sleep(c.works - time.Millisecond)
				w.holds(!w.Snapshot().Started.IsZero(), "the dashboard waits for the lock")
				w.is("tasks read before the first frame", len(w.index.Set().Routines), 0)
				w.holds(!w.has("skills/setup/SKILL.md"), "the bot competes with the first frame")
				w.sleep(2 * time.Millisecond)
				w.is("tasks read after it", len(w.index.Set().Routines), 1)
			})
		})
	}
}

// What a bot knows without its state/ no longer matches the disk.
func TestALostStateFolderEndsTheBotBeforeItWrites(t *testing.T) {
	for name, replace := range map[string]bool{"removed": false, "replaced": true} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			synctest.Test(t, func(t *testing.T) {
				h.t = t
				h.put(routine("cccc1002", "* * * * *", "", "say done"))
				w := h.world(h.bot(offline()))
				ended := make(chan error, 1)
				go func() { ended <- w.Run(t.Context()) }()
				time.Sleep(90 * time.Second)
				state := filepath.Join(h.root, "state")
				testkit.Must(t, os.RemoveAll(state))
				if replace {
					testkit.Must(t, os.Mkdir(state, 0o700))
				}
				w.refuses("", command.SetBudget{Capacity: new(7)})
				err := <-ended
				var lost *store.LostError
				w.holds(errors.As(err, &lost) && strings.Contains(err.Error(), state+" was removed or replaced"), "it ended with", err)
				w.holds(w.noted("was removed or replaced") > 0, "notices", w.Snapshot().Notices)
				left, err := os.ReadDir(state)
				w.holds(len(left) == 0 && replace == (err == nil), "state/ holds", left, err)
			})
		})
	}
}
