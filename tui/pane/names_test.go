package pane_test

import (
	"strings"
	"testing"

	"ollimbot/core"
	"ollimbot/core/budget"
	"ollimbot/core/chat"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
)

// with are the table's keys but for some rows.
func with(t *testing.T, changes ...action.Change) action.Keys {
	t.Helper()
	keys, refused := action.Keys{}.Change(changes)
	if len(refused) > 0 {
		t.Fatalf("refused %+v", refused)
	}
	return keys
}

// find ends a search that has found something.
func find(t *testing.T, s *stage) {
	t.Helper()
	s.do(action.TailFind)
	s.keys(t, "e", "enter")
}

// Each pane says something about a key in a state of its own.
func TestASavedFileOfKeysIsSeenWithoutANewSnapshot(t *testing.T) {
	for _, c := range []struct {
		name  string
		begin func(t *testing.T, s *stage)
		id    action.ID
		pane  action.Pane
		was   string
		want  string
		none  string
	}{
		{
			"budget", func(_ *testing.T, s *stage) {
				s.next(func(c *core.Snapshot) { c.Budget.State = budget.State{RefillRateMinutes: 90} })
			},
			action.CapacityUp, action.Budget, "+ raises the capacity", "f9 raises the capacity", "The palette (ctrl+p) raises the capacity",
		},
		{
			"schedule", func(_ *testing.T, s *stage) { s.next(func(c *core.Snapshot) { c.Schedule = schedule.View{} }) },
			action.ScheduleView, action.Schedule, "v shows 24 hours", "f9 shows 24 hours", "the palette (ctrl+p) shows 24 hours",
		},
		{"chat", func(*testing.T, *stage) {}, action.ChatWrite, action.Chat, " i writes a message", " f9 writes a message", " the palette (ctrl+p) writes a message"},
		{
			"forks", find,
			action.TailNext, action.Forks, "n next · N previous · esc ends", "f9 next · N previous", "  N previous · esc ends",
		},
		{
			"logs", find,
			action.TailPrevious, action.Logs, "n next · N previous · esc ends", "n next · f9 previous", "n next · esc ends",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(c.name)
			c.begin(t, s)
			has(t, s.screen(120, 20), c.was)
			s.c.Keys = with(t, action.Change{Pane: c.pane, ID: c.id, Keys: []string{"f9"}})
			has(t, s.screen(120, 20), c.want)
			s.c.Keys = with(t, action.Change{Pane: c.pane, ID: c.id})
			has(t, s.screen(120, 20), c.none)
			s.c.Keys = action.Keys{}
			has(t, s.screen(120, 20), c.was)
		})
	}
}

func TestAForkAsksWithTheKeysThatThereAre(t *testing.T) {
	s := open("chat")
	s.next(func(c *core.Snapshot) { c.Fork = &chat.Banner{Asks: true, Since: noon} })
	s.c.Keys = with(t, action.Change{ID: action.ForkSave, Keys: []string{"f2"}}, action.Change{ID: action.ForkExit})
	has(t, s.screen(120, 14), "f2 saves it, R only reports, the palette (ctrl+p)", "drops it.", "f2 save", "R report", "ctrl+p exit")
	has(t, s.screen(60, 5), "save it? f2 yes, R report")
	s.c.Keys = with(t, action.Change{ID: action.ForkSave}, action.Change{ID: action.ForkReport}, action.Change{ID: action.ForkExit}, action.Change{ID: action.Palette})
	has(t, s.screen(120, 14), "a key in keys.yaml saves it")
	has(t, s.screen(60, 5), "save it? a key in keys.yaml")
	if strings.Contains(s.screen(120, 14), "  save ") {
		t.Error("a badge without a key stands there")
	}
}

func TestAToolCallIsAnsweredWithTheKeysThatThereAre(t *testing.T) {
	s := open("chat")
	s.next(asked)
	s.c.Keys = with(t, action.Change{ID: action.ApprovalAllow, Keys: []string{"f2"}}, action.Change{ID: action.ApprovalDeny}, action.Change{ID: action.GoChat, Keys: []string{"f5"}})
	has(t, s.Line(s.c, 80), " f2 ctrl+p a ")
	has(t, strings.Join(drawn(s, s.c, 80, 12, false), "\n"), " f5, then f2 allow  ctrl+p deny")
	s.c.Keys = with(t, action.Change{ID: action.GoChat})
	has(t, strings.Join(drawn(s, s.c, 80, 12, false), "\n"), " chat, then y allow")
}
