package tui

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/fork"
	"ollimbot/core/updates"
	"ollimbot/routines"
)

func TestAClickIsForTheItemUnderItWhateverItsWordsLookLike(t *testing.T) {
	marks := []string{"▸ not a row", "> quoted", "── a line ──", "────────────────", "  indented"}
	for _, words := range marks {
		play(t, setup{snap: func(at time.Time) core.Snapshot {
			s := busyDay(at)
			s.Updates = []updates.Update{
				{Key: "old", At: at.Add(-time.Hour), Message: "The oldest\n" + words},
				{Key: "mid", At: at.Add(-time.Minute), Message: "The middle\n" + words},
				{Key: "new", At: at, Message: "The newest\n" + words},
			}
			return s
		}}, func(s *stage) {
			s.press("3", "G")
			for _, c := range []struct{ text, key string }{{"The newest", "new"}, {"The oldest", "old"}, {"The middle", "mid"}} {
				s.clickOn(c.text)
				s.misses("esc close")
				s.clickOn(c.text)
				s.sees("esc close")
				s.press("esc", "x")
				cmds := s.bot.done()
				if d := cmp.Diff(command.Value(command.DiscardUpdate{Key: c.key}), cmds[len(cmds)-1]); d != "" {
					t.Errorf("%q: a click on %q, then x:\n%s", words, c.text, d)
				}
			}
		})
	}
}

func TestAClickOnAPaneWithoutTheFocusMeansTheRowsThatStandThere(t *testing.T) {
	play(t, setup{snap: func(at time.Time) core.Snapshot {
		s := busyDay(at)
		for _, name := range []string{"a.md", "b.md", "c.md", "d.md"} {
			s.Schedule.Problems = append(s.Schedule.Problems, routines.Problem{
				File: "routines/" + name, Line: 3, Severity: routines.Error, Message: "a reason that takes more than one line of a pane that is as narrow as this one, and goes on",
			})
		}
		return s
	}}, func(s *stage) {
		s.press("2", "G", "5")
		s.clickOn("Email sweep")
		s.clickOn("Email sweep")
		s.sees("╭─ Email sweep", "esc close")
	})
}

func TestTheTopLineCountsFailuresUntilTheyWereLookedAt(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {80, 24}, {46, 12}} {
		play(t, setup{w: size[0], h: size[1], snap: func(at time.Time) core.Snapshot {
			s := withForks(busyDay(at))
			for _, id := range []string{"bad00001", "bad00002"} {
				s.Forks = append(s.Forks, fork.View{
					ID: id, Title: "Task " + id, State: fork.TimedOut, Started: at.Add(-time.Hour), Ended: at.Add(-time.Minute), Error: "it took too long",
				})
			}
			return s
		}}, func(s *stage) {
			s.press("5")
			s.sees("✗ 2 failed")
			s.clickOn("✗ 2 failed")
			s.sees("✗ 1 failed")
			s.clickOn("✗ 1 failed")
			s.misses(" failed ")
			s.press("z")
			s.sees("Task bad00002")
		})
	}
}
