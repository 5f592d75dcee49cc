package logs

import (
	"testing"
	"time"
)

func TestATimeInALineIsInTheUsersZone(t *testing.T) {
	log, book := New(Options{Zone: time.FixedZone("Denver", -7*3600)})
	log.Info("muted", "until", time.Date(2026, 11, 24, 1, 30, 0, 0, time.UTC))
	if got := book.Tail(0).Lines[0].Text; got != "muted until=2026-11-23T18:30:00-07:00" {
		t.Error(got)
	}
}
