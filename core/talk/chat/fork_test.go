package chat

import (
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
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

func (s *stage) said(text string) bool {
	for _, e := range s.o.Records.Transcript.Entries() {
		if e.Role == transcript.Bot && strings.Contains(e.Text, text) {
			return true
		}
	}
	return false
}

func TestQuickRepliesToOnePingAreAllAnsweredInItsRun(t *testing.T) {
	live(t, func(s *stage) {
		ping, _ := s.pinged()
		release := s.occupy() // both arrive before the run is entered
		for i, words := range []string{"say one", "say two", "say three"} {
			if i == 2 {
				release()
				pass(time.Minute)
			}
			s.take(command.Receive{From: "Phone", Key: string(rune('1' + i)), Text: lines(words), ReplyTo: ping})
		}
		pass(time.Minute)
		for _, e := range s.o.Records.Transcript.Entries() {
			if e.Role == transcript.Notice && (strings.Contains(e.Text, textTurnFailed) || e.Text == textReplyInFork) {
				t.Errorf("the user is told %q", e.Text)
			}
		}
		if f := s.forks.current(); f == nil || f.session.ID() != "11111111-0000-4000-8000-000000000000" || !s.said("one") || !s.said("two") || !s.said("three") {
			t.Errorf("the replies were not answered in the run: %+v", s.o.Records.Transcript.Entries())
		}
		if left := s.inbox.load().Messages; len(left) != 0 {
			t.Errorf("still waiting: %+v", left)
		}
	})
}

func TestTwoQuickClicksOnButtonsOfOneRunAreBothAnswered(t *testing.T) {
	live(t, func(s *stage) {
		id, card := s.pinged(post.Button{Label: "A", Action: "agent:draft it"}, post.Button{Label: "B", Action: "agent:file it"})
		release := s.occupy()
		for _, button := range card.Buttons {
			if _, err := s.Click(t.Context(), id, button.Action); err != nil {
				t.Fatal(err)
			}
		}
		release()
		pass(time.Minute)
		if told := s.ear.told(); len(told) != 2 {
			t.Errorf("the session was told %q", told)
		}
	})
}

func TestATurnBehindAForkHasMainsMode(t *testing.T) {
	live(t, func(s *stage) {
		testkit.Must(t, s.EnterFork(""))
		pass(time.Minute)
		testkit.Must(t, s.SetMode(t.Context(), policy.BypassPermissions))
		s.running.goBehind(true)
		seen := s.Mode()
		s.running.goBehind(false)
		if seen != policy.DontAsk || s.Mode() != policy.BypassPermissions {
			t.Errorf("behind the fork the mode is %s, in it %s", seen, s.Mode())
		}
		if got := s.Settings(false).Mode; got != policy.DontAsk.Engine() {
			t.Errorf("main is opened with %s", got)
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
