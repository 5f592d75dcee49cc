package tui

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/toast"
	"ollimbot/tui/view"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

// dayAhead is busyDay with the fires of 24 hours.
func dayAhead(at time.Time) core.Snapshot {
	s := busyDay(at)
	s.Schedule.Day = append(s.Schedule.Day, s.Schedule.Entries...)
	for h := 3; h < 24; h++ {
		s.Schedule.Day = append(s.Schedule.Day, schedule.Entry{ID: "aaaa1111", Description: "Email sweep", FireTime: at.Add(time.Duration(h) * time.Hour)})
	}
	s.Schedule.Tasks = []schedule.TaskView{
		{ID: "aaaa1111", Title: "Email sweep", Kind: routines.KindRoutine, Next: s.Schedule.Entries[0].FireTime},
		{ID: "cccc3333", Title: "Check the oven", Kind: routines.KindReminder, Next: s.Schedule.Entries[2].FireTime},
	}
	return s
}

func TestMutingSaysWhatWouldGoSilentBeforeItIsDone(t *testing.T) {
	play(t, setup{snap: dayAhead}, func(s *stage) {
		s.press("1", "m")
		s.sees("Mute pings that are not critical until", "▸ 30 minutes", "1 fire without pings", "Email sweep")
		s.press("down", "down")
		s.press("enter")
		c, ok := s.bot.done()[0].(command.MuteUntil)
		if !ok || !c.Until.After(time.Now()) {
			t.Errorf("did %#v", s.bot.done())
		}
		s.misses("Mute pings that are not critical until")
	})
}

func TestATimeCanBeTypedAtOnce(t *testing.T) {
	play(t, setup{snap: dayAhead}, func(s *stage) {
		s.press("1", "m", "2", "5", "enter")
		s.sees("there is no 25; a day goes from 0:00 to 23:59")
		s.press("backspace", "backspace", "2", "3", ":", "4", "5", "enter")
		c := s.bot.done()[0].(command.MuteUntil)
		if got := c.Until.UTC().Format("15:04"); got != "23:45" {
			t.Errorf("until %s", got)
		}
	})
}

func TestAnEndIsOfferedOnlyWhereSomethingHolds(t *testing.T) {
	play(t, setup{snap: dayAhead, change: func(s *core.Snapshot) { s.Budget.Muted = s.At.Add(time.Hour) }}, func(s *stage) {
		s.press("1", "m")
		s.sees("end it now    active until")
		s.press("up", "up")
		s.sees("pings are delivered again at once")
		s.press("enter")
		if c := s.bot.done()[0]; c != (command.MuteUntil{}) {
			t.Errorf("did %#v", c)
		}
	})
}

func TestTheDialogsOfTheseTasksLookAsTheyDid(t *testing.T) {
	at := day
	muted := func(r *root) pane.Dialog {
		return dialog.NewUntil(r.context(r.focus), "Mute pings that are not critical until", at.Add(time.Hour), func(until time.Time) command.Value { return command.MuteUntil{Until: until} })
	}
	wrong := func(r *root) pane.Dialog {
		f := dialog.NewTask()
		f.Update(r.context(r.focus), tea.PasteMsg{Content: "0 25 * * *"})
		f.Update(r.context(r.focus), press("tab"))
		f.Update(r.context(r.focus), tea.PasteMsg{Content: "日本語 👍🏽 \x1b[31mred"})
		f.Update(r.context(r.focus), press("tab"))
		f.Update(r.context(r.focus), pane.Done{Err: errors.New("the disk is full")})
		return f
	}
	for _, c := range []struct {
		name string
		w, h int
		o    theme.Options
		open func(r *root) pane.Dialog
	}{
		{"dialog-until", 100, 30, theme.Options{Plain: true}, muted},
		{"dialog-until-40x10", 40, 10, theme.Options{Plain: true}, muted},
		{"dialog-form", 100, 30, theme.Options{Plain: true}, func(r *root) pane.Dialog { return dialog.NewTask() }},
		{"dialog-form-wrong", 80, 24, theme.Options{Plain: true}, wrong},
		{"dialog-form-40x10", 40, 10, theme.Options{Plain: true}, wrong},
		{"dialog-form-ascii", 80, 24, theme.Options{Plain: true, ASCII: true}, wrong},
		{"dialog-form-nocolor", 80, 24, theme.Options{NoColor: true, Profile: colorprofile.TrueColor}, wrong},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRoot(t.Context(), still{snap: dayAhead(at), read: fullTail}, Options{})
			r.prefs.theme, r.w, r.h = theme.New(c.o), c.w, c.h
			r.refresh()
			r.toasts = toast.List{}
			r.open(c.open(r))
			golden(t, c.name, view.Frame(r.view()))
		})
	}
}

func TestWhatIsNoTimeIsRefusedAndNeverTheMarkedMoment(t *testing.T) {
	play(t, setup{snap: dayAhead}, func(s *stage) {
		s.press("1", "m")
		s.types("soon")
		s.sees("at a time     soon", `I do not understand "soon"; say a time such as 18:30`)
		s.press("enter")
		s.sees("Mute pings that are not critical until", "soon")
		s.did()
		s.press("backspace", "backspace", "backspace", "backspace")
		s.types("jk") // letters there, too
		s.sees("at a time     jk")
	})
}

// The day is left as it was entered: by esc, and by the keys that move down and up.
func TestEscLeadsFromTheDayToThePaneBefore(t *testing.T) {
	for size, focused := range map[[2]int]string{{120, 40}: "▸ 2 Schedule", {80, 24}: "▸2 Schedule"} {
		for _, key := range []string{"esc", "j", "k", "down", "up"} {
			play(t, setup{w: size[0], h: size[1], snap: dayAhead}, func(s *stage) {
				s.press("2", "0", "l")
				s.sees("→ walk", "2 Schedule")
				s.misses(focused)
				s.press(key)
				s.sees(focused)
				s.misses("→ walk")
			})
		}
	}
}

func TestTabFromTheDayGoesOnFromThePaneBefore(t *testing.T) {
	r := plainRoot(t, fullDay())
	r.setFocus(action.Schedule)
	r.setFocus(action.Day)
	if next := r.beside(+1); next != action.Updates {
		t.Errorf("tab goes to %s", next)
	}
}

// Titles come and go, and no border moves.
func TestAColumnKeepsItsWidthWhateverIsInIt(t *testing.T) {
	r := plainRoot(t, fullDay())
	before := r.view().Plan().Columns[0].W
	long := fullDay()
	for i := range long.Schedule.Tasks {
		long.Schedule.Tasks[i].Title = strings.Repeat("a title ", 8)
	}
	r.see(long)
	if after := r.view().Plan().Columns[0].W; after != before {
		t.Errorf("a longer title makes the column %d cells wide, it had %d", after, before)
	}
}

// Poster, deliverable 4: what arrives is seen to arrive, and is as everything else a moment later, without another event.
func TestAnUpdateThatArrivesStandsOutForAMoment(t *testing.T) {
	const inverse = ";7mnow" // what a terminal needs for theme.Here
	for _, motion := range []bool{true, false} {
		var env []string
		if !motion {
			env = []string{"NO_MOTION=1"}
		}
		play(t, setup{env: env}, func(s *stage) {
			s.written()
			s.change(func(c *core.Snapshot) {
				c.At = time.Now()
				c.Updates = append(slices.Clone(c.Updates), updates.Update{Key: "new", At: c.At, Message: "The parcel is here."})
			})
			s.sees("The parcel is here.")
			if out := s.written(); strings.Contains(out, inverse) != motion {
				t.Errorf("motion %t: %q", motion, out)
			}
			time.Sleep(4 * time.Second)
			if got := strings.Contains(s.written(), "now"); got != motion {
				t.Errorf("motion %t: it is drawn again: %t", motion, got)
			}
		})
	}
}
