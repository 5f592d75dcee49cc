package tui

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/tui/action"
	"ollimbot/tui/undo"
)

func TestAMessageIsWrittenFromAnywhereAndEscLeadsBack(t *testing.T) {
	for _, from := range [][]string{{"1"}, {"4", "enter"}, {"6", "z"}, {"$"}, {","}, {"2", "0"}, {"!"}} {
		r := plainRoot(t, everything(day))
		for _, k := range from {
			r.key(press(k))
		}
		focus, zoom := r.focus, r.zoom
		for _, k := range []string{"i", "q", "u", "D", "x"} {
			r.key(press(k))
		}
		if got := r.chat().Draft(); got != "quDx" || r.focus != action.Chat || len(r.dialogs) > 0 {
			t.Errorf("after %v the draft is %q, the focus on %s", from, got, r.focus)
		}
		if r.key(press("esc")); r.focus != focus || r.zoom != zoom {
			t.Errorf("after %v esc leads to %s, zoomed %t, and not to %s, %t", from, r.focus, r.zoom, focus, zoom)
		}
	}
}

// Whatever was pressed, a few escapes lead out of it.
func TestEscAlwaysLeadsOut(t *testing.T) {
	keys := []string{
		"1", "2", "3", "4", "5", "6", "0", "$", ",", "A", "K", "z", "/", "&", "a", "enter", "?", ":", "!", "E", "H", "v", "m", "e", "n", "tab", "i", "w", "down", "left", "D",
	}
	testkit.Check(t, func(rt *rapid.T) {
		r := plainRoot(t, everything(day))
		t := rt
		for range rapid.IntRange(1, 12).Draw(t, "keys") {
			k := rapid.SampledFrom(keys).Draw(t, "key")
			r.key(press(k))
		}
		for range 10 {
			r.key(press("esc"))
		}
		r.key(press("esc"))
		if r.focus.Page() || r.focus == action.Day || r.zoom || len(r.dialogs) > 0 || r.panes[r.focus].Capture() {
			t.Fatalf("esc leads to %s, zoomed %t, with %d dialogs, typing %t", r.focus, r.zoom, len(r.dialogs), r.panes[r.focus].Capture())
		}
	})
}

// A terminal that is not open yet has nothing to suspend.
func TestASuspendBeforeTheScreenIsOpenDoesNothing(t *testing.T) {
	r := plainRoot(t, everything(day))
	for _, k := range []string{":", "n", "D", "enter", "esc", "ctrl+z"} {
		r.key(press(k))
	}
	if r.key(press("esc")); len(r.dialogs) > 0 {
		t.Errorf("%d dialogs stay", len(r.dialogs))
	}
}

func TestAFileOfTheUserNeverGoesUnasked(t *testing.T) {
	made := command.RemoveTask{ID: "aaaa1111", Version: "v1"}
	for _, c := range []struct {
		version, says string
		want          command.Value
	}{
		{"v1", "which you wrote", made},
		{"v2", "was edited since", command.DeleteTask{ID: "aaaa1111"}},
	} {
		snap := busyDay(day)
		snap.Schedule.Tasks[0].Version = c.version
		r := plainRoot(t, snap)
		r.changes.Add(undo.Change{Name: "Email sweep added", Step: made})
		if cmd := r.key(press("u")); cmd != nil || len(r.dialogs) != 1 {
			t.Fatalf("it asks nothing: %v", r.dialogs)
		}
		if q := r.removal(made); !strings.Contains(q.Text, c.says) || !strings.Contains(q.Text, "routines/email-sweep.md") {
			t.Errorf("it asks %q", q.Text)
		}
		(walk{undo.Back, true}).take(r)
		if did := r.queue.waiting; len(did) > 0 {
			t.Errorf("it waits: %v", did)
		}
		if _, left := r.changes.Next(undo.Back); left || !r.queue.busy[command.LaneOf(c.want)] {
			t.Errorf("%T was not sent", c.want)
		}
	}
	play(t, setup{}, func(s *stage) {
		s.press("2", "D")
		s.sees("Delete Email sweep?")
		s.did()
		time.Sleep(time.Second)
		s.press("y")
		s.did(command.DeleteTask{ID: "aaaa1111"})
	})
}
