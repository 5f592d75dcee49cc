package cron

import (
	"testing"
	"time"
)

func FuzzParseAndNext(f *testing.F) {
	for _, expr := range []string{
		"*/30 9-18 * * 1-5", "0 22-2 * * fri-mon", "0 0 30 2 *", "TZ=UTC", "CRON_TZ=Europe/Berlin", "@every -5m",
		"*/0 * * * *", "1,,2 * * * *", "0 9 13 * 5", "? ? ? ? ?", "5/15 */2 28-2 nov-feb */2", "\xff 9 * * *",
	} {
		f.Add(expr, int64(1_774_746_000), uint8(0))
		f.Add(expr, int64(1_792_890_000), uint8(3))
	}
	zones := []*time.Location{
		zone(f, "Europe/Berlin"), zone(f, "Pacific/Apia"), zone(f, "Australia/Lord_Howe"), zone(f, "America/Sao_Paulo"),
		time.UTC, time.FixedZone("odd", -(3*60*60 + 17)),
	}
	f.Fuzz(func(t *testing.T, expr string, sec int64, z uint8) {
		checkParse(t, expr)
		s, err := Parse(expr)
		if err != nil {
			return
		}
		loc := zones[int(z)%len(zones)]
		from := time.Unix(sec, 0).In(loc)
		next := s.Next(from)
		if next.IsZero() {
			return
		}
		if next.Before(from) || next.Location() != loc {
			t.Fatalf("%q from %s: %s", expr, from, next)
		}
		wall := time.Date(next.Year(), next.Month(), next.Day(), next.Hour(), next.Minute(), next.Second(), 0, time.UTC).Unix()
		if again, ok := s.nextWall(wall); ok && again == wall {
			return
		}
		before := next.Add(-time.Second)
		_, was := before.Zone()
		if _, is := next.Zone(); is <= was || s.anyHour {
			t.Fatalf("%q from %s: %s matches no field and ends no gap", expr, from, next)
		}
	})
}
