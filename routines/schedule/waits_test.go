package schedule

import (
	"strings"
	"testing"
	"time"

	"ollimbot/routines"
)

func TestATaskThatWaitsFiresForNobodyAndOwesNothing(t *testing.T) {
	for name, restart := range map[string]bool{"let go while the loop runs": false, "let go while it was down": true} {
		t.Run(name, func(t *testing.T) {
			why := "it may use Bash"
			var seen []string
			r := newRoom(t)
			index := routines.NewIndex(r.dir, time.UTC)
			x := made(Options{Dir: r.dir, Index: index})
			index.JudgeBy(func(task *routines.Task) string {
				seen = append(seen, task.ID)
				if len(task.Digest) != 64 || !strings.Contains(task.Body, "evil") {
					return ""
				}
				return why
			})
			r.put("routines/a.md", "---\nid: a\ncron: \"* * * * *\"\nbackground: true\n---\nevil\n")
			r.put("reminders/b.md", "---\nid: b\nrun-at: \"2026-03-10T09:00:00Z\"\n---\nevil\n")
			r.put("routines/c.md", "---\nid: c\ncron: \"* * * * *\"\nbackground: true\n---\ngood\n")
			index.Scan()
			now := time.Date(2026, 3, 10, 8, 0, 0, 0, time.UTC)
			if f := x.Forward(now, ""); len(f.Entries) == 0 || f.Entries[0].ID != "c" {
				t.Errorf("agents see %+v", f.Entries)
			}
			for _, e := range x.View(now).Entries {
				if waits := e.ID != "c"; e.Held != waits || (e.Tag == TagWaits) != waits || (e.Why == why) != waits {
					t.Errorf("people see %+v", e)
				}
			}
			for _, task := range x.View(now).Tasks {
				if waits := task.ID != "c"; task.Next.IsZero() != waits {
					t.Errorf("%s fires next at %v", task.ID, task.Next)
				}
			}
			asked := len(seen)
			r.put("routines/c.md", "---\nid: c\ncron: \"* * * * *\"\nbackground: true\n---\ngood too\n")
			index.Refresh([]string{"routines/c.md"})
			if len(seen) != asked+1 {
				t.Errorf("one file has changed, and %v were asked about", seen[asked:])
			}
			l := x.newLoop()
			l.begin(now)
			if len(l.agenda.items) != 1 || !l.record.entry("a").Waits {
				t.Error("what waits is planned")
			}
			if err := x.FireNow("a"); err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("by hand: %v", err)
			}
			l.record.save()
			later := now.Add(72 * time.Hour)
			why = ""
			c := index.Judge()
			if len(c.IDs) != 2 || !index.Judge().Empty() {
				t.Errorf("the change is %+v", c)
			}
			if restart {
				l = x.newLoop()
				l.begin(later)
			} else {
				l.sync("a", later)
				l.sync("b", later)
			}
			it, _ := l.agenda.get(itemKey{key: routineKey("a")})
			if it.at.Before(later.Add(-grace)) {
				t.Errorf("it owes a fire of %v", it.at)
			}
			if it, ok := l.agenda.get(itemKey{key: reminderKey("b")}); !ok || !it.late {
				t.Errorf("the reminder is %+v, %v", it, ok)
			}
		})
	}
}

func TestASnoozeOwesNothingUpToTheSecondBeforeItsEnd(t *testing.T) {
	end := time.Date(2026, 3, 10, 9, 0, 0, 0, time.UTC)
	for late, want := range map[time.Duration]time.Duration{0: -time.Second, 300 * time.Millisecond: -time.Second, time.Second: 0, 2 * time.Second: time.Second} {
		if got := (Hold{Until: end.Add(late)}).after(); !got.Equal(end.Add(want)) {
			t.Errorf("with an end %v later it is %v", late, got)
		}
	}
}

func TestMoneyThatHasComeIsSeenInTheSameMinute(t *testing.T) {
	r := newRoom(t)
	r.put("routines/a.md", routineText(idA, "5 * * * *", "water"))
	now := time.Date(2026, 3, 10, 9, 0, 0, 0, time.UTC)
	p := &purse{until: now.Add(time.Hour)}
	s := made(Options{Dir: r.dir, Purse: p})
	s.index.Scan()
	if v := s.View(now); len(v.Entries) == 0 || !v.Entries[0].Money {
		t.Errorf("without money: %+v", v.Entries)
	}
	p.fill(time.Time{})
	s.MoneyChanged()
	if v := s.View(now); len(v.Entries) == 0 || v.Entries[0].Money {
		t.Errorf("with money: %+v", v.Entries)
	}
}
