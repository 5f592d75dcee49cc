package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"ollimbot/cmd/internal/console"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/proposals"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
	"ollimbot/routines/account"
)

// keepRuns writes the ledger of runs.
func (p *past) keepRuns(dir *store.Dir) error {
	return writeLines(dir, "state/fork_runs.jsonl", console.Each(p.runs, fork.View.Row))
}

// pingLine is a line of the journal of pings, as core/work/budget reads it: a ping, or with
// Answers the answer to one.
type pingLine struct {
	At       time.Time  `json:"at"`
	ID       string     `json:"id,omitempty"`
	Task     string     `json:"task,omitempty"`
	Title    string     `json:"title,omitempty"`
	Kind     string     `json:"kind,omitempty"`
	Run      string     `json:"run,omitempty"`
	Text     string     `json:"text,omitempty"`
	Message  string     `json:"message,omitempty"`
	Refused  string     `json:"refused,omitempty"`
	Left     *float64   `json:"left,omitempty"`
	Capacity int        `json:"capacity,omitempty"`
	Refill   int        `json:"refill,omitempty"`
	Answers  string     `json:"answers,omitempty"`
	How      budget.How `json:"how,omitempty"`
}

// keepPings writes the journal of pings.
func (p *past) keepPings(dir *store.Dir) error {
	lines := make([]pingLine, 0, 2*len(p.pings))
	for i := range p.pings {
		g := &p.pings[i]
		lines = append(lines, pingLine{
			At: g.At, ID: g.ID, Task: g.Task, Title: g.Title, Kind: g.Kind, Run: g.Run, Text: g.Text,
			Message: g.Message, Refused: g.Refused, Left: g.Left, Capacity: g.Capacity, Refill: g.Refill,
		})
	}
	for i := range p.pings {
		if g := &p.pings[i]; !g.Answered.IsZero() {
			lines = append(lines, pingLine{At: g.Answered, Answers: g.ID, How: g.How})
		}
	}
	slices.SortStableFunc(lines, func(a, b pingLine) int { return a.At.Compare(b.At) })
	return writeLines(dir, "state/pings.jsonl", lines)
}

// chatLine is a line of the chat, as core/talk/transcript reads it.
type chatLine struct {
	ID     string          `json:"id"`
	At     time.Time       `json:"at"`
	Role   transcript.Role `json:"role"`
	Text   string          `json:"text"`
	Source string          `json:"source,omitempty"`
}

// keepChat writes the chat.
func (p *past) keepChat(dir *store.Dir) error {
	lines := make([]chatLine, 0, len(p.chat))
	for _, e := range p.chat {
		lines = append(lines, chatLine{string(e.ID), e.At, e.Role, e.Text, e.Source})
	}
	return writeLines(dir, "state/transcript.jsonl", lines)
}

// keepReports writes the updates that wait for the next turn.
func (p *past) keepReports(dir *store.Dir) error {
	queue := updates.NewQueue(dir, p.now.Location(), nil)
	for _, r := range p.reports {
		if err := queue.Append(r.at, r.text); err != nil {
			return err
		}
	}
	return nil
}

// keepAccount writes what became of each due time.
func (p *past) keepAccount(dir *store.Dir) error { return writeLines(dir, account.File, p.due) }

// keepProposals writes what the bot has proposed by itself.
func (p *past) keepProposals(dir *store.Dir) error {
	return dir.WriteJSON(proposals.File, map[string][]proposals.Proposal{"proposals": p.asked})
}

// fires is what the schedule remembers of a routine, as routines/schedule reads it.
type fires struct {
	Cron     string    `json:"cron"`
	After    time.Time `json:"after"`
	Seen     time.Time `json:"seen"`
	LastFire time.Time `json:"last_fire,omitzero"`
	Outcome  string    `json:"outcome,omitempty"`
}

// record is the schedule's memory: all that was due until now has fired.
func (p *past) record(set []routines.Routine) map[string]map[string]fires {
	failed := map[string]bool{} // whether the newest run of a task has
	for i := range p.runs {
		failed[p.runs[i].TaskID] = p.runs[i].State == fork.Failed
	}
	known := map[string]fires{}
	for _, r := range set {
		f := fires{Cron: r.Schedule.String(), After: p.now, Seen: p.now.AddDate(0, 0, -p.days), LastFire: p.fired[r.ID]}
		switch {
		case f.LastFire.IsZero():
		case failed[r.ID]:
			f.Outcome = "failed"
		default:
			f.Outcome = "done"
		}
		known[r.ID] = f
	}
	return map[string]map[string]fires{"routines": known}
}

// writeLines writes a file of JSON lines.
func writeLines[T any](dir *store.Dir, rel string, lines []T) error {
	var b bytes.Buffer
	for _, l := range lines {
		data, err := json.Marshal(l)
		if err != nil {
			return fmt.Errorf("write the demo's past: %w", err)
		}
		b.Write(append(data, '\n'))
	}
	return dir.Write(rel, b.Bytes())
}
