package core

import (
	"testing"
	"time"

	"ollimbot/core/work/fork"
	"ollimbot/core/work/updates"
)

// Q4: four routines at one minute left updates whose source was guessed from their times, or not known.
func TestTheSourceOfAnUpdateIsTheRunThatLeftIt(t *testing.T) {
	at := time.Date(2026, 11, 21, 9, 0, 30, 0, time.UTC)
	s := Snapshot{Forks: []fork.View{
		{ID: "1", Title: "Red", Reports: 1, Started: at.Add(-time.Minute)}, {ID: "2", Title: "Blue", Reports: 1, Started: at.Add(-time.Minute)},
	}}
	for _, c := range []struct {
		by          updates.Source
		reporter    string
		text, reads string
	}{
		{updates.Source{Run: "2", From: "Blue"}, "2", "rep", "Blue: rep"},
		{updates.Source{Run: "9", From: "Green"}, "", "rep", "Green: rep"}, // no longer listed
		{updates.Source{From: "Taxes"}, "", "from my fork", "Taxes: from my fork"},
		{updates.Source{}, "", "rep", "rep"},
		{updates.Source{Run: "1", From: "Red"}, "1", "red: rep", "red: rep"}, // is not said twice
	} {
		u := updates.Update{At: at, Message: c.text, Source: c.by}
		run := s.Reporter(u)
		if (run == nil) != (c.reporter == "") || run != nil && run.ID != c.reporter || s.Sourced(u) != c.reads {
			t.Errorf("%+v: %+v, %q", c.by, run, s.Sourced(u))
		}
	}
}
