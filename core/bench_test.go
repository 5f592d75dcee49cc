package core

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"ollimbot/core/agent/script"
	"ollimbot/core/brief/prompt"
	"ollimbot/core/work/updates"
)

// withRoutines runs a benchmark with bots that have so many background routines in a realistic mix: most daily, spread over the
// day, one in ten hourly, one in twenty every five minutes.
func withRoutines(b *testing.B, run func(b *testing.B, n int, bot func() *Bot), sizes ...int) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			h := home{t: b, root: filepath.Join(b.TempDir(), "data"), zone: time.UTC}
			for i := range n {
				cron := fmt.Sprintf("%d %d * * *", i*7%60, i*11%24)
				switch {
				case i%20 == 0:
					cron = "*/5 * * * *"
				case i%10 == 0:
					cron = fmt.Sprintf("%d * * * *", i*13%60)
				}
				h.put(routineOf(fmt.Sprintf("%08x", i), cron, "", fmt.Sprintf("Do thing %d and report what came of it.", i)))
			}
			b.ReportAllocs()
			run(b, n, func() *Bot { return h.bot(script.New(script.Options{})) })
		})
	}
}

var benchDay = time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)

// BenchmarkFireToPrompt measures the work between a due routine and its finished prompt:
// schedule, budget, updates and text. The clock advances by a minute per fire, so that
// fires pass and caches are renewed.
func BenchmarkFireToPrompt(b *testing.B) {
	withRoutines(b, func(b *testing.B, n int, made func() *Bot) {
		bot, now := made(), benchDay
		id := bot.index.Set().Routines[n/2].ID
		prompt := func() string { return must(bot.dispatch.Preview(b.Context(), id, now, false))(b) }
		prompt()
		size := 0
		for b.Loop() {
			now = now.Add(time.Minute)
			size = len(prompt())
		}
		b.ReportMetric(float64(size), "prompt-bytes")
	}, 100, 1000, 10000)
}

// BenchmarkSnapshot measures one snapshot for a dashboard.
func BenchmarkSnapshot(b *testing.B) {
	withRoutines(b, func(b *testing.B, n int, made func() *Bot) {
		bot := made()
		for b.Loop() {
			checks{b}.needs(bot.Snapshot().Routines == n, "routines")
		}
	}, 100, 10000)
}

// BenchmarkSnapshotOfANewMinute measures the first snapshot of a minute, which recomputes
// the schedule.
func BenchmarkSnapshotOfANewMinute(b *testing.B) {
	withRoutines(b, func(b *testing.B, n int, made func() *Bot) {
		bot, now := made(), benchDay
		bot.SnapshotAt(now)
		for b.Loop() {
			now = now.Add(time.Minute)
			checks{b}.needs(len(bot.SnapshotAt(now).Schedule.Tasks) == n, "tasks")
		}
	}, 10000)
}

// BenchmarkNew measures the start of the program up to the first snapshot.
func BenchmarkNew(b *testing.B) {
	withRoutines(b, func(b *testing.B, n int, made func() *Bot) {
		for b.Loop() {
			checks{b}.needs(made().Snapshot().Routines == n, "routines")
		}
	}, 100, 10000)
}

// BenchmarkMessageWithTenUpdates measures the assembly of a user's message.
func BenchmarkMessageWithTenUpdates(b *testing.B) {
	now := benchDay
	var list []updates.Update
	for i := range updates.MaxPending {
		list = append(list, updates.Update{At: now.Add(-time.Duration(i) * time.Hour), Message: fmt.Sprintf("Update number %d, with a sentence of some length behind it.", i)})
	}
	for b.Loop() {
		if prompt.Main(now, list, "How is it going?") == "" {
			b.Fatal("nothing")
		}
	}
}
