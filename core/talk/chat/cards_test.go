package chat

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/storage/config"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
)

// A turn may think for an hour. Any other job that takes ten minutes is stuck.
func TestTheConversationIsAliveWhileItsTurnGivesSignsOfLife(t *testing.T) {
	acted(t, func(s *stage, a *actor) {
		alive := func() bool {
			soon, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			return s.Alive(soon) == nil
		}
		a.next(agent.Text{Delta: "thinking"}, untilStopped)
		s.say("think hard")
		pass(55 * time.Minute)
		if !alive() {
			t.Error("a turn that has thought for 55 minutes is stuck")
		}
		pass(6 * time.Minute)
		if alive() {
			t.Error("a turn without a sign of life for an hour is alive")
		}
		testkit.Must(t, s.Interrupt(context.Background()))
		s.settle()
		release := s.occupy()
		pass(9 * time.Minute)
		if !alive() {
			t.Error("a job of nine minutes is stuck")
		}
		pass(2 * time.Minute)
		if alive() {
			t.Error("a job of eleven minutes is alive")
		}
		release()
		s.settle()
		if !alive() {
			t.Error("an idle conversation is stuck")
		}
	})
}

// None of these errors prevents an answer, so only the log reports them.
func TestTroubleThatStopsNothingIsLogged(t *testing.T) {
	actedWith(t, &actor{stiff: errors.New("it does not react")}, nil, func(s *stage, a *actor) {
		s.say("hello")
		testkit.Must(t, s.o.Records.Updates.Append(s.now(), "The kettle is hot."))
		var mend func()
		a.next(func() { mend = s.jam("pending_updates") }, agent.Text{Delta: "it is hot"}, func() { mend() })
		s.say("how is the kettle?")
		a.next(untilStopped)
		s.say("wait")
		s.say("no, go on")
		s.enter("taxes")
		mend = s.jam("fork_messages")
		s.say("how much?")
		mend()
		s.phone.with(func() { s.phone.frozen, s.phone.broken = errors.New("no network"), errors.New("no network") })
		s.click("act:fork_exit:_")
		a.next(func() {
			if r := a.session(0).call(t, toolset.EnterFork, `{}`); r.IsError {
				t.Error(r.Text)
			}
		}, enterFork, agent.Text{Delta: "and more"})
		s.say("fork")
		equal(t, "answers", s.entries(transcript.Bot), []string{"fine", "it is hot", "fine", "fine", "fine", "fine"})
		s.clear()
		s.troubles = []string{
			"delivered updates could not be removed", "running turn was not interrupted", "session did not close cleanly",
			"a reply to this message will not find its fork", "an ended fork's card still shows its exits", "fork card was not sent",
			"turn was not interrupted for the fork",
		}
	})
}

func TestARequestIsBookedOnItsOwnSession(t *testing.T) {
	actedWith(t, &actor{}, func(s *stage) {
		s.adjust = func(r *config.Runtime) { r.ModelMain, r.ModelFork = "opus", "haiku" }
	}, func(s *stage, a *actor) {
		byItself := func(o agent.SessionOptions) {
			o.OnEngineTurn(func(yield func(agent.Event, error) bool) {
				o.Hooks.Charge(agent.Charge{Model: o.Settings.Model})
				yield(agent.Result{}, nil)
			})
		}
		s.say("hello")
		byItself(a.opened[0])
		s.enter("")
		s.say("in the fork")
		byItself(a.opened[1])
		testkit.Must(t, s.RunTask(s.t.Context(), deliverAll, due(t, "Tea", false)))
		equal(t, "paid for", s.purse.spent, []string{"main opus", "main opus", "fork haiku", "fork haiku", "fork haiku", "main opus"})
	})
}

func TestTheTopicOfAForkIsOneLineOfAtMost200Characters(t *testing.T) {
	for topic, want := range map[string]string{
		"taxes\nof Ada": "taxes of Ada", strings.Repeat("é", 200): strings.Repeat("é", 200), strings.Repeat("é", 201): strings.Repeat("é", 199) + "…",
	} {
		acted(t, func(s *stage, _ *actor) {
			s.enter(topic)
			if got := s.Banner().Topic; got != want {
				t.Errorf("the topic is %q, want %q", got, want)
			}
		})
	}
}

// D1, D6: at night, with a fork that is left alone, only what the user has asked for rings; cards of the fork never do.
func TestAnIdleForkDoesNotRingAtNight(t *testing.T) {
	acted(t, func(s *stage, _ *actor) {
		s.rings = func(k post.Kind, _ string) bool { // nothing here is a question before a call
			return k != post.KindQuestion && k.Rings(post.Moment{Muted: true})
		}
		s.enter("")
		s.say("hello")
		pass(3*s.Config().ForkIdleTimeout + 5*time.Minute)
		if s.Banner() != nil {
			t.Fatal("the fork is still open")
		}
		var silent []bool
		for _, a := range s.phone.answers {
			silent = append(silent, a.Silent)
		}
		if len(silent) != 4 || silent[0] || silent[1] || !silent[2] || !silent[3] {
			t.Errorf("silent are %v", silent)
		}
		for _, p := range s.phone.posts {
			if !p.Quiet {
				t.Errorf("it rings: %+v", p.Embed)
			}
		}
		if len(s.phone.posts) != 2 || len(s.phone.silent) != len(s.phone.notes) {
			t.Errorf("%d cards; notes %q, silent %q", len(s.phone.posts), s.phone.notes, s.phone.silent)
		}
	})
}

func TestAQuietPostDoesNotRing(t *testing.T) {
	acted(t, func(s *stage, _ *actor) {
		for _, quiet := range []bool{true, false} {
			_, err := s.Post(t.Context(), post.Post{Text: "tea", Quiet: quiet})
			testkit.Must(t, err)
			if got := s.phone.posts[len(s.phone.posts)-1].Quiet; got != quiet {
				t.Errorf("quiet %v, want %v", got, quiet)
			}
		}
	})
}

// D11: what the bot says by itself is the same in both places, but for the path of a file.
func TestANoticeNamesNoPathOnThePhone(t *testing.T) {
	acted(t, func(s *stage, _ *actor) {
		for said, want := range map[string]string{
			"log in with /google-auth": "log in with /google-auth",

			"the day is not all there: open /home/ana/days.ics: no such file": "the day is not all there: open days.ics: no such file",
		} {
			s.Say(said)
			if got := s.phone.notes[len(s.phone.notes)-1]; got != want {
				t.Errorf("the phone has %q, want %q", got, want)
			}
			if list := s.transcript.Entries(); list[len(list)-1].Text != said {
				t.Errorf("the dashboard has %+v", list[len(list)-1])
			}
			id, err := s.Post(t.Context(), post.Post{Text: said, Small: true, Kind: post.KindNews})
			if err != nil || id == "" || s.phone.posts[len(s.phone.posts)-1].Text != want {
				t.Errorf("posted %+v, %v", s.phone.posts, err)
			}
		}
	})
}

// D10: "(interrupted)" stood inside the code block that was interrupted.
func TestABlockThatAnAnswerLeavesOpenIsKnown(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "",
		"plain `code`":                    "",
		"```go\nx := 1":                   "\n```\n",
		"```go\nx := 1\n```\nend":         "",
		"```a``` is inline\nend":          "",
		"a\n~~~\n```\nb":                  "\n~~~\n",
		"> ```go\n> x":                    "\n> ```\n",
		"```\na\n```\n\n```python\nprint": "\n```\n",
	} {
		if got := openBlock(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
