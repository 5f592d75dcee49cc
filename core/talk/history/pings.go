package history

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"sort"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/storage/store"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

// The kinds of events.
const (
	Fired  = "fire" // a task fired
	Pinged = "ping" // a background run pinged the user
)

// maxEvents is the maximum number of events returned, the newest ones.
const maxEvents = 2000

// Event is the fire of a task, or a background run's message to the user.
type Event struct {
	At         time.Time `json:"at"`
	What       string    `json:"what"` // Fired or Pinged
	Task       string    `json:"task"`
	Title      string    `json:"title"`
	Kind       string    `json:"kind"` // "routine", "reminder" or "webhook"; empty if unknown
	Background bool      `json:"background"`
	State      string    `json:"state"`           // of a background run; of a fire
	Pings      int       `json:"pings"`           // messages that reached the user; of a fire
	Form       string    `json:"form"`            // "ping", "embed" or "file"; of a ping
	Critical   bool      `json:"critical"`        // of a ping
	Quiet      bool      `json:"quiet,omitempty"` // of a ping: it made no sound
	Session    string    `json:"session"`         // where it happened, or empty
	// Next is when the user answered: a ping by the rules of budget.Journal, a foreground
	// fire by their next message or button. Zero if they did not, and for background fires,
	// which show only their pings.
	Next time.Time  `json:"next"`
	How  budget.How `json:"how"` // how a ping was answered
	// Minutes are those until Next, nil if the user did not answer.
	Minutes *int `json:"minutes"`
}

// Summary describes how often a task pinged and how its pings were answered.
type Summary struct {
	Task, Title string
	Rate        fork.Rate
	Answers     budget.Answers
}

// MarshalJSON implements json.Marshaler: the numbers, and the usual minutes until an answer, which are null without one.
func (s Summary) MarshalJSON() ([]byte, error) {
	var minutes *int
	if s.Answers.Answered > 0 {
		m := int(s.Answers.Median.Round(time.Minute) / time.Minute)
		minutes = &m
	}
	return store.JSONLine(struct {
		Task     string  `json:"task"`
		Title    string  `json:"title"`
		Runs     int     `json:"runs"`
		Pings    int     `json:"pings"`
		Answered int     `json:"answered"`
		PerRun   float64 `json:"pings_per_run"`
		Rate     float64 `json:"answer_rate"`
		Minutes  *int    `json:"median_minutes"`
	}{s.Task, s.Title, s.Rate.Runs, s.Answers.Pings, s.Answers.Answered, s.Rate.PerRun(), s.Answers.Rate(), minutes})
}

// Answers summarizes the pings since then by task, in order of their first ping.
func (h *History) Answers(since time.Time) ([]Summary, error) {
	pings, err := budget.NewJournal(h.o.Dir, h.o.Zone, h.o.Log).All()
	pings = slices.DeleteFunc(pings, func(p budget.Ping) bool { return p.At.Before(since) || p.Refused != "" })
	rates := fork.Rates(slices.DeleteFunc(h.runs(), func(v fork.View) bool { return fired(v).Before(since) }))
	var list []Summary
	for _, p := range pings {
		if !slices.ContainsFunc(list, func(s Summary) bool { return s.Task == p.Task }) {
			list = append(list, Summary{Task: p.Task, Title: p.Title, Rate: rates[p.Task], Answers: budget.AnswersTo(pings, p.Task)})
		}
	}
	return list, err
}

// Pings returns the fires and pings since then, oldest first, and the number of older
// ones. Fires come from the ledger of runs, from the sessions in which tasks ran in the
// foreground, and from the last ones in the schedule. The user's messages come from the
// sessions and the transcript.
func (h *History) Pings(since time.Time) (list []Event, more int, err error) {
	p := pinged{h: h, since: since, titles: map[string]string{}, kinds: map[string]string{}, sessions: map[string]string{}}
	p.runs()
	if err := errors.Join(p.journal(), p.talk()); err != nil {
		return nil, 0, err
	}
	p.transcript()
	p.schedule()
	p.finish()
	if len(p.events) > maxEvents {
		more = len(p.events) - maxEvents
	}
	return p.events[more:], more, nil
}

// pinged collects the events and the times at which the user acted.
type pinged struct {
	h      *History
	since  time.Time
	events []Event
	moves  []time.Time

	titles, kinds map[string]string // by task
	sessions      map[string]string // by run
}

func (p *pinged) add(e Event) {
	if e.Task = clean.Cut(clean.Line(e.Task), 100); !e.At.IsZero() && !e.At.Before(p.since) {
		e.At = e.At.In(p.h.o.Zone)
		p.events = append(p.events, e)
	}
}

func (p *pinged) runs() {
	for _, v := range p.h.runs() {
		if p.titles[v.TaskID] == "" {
			p.titles[v.TaskID], p.kinds[v.TaskID] = v.Title, string(v.Kind)
		}
		p.sessions[v.ID] = v.Session
		p.add(Event{
			At: fired(v), What: Fired, Task: v.TaskID, Title: v.Title, Kind: string(v.Kind), Background: true,
			State: string(v.State), Pings: v.Pings, Session: v.Session,
		})
	}
}

// fired returns when a run's task fired: before the run was queued.
func fired(v fork.View) time.Time {
	if v.Queued.IsZero() {
		return v.Started
	}
	return v.Queued
}

func (p *pinged) journal() error {
	pings, err := budget.NewJournal(p.h.o.Dir, p.h.o.Zone, p.h.o.Log).All()
	for _, e := range pings {
		if e.Refused == "" {
			p.add(Event{
				At: e.At, What: Pinged, Task: e.Task, Title: e.Title, Background: true,
				Form: e.Kind, Critical: e.Critical, Quiet: e.Quiet, Session: p.sessions[e.Run], Next: e.Answered, How: e.How,
			})
		}
	}
	return err
}

// talk reads from the sessions when the user acted, and what fired in the foreground. A
// fork's copies are skipped, because they are also in its parent's session.
func (p *pinged) talk() error {
	in, err := p.h.folders()
	if err != nil {
		return err
	}
	defer in.close()
	seen := map[string]bool{}
	for _, f := range p.h.oldestFirst(p.h.find(in, p.since, false)) {
		err := p.h.read(f, seen, func(e Entry) bool {
			if e.user {
				p.moves = append(p.moves, e.At)
			}
			if kind, id, foreground := (said{tag: e.Tag}).task(); foreground {
				p.add(Event{At: e.At, What: Fired, Task: id, Kind: kind, Session: f.id})
			}
			return true
		})
		if err != nil {
			p.h.skipped(f, err)
		}
	}
	return nil
}

func (p *pinged) transcript() {
	p.h.stateLines("state/transcript.jsonl", func(data []byte) {
		var e struct {
			At   time.Time `json:"at"`
			Role string    `json:"role"`
		}
		if json.Unmarshal(data, &e) == nil && e.Role == "you" {
			p.moves = append(p.moves, e.At)
		}
	})
}

// schedule adds the last fires that are recorded nowhere else, for example with an engine
// that has no session files.
func (p *pinged) schedule() {
	var saved struct {
		Routines map[string]*struct {
			LastFire time.Time `json:"last_fire"`
			Outcome  string    `json:"outcome"`
		} `json:"routines"`
	}
	if _, err := p.h.o.Dir.PeekJSON("state/schedule.json", &saved); err != nil {
		p.h.o.Log.Warn("the last fires were not read", "error", err)
		return
	}
	last := map[string]time.Time{}
	for _, e := range p.events {
		if e.What == Fired && e.At.After(last[e.Task]) {
			last[e.Task] = e.At
		}
	}
	for id, r := range saved.Routines {
		// A run is recorded when it fires or later.
		if r != nil && last[id].Before(r.LastFire.Truncate(time.Minute)) {
			p.add(Event{At: r.LastFire, What: Fired, Task: id, Kind: string(routines.KindRoutine), State: clean.Line(r.Outcome)})
		}
	}
}

// finish sorts the events and adds titles and the user's next action.
func (p *pinged) finish() {
	set := schedule.Files(p.h.o.Dir, p.h.o.Zone)
	slices.SortFunc(p.moves, time.Time.Compare)
	for i := range p.events {
		e := &p.events[i]
		task, known := set.Find(e.Task)
		if known && e.What == Fired && e.Session == "" { // the schedule does not record where
			e.Background = e.Background || task.Background
		}
		if e.Title == "" {
			if e.Title = p.titles[e.Task]; e.Title == "" && known {
				e.Title = task.Title()
			}
		}
		e.Kind = cmp.Or(e.Kind, p.kinds[e.Task])
		if !e.Background {
			e.Next = p.next(e.At)
		}
		if !e.Next.IsZero() {
			minutes := int(e.Next.Sub(e.At).Round(time.Minute) / time.Minute)
			e.Minutes = &minutes
		}
	}
	slices.SortStableFunc(p.events, func(a, b Event) int {
		if c := a.At.Compare(b.At); c != 0 {
			return c
		}
		return strings.Compare(a.What, b.What) // the fire before its ping
	})
}

// next returns the user's first action after t.
func (p *pinged) next(t time.Time) time.Time {
	i := sort.Search(len(p.moves), func(i int) bool { return p.moves[i].After(t) })
	if i == len(p.moves) {
		return time.Time{}
	}
	return p.moves[i].In(p.h.o.Zone)
}
