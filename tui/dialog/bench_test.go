package dialog

import (
	"fmt"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core/command"
	"ollimbot/core/work/fork"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
)

// A letter typed into the search while ten thousand stored runs are in it.
func BenchmarkALetterFindsStoredRuns(b *testing.B) {
	c := plainContext()
	p := NewPalette(c, action.Forks, func(action.Action) string { return "" }, nil)
	page := fork.Page{}
	for i := range 10_000 {
		at := c.Snap.At.Add(-time.Duration(i) * time.Hour)
		page.Runs = append(page.Runs, fork.View{ID: fmt.Sprintf("%08x", i), Title: fmt.Sprintf("Inbox sweep %d", i%40), State: fork.Done, Ended: at})
	}
	p.Take(c, pane.Done{Outcome: command.Outcome{Runs: &page}})
	for _, query := range []string{"i", "inbox done", "inbox 39", "nowhere"} {
		b.Run(query, func(b *testing.B) {
			p.query.End()
			p.query.Type(tea.PasteMsg{Content: query})
			for b.Loop() {
				p.search()
			}
		})
	}
}
