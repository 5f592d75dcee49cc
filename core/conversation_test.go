package core

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/script"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/storage/logs"
	"ollimbot/core/talk/absence"
	"ollimbot/core/talk/transcript"
	duetimes "ollimbot/routines/account"
)

func TestSlashCommandsAnswer(t *testing.T) {
	story(t, nil, func(w *world) {
		status := w.say("/status").Message
		w.holds(strings.HasPrefix(status, "No model is connected: scripted replies answer. Nothing is due within a day; "), "/status", status)
		w.shows("/status", status, "\nbudget: ")
		for line, want := range map[string]string{
			"/ping-budget":                           "ping budget: 5/5 available (refills 1 every 90 min).",
			"/ping-budget 5":                         "the ping budget is unchanged: 5/5 available (refills 1 every 90 min).",
			"/ping-budget 6 60":                      "ping budget updated: 5/6 available (refills 1 every 60 min, next in 60 min).",
			"/ping-budget capacity=5 refill_rate=80": "ping budget updated: 5/5 available (refills 1 every 80 min).",
			"/model opus":                            "switched to opus.",
			"/thinking 8000":                         "thinking: 8000.",
		} {
			w.do(command.RestoreBudget{Capacity: 5, RefillMinutes: 90, Available: 5})
			w.is(line, w.say(line).Message, want)
		}
		for line, words := range map[string]string{
			"/model gpt": "", "/thinking much": "", "/ping-budget -1": "", "/ping-budget 5 0": "", "/ping-budget five": "", "/": "",
			"/nonsense": "/ping-budget" /* it says what exists */, "/config model.main gpt": "haiku", "/config nonsense 1": "",
			"/mcp login": textServerUsage, "/google-auth": "create your own client", "/attach": "", "/attach /missing": "",
		} {
			w.refuses(words, command.Say{Text: line})
		}
		w.shows("/config of a key", w.say("/config max_background_forks 2").Message, "2")
		w.holds(w.Snapshot().MaxForks == 2 && w.has("state/settings.json"), "in force", w.Snapshot().MaxForks)
		w.is("/mcp", w.say("/mcp").Message, textNoServers)
		w.shows("/config", w.say("/config").Message, "bg_fork_timeout")
		w.say("/attach " + w.dir.Path("state/settings.json"))
		w.is("attached", len(w.Snapshot().Attached), 1)
		w.say("/setup")
		w.sleep(time.Minute)
		chat := w.Snapshot().Chat
		w.holds(!w.Snapshot().Busy && chat[len(chat)-1].Role == transcript.Bot, "/setup has no answer", chat)
	})
}

// A fork is left in each way, and main continues with its own model, thinking and ears.
func TestAForkIsEnteredAndLeftAndMainContinues(t *testing.T) {
	e := &recorder{Engine: offline()}
	config := file{"state/config.json", `{"model_main": "opus", "model_fork": "haiku", "thinking_main": "adaptive", "thinking_fork": "off"}`}
	setting{engine: e, files: []file{config}}.tell(t, func(w *world) {
		left := func(how command.Exit) {
			w.Helper()
			w.do(command.ExitFork{How: how})
			w.sleep(time.Minute)
			w.holds(w.Snapshot().Fork == nil, "the fork is open", how, w.Snapshot().Fork)
		}
		w.say("hello")
		first := w.sessions.Main()
		w.say(please(`say Let me look at that apart.`, `call enter_fork {"topic":"roses"}`, `wait 5s`, `say never heard`))
		w.holds(w.Snapshot().Fork.Topic == "roses" && !w.spoke("never heard"), "the turn did not lead into a fork", w.Snapshot().Fork)
		w.say(please(`call report_updates {"message":"Roses want sun."}`))
		w.holds(w.Snapshot().Fork == nil, "the fork is open after its report", w.Snapshot().Fork)
		w.is("updates", w.pending(), "Roses want sun.")
		w.say("/fork the garden")
		s := e.last().Settings
		w.needs(s.Model == "haiku" && s.Thinking == "off", "the fork was opened with", s)
		left(command.ExitDiscard)
		w.is("the main session", w.sessions.Main(), first)
		w.say("/fork")
		left(command.ExitSave)
		w.say("and then?")
		w.is("updates after main's turn", w.pending(), "")
		main := e.last()
		w.holds(main.Resume == w.sessions.Main() && main.Resume != first && !main.Fork, "main resumes", main)
		w.is("main has", []string{main.Settings.Model, main.Settings.Thinking}, []string{"opus", "adaptive"})
		go main.OnEngineTurn(func(yield func(agent.Event, error) bool) {
			_ = yield(agent.Text{Delta: "the download is done"}, nil) && yield(agent.Result{SessionID: main.Resume}, nil)
		})
		w.sleep(time.Minute)
		w.holds(w.spoke("the download is done"), "a turn that the session began is not read")
		testkit.Must(t, w.updates.Append(w.now(), "keep me"))
		w.say("/fork")
		w.shows("/clear", w.say("/clear").Message, "fork was discarded too")
		w.is("main, updates", []string{w.sessions.Main(), w.pending()}, []string{"", "keep me"})
	})
}

// A finished run is resumed by command, by a reply to its ping, and by a button of its card.
func TestAFinishedRunIsResumed(t *testing.T) {
	e := &recorder{Engine: offline()}
	setting{engine: e, files: []file{
		remind("cccc0001", time.Second, "", `say looked at it`),
		remind("dddd0001", time.Hour, "", `call ping_user {"message":"Water the plants?"}`, aReport),
		remind("dddd0003", 2*time.Hour, "",
			`call discord_embed {"title":"Mail","buttons":[{"label":"Draft","action":"agent:draft it"},{"label":"Away","action":"dismiss:"}]}`, aReport),
	}}.tell(t, func(w *world) {
		w.sleep(time.Minute)
		w.do(command.ResumeFork{Run: w.Snapshot().Forks[0].ID})
		w.sleep(time.Minute)
		fork := w.Snapshot().Fork
		w.needs(fork != nil && fork.Resumed, "the fork", fork)
		w.shows("its session was sent", e.to(w.Snapshot().Forks[0].Session), "I would like to continue")
		w.do(command.ExitFork{How: command.ExitReport})
		w.sleep(time.Minute)
		w.holds(w.Snapshot().Fork == nil, "the fork is open after the report")
		w.refuses("", command.ResumeFork{Run: "missing"})
		w.sleep(time.Hour)
		w.do(command.Say{Text: "not yet", ReplyTo: w.pinged().ID})
		w.sleep(time.Minute)
		w.shows("the run was sent", e.to(w.Snapshot().Forks[0].Session), "not yet")
		w.do(command.ExitFork{How: command.ExitDiscard})
		w.sleep(time.Hour)
		card := w.pinged()
		w.presses(card, "Draft", "")
		w.sleep(time.Minute)
		w.holds(w.Snapshot().Fork != nil && w.Snapshot().Fork.Resumed, "fork", w.Snapshot().Fork)
		w.presses(card, "Away", "")
		w.refuses("", command.Click{Message: "t0", ID: "act:rm:x"})
	})
}

// L5: it counted as done wherever "done" is shown.
func TestAForegroundTaskCutOffByTheNextMessageIsInterruptedEverywhere(t *testing.T) {
	story(t, []file{foreground("aaaa0001", 10*time.Minute, "say First.", "wait 1h", "say Last.")}, func(w *world) {
		w.sleep(11 * time.Minute)
		w.say("hello")
		w.sleep(time.Minute)
		past := must(dueTimes(w.dir, nil, time.Time{}, w.now()))(w)
		w.holds(len(past.Rows) == 1 && past.Rows[0].Fate == duetimes.Interrupted && past.Rows[0].Why == duetimes.ByUser, "the account", past.Rows)
		away := must(absence.Sum(w.dir, w.audit, absence.Span{From: w.now().Add(-time.Hour), To: w.now()}))(w)
		w.holds(len(away.Front) == 1 && strings.Contains(away.Front[0].Detail, "interrupted by you"), "the page of an absence", away.Front)
		w.holds(!w.has("reminders/aaaa0001.md"), "its file is kept")
		w.is("notices of what the user did", len(w.Snapshot().Notices), 0)
	})
}

// choosy is an engine with a model that ignores every thinking setting.
type choosy struct{ agent.Engine }

func (choosy) Status() agent.Status {
	return agent.Status{Models: func() []agent.Model {
		return []agent.Model{
			{Names: []string{"opus", ""}, AlwaysThinks: true, OwnMeasure: true}, {Names: []string{"sonnet"}, OwnMeasure: true}, {Names: []string{"haiku"}},
		}
	}}
}
func (choosy) OnChange(func()) {}

// warning is a working engine of an untested version.
type warning struct {
	agent.Engine
	changed func()
	runs    atomic.Bool
}

func (w *warning) Run(ctx context.Context) error {
	w.runs.Store(true)
	<-ctx.Done()
	return nil
}

func (*warning) Status() agent.Status      { return agent.Status{Version: "9.0.0", Warning: "it is newer"} }
func (w *warning) OnChange(changed func()) { w.changed = changed }

func TestWhatTheEngineWarnsOfIsSaidOnceAndKeepsNothingUp(t *testing.T) {
	e := &warning{Engine: offline()}
	setting{engine: e}.tell(t, func(w *world) {
		for range 3 {
			e.changed()
		}
		s := w.Snapshot().Engine
		w.is("said", w.noted("it is newer"), 1)
		w.is("the engine runs with the bot", e.runs.Load(), true)
		w.holds(s.OK && s.State == "ready" && s.Warning == "it is newer", "the engine", s)
	})
}

func TestASettingOfThinkingThatTheModelDoesNotObeyIsSaid(t *testing.T) {
	setting{engine: choosy{offline()}}.tell(t, func(w *world) {
		for _, c := range [][2]string{
			{"/thinking off", "(default) still thinks"},
			{"/thinking", "(default) still thinks"},
			{"/thinking 8000", "(default) decides how much it thinks"},
			{"/model sonnet", "sonnet decides how much it thinks"},
			{"/thinking off", ""},
			{"/model opus", "opus still thinks"},
			{"/thinking adaptive", ""},
			{"/config thinking_fork off", "opus still thinks"},
			{"/model haiku", ""},
			{"/thinking 8000", ""},
		} {
			got := w.say(c[0]).Message
			w.holds(strings.Contains(got, c[1]) && (c[1] != "" || !strings.Contains(got, "thinks")), c[0]+" answers", got)
		}
	})
}

// leaky panics during a login, and includes a secret in its errors.
type leaky struct {
	*script.Engine
	fault bool
}

func (e leaky) Login(context.Context) (string, error) {
	if e.fault {
		panic("the seam")
	}
	return "", fmt.Errorf("dial https://x/?key=hunter2-hunter2: %w", context.DeadlineExceeded)
}
func (leaky) Finish(context.Context, string) error { return errors.New("hunter2-hunter2") }

// A fault is a sentence for the user and a place in the log; secrets reach neither the user nor any notice.
func TestFaultsAndSecretsOfALoginStayInTheLog(t *testing.T) {
	for _, fault := range []bool{true, false} {
		log, book := logs.New(logs.Options{})
		book.Hide("hunter2-hunter2")
		e := leaky{script.New(script.Options{}), fault}
		setting{engine: e, change: func(o *Options) { o.Log, o.Book = log, book }}.tell(t, func(w *world) {
			_, err := w.Do(w.Context(), command.Login{})
			if fault {
				w.fails("the login", err, "internal fault in command.Login: the seam")
				w.shows("the log", w.output(LogTail), "core.leaky.Login (conversation_test.go:")
				return
			}
			w.holds(errors.Is(err, context.DeadlineExceeded) && !strings.Contains(err.Error(), "hunter2"), "the login", err)
			w.log.Error("a key of hunter2-hunter2 was refused", "error", errors.New("hunter2-hunter2 is wrong"))
			w.chat.Aside("see hunter2-hunter2")
			s := w.Snapshot()
			text := fmt.Sprintf("%+v %+v", s.Notices, s.Chat)
			w.lacks("shown", text, "hunter2")
			w.shows("shown", text, "[hidden] is wrong")
		})
	}
}
