package core

import (
	"fmt"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/policy"
	"ollimbot/routines"
	"ollimbot/routines/starter"
)

// TestAnOrdinaryDayAsksNothing counts pending approvals when the agent does what it
// always did: it writes the starter routines and those of its own manual, adds reminders,
// and gives routines tools that the conversation has.
func TestAnOrdinaryDayAsksNothing(t *testing.T) {
	for _, mode := range []policy.Mode{policy.DontAsk, policy.Ask} {
		running(t, func(home) {}, func(h home, b *Bot) {
			type_(t, b, "/permissions "+string(mode))
			p := mainPen(h.t, h, b)
			files, err := starter.Files()
			testkit.Must(t, err)
			written := 0
			for _, f := range files {
				if d := p.write(f.Path, string(f.Data)); !d.Allow {
					t.Errorf("%s: %s", f.Path, d.Reason)
				}
				written++
			}
			for i, tools := range []string{
				`"Edit(./notes/today.md)"`, `"WebFetch(domain:example.com)"`, `"Write(./notes/**.md)", "WebSearch"`,
				`"Bash(ollim-bot reminder list)"`, `"Agent"`, `"Bash(ollim-bot gmail *)", "Bash(ollim-bot history search *)"`,
			} {
				id := fmt.Sprintf("bbbb200%d", i)
				if d := p.write("routines/"+id+".md", everyMinute(id, "allowed-tools: ["+tools+"]\n", "Go.")); !d.Allow {
					t.Errorf("%s: %s", tools, d.Reason)
				}
				written++
			}
			for _, w := range []policy.Writer{p.s.Writer(), runPen(h.t, h, b).s.Writer()} {
				for _, background := range []bool{true, false} {
					if _, err := b.tasks.Book(w).Add(t.Context(), routines.Reminder{RunAt: b.now().Add(time.Hour), MaxChain: 2, Task: routines.Task{
						Body: "Remember.", Background: background, Thinking: true, Mode: routines.OnPing, AllowPing: true,
					}}); err != nil {
						t.Error(err)
					}
					written++
				}
			}
			if waits, asked := b.review.Waiting(), b.Snapshot().Approvals; written < 16 || len(waits)+len(asked) != 0 {
				t.Errorf("%s: of %d files wait %+v, asked %+v", mode, written, waits, asked)
			}
			set := b.index.Set()
			for _, r := range set.Routines {
				if got := b.guard.Bound(r.Task, nil).Allowed; r.Background && len(got) < len(policy.Merge(policy.BackgroundTools(), r.Allowed)) {
					t.Errorf("%s has lost tools: %v", r.Path, got)
				}
			}
		})
	}
}
