package core

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/transcript"
)

// approves says something that makes the engine ask, and returns the question.
func (w *world) approves(line string) policy.Approval {
	w.Helper()
	w.do(command.Say{Text: please(line, `say after it`)})
	w.sleep(5 * time.Second)
	a := w.Snapshot().Approvals
	w.needs(len(a) == 1, "approvals", a)
	return a[0]
}

func TestAnApprovalIsAskedAnsweredAndExpires(t *testing.T) {
	story(t, nil, func(w *world) {
		w.say("/permissions default")
		ask := func() string {
			a := w.approves(`ask Bash {"command":"rm x"}`)
			w.is("asked about", a.Tool, "Bash")
			return a.ID
		}
		first := ask()
		w.do(command.Answer{ID: first, Verdict: policy.Allow})
		w.sleep(30 * time.Second)
		w.refuses("allowed", command.Answer{ID: first, Verdict: policy.Deny})
		ask()
		w.sleep(policy.Patience)
		w.is("open after a minute", len(w.Snapshot().Approvals), 0)
		third := ask()
		w.do(command.Interrupt{})
		w.sleep(time.Second)
		w.is("open after an interruption", len(w.Snapshot().Approvals), 0)
		w.refuses("", command.Answer{ID: third, Verdict: policy.Allow})
	})
}

// A readable file of the data directory is sent without asking. Any other file needs approval in every mode, and the user sees its path.
func TestAFileFromElsewhereIsSentWithAYesOnly(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "plan.md")
	testkit.Must(t, os.WriteFile(outside, []byte("x"), 0o600))
	story(t, []file{{"notes/plan.md", "x"}}, func(w *world) {
		w.asks(`call send_file {"file_path":"notes/plan.md"}`, `say sent it`)
		w.holds(len(w.Snapshot().Approvals) == 0 && w.spoke("sent it"), "a note is asked about", w.Snapshot().Approvals)
		a := w.approves(`call send_file {"file_path":"` + outside + `"}`)
		w.shows("the question", a.Text, outside)
		w.do(command.Answer{ID: a.ID, Verdict: policy.Deny})
		w.sleep(30 * time.Second)
		w.holds(w.spoke("after it"), "the turn did not go on")
	})
}

func TestAFinishedRunIsResumedAndReportsButCannotBeSaved(t *testing.T) {
	e := &recorder{Engine: offline()}
	setting{engine: e, files: []file{remind("cccc0001", time.Second, "", `say looked at it`)}}.tell(t, func(w *world) {
		w.sleep(time.Minute)
		w.is("runs", w.runs(), "cccc0001 done")
		run := w.Snapshot().Forks[0]
		w.do(command.ResumeFork{Run: run.ID})
		w.sleep(time.Minute)
		fork := w.Snapshot().Fork
		w.needs(fork != nil && fork.Resumed, "the fork", fork)
		w.shows("its session was sent", e.to(run.Session), "I would like to continue")
		w.do(command.ExitFork{How: command.ExitReport})
		w.sleep(time.Minute)
		w.holds(w.Snapshot().Fork == nil, "the fork is open after the report")
		w.refuses("", command.ResumeFork{Run: "nobody"})
	})
}

func TestConfigurationIsSetShownAndKept(t *testing.T) {
	story(t, nil, func(w *world) {
		status := w.say("/status").Message
		w.holds(strings.HasPrefix(status, "No model is connected: scripted replies answer. Nothing is due within a day; "), "/status", status)
		w.shows("/status", status, "\nbudget: ")
		w.shows("/config of a key", w.say("/config max_background_forks 2").Message, "2")
		w.holds(w.Snapshot().MaxForks == 2 && w.has("state/settings.json"), "in force", w.Snapshot().MaxForks)
		w.refuses("haiku", command.Say{Text: "/config model.main gpt"})
		w.refuses("", command.Say{Text: "/config nonsense 1"})
		w.shows("/config", w.say("/config").Message, "bg_fork_timeout")
	})
}

func TestFilesGoWithTheNextMessage(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string]string{"pic.txt": "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89", "notes.png": "no picture at all"} {
		testkit.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600))
	}
	story(t, nil, func(w *world) {
		w.say("/attach " + filepath.Join(dir, "pic.txt"))
		w.say("/attach " + filepath.Join(dir, "notes.png"))
		w.needs(len(w.Snapshot().Attached) == 2, "attached", w.Snapshot().Attached)
		w.holds(w.has("downloads/notes.png") && !w.has("downloads/pic.txt"), "an image is known by its bytes, not by its name")
		w.say("look at these")
		w.is("attached after the message", len(w.Snapshot().Attached), 0)
		found := false
		for _, e := range w.Snapshot().Chat {
			found = found || strings.Contains(e.Text, "downloads/notes.png") && strings.Contains(e.Text, "[1 image")
		}
		w.holds(found, "the message does not name them", w.Snapshot().Chat)
		for _, bad := range []string{"/attach", "/attach " + dir, "/attach " + filepath.Join(dir, "nothing")} {
			w.refuses("", command.Say{Text: bad})
		}
	})
}

func TestSetupIsATalkThatOnlyTheUserBegins(t *testing.T) {
	story(t, nil, func(w *world) {
		w.say("/setup")
		w.sleep(time.Minute)
		w.holds(!w.Snapshot().Busy && w.last().Role == transcript.Bot, "there is no answer", w.last())
		w.refuses("create your own client", command.Slash{Line: "/google-auth"})
	})
}

// fork is the topic of the fork, or how the last one ended.
func (w *world) fork() string {
	s := w.Snapshot()
	if s.Fork != nil {
		return "in " + s.Fork.Topic
	}
	for i := len(s.Chat) - 1; i >= 0; i-- {
		if e := s.Chat[i].Embed; e != nil {
			return e.Title
		}
	}
	return ""
}

func TestAForkIsEnteredSpokenInAndLeft(t *testing.T) {
	story(t, nil, func(w *world) {
		w.say("hello")
		main := w.sessions.Main()
		w.say("/fork the garden")
		w.is("fork", w.fork(), "in the garden")
		w.say("what about roses?")
		w.do(command.ExitFork{How: command.ExitDiscard})
		w.sleep(time.Minute)
		w.is("fork", w.fork(), "Fork Ended — discarded")
		w.is("the main session", w.sessions.Main(), main)
	})
}

func TestTheAgentEntersAForkAndReportsOutOfIt(t *testing.T) {
	story(t, nil, func(w *world) {
		w.asks(`say Let me look at that apart.`, `call enter_fork {"topic":"roses"}`, `wait 5s`, `say never heard`)
		w.is("fork", w.fork(), "in roses")
		w.holds(!w.spoke("never heard"), "the turn went on after it had asked for a fork")
		w.asks(`call report_updates {"message":"Roses want sun."}`)
		w.is("fork, updates", []string{w.fork(), w.pending()}, []string{"Fork Ended — summary queued", "Roses want sun."})
		w.say("back again")
		w.is("updates after main's turn", w.pending(), "")
	})
}

func TestSlashCommandsAnswer(t *testing.T) {
	story(t, nil, func(w *world) {
		for line, want := range map[string]string{
			"/ping-budget":                           "ping budget: 5/5 available (refills 1 every 90 min).",
			"/ping-budget 6 60":                      "ping budget updated: 5/6 available (refills 1 every 60 min, next in 60 min).",
			"/ping-budget capacity=5 refill_rate=80": "ping budget updated: 5/5 available (refills 1 every 80 min).",
			"/model opus":                            "switched to opus.",
			"/thinking 8000":                         "thinking: 8000.",
		} {
			w.do(command.RestoreBudget{Capacity: 5, RefillMinutes: 90, Available: 5})
			w.is(line, w.say(line).Message, want)
		}
		for _, line := range []string{"/model gpt", "/thinking much", "/ping-budget -1", "/ping-budget 5 0", "/ping-budget five", "/"} {
			w.refuses("", command.Say{Text: line})
		}
		w.refuses("/ping-budget", command.Say{Text: "/nonsense"}) // it says what exists
	})
}

func TestClearForgetsTheConversationAndKeepsUpdates(t *testing.T) {
	story(t, nil, func(w *world) {
		w.say("hello")
		first := w.sessions.Main()
		testkit.Must(t, w.updates.Append(w.now(), "keep me"))
		w.say("/fork")
		w.shows("/clear", w.say("/clear").Message, "fork was discarded too")
		w.is("main, updates", []string{w.sessions.Main(), w.pending()}, []string{"", "keep me"})
		w.holds(w.Snapshot().Fork == nil, "fork", w.Snapshot().Fork)
		w.say("again")
		id := w.sessions.Main()
		w.holds(id != "" && id != first, "the session after /clear", id, first)
	})
}

func TestAMessageOfAMegabyteIsRefusedWithTheCure(t *testing.T) {
	story(t, nil, func(w *world) {
		w.refuses("attach", command.Say{Text: strings.Repeat("a", 1<<20)})
		w.refuses("", command.Say{Text: " \n\t "})
		w.say("\x1b[2Jhello \u202eolleh")
		for _, e := range w.Snapshot().Chat {
			w.lacks("the chat", e.Text, "\x1b", "\u202e")
		}
	})
}

func TestASavedForkGoesOnWithMainsModelThinkingAndEars(t *testing.T) {
	e := &recorder{Engine: offline()}
	config := file{"state/config.json", `{"model_main": "opus", "model_fork": "haiku", "thinking_main": "adaptive", "thinking_fork": "off"}`}
	setting{engine: e, files: []file{config}}.tell(t, func(w *world) {
		w.say("hello")
		w.say("/fork")
		s := e.last().Settings
		w.needs(s.Model == "haiku" && s.Thinking == "off", "the fork was opened with", s)
		w.do(command.ExitFork{How: command.ExitSave})
		w.sleep(time.Minute)
		w.say("and on we go")
		main := e.last()
		w.holds(main.Resume == w.sessions.Main() && !main.Fork && main.Settings.Model == "opus" && main.Settings.Thinking == "adaptive", "main goes on with", main)
		go main.OnEngineTurn(func(yield func(agent.Event, error) bool) {
			_ = yield(agent.Text{Delta: "the download is done"}, nil) && yield(agent.Result{SessionID: main.Resume}, nil)
		})
		w.sleep(time.Minute)
		w.holds(w.spoke("the download is done"), "a turn that the session began is not read")
	})
}

// M12: model_fork and thinking_fork did not count for background runs.
func TestRunsUseTheirOwnModelAndThinkLikeTheConversation(t *testing.T) {
	e := &recorder{Engine: offline()}
	config := file{"state/config.json", `{"model_main": "opus", "model_fork": "haiku", "thinking_main": "8000", "thinking_fork": "adaptive"}`}
	setting{engine: e, files: []file{config, routine("aaaa0009", "*/5 * * * *", "", "say looked")}}.tell(t, func(w *world) {
		w.say("hello")
		w.sleep(6 * time.Minute)
		o := e.last()
		w.holds(o.Fork && o.Settings.Model == "haiku" && o.Settings.Thinking == "8000", "the run was opened with", o.Fork, o.Settings)
	})
}

func TestAReplyToAPingGoesOnInTheRunThatSentIt(t *testing.T) {
	e := &recorder{Engine: offline()}
	plants := remind("dddd0001", time.Second, "", `call ping_user {"message":"Water the plants?"}`, `call report_updates {"message":"asked"}`)
	setting{engine: e, files: []file{plants}}.tell(t, func(w *world) {
		w.sleep(time.Minute)
		run := w.Snapshot().Forks[0]
		w.do(command.Say{Text: "not yet", ReplyTo: w.pinged().ID})
		w.sleep(time.Minute)
		w.shows("the run was sent", e.to(run.Session), "not yet")
	})
}

func TestAgentButtonsWorkOnceAndAfterARestart(t *testing.T) {
	mail := remind("dddd0003", time.Second, "",
		`call discord_embed {"title":"Mail","buttons":[{"label":"Draft","action":"agent:draft the reply"},{"label":"Away","action":"dismiss:"}]}`,
		`call report_updates {"message":"shown"}`)
	story(t, []file{mail}, func(w *world) {
		w.sleep(time.Minute)
		card := w.pinged()
		w.needs(card.Embed != nil && len(card.Embed.Buttons) == 5 && strings.HasPrefix(card.Embed.Buttons[0].Action, "act:agent:"), "the card", card.Embed)
		draft := command.Click{Message: card.ID, ID: card.Embed.Buttons[0].Action}
		w.do(draft)
		w.sleep(time.Minute)
		w.holds(w.Snapshot().Fork != nil && w.Snapshot().Fork.Resumed, "fork", w.Snapshot().Fork)
		w.do(command.ExitFork{How: command.ExitDiscard})
		w.sleep(time.Minute)
		w.refuses("", draft)
		w.do(command.Click{Message: card.ID, ID: card.Embed.Buttons[1].Action})
		for _, bad := range []string{"", "act:", "act:rm:x", "act:task_done:1", "nonsense"} {
			w.refuses("", command.Click{Message: "t0", ID: bad})
		}
	})
}
