package core

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"ollimbot/core/command"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/live"
	"ollimbot/core/talk/attention"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/tasks"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

// BudgetView is the bucket at the time of the snapshot.
type BudgetView struct {
	State    budget.State // refilled to the moment
	Status   string       // "3/5 available (refills 1 every 90 min, next in 45 min)"
	Reserved int          // tokens of messages being sent
	NextAt   time.Time    // when the next token is complete; zero when full or muted
	FullAt   time.Time    // when the bucket will be full; zero if it is
	// Beside counts the day's messages that cost no token. QuietLimit is the maximum number
	// of quiet ones.
	Beside     budget.Count
	QuietLimit int
	// Hours are the pings (critical ones too) of the last 24 hours, oldest first.
	Hours [24]int
	// Quiet is until when non-critical pings are refused, because of quiet hours or because
	// the user muted them; zero if they are not.
	Quiet time.Time
	// QuietHours are the daily quiet hours; the zero value means none.
	QuietHours config.Quiet
	// Muted is until when the user has muted pings; zero if they have not.
	Muted time.Time
	// QuietSpans are the quiet hours from 24 hours ago to 24 hours ahead, each as start and
	// end.
	QuietSpans [][2]time.Time
	// Pings are the sent and refused pings with their answers, oldest first: about 600,
	// shared by all readers. Today returns those of a day.
	Pings []budget.Ping
	// Set are the recorded changes of the settings, oldest first, shared by all readers.
	Set []budget.Mark
	// Fires are the fires of the next 24 hours that may cost a token, by time, up to
	// FiresUntil: 500 at most.
	Fires      []budget.Fire
	FiresUntil time.Time
}

// Today returns the pings and refusals of the snapshot's day, oldest first.
func (v BudgetView) Today() []budget.Ping {
	now := v.State.LastRefill
	day := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	i, _ := slices.BinarySearchFunc(v.Pings, day, func(p budget.Ping, day time.Time) int { return p.At.Compare(day) })
	return v.Pings[i:]
}

// MarshalJSON implements json.Marshaler: the bucket and the day's counters. Times are to the second.
func (v BudgetView) MarshalJSON() ([]byte, error) {
	s := v.State
	var next *int
	if !v.NextAt.IsZero() {
		minutes := int((v.NextAt.Sub(s.LastRefill) + time.Minute - 1) / time.Minute) // started ones count, as in the status line
		next = &minutes
	}
	return json.Marshal(struct {
		Capacity   int       `json:"capacity"`
		Available  float64   `json:"available"`
		Rate       int       `json:"refill_rate_minutes"`
		LastRefill time.Time `json:"last_refill"`
		Daily      int       `json:"daily_used"`
		Critical   int       `json:"critical_used"`
		Quiet      int       `json:"quiet_used"`
		QuietLimit int       `json:"quiet_limit"`
		Essential  int       `json:"essential_used"`
		Next       *int      `json:"next_refill_minutes"`
		FullAt     time.Time `json:"full_at"`
		Status     string    `json:"status"`
	}{
		s.Capacity, s.Available, s.RefillRateMinutes, s.LastRefill.Truncate(time.Second), s.DailyUsed, s.CriticalUsed,
		v.Beside.Quiet, v.QuietLimit, v.Beside.Essential, next, v.FullAt.Truncate(time.Second), v.Status,
	})
}

// Curve returns the level of the bucket from 24 hours ago to 24 hours ahead for a
// capacity and refill rate (minutes): those of State, or hypothetical ones. The past is
// not affected.
func (v BudgetView) Curve(capacity, refill int) budget.Curve {
	now := v.State.LastRefill
	c := v.State.Curve(budget.Marks(v.Pings, v.Set), nil, now, now)
	ahead := v.State.With(capacity, refill, now).Curve(nil, v.Fires, now, v.FiresUntil)
	ahead.Past = c.Past
	return ahead
}

// forecast predicts how the pings of the next day affect the budget.
type forecast struct {
	budget    *budget.Bucket
	tally     *budget.Tally
	journal   *budget.Journal
	settings  *live.Settings
	muted     *schedule.Mute
	attention *attention.Attention
	runs      *fork.Manager
	schedule  *schedule.Schedule
	index     *routines.Index
	tasks     *tasks.Editor
	zone      *time.Location
	fires     pingFires
}

// view returns the bucket at a moment, with the fires that may spend from it.
func (f *forecast) view(now time.Time, view schedule.View) BudgetView {
	state, reserved := f.budget.State(now)
	fires := f.fires.take(view.Day, f.settings.Load(), func() []budget.Fire {
		return mayPing(slices.DeleteFunc(slices.Clone(view.Day), f.essential), f.attention.QuietUntil, func(task string) float64 { return f.runs.Rate(task).Costs() })
	})
	return BudgetView{
		State: state, Status: state.Status(now), Reserved: reserved,
		Beside: f.tally.At(now), QuietLimit: f.settings.Load().QuietMessages,
		NextAt: state.NextAt(now), FullAt: state.FullAt(now),
		Hours: f.journal.Hours(now), Quiet: f.attention.QuietUntil(now), QuietHours: f.settings.Load().QuietHours, Muted: f.muted.At(now),
		QuietSpans: f.settings.Load().QuietSpans(now.Add(-24*time.Hour), now.Add(24*time.Hour)),
		Pings:      f.journal.Recent(), Set: f.journal.Set(), Fires: fires, FiresUntil: view.DayUntil,
	}
}

// essential reports whether a fire needs no token.
func (f *forecast) essential(e schedule.Entry) bool {
	t, ok := f.index.Set().Find(e.ID)
	return ok && t.Essential
}

const (
	pastRuns  = 20 // of a task
	nextFires = 3
	nextSkips = 2
	// aToken is a whole token, allowing for rounding in a curve.
	aToken = 1 - 1e-6
)

// past returns the past runs of a task, and the forecast for its next fires.
func (f *forecast) past(id string) (command.TaskPast, error) {
	if _, ok := f.index.Set().Find(id); !ok {
		return command.TaskPast{}, fmt.Errorf(command.TextNoTask, id)
	}
	runs, err := f.runs.Past(id, pastRuns)
	if err != nil {
		return command.TaskPast{}, err
	}
	now := time.Now().In(f.zone)
	view := f.view(now, f.schedule.View(now))
	out := command.TaskPast{File: f.tasks.File(id), Runs: runs, Rate: f.runs.Rate(id), Answers: budget.AnswersTo(view.Pings, id)}
	curve := view.Curve(view.State.Capacity, view.State.RefillRateMinutes)
	for _, e := range f.schedule.NextOf(id, now, nextFires) {
		out.Next = append(out.Next, command.NextFire{At: e.FireTime, Verdict: f.verdict(e, view, curve)})
	}
	if r, ok := f.index.Set().RoutineByID(id); ok && len(out.Next) > 0 {
		out.Skipped = r.Schedule.Skipped(now, out.Next[len(out.Next)-1].At, nextSkips)
	}
	return out, nil
}

// HasToken reports whether a ping at a moment finds a whole token, given the levels of a
// curve.
func HasToken(levels []budget.Level, at time.Time) bool { return budget.LeftAt(levels, at) >= aToken }

// verdict returns the forecast for one fire.
func (f *forecast) verdict(e schedule.Entry, view BudgetView, curve budget.Curve) command.Verdict {
	switch {
	case f.essential(e):
		return command.VerdictSure
	case e.Silent || e.Foreground || e.Held || e.FireTime.After(view.FiresUntil):
		return command.VerdictNone
	case !f.attention.QuietUntil(e.FireTime).IsZero():
		return command.VerdictQuiet
	case HasToken(curve.Worst, e.FireTime):
		return command.VerdictSure
	case HasToken(curve.Expected, e.FireTime):
		return command.VerdictShort
	}
	return command.VerdictDry
}

// pingFires caches the fires of the newest list that can spend a token. The schedule
// makes a new, immutable list each minute and after each change.
type pingFires struct {
	mu      sync.Mutex
	of      *schedule.Entry // identifies the list
	n       int
	runtime *config.Runtime
	fires   []budget.Fire
}

// take returns the fires of a list, recomputing them if the list or the settings changed.
func (k *pingFires) take(list []schedule.Entry, set *config.Runtime, anew func() []budget.Fire) []budget.Fire {
	if len(list) == 0 {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of != &list[0] || k.n != len(list) || k.runtime != set {
		k.of, k.n, k.runtime, k.fires = &list[0], len(list), set, anew()
	}
	return k.fires
}

// mayPing returns the fires that can spend a token, with their probability: those of
// background tasks that may ping, outside the times that quiet reports as quiet.
func mayPing(fires []schedule.Entry, quiet func(time.Time) time.Time, rate func(task string) float64) []budget.Fire {
	list := make([]budget.Fire, 0, len(fires))
	for _, e := range fires {
		if !e.Held && !e.Silent && !e.Foreground && quiet(e.FireTime).IsZero() {
			list = append(list, budget.Fire{At: e.FireTime, Task: e.ID, Title: e.Description, Rate: rate(e.ID)})
		}
	}
	return list
}
