package forks

import (
	"cmp"
	"slices"

	"ollimbot/core"
	"ollimbot/core/fork"
	"ollimbot/tui/theme"
)

// Failures do not scroll away: one that nobody has looked at since the bot began
// stands above what goes on, and the frame counts it.

// arrange sorts the runs for the list: failures that nobody has looked at, those
// that run, those that wait, then what has ended, each as they come.
func (p *Pane) arrange(s *core.Snapshot) {
	p.runs = slices.Clone(s.Forks)
	slices.SortStableFunc(p.runs, func(a, b fork.View) int { return cmp.Compare(p.rank(s, a), p.rank(s, b)) })
	for id := range p.visited {
		if find(p.runs, id) < 0 {
			delete(p.visited, id)
		}
	}
}

func (p *Pane) rank(s *core.Snapshot, f fork.View) int {
	switch {
	case f.ID == p.held || p.unseen(s, f):
		return 0
	case f.State == fork.Running:
		return 1
	case f.State == fork.Waiting:
		return 2
	}
	return 3
}

// unseen reports a failure that nobody has looked at.
func (p *Pane) unseen(s *core.Snapshot, f fork.View) bool {
	return looks[f.State].role == theme.Bad && !s.Started.IsZero() && f.Ended.After(s.Started) && !p.visited[f.ID]
}

// Unseen are the failures that nobody has looked at, the newest first.
func (p *Pane) Unseen(s *core.Snapshot) (ids []string) {
	for _, f := range p.runs {
		if p.unseen(s, f) {
			ids = append(ids, f.ID)
		}
	}
	return ids
}

// visit notes that the user has the selected run before them. A failure goes to its
// place in the list once they go on.
func (p *Pane) visit(s *core.Snapshot) {
	i := find(p.runs, p.run)
	switch {
	case i >= 0 && p.unseen(s, p.runs[i]):
		p.visited[p.run], p.held = true, p.run
	case p.run != p.held:
		p.held = ""
	default:
		return
	}
	p.arrange(s)
	p.list.At = max(0, find(p.runs, p.run))
	p.version++
}
