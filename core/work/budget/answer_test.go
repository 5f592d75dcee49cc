package budget

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func clock(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }

// sent returns two tasks' pings: medication at 0 and 60, tea at 30, one refused at 40.
func sent() []Ping {
	return []Ping{
		{At: clock(0), ID: "a-1", Task: "med", Message: "m1"},
		{At: clock(30), ID: "b-1", Task: "tea", Message: "m2"},
		{At: clock(40), Task: "tea", Refused: "no token left"},
		{At: clock(60), ID: "c-1", Task: "med", Message: "m3"},
		{At: clock(60), Task: "old"}, // from an earlier version, without an id
	}
}

func TestAMoveAnswersWhatItIsMeantFor(t *testing.T) {
	for name, c := range map[string]struct {
		move Move
		want string
	}{
		"words answer the newest ping of each task":  {Move{At: clock(70)}, "[c-1 message b-1 message]"},
		"a reply answers what it replies to":         {Move{At: clock(70), To: "m1"}, "[a-1 reply]"},
		"a press counts for its message, days later": {Move{At: clock(9000), To: "m2", Pressed: true}, "[b-1 button]"},
		"a press elsewhere is like words":            {Move{At: clock(35), To: "card", Pressed: true}, "[b-1 message a-1 message]"},
		"words after two hours answer nothing":       {Move{At: clock(181)}, "[]"},
		"after exactly two hours they do":            {Move{At: clock(180)}, "[c-1 message]"},
		"what came before the ping is no answer":     {Move{At: clock(-1)}, "[]"},
		"a reply from before it is none either":      {Move{At: clock(-1), To: "m1"}, "[]"},
	} {
		got := []string{}
		for _, p := range AnsweredBy(sent(), c.move) {
			got = append(got, p.ID+" "+string(p.How))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}

func TestAnAnswerStaysAsItWasFirst(t *testing.T) {
	dir := storetest.Prepared(t)
	left := 2.5
	j := NewJournal(dir, time.UTC, nil)
	for _, p := range []Ping{
		{At: clock(0), ID: "a-1", Task: "med", Title: "Medi\x1b[31mcation", Kind: "ping", Run: "a", Text: "Take\nit", Message: "m1", Left: &left},
		{At: clock(1), Task: "med", Kind: "ping", Run: "a", Text: "again", Refused: "second of its run"},
	} {
		must(t, j.Append(p))
	}
	for _, m := range []Move{{At: clock(10)}, {At: clock(10)}, {At: clock(20), To: "m1"}} {
		must(t, j.Answer(m))
	}
	got, err := NewJournal(dir, time.UTC, nil).All() // as after a restart
	if err != nil || len(got) != 2 {
		t.Fatal(got, err)
	}
	if p := got[0]; !p.Answered.Equal(clock(10)) || p.How != Spoke || *p.Left != left || p.Text != "Take it" || p.Title != "Medication" {
		t.Errorf("%+v", p)
	}
	if p := got[1]; p.Refused == "" || !p.Answered.IsZero() {
		t.Errorf("%+v", p)
	}
	if hours := j.Hours(clock(30)); hours[23] != 1 {
		t.Errorf("a refused ping was counted: %v", hours)
	}
}

// After any sequence of actions, an answer is never before its ping, no ping has two, and
// the sums match the pings.
func TestPropertyAnswersAddUp(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		dir := storetest.Prepared(t)
		j, pings, at := NewJournal(dir, time.UTC, nil), 0, noon
		var err error
		for i := range rapid.IntRange(1, 10).Draw(rt, "steps") {
			at = at.Add(time.Duration(rapid.IntRange(1, 90).Draw(rt, "minutes")) * time.Minute)
			if rapid.Bool().Draw(rt, "a ping") {
				pings++
				p := Ping{At: at, ID: fmt.Sprintf("%d-1", i), Task: rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "task"), Message: fmt.Sprint("m", i)}
				err = j.Append(p)
			} else {
				m := Move{At: at, To: fmt.Sprint("m", rapid.IntRange(-5, i).Draw(rt, "to")), Pressed: rapid.Bool().Draw(rt, "pressed")}
				err = j.Answer(m)
			}
			if err != nil {
				rt.Fatal(err)
			}
		}
		list, err := j.All()
		answered := 0
		for _, p := range list {
			if !p.Answered.IsZero() {
				answered++
				if p.Answered.Before(p.At) || p.How == Spoke && p.Answered.Sub(p.At) > AnswerWindow {
					rt.Fatalf("%+v", p)
				}
			}
		}
		a, b := AnswersTo(list, "a"), AnswersTo(list, "b")
		if err != nil || len(list) != pings || a.Pings+b.Pings != pings || a.Answered+b.Answered != answered || a.Rate() > 1 {
			rt.Fatalf("%d pings, %d answered, sums %+v %+v, %v", pings, answered, a, b, err)
		}
	})
}

func TestTheMedianIsTheMiddle(t *testing.T) {
	var pings []Ping
	for _, minutes := range []int{1, 3, 100, 5} {
		pings = append(pings, Ping{At: noon, Task: "a", Answered: clock(minutes)})
	}
	pings = append(pings, Ping{At: noon, Task: "a"}, Ping{At: noon, Task: "b", Answered: clock(1)})
	if a := AnswersTo(pings, "a"); a != (Answers{Pings: 5, Answered: 4, Median: 4 * time.Minute}) || a.Rate() != 0.8 {
		t.Errorf("%+v", a)
	}
}
