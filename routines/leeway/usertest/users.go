// Package usertest provides synthetic users for measuring code that learns habits. Their
// seeds are fixed, so that figures are reproducible.
package usertest

import (
	"math/rand/v2"
	"time"
)

// User is a synthetic user: the sessions at their desk on a day, in minutes since midnight.
type User struct {
	Name string
	Seed uint64
	day  func(r *rand.Rand, day time.Weekday) [][2]int
}

// around returns a session of random length that starts near a minute.
func around(r *rand.Rand, minute, spread, long int) [2]int {
	at := max(0, minute+int(r.NormFloat64()*float64(spread)))
	return [2]int{at, min(at+long/2+r.IntN(long), 24*60)}
}

// All lists the users.
var All = []User{
	{"early bird", 1, func(r *rand.Rand, _ time.Weekday) [][2]int {
		return [][2]int{around(r, 6*60, 15, 60), around(r, 9*60+15, 15, 45), around(r, 14*60, 40, 60)}
	}},
	{"night owl", 2, func(r *rand.Rand, _ time.Weekday) [][2]int {
		return [][2]int{around(r, 10*60+50, 20, 50), around(r, 15*60, 40, 90), around(r, 22*60, 40, 90)}
	}},
	{"irregular", 3, func(r *rand.Rand, day time.Weekday) [][2]int {
		if day == time.Saturday || day == time.Sunday {
			return [][2]int{around(r, 11*60+30, 90, 60)}
		}
		return [][2]int{around(r, 9*60+30, 60, 40), around(r, 8*60+r.IntN(600), 1, 60), around(r, 19*60, 90, 60)}
	}},
}

// Day returns the user's n-th day: the sessions in minutes since midnight, and a random
// source for the rest of the day. It is deterministic.
func (u User) Day(begin time.Time, n int) (day time.Time, sessions [][2]int, dice *rand.Rand) {
	day = begin.AddDate(0, 0, n)
	dice = rand.New(rand.NewPCG(u.Seed, uint64(n))) //nolint:gosec // not a secret: the same each time
	return day, u.day(dice, day.Weekday()), dice
}
