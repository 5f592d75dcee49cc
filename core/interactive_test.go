package core

import (
	"context"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/talk/transcript"
)

func TestAForkIsEnteredSpokenInAndLeft(t *testing.T) {
	running(t, func(home) {}, func(_ home, b *Bot) {
		tell(t, b, "hello")
		main := b.sessions.Main()
		type_(t, b, "/fork the garden")
		s := b.Snapshot()
		if s.Fork == nil || s.Fork.Topic != "the garden" {
			t.Fatalf("no fork: %+v", s.Fork)
		}
		tell(t, b, "what about roses?")
		do(t, b, command.ExitFork{How: command.ExitDiscard})
		time.Sleep(time.Minute)
		s = b.Snapshot()
		if s.Fork != nil || lastEmbed(s) != "Fork Ended — discarded" {
			t.Errorf("fork %+v, card %q", s.Fork, lastEmbed(s))
		}
		if b.sessions.Main() != main {
			t.Errorf("the main session is %q, was %q", b.sessions.Main(), main)
		}
	})
}

func TestTheAgentEntersAForkAndReportsOutOfIt(t *testing.T) {
	running(t, func(home) {}, func(_ home, b *Bot) {
		tell(t, b, script_(`say Let me look at that apart.`, `call enter_fork {"topic":"roses"}`, `wait 5s`, `say never heard`))
		s := b.Snapshot()
		if s.Fork == nil || s.Fork.Topic != "roses" {
			t.Fatalf("no fork: %+v", s.Fork)
		}
		for _, e := range s.Chat {
			if e.Role == transcript.Bot && strings.Contains(e.Text, "never heard") {
				t.Error("the turn went on after it had asked for a fork")
			}
		}
		tell(t, b, script_(`call report_updates {"message":"Roses want sun."}`))
		s = b.Snapshot()
		if s.Fork != nil || lastEmbed(s) != "Fork Ended — summary queued" {
			t.Errorf("fork %+v, card %q", s.Fork, lastEmbed(s))
		}
		if len(s.Updates) != 1 || s.Updates[0].Message != "Roses want sun." {
			t.Errorf("updates: %+v", s.Updates)
		}
		tell(t, b, "back again")
		if n := len(b.Snapshot().Updates); n != 0 {
			t.Errorf("%d updates still pending after main's turn", n)
		}
	})
}

func TestSlashCommandsAnswer(t *testing.T) {
	running(t, func(home) {}, func(_ home, b *Bot) {
		for line, want := range map[string]string{
			"/ping-budget":                           "ping budget: 5/5 available (refills 1 every 90 min).",
			"/ping-budget 6 60":                      "ping budget updated: 5/6 available (refills 1 every 60 min, next in 60 min).",
			"/ping-budget capacity=5 refill_rate=80": "ping budget updated: 5/5 available (refills 1 every 80 min).",
			"/model opus":                            "switched to opus.",
			"/thinking 8000":                         "thinking: 8000.",
		} {
			do(t, b, command.RestoreBudget{Capacity: 5, RefillMinutes: 90, Available: 5})
			if got := type_(t, b, line).Message; got != want {
				t.Errorf("%s answers %q, want %q", line, got, want)
			}
		}
		for _, line := range []string{"/nonsense", "/model gpt", "/thinking much", "/ping-budget -1", "/ping-budget 5 0", "/ping-budget five", "/"} {
			if _, err := b.Do(context.Background(), command.Say{Text: line}); err == nil {
				t.Errorf("%s was taken", line)
			}
		}
		if _, err := b.Do(context.Background(), command.Say{Text: "/nonsense"}); err == nil || !strings.Contains(err.Error(), "/ping-budget") {
			t.Errorf("an unknown command does not say what exists: %v", err)
		}
	})
}

func TestClearForgetsTheConversationAndKeepsUpdates(t *testing.T) {
	running(t, func(home) {}, func(_ home, b *Bot) {
		tell(t, b, "hello")
		first := b.sessions.Main()
		testkit.Must(t, b.updates.Append(b.now(), "keep me"))
		type_(t, b, "/fork")
		if out := type_(t, b, "/clear"); !strings.Contains(out.Message, "fork was discarded too") {
			t.Errorf("reply: %q", out.Message)
		}
		if b.sessions.Main() != "" || b.Snapshot().Fork != nil || len(b.Snapshot().Updates) != 1 {
			t.Errorf("main %q, fork %v, updates %v", b.sessions.Main(), b.Snapshot().Fork, b.Snapshot().Updates)
		}
		tell(t, b, "anew")
		if id := b.sessions.Main(); id == "" || id == first {
			t.Errorf("after /clear the session is %q, was %q", id, first)
		}
	})
}

func TestAMessageOfAMegabyteIsRefusedWithTheCure(t *testing.T) {
	running(t, func(home) {}, func(_ home, b *Bot) {
		_, err := b.Do(context.Background(), command.Say{Text: strings.Repeat("a", 1<<20)})
		if err == nil || !strings.Contains(err.Error(), "attach") {
			t.Errorf("answer: %v", err)
		}
		if _, err := b.Do(context.Background(), command.Say{Text: " \n\t "}); err == nil {
			t.Error("white space was sent")
		}
		tell(t, b, "\x1b[2Jhello \u202eolleh")
		for _, e := range b.Snapshot().Chat {
			if strings.ContainsAny(e.Text, "\x1b\u202e") {
				t.Errorf("hostile characters were kept: %q", e.Text)
			}
		}
	})
}

func TestASavedForkGoesOnWithMainsModelThinkingAndEars(t *testing.T) {
	e := &recorder{Engine: offline()}
	liveWith(t, e, func(h home) {
		h.write("state/config.json", `{"model_main": "opus", "model_fork": "haiku", "thinking_main": "adaptive", "thinking_fork": "off"}`)
	}, func(_ home, b *Bot) {
		tell(t, b, "hello")
		type_(t, b, "/fork")
		if s := e.last().Settings; s.Model != "haiku" || s.Thinking != "off" {
			t.Fatalf("the fork was opened with %+v", s)
		}
		do(t, b, command.ExitFork{How: command.ExitSave})
		time.Sleep(time.Minute)
		tell(t, b, "and on we go")
		main := e.last()
		if main.Resume != b.sessions.Main() || main.Fork || main.Settings.Model != "opus" || main.Settings.Thinking != "adaptive" {
			t.Errorf("main goes on with %q, fork %v, %+v", main.Resume, main.Fork, main.Settings)
		}
		go main.OnEngineTurn(func(yield func(agent.Event, error) bool) {
			_ = yield(agent.Text{Delta: "the download is done"}, nil) && yield(agent.Result{SessionID: main.Resume}, nil)
		})
		time.Sleep(time.Minute)
		if !spoken(b.Snapshot(), "the download is done") {
			t.Error("a turn that the session began is not read")
		}
	})
}

// M12: model_fork and thinking_fork did not count for background runs.
func TestRunsUseTheirOwnModelAndThinkLikeTheConversation(t *testing.T) {
	e := &recorder{Engine: offline()}
	liveWith(t, e, func(h home) {
		h.write("state/config.json", `{"model_main": "opus", "model_fork": "haiku", "thinking_main": "8000", "thinking_fork": "adaptive"}`)
		h.write("routines/r.md", "---\nid: \"aaaa0009\"\ncron: \"*/5 * * * *\"\nbackground: true\n---\nLook.\n\n```script\nsay looked\n```\n")
	}, func(_ home, b *Bot) {
		tell(t, b, "hello")
		time.Sleep(6 * time.Minute)
		if o := e.last(); !o.Fork || o.Settings.Model != "haiku" || o.Settings.Thinking != "8000" {
			t.Errorf("the run was opened with fork %v, %+v", o.Fork, o.Settings)
		}
	})
}
