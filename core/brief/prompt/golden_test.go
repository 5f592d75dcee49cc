package prompt

import (
	"testing"
	"time"
	_ "time/tzdata" // the zones must be there on every machine

	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	testkit.Must(t, err)
	return z
}

// monday is the time used by most tests: 9:02 on a winter morning.
func monday(t testing.TB) time.Time {
	return time.Date(2026, 11, 23, 9, 2, 0, 0, zone(t, "America/Los_Angeles"))
}

func task(kind routines.Kind) routines.Task {
	return routines.Task{
		Kind: kind, ID: "a1b2c3d4", Path: "routines/morning-task-review.md",
		Description: "Review tasks and plan the day", Body: "Look at my tasks.\n\nThen tell me the three that matter.",
		Background: true, Thinking: true, Mode: routines.OnPing, AllowPing: true,
	}
}

func background(t testing.TB, kind routines.Kind) Background {
	now := monday(t)
	at := func(h, m int) time.Time { return time.Date(2026, 11, 23, h, m, 0, 0, now.Location()) }
	return Background{
		Now: now, Task: task(kind), Allowed: policy.BackgroundTools(), Google: true,
		Budget: budget.State{
			Capacity: 5, Available: 3.5, RefillRateMinutes: 90, LastRefill: now,
			CriticalResetDate: "2026-11-23", DailyUsedReset: "2026-11-23",
		},
		Forward: schedule.Forward{Last: at(12, 5), Entries: []schedule.Entry{
			{ID: "a1b2c3d4", FireTime: at(9, 0), Label: "Morning task review", Description: "Morning task review", Prompt: "Review tasks and plan the day", FilePath: "routines/morning-task-review.md", Tag: "this task"},
			{ID: "b1b2c3d4", FireTime: at(9, 30), Label: "Routine", Description: "Check email", FilePath: "routines/email-sweep.md", Silent: true},
			{ID: "c1b2c3d4", FireTime: at(12, 5), Label: "Chain reminder (2/4)", Description: "Laundry", FilePath: "reminders/laundry.md"},
		}},
		Updates: []updates.Update{
			{At: now.Add(-15 * time.Minute), Message: "Morning email triage: 2 items need attention"},
			{At: now.Add(-3 * time.Hour), Message: "CI webhook: build passed\n\nno action needed"},
		},
	}
}

// variants returns complete background prompts; each changes the plain one.
func variants() map[string]func(*Background) {
	mode := func(m routines.Mode, ping bool) func(*Background) {
		return func(b *Background) { b.Task.Mode, b.Task.AllowPing, b.Updates = m, ping, nil }
	}
	return map[string]func(*Background){
		"quiet-messages":    func(b *Background) { b.QuietLeft = 2 },
		"quiet-at-night":    func(b *Background) { b.QuietLeft, b.QuietUntil = 2, b.Now.Add(time.Hour) },
		"quiet-not-in-talk": func(b *Background) { b.QuietLeft, b.Busy = 2, true },
		"on_ping":           mode(routines.OnPing, true),
		"on_ping-silent":    mode(routines.OnPing, false),
		"always":            mode(routines.Always, true),
		"always-silent":     mode(routines.Always, false),
		"freely":            mode(routines.Freely, true),
		"freely-silent":     mode(routines.Freely, false),
		"blocked":           mode(routines.Blocked, true),
		"blocked-silent":    mode(routines.Blocked, false),
		"updates":           func(*Background) {},
		"isolated":          func(b *Background) { b.Task.Isolated = true },
		"busy":              func(b *Background) { b.Busy = true },
		"quiet":             func(b *Background) { b.QuietUntil = b.Now.Add(70 * time.Minute) },
		"busy-and-quiet":    func(b *Background) { b.Busy, b.QuietUntil = true, b.Now.Add(70*time.Minute) },
		"busy-blocked":      func(b *Background) { b.Busy, b.Task.Mode = true, routines.Blocked },
		"empty-schedule":    func(b *Background) { b.Forward = schedule.Forward{} },
		"muted":             func(b *Background) { b.Budget.Capacity, b.Budget.Available = 0, 0 },
		"denied":            func(b *Background) { b.Disallowed = []string{"Bash(ollim-bot tasks *)", "WebFetch"} },
		"unrestricted":      func(b *Background) { b.Allowed = nil },
		"toolless": func(b *Background) {
			b.Allowed, b.Task.Mode, b.Task.AllowPing, b.Updates = []string{}, routines.Blocked, false, nil
		},
		"subagents": func(b *Background) { b.Allowed = policy.Merge(policy.BackgroundTools(), []string{"Task"}) },
		"sent": func(b *Background) {
			b.Sent = []budget.Ping{
				{At: b.Now.Add(-26 * time.Hour), Text: "Which three tasks\nmatter today?"},
				{At: b.Now.Add(-2 * time.Hour), Text: "Open \"tasks\" and pick one.", Label: "mail → run 1"},
				{At: b.Now.Add(-time.Hour), Label: "webhook ci → run 2"},
			}
		},
		"late":            func(b *Background) { b.Late = b.Now.Add(-2 * time.Hour) },
		"late-since-days": func(b *Background) { b.Late = b.Now.Add(-50 * time.Hour) },
		"skills": func(b *Background) {
			b.Skills = []Skill{{"email-triage", "Rank by sender.\n"}, {"empty", " \n"}, {"focus-coach", "One thing at a time."}}
		},
		"chain-first": func(b *Background) { b.Chain = &Chain{Depth: 0, Max: 4} },
		"chain-mid":   func(b *Background) { b.Chain = &Chain{Depth: 1, Max: 4} },
		"chain-final": func(b *Background) { b.Chain = &Chain{Depth: 4, Max: 4} },
		"chain-final-blocked": func(b *Background) {
			b.Chain, b.Task.Mode, b.Task.AllowPing = &Chain{Depth: 2, Max: 2}, routines.Blocked, false
		},
		"everything": func(b *Background) {
			b.Late, b.Busy, b.Chain = b.Now.Add(-time.Hour), true, &Chain{Depth: 1, Max: 2}
			b.Skills = []Skill{{"email-triage", "Rank by sender."}}
			b.Disallowed = []string{"WebSearch"}
		},
		"summer": func(b *Background) {
			b.Now = time.Date(2026, 7, 4, 21, 5, 0, 0, b.Now.Location())
			b.Budget.LastRefill = b.Now
			b.Forward, b.Updates = schedule.Forward{}, nil
		},
	}
}

func TestBackgroundPromptsReadAsTheGoldenFilesDo(t *testing.T) {
	for name, change := range variants() {
		for _, kind := range []routines.Kind{routines.KindRoutine, routines.KindReminder} {
			b := background(t, kind)
			change(&b)
			golden(t, "bg-"+string(kind)+"-"+name, BackgroundPrompt(b))
		}
	}
}

func TestForegroundPromptsReadAsTheGoldenFilesDo(t *testing.T) {
	plain := func(kind routines.Kind) Foreground { return Foreground{Now: monday(t), Task: task(kind)} }
	for _, kind := range []routines.Kind{routines.KindRoutine, routines.KindReminder} {
		f := plain(kind)
		golden(t, "fg-"+string(kind), ForegroundPrompt(f))
		f.Updates = background(t, kind).Updates
		f.Late = f.Now.Add(-20 * time.Minute)
		f.Skills = []Skill{{"email-triage", "Rank by sender."}}
		f.Chain = &Chain{Depth: 1, Max: 3}
		golden(t, "fg-"+string(kind)+"-everything", ForegroundPrompt(f))
		f = plain(kind)
		f.Chain = &Chain{Depth: 3, Max: 3}
		golden(t, "fg-"+string(kind)+"-final", ForegroundPrompt(f))
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	goldentest.Compare(t, name+".golden", got+"\n")
}
