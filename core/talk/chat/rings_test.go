package chat

import (
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/talk/post"
)

// D1, D6: at night, with a fork that is left alone, only what the user has asked for rings; cards of the fork never do.
func TestAnIdleForkDoesNotRingAtNight(t *testing.T) {
	acted(t, func(s *stage, _ *actor) {
		s.rings = func(k post.Kind, _ string) bool { // nothing here is a question before a call
			return k != post.KindQuestion && k.Rings(post.Moment{Muted: true})
		}
		testkit.Must(t, s.EnterFork(""))
		synctest.Wait()
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
