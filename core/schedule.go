package core

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"time"

	"ollimbot/core/config"
	"ollimbot/routines"
)

const (
	// dayFires is how many fires of the next 24 hours are listed.
	dayFires = 500
	// shortestView is how far people see when agents see less.
	shortestView = 3 * time.Hour
)

// scheduleCache keeps the schedule of the current minute: with 10,000 routines
// it is the only costly part of a snapshot, and it changes once a minute or
// when a file, a hold or the quiet hours do.
type scheduleCache struct {
	mu      sync.Mutex
	made    scheduleKey // what kept and pinging were made of
	kept    ScheduleView
	pinging []routines.Entry // fires of the window that may ping

	of    *routines.Set // what words are made of
	words []taskWords   // beside of.Routines
}

// scheduleKey is everything that the schedule of a minute depends on.
type scheduleKey struct {
	set     *routines.Set
	holds   *routines.Holds
	known   *routines.Known
	minute  time.Time
	runtime *config.Runtime
	muted   *time.Time
}

// taskWords are the costly texts of a routine that stay the same until its file
// changes.
type taskWords struct{ title, when string }

// scheduleAt is the schedule at now, and its fires that may ping.
func (b *Bot) scheduleAt(now time.Time) (ScheduleView, []routines.Entry) {
	c := &b.schedule
	c.mu.Lock()
	defer c.mu.Unlock()
	made := scheduleKey{b.index.Set(), b.index.Holds(), b.index.Known(), now.Truncate(time.Minute), b.runtime.Load(), b.muted.until.Load()}
	if c.made == made {
		return c.kept, c.pinging
	}
	f := b.index.Forward(now, "")
	until := now.Add(shortestView)
	if f.Last.After(until) {
		until = f.Last
	}
	c.made = made
	c.kept = ScheduleView{
		Window: f.Window(now), Entries: b.index.ForPeople(f, now, until), Problems: made.set.Problems, Last: f.Last,
		Tasks: c.tasks(b.index, now),
	}
	c.kept.Day, c.kept.DayUntil = b.day(now)
	c.pinging = mayPing(c.kept.Day, until, b.quietUntil)
	return c.kept, c.pinging
}

// day lists the fires of the next 24 hours, as many as fit, and says until when
// none is missing.
func (b *Bot) day(now time.Time) ([]routines.Entry, time.Time) {
	until := now.Add(24 * time.Hour)
	fires := b.index.Calendar(now, until, dayFires+1)
	if len(fires) > dayFires {
		until = fires[dayFires].FireTime
		fires = fires[:dayFires]
	}
	return fires, until
}

// tasks lists all routines and reminders by their next fire, and then by file;
// those that have none stand at the end.
func (c *scheduleCache) tasks(x *routines.Index, now time.Time) []TaskView {
	set, next := x.NextFires(now)
	c.followWords(set)
	holds := x.Holds()
	list := make([]TaskView, 0, len(next))
	for _, i := range byNext(next) {
		if n := i - len(set.Routines); n >= 0 {
			r := set.Reminders[n]
			v := taskView(&r.Task, holds, now)
			v.Title, v.Label, v.Next = r.Title(), r.Label(), next[i]
			list = append(list, v)
			continue
		}
		v := taskView(&set.Routines[i].Task, holds, now)
		v.Title, v.When, v.Next = c.words[i].title, c.words[i].when, next[i]
		list = append(list, v)
	}
	return list
}

// byNext is the order of moments, as places in the list: the zero ones last.
// Only numbers are moved, for there may be 10,000 of them each minute.
func byNext(moments []time.Time) []int {
	type place struct {
		at int64
		i  int
	}
	places := make([]place, len(moments))
	for i, at := range moments {
		places[i] = place{math.MaxInt64, i}
		if !at.IsZero() {
			places[i].at = at.Unix()
		}
	}
	slices.SortFunc(places, func(a, b place) int {
		if a.at != b.at {
			return cmp.Compare(a.at, b.at)
		}
		return cmp.Compare(a.i, b.i)
	})
	order := make([]int, len(places))
	for n, p := range places {
		order[n] = p.i
	}
	return order
}

func taskView(t *routines.Task, holds *routines.Holds, now time.Time) TaskView {
	v := TaskView{ID: t.ID, Path: t.Path, Kind: t.Kind, Foreground: !t.Background, Silent: !t.AllowPing, Version: t.Digest}
	if h := holds.Of(t.Kind, t.ID); !h.Ended(now) {
		if v.Paused, v.Waits = h.Paused, h.Why; !v.Paused && !h.Until.IsZero() {
			v.Snoozed = h.Until.In(now.Location())
		}
	}
	return v
}

// followWords takes over the texts of the routines that are still in force. Both
// lists are sorted by path, so one walk through them does.
func (c *scheduleCache) followWords(set *routines.Set) {
	if c.of == set {
		return
	}
	var old []*routines.Routine
	if c.of != nil {
		old = c.of.Routines
	}
	words := make([]taskWords, len(set.Routines))
	j := 0
	for i, r := range set.Routines {
		for j < len(old) && old[j] != r && old[j].Path < r.Path {
			j++
		}
		if j < len(old) && old[j] == r {
			words[i] = c.words[j]
			continue
		}
		words[i] = taskWords{title: r.Title(), when: r.Schedule.Words()}
	}
	c.of, c.words = set, words
}
