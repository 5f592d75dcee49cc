package chat

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/storage/config"
	"ollimbot/core/talk/notice"
	"ollimbot/core/talk/transcript"
)

func TestATurnIsShownInTheChatAndOnThePhone(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		a.next(
			agent.Text{Delta: "wrong"}, agent.Rewind{Bytes: 5}, agent.Text{Delta: "right"},
			agent.ToolStart{Name: "Read", Input: json.RawMessage(`{"file_path":"a.md"}`)},
			agent.ToolStart{Name: "Bash", Input: json.RawMessage(`{"command":"ls"}`), Subagent: "helper"},
			agent.ToolEnd{Name: "Read", Denied: true}, agent.ToolEnd{Name: "Bash"},
			agent.Retry{Reason: "overloaded", Wait: 3100 * time.Millisecond},
			func() {
				if s.Status() != "retrying in 3s: overloaded" {
					t.Errorf("the top line says %q", s.Status())
				}
			},
			agent.Notice{Text: "switched models " + secret},
			agent.Result{SessionID: "main-7", Text: "unused", Usage: agent.Usage{InputTokens: 1}},
		)
		s.say("hello")
		equal(t, "the answer", s.entries(transcript.Bot), []string{"right"})
		equal(t, "beside it", s.phone.aside, []string{
			"tool Read(a.md) denied=false", "tool helper: Bash(ls) denied=false", "tool Read denied=true",
			"status retrying in 3s: overloaded", "end emptyIsFine=true",
		})
		if got := s.phone.texts[0].String(); got != "right" {
			t.Errorf("the phone shows %q", got)
		}
		for _, e := range s.o.Records.Transcript.Entries() {
			if e.Text == "right" {
				equal(t, "tools", e.Tools, []string{"Read(a.md)" + transcript.DeniedMark, "helper: Bash(ls)"})
			}
		}
		if !s.noted("switched models ***") || s.noted(secret) {
			t.Errorf("the notes are %q", s.phone.notes)
		}
		equal(t, "paid", s.purse.spent, []string{"main " + s.Config().ModelMain})
		if s.o.Records.Sessions.Main() != "main-7" {
			t.Errorf("the main session is %q", s.o.Records.Sessions.Main())
		}
		if busy, _ := s.Busy(); busy || s.Status() != "" {
			t.Errorf("busy %v, %q", busy, s.Status())
		}
	})
}

func TestAnEngineWithoutPiecesAnswersWithItsResult(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		a.next(agent.Result{SessionID: "m", Text: "all at once"})
		s.say("hello")
		a.next(agent.Text{Delta: "in pieces"}, agent.Result{SessionID: "m", Text: "in pieces"})
		s.say("again")
		equal(t, "answers", s.entries(transcript.Bot), []string{"all at once", "in pieces"})
	})
}

func TestAnEmptyAnswerIsNoticedUnlessThereIsAReason(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		empty := func() int {
			n := 0
			for _, e := range s.entries(transcript.Notice) {
				if e == textNoWords {
					n++
				}
			}
			return n
		}
		a.next(agent.Result{SessionID: "m"})
		s.say("nothing?")
		if empty() != 1 || s.phone.aside[0] != "end emptyIsFine=false" {
			t.Errorf("noticed %d times, %q", empty(), s.phone.aside)
		}
		a.next(agent.Compacting{PreTokens: 9000}, agent.Compacting{Done: true, PreTokens: 9000}, agent.Result{SessionID: "m"})
		s.say("compacted")
		a.next(agent.Result{SessionID: "m", Interrupted: true, IsError: true, Text: "ignored"})
		s.say("interrupted")
		if empty() != 1 || slices.Contains(s.entries(transcript.Bot), textCutShort) {
			t.Errorf("noticed %d times, answers %q", empty(), s.entries(transcript.Bot))
		}
		if !slices.Equal(s.phone.aside[1:], []string{"compacting done=false", "compacting done=true", "end emptyIsFine=true", "end emptyIsFine=true"}) {
			t.Errorf("%q", s.phone.aside)
		}
	})
}

func TestAMessageInterruptsTheTurnButNotWhileItCompacts(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		a.next(agent.Text{Delta: "half of"}, untilStopped)
		s.say("one")
		s.say("two")
		equal(t, "answers", s.entries(transcript.Bot), []string{"half of" + textCutShort, "fine"})
		a.next(agent.Compacting{PreTokens: 12_000}, func() { time.Sleep(time.Minute) }, agent.Compacting{Done: true, PreTokens: 12_000}, agent.Text{Delta: "whole"})
		s.say("three")
		if s.Status() != "compacting 12k tokens" {
			t.Errorf("the top line says %q", s.Status())
		}
		s.say("four")
		if stops := a.session(0).stops; stops != 1 {
			t.Errorf("interrupted %d times", stops)
		}
		pass(time.Hour)
		equal(t, "answers", s.entries(transcript.Bot)[2:], []string{"whole", "fine"})
		if !slices.Contains(s.entries(transcript.Notice), "auto-compacted · 12k tokens") {
			t.Errorf("the notices are %q", s.entries(transcript.Notice))
		}
	})
}

func TestALimitOfTheAccountIsShownWithItsEnd(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		at := time.Date(2026, 5, 1, 17, 30, 0, 0, time.FixedZone("east", 2*3600))
		a.next(
			agent.RateLimit{Status: "allowed", Resets: at}, agent.RateLimit{Status: "allowed_warning", Resets: at},
			agent.RateLimit{Status: "rejected", Resets: at}, func() {
				if !strings.Contains(s.Status(), "15:30") {
					t.Errorf("the top line says %q", s.Status())
				}
			},
		)
		s.say("hello")
		all := s.o.Notices.All()
		if len(all) != 1 || all[0].Level != notice.Warn || !strings.Contains(all[0].Text, "15:30") {
			t.Errorf("the notices are %+v", all)
		}
	})
}

func TestAFailedTurnIsReportedAndItsSessionReopened(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		a.next(agent.Text{Delta: "I "}, errors.New("the line broke"))
		s.say("one")
		a.next(agent.Result{SessionID: "m", IsError: true, Text: "credit is used up"})
		s.say("two")
		s.say("three")
		if !s.noted("the line broke") || !s.noted("credit is used up") {
			t.Errorf("the notes are %q", s.phone.notes)
		}
		if len(a.opened) != 3 || a.opened[2].Resume != "m" || !a.session(0).isClosed() || !a.session(1).isClosed() || a.session(2).isClosed() {
			t.Errorf("opened %d sessions", len(a.opened))
		}
		if len(s.inbox.load().Messages) != 0 {
			t.Error("a failed message is still waiting")
		}
	})
}

// P13
func TestAMessageThatFailedIsSentAgainOnceByItsButton(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		press := func(i int) error {
			_, err := s.Click(t.Context(), "m1", "act:"+s.phone.buttons[i].Action)
			s.settle()
			return err
		}
		a.next(errors.New("the line broke"))
		s.say("water the plants")
		a.next(errors.New("it broke again"))
		testkit.Must(t, press(0))
		if n := len(s.phone.buttons); n != 2 {
			t.Fatalf("%d buttons after two failures", n)
		}
		if err := press(0); err == nil {
			t.Error("a used button works again")
		}
		testkit.Must(t, press(1))
		if n := strings.Count(strings.Join(a.told(), "\n"), "water the plants"); n != 3 {
			t.Errorf("the model was told %q", a.told())
		}
		if err := press(1); err == nil || len(s.inbox.load().Messages) != 0 {
			t.Errorf("it was answered: %v, still waiting %v", err, s.inbox.load().Messages)
		}
		equal(t, "messages", s.entries(transcript.User), []string{"water the plants"})
	})
}

func TestASessionTheEngineForgotStartsAfreshWithANotice(t *testing.T) {
	a := &actor{refuse: map[string]error{"gone": agent.ErrNoSession, "broken": errors.New("no disk")}}
	actedWith(t, a, func(s *stage) {
		s.adjust = func(r *config.Runtime) { r.ClaudeWarm = 0 }
		testkit.Must(t, s.o.Records.Sessions.SaveMain(s.now(), "gone"))
	}, func(s *stage, a *actor) {
		if len(a.opened) != 0 {
			t.Error("a session was opened ahead")
		}
		s.say("hello")
		if all := s.o.Notices.All(); len(all) != 1 || all[0].Text != textFreshSession || len(a.opened) != 1 {
			t.Errorf("the notices are %+v", all)
		}
		_, err := s.Clear(s.t.Context())
		testkit.Must(t, err)
		testkit.Must(t, s.o.Records.Sessions.SaveMain(s.now(), "broken"))
		s.say("again")
		if !s.noted("open the main session: no disk") || len(s.o.Notices.All()) != 1 {
			t.Errorf("the notes are %q", s.phone.notes)
		}
	})
}

// M13: the user was not told.
func TestALostMainSessionIsSaidAtOnce(t *testing.T) {
	actedWith(t, &actor{}, func(s *stage) {
		testkit.Must(t, s.dir.Write("state/sessions.json", []byte("two words")))
	}, func(s *stage, _ *actor) {
		all := s.o.Notices.All()
		if len(all) != 1 || all[0].Level != notice.Warn || !strings.Contains(all[0].Text, "state/sessions.json.corrupt-") {
			t.Errorf("the notices are %+v", all)
		}
		s.say("hello")
		if n := len(s.o.Notices.All()); n != 1 {
			t.Errorf("%d notices", n)
		}
	})
}

func TestTheSessionIsOpenedAheadUnlessALoginIsNeeded(t *testing.T) {
	for _, login := range []bool{false, true} {
		actedWith(t, &actor{login: login}, nil, func(s *stage, a *actor) {
			if len(a.opened) != 1 || a.session(0).isClosed() != login {
				t.Errorf("login %v: opened %d", login, len(a.opened))
			}
			s.say("hello")
			if want := map[bool]int{false: 1, true: 2}[login]; len(a.opened) != want {
				t.Errorf("login %v: opened %d, want %d", login, len(a.opened), want)
			}
		})
	}
}

func TestACommandOfTheEngineAnswersAndItsFailureReopensTheSession(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		a.next(
			agent.Compacting{PreTokens: 500}, func() {
				if busy, _ := s.Busy(); !busy || s.Status() == "" {
					t.Error("the bot does not look busy")
				}
				s.running.makeRoom(s.t.Context())
			}, agent.Notice{Text: "first"}, agent.Compacting{Done: true, PreTokens: 300},
			agent.Text{Delta: " second "}, agent.Result{SessionID: "after", Text: "unused"},
		)
		s.purse.spent = nil
		text, r, tokens, err := s.Command(s.t.Context(), agent.Message{Text: "/compact"})
		equal(t, "paid", s.purse.spent, []string{"main " + s.Config().ModelMain})
		if err != nil || text != "first\n second" || r.SessionID != "after" || tokens != 500 || a.session(0).stops != 0 {
			t.Errorf("%q, %+v, %d, %v, interrupted %d times", text, r, tokens, err, a.session(0).stops)
		}
		if s.o.Records.Sessions.Main() != "after" {
			t.Errorf("the main session is %q", s.o.Records.Sessions.Main())
		}
		a.next(agent.Result{SessionID: "after", Text: "the cost"})
		if text, _, _, err := s.Command(s.t.Context(), agent.Message{Text: "/cost"}); text != "the cost" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
		a.next(agent.Compacting{PreTokens: 700}, errors.New("it broke"))
		text, _, tokens, err = s.Command(s.t.Context(), agent.Message{Text: "/compact"})
		if err == nil || !strings.Contains(err.Error(), "it broke") || text != "" || tokens != 700 {
			t.Errorf("%q, %d, %v", text, tokens, err)
		}
		if busy, _ := s.Busy(); busy || s.Status() != "" || !a.session(0).isClosed() {
			t.Error("the failed command left its session open")
		}
		s.say("hello")
		if len(a.opened) != 2 || a.opened[1].Resume != "after" {
			t.Errorf("opened %d", len(a.opened))
		}
	})
}

func TestClearForgetsForkSessionAndQuestions(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		s.say("hello")
		if forkToo, err := s.Clear(s.t.Context()); forkToo || err != nil || s.o.Records.Sessions.Main() != "" || !a.session(0).isClosed() {
			t.Errorf("%v, %v, main %q", forkToo, err, s.o.Records.Sessions.Main())
		}
		testkit.Must(t, s.EnterFork("taxes"))
		synctest.Wait()
		a.next(untilStopped)
		s.say("wait")
		if forkToo, err := s.Clear(s.t.Context()); !forkToo || err != nil || s.Banner() != nil {
			t.Errorf("%v, %v, %+v", forkToo, err, s.Banner())
		}
		if a.session(1).stops != 1 || !a.session(1).isClosed() {
			t.Error("the fork's turn was not interrupted, or its session not closed")
		}
	})
}

func TestATurnThatASessionStartsByItselfIsShown(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		s.say("hello")
		events := func(text string) func(func(agent.Event, error) bool) {
			return func(yield func(agent.Event, error) bool) {
				_ = yield(agent.Text{Delta: text}, nil) && yield(agent.Result{SessionID: "other"}, nil)
			}
		}
		a.opened[0].OnEngineTurn(events("the build is done"))
		testkit.Must(t, s.EnterFork(""))
		synctest.Wait()
		a.opened[1].OnEngineTurn(events("done in the fork"))
		equal(t, "answers", s.entries(transcript.Bot), []string{"fine", "the build is done", "fine", "done in the fork"})
		s.click("act:fork_exit:_")
		synctest.Wait()
		a.opened[1].OnEngineTurn(events("too late"))
		if slices.Contains(s.entries(transcript.Bot), "too late") {
			t.Error("a fork that was left still speaks")
		}
		if got := s.o.Records.Sessions.Main(); got != "new-1" {
			t.Errorf("main is %q", got)
		}
	})
}

func TestAForkThatTheAgentAsksForEndsItsTurn(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		a.next(
			agent.Text{Delta: "let us fork"}, func() {
				if r := a.session(0).call(t, toolset.EnterFork, `{"topic":"taxes","idle_timeout":7}`); r.IsError || !r.EndTurn {
					t.Errorf("%+v", r)
				}
			}, enterFork, agent.Text{Delta: " and more"}, agent.ToolStart{Name: "Read"}, agent.Text{Delta: " and more"},
		)
		a.next(func() {
			if r := a.session(1).call(t, toolset.EnterFork, `{"topic":"nested"}`); !r.IsError || r.Text != textAlreadyIn || r.EndTurn {
				t.Errorf("a fork in a fork: %+v", r)
			}
		}, agent.Text{Delta: "in the fork"})
		s.say("hello")
		if b := s.Banner(); b == nil || b.Topic != "taxes" || b.Resumed || b.Asks {
			t.Fatalf("the fork is %+v", b)
		}
		equal(t, "answers", s.entries(transcript.Bot), []string{"let us fork", "in the fork"})
		if a.session(0).stops != 1 || s.forks.current().idle != 7*time.Minute {
			t.Errorf("interrupted %d times, idle after %s", a.session(0).stops, s.forks.current().idle)
		}
		if !slices.Equal(s.purse.spent, []string{"main " + s.Settings(false).Model, "fork " + s.Settings(true).Model}) {
			t.Errorf("paid for %q", s.purse.spent)
		}
	})
}

func TestWhatTheUserMayNotSpendIsNotAsked(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		s.purse.empty = errors.New("the cap is used up")
		s.say("hello")
		if len(a.told()) != 0 || !s.noted("the cap is used up") || len(s.inbox.load().Messages) != 0 {
			t.Errorf("told %q, notes %q", a.told(), s.phone.notes)
		}
	})
}

// M6, M8: a refusal without a text caused two notices, an interrupted tool none.
func TestATurnHasOneNotice(t *testing.T) {
	for name, c := range map[string]struct {
		events []any
		want   []string
	}{
		"refused":     {[]any{agent.Notice{Text: "the model refused"}, agent.Result{}}, []string{"the model refused"}},
		"stopped":     {[]any{agent.Text{Delta: "Well"}, agent.Result{Stopped: "it cost too much"}}, []string{"it cost too much"}},
		"interrupted": {[]any{agent.ToolStart{Name: "Bash"}, agent.Result{Interrupted: true}}, []string{textInterrupted}},
		"empty":       {[]any{agent.Result{}}, []string{textNoWords}},
	} {
		t.Run(name, func(t *testing.T) {
			acted(t, func(s *stage, a *actor) {
				a.next(c.events...)
				s.say("hello")
				equal(t, "notices", s.entries(transcript.Notice), c.want)
			})
		})
	}
}

// S5: a call that still asked when the user wrote on was shown as used.
func TestACallThatWasInterruptedIsNotUsed(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		read := agent.ToolStart{ID: "1", Name: "Read", Input: []byte(`{"file_path":"a.md"}`)}
		bash := agent.ToolStart{ID: "2", Name: "Bash", Input: []byte(`{"command":"rm x"}`)}
		a.next(read, agent.ToolEnd{ID: "1", Name: "Read"}, agent.Text{Delta: "one"}, bash, agent.Result{Interrupted: true})
		s.say("hello")
		for _, e := range s.o.Records.Transcript.Entries() {
			if e.Role == transcript.Bot {
				equal(t, "tools", e.Tools, []string{"Read(a.md)", "Bash(rm x)" + transcript.InterruptedMark})
			}
		}
	})
}
