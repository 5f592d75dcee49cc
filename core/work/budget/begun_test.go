package budget

import (
	"fmt"
	"testing"
	"time"
)

// L5: what is recorded before a ping leaves counts as sent until its outcome takes its place.
func TestTheOutcomeOfAPingTakesThePlaceOfItsBeginning(t *testing.T) {
	_, j := newJournal(t)
	at := func(n int) time.Time { return time.Date(2026, 11, 1, 10, n, 0, 0, time.UTC) }
	add := func(n int, id string, ping Ping) {
		ping.At, ping.ID, ping.Task, ping.Run = at(n), id, "a", id
		must(t, j.Append(ping))
	}
	add(0, "one", Ping{Begun: true, Text: "1"})
	if one, ok := j.Ping("one"); !ok || !one.Begun || CameOf(j.Recent(), "a").Times != 1 {
		t.Errorf("a ping that may have arrived does not count: %+v", j.Recent())
	}
	must(t, j.Answer(Move{At: at(1)}))
	add(2, "one", Ping{Text: "1", Message: "m1"})
	add(3, "two", Ping{Begun: true})
	add(4, "two", Ping{Refused: "not delivered"})
	add(5, "two", Ping{Begun: true})
	add(6, "two", Ping{Message: "m2"})
	add(7, "two", Ping{Message: "m3"}) // by an earlier version: ids were not unique over a restart
	got := ""
	for _, p := range j.Recent() {
		got += fmt.Sprintf("%s %v %q %q %s; ", p.ID, p.Begun, p.Message, p.Refused, p.How)
	}
	if want := `one false "m1" "" message; two false "" "not delivered" ; two false "m2" "" ; two false "m3" "" ; `; got != want {
		t.Errorf("%s\nnot\n%s", got, want)
	}
}
