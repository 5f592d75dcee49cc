package tui

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core"
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
				if d := cmp.Diff(core.Command(core.DiscardUpdate{Key: c.key}), cmds[len(cmds)-1]); d != "" {
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
