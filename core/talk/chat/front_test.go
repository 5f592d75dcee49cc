package chat

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/config"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

func TestASavedForkBecomesTheMainSession(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		s.say("hello")
		testkit.Must(t, s.EnterFork("taxes"))
		synctest.Wait()
		if o := a.opened[1]; o.Resume != "new-1" || !o.Fork || o.ID == "" {
			t.Errorf("the fork was opened with %+v", o)
		}
		id := a.session(1).ID()
		s.click("act:fork_save:_")
		if s.Banner() != nil || s.o.Records.Sessions.Main() != id || !a.session(0).isClosed() || !a.session(1).isClosed() {
			t.Errorf("banner %+v, main %q, want %q", s.Banner(), s.o.Records.Sessions.Main(), id)
		}
		equal(t, "cards", s.cards(), []string{textForkCard, "Fork Ended — saved to main"})
		if e := s.phone.edits["9001"].Embed; e == nil || e.Title != textForkCard || e.Description != "Topic: taxes" || len(e.Buttons) != 0 {
			t.Errorf("the fork's card now is %+v", e)
		}
		s.say("and now?")
		if o := a.opened[2]; o.Resume != id || o.Fork {
			t.Errorf("main was opened with %+v", o)
		}
		history, err := os.ReadFile(s.dir.Path("state/session_history.jsonl"))
		if err != nil || strings.Count(string(history), "interactive_fork") != 1 || strings.Count(string(history), "swapped") != 1 {
			t.Errorf("%s, %v", history, err)
		}
	})
}

func TestAForkThatHasNotReachedItsEngineIsDiscarded(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		a.next(errors.New("no engine"))
		testkit.Must(t, s.EnterFork(""))
		synctest.Wait()
		if o := a.opened[1]; o.Fork || o.Resume != "" {
			t.Errorf("without a main session the fork was opened with %+v", o)
		}
		s.click("act:fork_save:_")
		equal(t, "cards", s.cards(), []string{textForkCard, "Fork Ended — discarded"})
		if s.o.Records.Sessions.Main() != "" {
			t.Error("a fork without an id was saved")
		}
	})
}

func TestAReportIsAskedForOnceAndShown(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		s.troubles = []string{"fork gave no report"}
		testkit.Must(t, s.EnterFork(""))
		synctest.Wait()
		a.next(func() {
			if r := a.session(1).call(t, toolset.ReportUpdates, `{"message":"Taxes are due."}`); r.IsError {
				t.Errorf("%+v", r)
			}
		}, agent.Text{Delta: "bye"})
		s.click("act:fork_report:_")
		equal(t, "cards", s.cards(), []string{textForkCard, "Fork Ended — summary queued"})
		if got := s.phone.posts[1].Embed.Description; got != "Taxes are due." {
			t.Errorf("the summary is %q", got)
		}
		if u := s.o.Records.Updates.Peek(); len(u) != 1 || u[0].Message != "Taxes are due." {
			t.Errorf("pending is %+v", u)
		}
		testkit.Must(t, s.EnterFork(""))
		synctest.Wait()
		a.next(errors.New("no engine"))
		s.click("act:fork_report:_")
		if got := s.cards(); got[len(got)-1] != "Fork Ended — no summary" || s.Banner() != nil {
			t.Errorf("the cards are %q", got)
		}
	})
}

func TestToolsOfAForkDoNothingOutsideOfIt(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		call := func(name, args string) string {
			r := a.session(0).call(t, name, args)
			if !r.IsError {
				t.Errorf("%s outside of a fork answers %q", name, r.Text)
			}
			return r.Text
		}
		a.next(func() {
			equal(t, "refusals", []string{
				call(toolset.ReportUpdates, `{"message":"x"}`), call(toolset.SaveContext, `{}`), call(toolset.ExitFork, `{}`),
				call(toolset.PingUser, `{"message":"x"}`),
			}, []string{toolset.TextReportOutside, toolset.TextNotInFork, toolset.TextNotInFork, toolset.TextPingOutside})
		})
		s.say("try it")
		if s.Banner() != nil || len(s.o.Records.Updates.Peek()) != 0 {
			t.Error("something happened")
		}
	})
}

func TestTheAgentAsksToSaveAndLeavesByItself(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		testkit.Must(t, s.EnterFork(""))
		synctest.Wait()
		a.next(func() {
			if r := a.session(1).call(t, toolset.SaveContext, `{}`); r.IsError || !s.Banner().Asks {
				t.Errorf("%+v, %+v", r, s.Banner())
			}
		})
		s.say("save?")
		if all := s.o.Notices.All(); s.Banner() == nil || len(all) != 1 || all[0].Text != textSaveQuestion {
			t.Errorf("%+v, notices %+v", s.Banner(), all)
		}
		a.next(func() { a.session(1).call(t, toolset.ExitFork, `{}`) }, errors.New("and then it broke"))
		s.say("leave")
		if s.Banner() != nil || !s.noted("and then it broke") {
			t.Errorf("%+v, notes %q", s.Banner(), s.phone.notes)
		}
		equal(t, "cards", s.cards(), []string{textForkCard, "Fork Ended — discarded"})
	})
}

func TestAResumedRunCannotBeSaved(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		testkit.Must(t, s.Resume("run-1", "Mail", s.now().Add(-time.Hour)))
		synctest.Wait()
		if o := a.opened[1]; o.Resume != "run-1" || o.Fork || o.ID != "" || !s.Banner().Resumed {
			t.Errorf("the run was opened with %+v", o)
		}
		card := s.phone.posts[0].Embed
		if len(card.Buttons) != 2 || card.Buttons[0].Label != "Report" || !strings.Contains(card.Description, "Mail") {
			t.Errorf("the card is %+v", card)
		}
		if err := s.ExitFork(command.ExitSave); err == nil || err.Error() != textSaveResumed {
			t.Errorf("save: %v", err)
		}
		if err := s.EnterFork(""); err == nil || err.Error() != textAlreadyForked {
			t.Errorf("a fork in a fork: %v", err)
		}
		if _, done, err := s.DeliverUpdates(); done != nil || err == nil || err.Error() != textDeliverInFork {
			t.Errorf("deliver: %v", err)
		}
		if err := s.Resume("run-2", "Other", s.now()); err == nil {
			t.Error("a run was resumed in a fork")
		}
		a.next(func() {
			if r := a.session(1).call(t, toolset.SaveContext, `{}`); !r.IsError || r.Text != textNoSaveResumed {
				t.Errorf("%+v", r)
			}
			s.forks.current().requestExit(command.ExitSave, "") // as if it got that far
		})
		s.say("go")
		equal(t, "cards", s.cards(), []string{textForkCard, "Fork Ended — discarded"})
		if s.o.Records.Sessions.Main() != "" || s.has("state/session_history.jsonl") {
			t.Error("a resumed run became a session of its own")
		}
		if err := s.ExitFork(command.ExitDiscard); err == nil || err.Error() != textNoFork {
			t.Errorf("leaving nothing: %v", err)
		}
	})
}

func TestTwoForksThatWaitForTheirTurnAreOne(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		release := s.occupy()
		testkit.Must(t, errors.Join(s.EnterFork("one"), s.EnterFork("two")))
		release()
		synctest.Wait()
		if len(a.opened) != 2 || s.Banner().Topic != "one" || !s.noted(textAlreadyForked) {
			t.Errorf("opened %d, %+v", len(a.opened), s.Banner())
		}
		release = s.occupy()
		testkit.Must(t, errors.Join(s.ExitFork(command.ExitDiscard), s.ExitFork(command.ExitDiscard)))
		release()
		synctest.Wait()
		if !s.noted(textNoFork) {
			t.Errorf("notes %q", s.phone.notes)
		}
	})
}

func TestAForkIsAskedThenToldThenEndedUnlessSomebodySpeaks(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		testkit.Must(t, s.EnterFork(""))
		synctest.Wait()
		idle := s.Config().ForkIdleTimeout
		if s.forks.current().idle != idle {
			t.Fatalf("idle after %s, want %s", s.forks.current().idle, idle)
		}
		pass(idle - time.Minute)
		if n := len(a.told()); n != 1 {
			t.Errorf("told %q", a.told())
		}
		overdue := func() (late bool) { // read by the goroutine that owns it
			testkit.Must(t, s.queue.do(context.Background(), func(context.Context) error {
				late = s.forks.current().overdue
				return nil
			}))
			return late
		}
		pass(2 * time.Minute)
		first := len(a.told())
		s.say("I am here")
		pass(idle + 2*time.Minute)
		if first != 2 || len(a.told()) != 4 || overdue() {
			t.Errorf("told %q", a.told())
		}
		pass(idle + time.Minute)
		if told := a.told(); len(told) != 5 || !strings.Contains(told[4], "20 minutes") || strings.Contains(told[3], "20 minutes") || !overdue() {
			t.Errorf("told %q", a.told())
		}
		pass(idle + 2*time.Minute)
		if s.Banner() != nil || !s.noted(textForkExpired) {
			t.Errorf("%+v, notes %q", s.Banner(), s.phone.notes)
		}
	})
}

func TestAnAnswerOfAForkCanBeRepliedToLater(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		testkit.Must(t, s.EnterFork(""))
		synctest.Wait()
		id := a.session(1).ID()
		for _, message := range []post.MessageID{"8001", s.answerID("fine")} {
			if from, _ := s.o.Records.Runs.Lookup(s.now(), message); from.Session != id {
				t.Errorf("%s leads to %q, want %q", message, from.Session, id)
			}
		}
		s.click("act:fork_exit:_")
		s.say("in main")
		if from, _ := s.o.Records.Runs.Lookup(s.now(), "8002"); from.Session != "" {
			t.Errorf("an answer of main leads to %q", from.Session)
		}
	})
}

// answerID returns the id of an answer in the chat.
func (s *stage) answerID(text string) post.MessageID {
	for _, e := range s.o.Records.Transcript.Entries() {
		if e.Role == transcript.Bot && e.Text == text {
			return e.ID
		}
	}
	return ""
}

func due(t *testing.T, title string, chain bool) schedule.Due {
	t.Helper()
	r := routines.Reminder{Task: routines.Task{Kind: routines.KindReminder, ID: "abcd1234", Description: title, Body: title}}
	if chain {
		r.MaxChain = 3
	}
	return schedule.Due{Kind: routines.KindReminder, Reminder: &r}
}

func TestATaskRunsBehindAnOpenForkAndTheSavedForkIsTold(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		testkit.Must(t, s.EnterFork(""))
		synctest.Wait()
		d := due(t, "Water the plants", false)
		build := func(time.Time, []updates.Update) string { return "water them" }
		a.next(func() {
			if s.Mode() != policy.DontAsk || s.tools.front() != nil {
				t.Error("the turn has the fork's rights")
			}
			if r := a.session(0).call(t, toolset.ExitFork, `{}`); !r.IsError {
				t.Error("a turn behind the fork has left it")
			}
			s.running.makeRoom(s.t.Context())
		})
		testkit.Must(t, s.SetMode(s.t.Context(), policy.BypassPermissions))
		testkit.Must(t, s.RunTask(s.t.Context(), build, d))
		if s.Banner() == nil || a.session(0).stops != 0 || a.told()[1] != "water them" || !s.noted("Water the plants is due") {
			t.Errorf("%+v, told %q, notes %q", s.Banner(), a.told(), s.phone.notes)
		}
		if s.running.isBehind() || s.running.rights() != (policy.Turn{}) {
			t.Error("the task's turn has no end")
		}
		s.click("act:fork_save:_")
		if u := s.o.Records.Updates.Peek(); len(u) != 1 || !strings.Contains(u[0].Message, "Water the plants") {
			t.Errorf("the saved fork is told %+v", u)
		}
		a.next(func() { a.session(2).call(t, toolset.EnterFork, `{}`) }, enterFork)
		testkit.Must(t, s.RunTask(s.t.Context(), build, d))
		if s.Banner() == nil {
			t.Error("a task in main cannot fork")
		}
		a.next(errors.New("the task broke"))
		s.click("act:fork_exit:_")
		if err := s.RunTask(s.t.Context(), build, d); err == nil || !strings.Contains(err.Error(), "the task broke") {
			t.Errorf("%v", err)
		}
	})
}

// L5: a task whose turn the user cut off with the next message counted as done.
func TestATaskCutOffByTheNextMessageSaysSo(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		build := func(time.Time, []updates.Update) string { return "water them" }
		cut := func(ctx context.Context) {
			s.running.makeRoom(s.t.Context())
			<-ctx.Done()
		}
		a.next(agent.Text{Delta: "First"}, cut)
		if err := s.RunTask(s.t.Context(), build, due(t, "Water the plants", false)); !errors.Is(err, command.ErrInterrupted) {
			t.Errorf("cut off: %v", err)
		}
		a.next(func() { a.session(0).call(t, toolset.EnterFork, `{}`) }, enterFork)
		a.next(cut)
		if err := s.RunTask(s.t.Context(), build, due(t, "Water the plants", false)); err != nil {
			t.Errorf("only the fork that it entered was cut off: %v", err)
		}
		if a.session(0).isClosed() {
			t.Error("the session is closed, as after an error")
		}
		a.next(func(ctx context.Context) {
			testkit.Must(t, s.Interrupt(s.t.Context()))
			<-ctx.Done()
		})
		if err := s.RunTask(s.t.Context(), build, due(t, "Water the plants", false)); !errors.Is(err, command.ErrInterrupted) {
			t.Errorf("cut off behind a fork: %v", err)
		}
	})
}

func TestAReminderInTheConversationContinuesItsChainWhileItsTurnRuns(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		build := func(time.Time, []updates.Update) string { return "check" }
		follow := func() bool { return !a.session(0).call(t, toolset.FollowUpChain, `{"minutes_from_now":5}`).IsError }
		a.next(func() {
			if !follow() {
				t.Error("the chain does not continue")
			}
		})
		testkit.Must(t, s.RunTask(s.t.Context(), build, due(t, "Tea", true)))
		if follow() || s.book.continued != 1 || s.book.by[0].Kind != fromMain {
			t.Errorf("after its turn the chain continues, %d times, by %+v", s.book.continued, s.book.by)
		}
		a.next(func() { a.session(0).call(t, toolset.ListReminders, `{}`) })
		s.say("list them")
		if n := len(s.book.by); s.book.by[n-1].Kind != "main session" {
			t.Errorf("%+v", s.book.by)
		}
	})
}

func TestATaskThatARunHasWrittenHasNoMoreRightsThanTheRun(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		d := due(t, "Tea", false)
		data := []byte("---\nid: \"abcd1234\"\nrun-at: \"2030-01-01T10:00:00\"\ndescription: \"Tea\"\nallowed-tools: [Bash]\n---\nTea.\n")
		d.Reminder.Path, d.Reminder.Digest = "reminders/tea.md", routines.Digest(data)
		testkit.Must(t, s.o.Guard.Written(policy.Writer{Kind: fromRun, Alone: true}, d.Reminder.Path, data))
		var during *policy.Limit
		a.next(func() { during = s.running.rights().Limit })
		testkit.Must(t, s.RunTask(s.t.Context(), func(time.Time, []updates.Update) string { return "tea" }, d))
		if during == nil || s.running.rights() != (policy.Turn{}) {
			t.Errorf("in its turn the limit is %v, after it %+v", during, s.running.rights())
		}
	})
}

func TestTheEndOfAForkTakesItsQuestionsBack(t *testing.T) {
	acted(t, func(s *stage, _ *actor) {
		testkit.Must(t, s.EnterFork(""))
		synctest.Wait()
		verdict := make(chan policy.Verdict, 1)
		go func() {
			v, _ := s.o.Guard.Approvals().Ask(context.Background(), policy.Request{Question: "Bash(rm x)"})
			verdict <- v
		}()
		synctest.Wait()
		s.click("act:fork_exit:_")
		if v := <-verdict; v != policy.Cancelled {
			t.Errorf("the question was answered with %s", v)
		}
	})
}

func TestSettingsAreTheUsersChoiceUntilTheConfigurationChanges(t *testing.T) {
	runtime := config.Runtime{}
	actedWith(t, &actor{}, func(s *stage) {
		s.adjust = func(r *config.Runtime) {
			r.ModelMain, r.ThinkingMain, r.ModelFork, r.ThinkingFork = "opus", "low", runtime.ModelFork, "high"
			r.PermissionMode = "default"
		}
	}, func(s *stage, a *actor) {
		ctx := s.t.Context()
		testkit.Must(t, errors.Join(s.SetModel(ctx, "haiku"), s.SetThinking(ctx, "off"), s.SetMode(ctx, policy.AcceptEdits)))
		chosen := agent.Settings{Model: "haiku", Thinking: "off", Mode: policy.AcceptEdits.Engine()}
		if s.CurrentSettings() != chosen || a.session(0).configured() != chosen {
			t.Errorf("%+v, the session has %+v", s.CurrentSettings(), a.session(0).configured())
		}
		testkit.Must(t, s.EnterFork(""))
		synctest.Wait()
		fork := agent.Settings{Model: "haiku", Thinking: "high", Mode: chosen.Mode}
		if s.CurrentSettings() != fork || a.opened[1].Settings != fork {
			t.Errorf("the fork has %+v", a.opened[1].Settings)
		}
		for _, err := range []error{s.SetModel(ctx, "x"), s.SetThinking(ctx, "x")} {
			if err == nil || err.Error() != textExitFirst {
				t.Errorf("%v", err)
			}
		}
		testkit.Must(t, s.SetMode(ctx, policy.BypassPermissions))
		runtime.ModelFork = "sonnet"
		testkit.Must(t, s.ConfigChanged(ctx, "model_fork"))
		fork = agent.Settings{Model: "sonnet", Thinking: "high", Mode: policy.BypassPermissions.Engine()}
		if a.session(1).configured() != fork || a.session(0).configured() != chosen || s.Mode() != policy.BypassPermissions {
			t.Errorf("the fork has %+v, main %+v", a.session(1).configured(), a.session(0).configured())
		}
		testkit.Must(t, s.ConfigChanged(ctx, "model_main"))
		if got := s.Settings(false); got.Model != "opus" || got.Thinking != "off" || got.Mode != chosen.Mode {
			t.Errorf("%+v", got)
		}
		testkit.Must(t, s.ConfigChanged(ctx, "thinking_main"))
		if got := a.session(0).configured(); got.Thinking != "low" || got.Mode != chosen.Mode {
			t.Errorf("%+v", got)
		}
		testkit.Must(t, s.ConfigChanged(ctx, "permission_mode"))
		if got := a.session(0).configured(); got != (agent.Settings{Model: "opus", Thinking: "low", Mode: policy.Mode("default").Engine()}) {
			t.Errorf("%+v", got)
		}
	})
}

func TestWhatASessionMayDoIsToldToItsEngine(t *testing.T) {
	a := &actor{}
	actedWith(t, a, nil, func(s *stage, a *actor) {
		o := a.opened[0]
		_, allowed := s.Guard(policy.Main)
		if o.Dir != s.dir.Root() || !slices.Equal(o.Allowed, allowed) || len(allowed) == 0 || o.Permission == nil || len(o.Tools) != len(toolset.Tools(nil)) {
			t.Errorf("%+v", o)
		}
	})
}

func TestFilesAndCardsOfTheAgentAreShownAndWrittenDown(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		testkit.Must(t, s.dir.Write("downloads/plan.txt", []byte("x")))
		a.next(func() {
			main := a.session(0)
			for name, args := range map[string]string{
				toolset.SendFile: `{"file_path":"downloads/plan.txt","message":"the plan"}`, toolset.UpdateNames: `{"user_name":"Ada","bot_name":"Bot"}`,
				toolset.DiscordEmbed: `{"title":"Hi"}`,
			} {
				if r := main.call(t, name, args); r.IsError {
					t.Errorf("%s: %s", name, r.Text)
				}
			}
			s.phone.with(func() { s.phone.broken = errors.New("no network") })
			for name, args := range map[string]string{
				toolset.SendFile: `{"file_path":"downloads/plan.txt","message":"the plan"}`, toolset.DiscordEmbed: `{"title":"Hi"}`,
			} {
				if r := main.call(t, name, args); !r.IsError || !strings.Contains(r.Text, "no network") {
					t.Errorf("%s on a broken line: %+v", name, r)
				}
			}
			s.phone.with(func() { s.phone.broken = nil })
			if r := main.call(t, toolset.SendFile, `{"file_path":"downloads/none.txt"}`); !r.IsError {
				t.Errorf("%+v", r)
			}
		})
		s.say("go")
		audited, _, err := s.o.Records.Audit.Read(10)
		testkit.Must(t, err)
		var actions []string
		for _, e := range audited {
			if e.From != fromMain || e.Actor != "agent" {
				t.Errorf("%+v", e)
			}
			actions = append(actions, e.Action)
		}
		slices.Sort(actions)
		if len(actions) != 2 {
			t.Errorf("written down: %q", actions)
		}
		testkit.Must(t, s.EnterFork(""))
		synctest.Wait()
		if r := a.session(1).call(t, toolset.DiscordEmbed, `{"title":"Hi"}`); r.IsError {
			t.Errorf("%+v", r)
		}
		if p := s.phone.posts[len(s.phone.posts)-1]; p.Context != "fork" || p.Embed.Footer != "fork" || p.Nonce == "" {
			t.Errorf("%+v", p)
		}
		if p := s.phone.posts[len(s.phone.posts)-3]; p.Embed != nil && (p.Context != "" || p.Embed.Footer != "") {
			t.Errorf("%+v", p)
		}
		if _, err := os.Stat(filepath.Join(s.dir.Root(), ".env")); err != nil {
			t.Errorf("the names: %v", err)
		}
	})
}

func TestAForkThatDoesNotOpenIsReportedAndLeavesNoFork(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		a.mu.Lock()
		a.refuse = map[string]error{"run-1": errors.New("no memory")}
		a.mu.Unlock()
		testkit.Must(t, s.Resume("run-1", "Mail", s.now()))
		synctest.Wait()
		if s.Banner() != nil || !s.noted("open the fork: no memory") || len(s.cards()) != 0 {
			t.Errorf("%+v, notes %q", s.Banner(), s.phone.notes)
		}
		testkit.Must(t, s.o.Records.Runs.Record(s.now(), []post.MessageID{"7"}, "run-1", ""))
		if err := <-s.take(command.Receive{From: "Phone", Key: "1", Text: "and?", ReplyTo: "7"}); err == nil || err.Error() != "open the fork: no memory" {
			t.Error(err)
		}
		synctest.Wait()
		if n := len(s.inbox.load().Messages); n != 0 || len(a.told()) != 0 {
			t.Errorf("%d messages are waiting, told %q", n, a.told())
		}
	})
}
