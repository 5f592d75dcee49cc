package habits

import (
	"slices"
	"time"
)

const (
	week = 7 * 24 * time.Hour
	// The number of weeks considered, and in how many of them the user must have moved the
	// routine.
	weeks, leastWeeks = 8, 6
	// nearest and farthest limit how many minutes after its time a routine counts as moved.
	nearest, farthest = 20, 6 * 60
	// late is the largest delay in minutes of a ping that still counts as sent at the file's
	// time.
	late = 10
	// The maximum distances, in minutes, of a week's median and of most moves from the
	// overall median.
	weekNear, moveNear = 20, 30
	// step is the rounding of the new time, in minutes.
	step = 5
)

// Move is a routine that the user does at another time than its file says. Times of day
// are minutes since midnight.
type Move struct {
	From, To  int
	Weeks, Of int  // weeks in which it was moved, out of the weeks with a ping
	Snoozed   bool // mostly by snoozing, not by answering later
}

// FindMove finds the time of day to which the user keeps moving a task that is due at
// from. ok is false if there is none; the package comment has the rule.
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
