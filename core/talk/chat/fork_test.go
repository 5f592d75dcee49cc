package chat

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/prompt"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/updates"
)

// pinged posts a message of a background run whose session the engine knows.
func (s *stage) pinged(buttons ...post.Button) (id post.MessageID, card *post.Embed) {
	s.t.Helper()
	e := post.Embed{Title: "Mail", Buttons: buttons}
	id, err := s.Post(s.t.Context(), post.Post{Embed: &e, Context: "background"})
	testkit.Must(s.t, err)
	testkit.Must(s.t, s.o.Records.Runs.Record(s.now(), []post.MessageID{id}, "11111111-0000-4000-8000-000000000000", ""))
	for _, e := range s.o.Records.Transcript.Entries() {
		if e.Is(id) {
			card = e.Embed
		}
	}
	return id, card
}

func TestTwoQuickClicksOnButtonsOfOneRunAreBothAnswered(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		id, card := s.pinged(post.Button{Label: "A", Action: "agent:draft it"}, post.Button{Label: "B", Action: "agent:file it"})
		release := s.occupy()
		for _, button := range card.Buttons {
			if _, err := s.Click(t.Context(), id, button.Action); err != nil {
				t.Fatal(err)
			}
		}
		release()
		pass(time.Minute)
		if inputs := a.inputs(); len(inputs) != 2 {
			t.Errorf("the session hears %q", inputs)
		}
	})
}

func TestAForkIsRecordedWithTheFirstIDThatTheEngineReports(t *testing.T) {
	var f interactive
	for _, report := range []struct {
		id    string
		first bool
	}{{"", false}, {"run-1", true}, {"run-1", false}, {"run-2", false}} {
		if f.learn(report.id) != report.first {
			t.Errorf("%q counts as the first: %v", report.id, !report.first)
		}
	}
	if f.sessionID() != "run-1" {
		t.Errorf("it is %q", f.sessionID())
	}
}

// notices returns the notices of the conversation that contain a text.
func (s *stage) notices(text string) (list []string) {
	for _, e := range s.o.Records.Transcript.Entries() {
		if e.Role == transcript.Notice && strings.Contains(e.Text, text) {
			list = append(list, e.Text)
		}
	}
	return list
}

// L5: also where a kill came before the engine had named the fork, or right after its save.
func TestAForkWithoutAnAnswerIsSaidToHaveEndedToo(t *testing.T) {
	for content, want := range map[string]string{
		`{"session":"","title":"taxes"}`:                "the fork \"taxes\" ended with the program",
		`{"session":"","since":"2026-01-01T00:00:00Z"}`: "the fork ended with the program",
		`{"session":"main-1","title":"taxes"}`:          "", // it was saved
		`{"session":"; rm","title":"taxes"}`:            "",
	} {
		root := filepath.Join(t.TempDir(), "data")
		synctest.Test(t, func(t *testing.T) {
			s := stageAt(t, root, &actor{})
			testkit.Must(t, s.o.Records.Sessions.SaveMain(s.now(), "main-1"))
			storetest.Put(t, s.dir, "state/open_fork.json", content)
			s.run(func(s *stage) {
				got := s.notices("ended with the program")
				if (len(got) == 0) != (want == "") || want != "" && (!strings.HasPrefix(got[0], want) || strings.Contains(got[0], "history")) {
					t.Errorf("%s: %q", content, got)
				}
				if s.has("state/open_fork.json") {
					t.Errorf("%s: it will be said again", content)
				}
			})
		})
	}
}

// L5: a fork of which nothing could be recorded is open all the same.
func TestAForkThatCannotBeRecordedIsOpen(t *testing.T) {
	acted(t, func(s *stage, _ *actor) {
		s.troubles = []string{"the open fork was not recorded"}
		storetest.Put(t, s.dir, "state/open_fork.json/in-the-way", "")
		s.enter("taxes")
		if s.Banner() == nil {
			t.Error("no fork")
		}
		testkit.Must(t, s.ExitFork(command.ExitDiscard))
		synctest.Wait()
	})
}

func TestAForkThatCannotBeLoggedIsReported(t *testing.T) {
	acted(t, func(s *stage, _ *actor) {
		s.troubles = []string{"the open fork was not recorded"}
		mend := s.jam("sessions")
		s.enter("taxes")
		if !s.noted(textTurnFailed + ": save the session id: ") {
			t.Errorf("notes %q", s.phone.notes)
		}
		mend()
	})
}

// A crash after the engine has accepted a message and before its updates are removed.
func TestADeliveryCutShortIsSettledByTheEnginesMemory(t *testing.T) {
	for _, taken := range []bool{true, false} {
		root := filepath.Join(t.TempDir(), "data")
		s := stageAt(t, root, &actor{})
		testkit.Must(t, errors.Join(s.o.Records.Updates.Append(s.now(), "one"), s.o.Records.Updates.Append(s.now(), "two")))
		const id = "5f4dcc3b-0000-4000-8000-000000000000"
		_, err := s.o.Records.Updates.Claim(func([]updates.Update) updates.Delivery { return updates.NewDelivery(id, "the message", nil) })
		testkit.Must(t, err)
		next := stageAt(t, root, &actor{has: taken})
		next.delivery.recover(t.Context())
		if n := len(next.o.Records.Updates.Peek()); taken && n != 0 || !taken && n != 2 {
			t.Errorf("taken %v: %d updates pending", taken, n)
		}
		if next.has("state/delivery.json") {
			t.Error("the delivery is still open")
		}
	}
}

func TestTheAgentsCommandsKnowTheirSession(t *testing.T) {
	s := newStage(t)
	if o := s.main.opener.options(policy.Main, s.reading.ofMain()); o.Command != nil {
		t.Error("commands are taken although nothing runs them")
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
		s.enter("")
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
