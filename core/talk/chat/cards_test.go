package chat

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/command"
	"ollimbot/core/storage/config"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
)

// The card of an open fork has buttons for its exits, which disappear when the fork ends.
// Another card says how it ended.
func TestTheCardsOfAForkShowItsExitsAndItsEnd(t *testing.T) {
	exits := []post.Button{
		{Label: "Save Context", Style: "success", Action: "act:fork_save:_"},
		{Label: "Report", Style: "primary", Action: "act:fork_report:_"},
		{Label: "Exit Fork", Style: "danger", Action: "act:fork_exit:_"},
	}
	open := func(s *stage) error { return s.EnterFork("taxes") }
	resume := func(s *stage) error { return s.Resume("run-1", "Mail", s.now()) }
	for name, c := range map[string]struct {
		enter func(*stage) error
		press string
		title string // of the open fork
		exits []post.Button
		end   post.Embed
	}{
		"saved": {open, "act:fork_save:_", "Topic: taxes", exits, post.Embed{Title: "Fork Ended — saved to main", Description: "It is done.", Color: "green"}},
		"reported": {open, "act:fork_report:_", "Topic: taxes", exits, post.Embed{
			Title: "Fork Ended — summary queued", Description: "It is done.", Color: "blue",
		}},
		"left": {open, "act:fork_exit:_", "Topic: taxes", exits, post.Embed{Title: "Fork Ended — discarded", Color: "greyple"}},
		"without a topic": {func(s *stage) error { return s.EnterFork("") }, "act:fork_exit:_", textForkPlain, exits, post.Embed{
			Title: "Fork Ended — discarded", Color: "greyple",
		}},
		"a resumed run": {resume, "act:fork_exit:_", "resumed from Mail — it can be reported, but not saved.", exits[1:], post.Embed{
			Title: "Fork Ended — discarded", Color: "greyple",
		}},
	} {
		acted(t, func(s *stage, a *actor) {
			a.next(func() {
				s.forks.current().requestExit("", "It is done.")
			}, agent.Text{Delta: "hello"})
			testkit.Must(t, c.enter(s))
			s.settle()
			s.click(c.press)
			want := []post.Post{
				{Context: "fork", Kind: post.KindAside, Quiet: true, Embed: &post.Embed{
					Title: textForkCard, Description: c.title, Color: "purple", Buttons: c.exits,
				}},
				{Context: "fork", Kind: post.KindAside, Quiet: true, Embed: &c.end}, // D6: after one's own button
			}
			got := s.phone.posts
			for i := range got {
				if got[i].Nonce == "" || i > 0 && got[i].Nonce == got[0].Nonce {
					t.Errorf("%s: card %d has the nonce %q", name, i, got[i].Nonce)
				}
				got[i].Nonce = ""
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: the cards are\n%s", name, diff)
			}
			closed := map[post.MessageID]post.Post{"9001": {Context: "fork", Embed: &post.Embed{Title: textForkCard, Description: c.title, Color: "greyple"}}}
			if diff := cmp.Diff(closed, s.phone.edits); diff != "" {
				t.Errorf("%s: the first card now is\n%s", name, diff)
			}
		})
	}
}

// A bot without Discord has only the dashboard.
func TestWithoutAPhoneTheDashboardHasEverything(t *testing.T) {
	a := &actor{}
	alone := func(o *Options) { o.Engine, o.Remote, o.RemoteName = a, nil, "" }
	inBubble(t, func(t *testing.T, root string) {
		stageAt(t, root, nil, alone).run(func(s *stage) {
			a.next(
				agent.Text{Delta: "wrong"}, agent.Rewind{Bytes: 5}, agent.Text{Delta: "right"}, agent.ToolStart{Name: "Read"},
				agent.ToolEnd{Name: "Read", Denied: true}, agent.Retry{Reason: "overloaded"}, agent.Compacting{PreTokens: 9000}, agent.Compacting{Done: true},
				agent.Notice{Text: "switched models"}, func() {
					if r := a.session(0).call(t, toolset.DiscordEmbed, `{"title":"A card"}`); r.IsError {
						t.Error(r.Text)
					}
				},
			)
			testkit.Must(t, <-s.take(command.Receive{Text: "hello"}))
			s.settle()
			testkit.Must(t, s.EnterFork("taxes"))
			s.settle()
			var got []string
			for _, e := range s.o.Records.Transcript.Entries() {
				line := string(e.Role) + ": " + e.Text
				if e.Embed != nil {
					line += e.Embed.Title
				}
				got = append(got, strings.TrimSpace(line+" "+strings.Join(e.Tools, ", ")))
			}
			equal(t, "in the chat", got, []string{
				"you: hello", "bot: right Read" + transcript.DeniedMark, "notice: auto-compacted", "notice: switched models", "bot: A card",
				"bot: " + textForkCard, "bot: fine",
			})
			entries := s.o.Records.Transcript.Entries()
			card := entries[len(entries)-2]
			if _, err := s.Click(s.t.Context(), card.ID, card.Embed.Buttons[2].Action); err != nil {
				t.Fatal(err)
			}
			s.settle()
			for _, e := range s.o.Records.Transcript.Entries() {
				if e.ID == card.ID && len(e.Embed.Buttons) > 0 {
					t.Errorf("the fork has ended, and its card still shows %+v", e.Embed)
				}
			}
		})
	})
}

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
		testkit.Must(t, s.EnterFork("taxes"))
		s.settle()
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
		if _, err := s.Clear(context.Background()); err != nil {
			t.Error(err)
		}
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
		testkit.Must(t, s.EnterFork(""))
		s.settle()
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
			testkit.Must(t, s.EnterFork(topic))
			s.settle()
			if got := s.Banner().Topic; got != want {
				t.Errorf("the topic is %q, want %q", got, want)
			}
		})
	}
}
