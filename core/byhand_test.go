package core

import (
	"testing"
	"time"

	"ollimbot/core/command"
)

// W2, S2: a fire by hand was announced but ran nothing while no ping could go out; it
// moved the reminder and used up a repetition.
func TestAFireByHandRunsAndLeavesTheScheduleAlone(t *testing.T) {
	type hindrance struct {
		says string
		do   func(t *testing.T, b *Bot)
	}
	for name, hinder := range map[string]hindrance{
		"freely":                {"", func(*testing.T, *Bot) {}},
		"in quiet hours":        {"; its pings are refused until 23:59", func(t *testing.T, b *Bot) { do(t, b, command.SetConfig{Key: "quiet_hours", Value: "00:00-23:59"}) }},
		"while muted":           {"; its pings are refused until 10:01", func(t *testing.T, b *Bot) { do(t, b, command.MuteUntil{Until: b.now().Add(9 * time.Hour)}) }},
		"without a budget":      {"; its pings are refused: the capacity is 0", func(t *testing.T, b *Bot) { do(t, b, command.SetBudget{Capacity: new(0)}) }},
		"during a conversation": {"", func(t *testing.T, b *Bot) { do(t, b, command.Say{Text: "wait 3h"}) }},
	} {
		t.Run(name, func(t *testing.T) {
			running(t, func(h home) { dentist(h, "") }, func(_ home, b *Bot) {
				time.Sleep(time.Minute)
				before := *reminderOf(t, b)
				if before.ChainDepth != 1 {
					t.Fatalf("it did not come: %+v", before)
				}
				hinder.do(t, b)
				for n := 2; n <= 3; n++ {
					out := do(t, b, command.FireNow{ID: "dddd0001"})
					if out.Message != "Task dddd0001 starts now"+hinder.says || out.Undo != nil {
						t.Errorf("fire %d: %+v", n, out)
					}
					time.Sleep(2 * time.Minute)
					if runs := len(b.Snapshot().Forks); runs != n {
						t.Errorf("fire %d: %d runs", n, runs)
					}
				}
				if after := reminderOf(t, b); !after.RunAt.Equal(before.RunAt) || after.ChainDepth != before.ChainDepth {
					t.Errorf("due %v, return %d; before %v, %d", after.RunAt, after.ChainDepth, before.RunAt, before.ChainDepth)
				}
			})
		})
	}
}

// The answer said that a queued run had started.
func TestAFireByHandSaysThatItsRunWaitsForAPlace(t *testing.T) {
	running(t, func(h home) {
		h.write("state/settings.json", `{"max_background_forks": 1}`)
		for _, id := range []string{"aaaa0001", "aaaa0002", "aaaa0003"} {
			h.write("routines/"+id+".md", "---\nid: "+id+"\ncron: 0 9 1 1 *\nbackground: true\ndescription: Task "+id+"\n---\nThink.\n\n```script\nwait 10m\n```\n")
		}
	}, func(_ home, b *Bot) {
		for _, c := range [][2]string{
			{"aaaa0001", "Task aaaa0001 starts now"},
			{"aaaa0002", "Task aaaa0002 waits for a free place, first in the queue"},
			{"aaaa0003", "Task aaaa0003 waits for a free place, second in the queue"},
		} {
			if out := do(t, b, command.FireNow{ID: c[0]}); out.Message != c[1] {
				t.Errorf("it says %q, want %q", out.Message, c[1])
			}
			time.Sleep(time.Second)
		}
	})
}

// Firing a reminder that awaits its last answer asks once more and does not end it.
func TestAFireByHandDoesNotEndAReminderThatWaitsForItsLastAnswer(t *testing.T) {
	running(t, func(h home) { dentist(h, "max-chain: 1\nagain: 20\n") }, func(_ home, b *Bot) {
		time.Sleep(25 * time.Minute)
		before := *reminderOf(t, b)
		if !before.LastWord {
			t.Fatalf("it is not at its end: %+v", before)
		}
		do(t, b, command.FireNow{ID: "dddd0001"})
		time.Sleep(2 * time.Minute)
		if after := reminderOf(t, b); len(cards(b)) != 3 || !after.LastWord || !after.RunAt.Equal(before.RunAt) {
			t.Errorf("it came %d times, %+v", len(cards(b)), after)
		}
	})
}
