package chat

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

func TestAnAnswerOfAForkCanBeRepliedToLater(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		s.enter("")
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

// Not in a bubble: the file system's time stamps are those of the machine.
func TestATaskThatACommandWroteIsTheAgentsAtTheEndOfTheTurn(t *testing.T) {
	s := newStage(t)
	testkit.Must(t, s.SetMode(t.Context(), policy.BypassPermissions))
	defer s.running.allow(attended)()
	guard, _ := s.Guard(policy.Main)
	if d := guard.PreTool(t.Context(), agent.ToolUse{ID: "1", Name: "Bash", Input: []byte(`{"command":"./make-tasks"}`)}); !d.Allow {
		t.Fatalf("the command was not allowed: %+v", d)
	}
	const rel, text = "routines/tea.md", "---\nid: \"abcd1234\"\ncron: \"0 8 * * *\"\n---\nTea.\n"
	storetest.Put(t, s.dir, rel, text)
	s.running.end()
	if o, known := s.o.Guard.Provenance().Find(rel, routines.Digest([]byte(text))); !known || o.Writer.Kind != fromMain {
		t.Errorf("known %v, written by %q", known, o.Writer.Kind)
	}
}

func TestTheEndOfAForkTakesItsQuestionsBack(t *testing.T) {
	acted(t, func(s *stage, _ *actor) {
		s.enter("")
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

func TestAnEngineKnowsWhatItsSessionMayDo(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		o := a.opened[0]
		_, allowed := s.Guard(policy.Main)
		if o.Dir != s.dir.Root() || !slices.Equal(o.Allowed, allowed) || len(allowed) == 0 || o.Permission == nil ||
			len(o.Tools) != len(toolset.Tools(nil))+1 || o.Tools[len(o.Tools)-1].Name != "borrowed" ||
			o.SystemPrompt != "the system prompt" || o.BriefPrompt != "the brief prompt" {
			t.Errorf("%+v", o)
		}
	})
}

func TestANewMainSessionAndNoOtherRenewsTheLibrary(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		for _, step := range []struct {
			what string
			do   func()
			want int
		}{
			{"the first session", func() { s.say("hello") }, 1},
			{"a fork", func() { s.enter("") }, 1},
			{"a session that is opened again", func() { a.next(errors.New("it broke")); s.say("in the fork"); s.click("act:fork_exit:_"); s.say("one") }, 1},
			{"a new conversation", func() { s.clear(); s.say("two") }, 2},
		} {
			if step.do(); s.renewed != step.want {
				t.Errorf("after %s it was renewed %d times, want %d", step.what, s.renewed, step.want)
			}
		}
	})
}
