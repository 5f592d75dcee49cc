package chat

import (
	"context"
	"errors"
	"strings"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/prompt"
	"ollimbot/core/safety/policy"
)

func TestTheAgentsCommandsKnowTheirSession(t *testing.T) {
	s := newStage(t, nil)
	if o := s.main.opener.options(policy.Main, s.reading.ofMain()); o.Command != nil {
		t.Error("commands are taken although nobody runs them")
	}
	var by []policy.Scope
	s.main.opener.commands = func(_ context.Context, caller *policy.Session, _ []string) agent.CommandResult {
		by = append(by, caller.Scope())
		return agent.CommandResult{}
	}
	for _, kind := range []policy.Kind{policy.Main, policy.Interactive} {
		o := s.main.opener.options(kind, &policy.Taint{})
		if got := o.Command(t.Context(), []string{"reminder", "list"}); got.Exit != 0 {
			t.Errorf("%s: reminder list gives %+v", kindName(kind), got)
		}
		if got := o.Command(t.Context(), []string{"budget", "set", "--capacity", "99"}); got.Exit == 0 {
			t.Errorf("%s: budget set gives %+v", kindName(kind), got)
		}
	}
	if len(by) != 2 || by[0].Session != "main session" || by[1].Session != "fork" {
		t.Errorf("who asks: %+v", by)
	}
}

// E7: an edit of USER.md reached no conversation that was open.
func TestAnEditOfTheProfileReachesTheOpenConversationOnce(t *testing.T) {
	written := func(s *stage) { s.profile = prompt.Profile{Identity: "You are Ollie.", User: "Up at six."} }
	actedWith(t, &actor{}, written, func(s *stage, a *actor) {
		last := func() string { return a.heard[len(a.heard)-1] }
		s.say("hello")
		if strings.Contains(last(), "[profile]") {
			t.Errorf("the session knows its own prompt, and hears %q", last())
		}
		s.profile.User = "Up at seven.\nLikes plums."
		s.say("and now?")
		want := "[profile] USER.md has changed (- is gone, + counts from now on):\n"
		if !strings.HasSuffix(last(), "-Up at six.\n+Up at seven.\n+Likes plums.") || !strings.Contains(last(), "and now?\n\n"+want) {
			t.Errorf("heard %q", last())
		}
		s.say("again")
		if strings.Contains(last(), "[profile]") {
			t.Errorf("it hears it again: %q", last())
		}
		a.next(agent.Compacting{Done: true}, agent.Text{Delta: "fine"}, agent.Result{SessionID: "m"})
		s.say("long story")
		s.say("after the summary")
		if !strings.Contains(last(), "+Likes plums.") {
			t.Errorf("after a compaction the old prompt counts: %q", last())
		}
		a.next(agent.Compacting{Done: true}, agent.Result{SessionID: "m"})
		_, _, _, err := s.Command(s.t.Context(), agent.Message{Text: "/compact"})
		testkit.Must(t, err)
		s.say("after the command")
		if !strings.Contains(last(), "+Likes plums.") {
			t.Errorf("after a compaction by command the old prompt counts: %q", last())
		}
		s.profile.Identity = ""
		a.next(errors.New("the process has ended"))
		s.say("lost")
		s.say("once more") // in a session that was opened again, with the new prompt
		if strings.Contains(last(), "[profile]") {
			t.Errorf("heard %q", last())
		}
	})
}

func TestAForkLearnsOfAnEditToo(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		s.say("hello")
		if err := s.EnterFork(""); err != nil {
			t.Fatal(err)
		}
		s.settle()
		s.profile.User = strings.Repeat("A long life. ", 1_000)
		learns := func(words string, want bool) {
			s.say(words)
			if last := a.heard[len(a.heard)-1]; strings.HasSuffix(last, "[profile] USER.md has changed: read it before you answer.") != want {
				t.Errorf("heard %q", last)
			}
		}
		learns("in the fork", true)
		a.next(agent.Compacting{Done: true}, agent.Text{Delta: "fine"}, agent.Result{SessionID: a.session(1).ID()})
		learns("long story", false)
		learns("after the summary", true) // it has the old prompt
		learns("again", false)
	})
}
