package habits

import (
	"slices"
	"time"
)

const (
	week = 7 * 24 * time.Hour
	// weeks are looked at, of which the user must have moved the routine in leastWeeks.
	weeks, leastWeeks = 8, 6
	// nearest and farthest are how many minutes after its time a routine counts as moved.
	nearest, farthest = 20, 6 * 60
	// late is how many minutes after the file's time a ping still belongs to it.
	late = 10
	// The distances in minutes of a week's median, and of most moves, from the median of all.
	weekNear, moveNear = 20, 30
	// step is what the new time is rounded to.
	step = 5
)

// Move is a routine that the user does at another time than that of its file. Times of the day are
// minutes since midnight.
type Move struct {
	From, To  int
	Weeks, Of int  // in how many weeks, of those with a ping of it
	Snoozed   bool // mostly by snoozing, not by answering later
}

// FindMove looks for the time of the day to which the user moves a task that comes at a time. ok is
// false if there is none: see the rule of the package.
func FindMove(asks []Ask, task string, from int, now time.Time, zone *time.Location) (m Move, ok bool) {
	var sent [weeks]int
	var moved [weeks][]int
	var all []int
	snoozed := 0
	for _, a := range tidy(asks, now, weeks*week-time.Second) {
		at := a.At.In(zone)
		begin := at.Hour()*60 + at.Minute()
		if a.Task != task || begin < from || begin > from+late {
			continue
		}
		n := int(now.Sub(a.At) / week)
		sent[n]++
		to := begin + int(a.Acted.Sub(a.At)/time.Minute)
		if a.Acted.IsZero() || to < from+nearest || to > from+farthest || to >= 24*60 {
			continue
		}
		moved[n], all = append(moved[n], to), append(all, to)
		if a.Snoozed {
			snoozed++
		}
	}
	if len(all) < leastWeeks {
		return m, false
	}
	middle, near := median(all), 0
	for _, to := range all {
		if apart(to, middle) <= moveNear {
			near++
		}
	}
	for n := range sent {
		if sent[n] == 0 {
			continue
		}
		m.Of++
		if 2*len(moved[n]) >= sent[n] && len(moved[n]) > 0 && apart(median(moved[n]), middle) <= weekNear {
			m.Weeks++
		}
	}
	m.From, m.To, m.Snoozed = from, (middle+step/2)/step*step, 2*snoozed >= len(all)
	return m, m.Weeks >= leastWeeks && 3*near >= 2*len(all) && m.To < 24*60
}

func median(list []int) int {
	slices.Sort(list)
	return list[len(list)/2]
}

func apart(a, b int) int { return max(a-b, b-a) }
