package chat

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/transcript"
)

// notices returns the notices of the conversation that contain a text.
func (s *stage) notices(text string) (list []string) {
	for _, e := range s.o.Records.Transcript.Entries() {
		if e.Role == transcript.Notice && strings.Contains(e.Text, text) {
			list = append(list, e.Text)
		}
	}
	return list
}

// L5: an open fork was gone after a restart without a word.
func TestAForkThatTheProgramLeavesOpenIsSaidToHaveEnded(t *testing.T) {
	const ended = "ended with the program"
	for name, c := range map[string]struct {
		leave func(s *stage)
		said  bool
	}{
		"left open": {func(*stage) {}, true},
		"left open, resumed": {func(s *stage) {
			s.click("act:fork_exit:_")
			testkit.Must(s.t, s.Resume("run-1", "Sweep", s.now()))
			synctest.Wait()
		}, true},
		"discarded": {func(s *stage) { s.click("act:fork_exit:_") }, false},
		"saved":     {func(s *stage) { s.click("act:fork_save:_") }, false},
		"cleared": {func(s *stage) {
			_, err := s.Clear(s.t.Context())
			testkit.Must(s.t, err)
		}, false},
	} {
		root := filepath.Join(t.TempDir(), "data")
		synctest.Test(t, func(t *testing.T) {
			var id string
			stageAt(t, root, &actor{}).run(func(s *stage) {
				s.say("hello")
				testkit.Must(t, s.EnterFork("taxes"))
				synctest.Wait()
				c.leave(s)
				if f := s.forks.current(); f != nil {
					id = f.sessionID()
				}
			})
			stageAt(t, root, &actor{before: 5}).run(func(s *stage) {
				synctest.Wait()
				got := s.notices(ended)
				switch {
				case len(got) != 0 && !c.said, len(got) != 1 && c.said:
					t.Errorf("%s: %q", name, got)
				case c.said && (id == "" || !strings.Contains(got[0], "The history has its words")):
					t.Errorf("%s: %q does not say where %s is", name, got[0], id)
				}
				if !slices.Equal(s.phone.notes, s.phone.silent) || !slices.Equal(s.phone.silent, got) {
					t.Errorf("%s: on the phone %q, silent %q", name, s.phone.notes, s.phone.silent)
				}
			})
			stageAt(t, root, &actor{before: 9}).run(func(s *stage) {
				if got := s.notices(ended); len(got) > 1 {
					t.Errorf("%s: it is said again: %q", name, got)
				}
			})
		})
	}
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
		testkit.Must(t, s.EnterFork("taxes"))
		synctest.Wait()
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
		testkit.Must(t, s.EnterFork("taxes"))
		synctest.Wait()
		if !s.noted(textTurnFailed + ": save the session id: ") {
			t.Errorf("notes %q", s.phone.notes)
		}
		mend()
	})
}
