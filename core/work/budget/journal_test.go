package budget

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
)

func TestPingsAreCountedByHour(t *testing.T) {
	j := newPlace(t, "").journal
	now := morning
	if got := j.Hours(now); got != [24]int{} {
		t.Errorf("no journal: %v", got)
	}
	for _, ago := range []time.Duration{
		25 * time.Hour, 24 * time.Hour, 24*time.Hour - 1e3, 2 * time.Hour, 90 * time.Minute, 61 * time.Minute, 0, -time.Hour,
	} {
		testkit.Must(t, j.Append(Ping{At: now.Add(-ago), Task: "a1b2c3d4", Title: "Medication", Kind: "ping"}))
	}
	testkit.Must(t, j.Append(Ping{At: morning, Quiet: true}))
	testkit.Must(t, j.Append(Ping{At: morning, Refused: "no token left"}))
	var want [24]int
	want[0], want[21], want[22], want[23] = 1, 1, 2, 1
	if diff := cmp.Diff(want, j.Hours(now)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	want = [24]int{}
	want[20], want[21], want[22], want[23] = 1, 2, 1, 1
	if diff := cmp.Diff(want, j.Hours(now.Add(time.Hour))); diff != "" {
		t.Errorf("an hour later, from the cache (-want +got)\n%s", diff)
	}
}

func TestAPingIsOneLineWithItsFields(t *testing.T) {
	where := newPlace(t, "")
	d, j := where.dir, where.journal
	left := 1.5
	p := Ping{
		At: morning.Add(time.Millisecond).UTC(), ID: "d-1", Begun: true, Task: "a1b2c3d4", Title: "Tea\n\x1b[31m & <cake>", Kind: "embed", Critical: true,
		Quiet: true, Essential: true, Run: "r1", Text: strings.Repeat("b", 300), Label: "web", Message: "m1", Refused: "no\nway", Left: &left, Capacity: 5, Refill: 90,
	}
	testkit.Must(t, j.Append(p))
	want := `{"at":"2026-11-23T09:00:00.001000-08:00","id":"d-1","task":"a1b2c3d4","title":"Tea  & <cake>","kind":"embed","critical":true,"quiet":true,` +
		`"essential":true,"begun":true,"run":"r1","text":"` + strings.Repeat("b", 119) + `…","label":"web","message":"m1","refused":"no way","left":1.5,` +
		`"capacity":5,"refill":90}` + "\n"
	if diff := cmp.Diff(want, storetest.Text(t, d, journalFile)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	p.Title, p.Text, p.Refused = "Tea  & <cake>", strings.Repeat("b", 119)+"…", "no way"
	if diff := cmp.Diff([]Ping{p}, j.Recent()); diff != "" {
		t.Errorf("read again (-want +got)\n%s", diff)
	}
	testkit.Must(t, j.Append(Ping{At: morning, Title: strings.Repeat("a", 300)}))
	if got := j.Recent()[1].Title; got != strings.Repeat("a", 199)+"…" {
		t.Errorf("a long title: %s", got)
	}
}

func TestLinesThatAreNoPingsArePassedOver(t *testing.T) {
	where := newPlace(t, "")
	d, j := where.dir, where.journal
	lines := "garbage\n\n{\"at\": 5}\n{\"at\": \"never\"}\n[]\n{\"at\":\"2026-11-23T08:59:00-08:00\"}\n{\"at\":\"2026-11-23T08:58"
	testkit.Must(t, d.Write(journalFile, []byte(lines)))
	if got := j.Hours(morning); got[23] != 1 {
		t.Errorf("%v, want one ping in the last hour", got)
	}
	testkit.Must(t, j.Append(Ping{At: morning, Kind: "ping"}))
	if got := j.Hours(morning); got[23] != 2 {
		t.Errorf("after a torn line: %v, want two pings in the last hour", got)
	}
}

func TestAJournalThatCannotBeReadIsReported(t *testing.T) {
	p := newPlace(t, "")
	testkit.Must(t, os.Mkdir(p.dir.Path(journalFile), 0o700))
	if list := p.journal.Recent(); len(list) != 0 || !strings.Contains(p.logged.String(), "ping journal was not read") {
		t.Errorf("%+v, log:\n%s", list, p.logged)
	}
	if _, err := p.journal.All(); err == nil {
		t.Error("all of it was read")
	}
}

func TestALongJournalIsCutAndStillCounts(t *testing.T) {
	where := newPlace(t, "")
	d, j := where.dir, where.journal
	line := []byte(`{"at":"2026-11-20T09:00:00-08:00","title":"` + strings.Repeat("x", 100) + `"}` + "\n")
	testkit.Must(t, d.Write(journalFile, bytes.Repeat(line, journalLimit/len(line)+1)))
	if all, err := j.All(); err != nil || len(all) != journalLimit/len(line) || len(j.Recent()) != journalTail/len(line) {
		t.Errorf("%d in all, %v, %d recent ones", len(all), err, len(j.Recent()))
	}
	testkit.Must(t, j.Append(Ping{At: morning, Kind: "ping"}))
	info, err := os.Stat(d.Path(journalFile))
	if err != nil || info.Size() > journalTail+1000 {
		t.Errorf("%d bytes stay, %v", info.Size(), err)
	}
	data, err := d.Read(journalFile)
	testkit.Must(t, err)
	for l := range bytes.Lines(data) {
		if !json.Valid(l) {
			t.Errorf("the cut left half a line: %q", l)
		}
	}
	if got := j.Hours(morning); got[23] != 1 {
		t.Errorf("%v, want one ping in the last hour", got)
	}
}

// sent returns two tasks' pings: medication at 0 and 60, tea at 30, one refused at 40, one that makes no sound at 65. An older one is answered, as is the newest of two.
func sent() []Ping {
	return []Ping{
		{At: at(-500), ID: "d-1", Task: "done", Message: "m0", Answered: at(-490), How: Spoke},
		{At: at(0), ID: "a-1", Task: "med", Message: "m1"},
		{At: at(30), ID: "b-1", Task: "tea", Message: "m2"},
		{At: at(40), ID: "r-1", Task: "tea", Message: "m5", Refused: "no token left"},
		{At: at(60), ID: "c-1", Task: "med", Message: "m3"},
		{At: at(65), ID: "q-1", Task: "silent", Message: "m4", Quiet: true},
		{At: at(60), Task: "old"}, // from an earlier version, without an id
		{At: at(61), ID: "h-1", Task: "half"},
		{At: at(62), ID: "h-2", Task: "half", Answered: at(63), How: Spoke},
	}
}

func TestAMoveAnswersWhatItIsMeantFor(t *testing.T) {
	for name, c := range map[string]struct {
		move Move
		want string
	}{
		"words answer the newest ping of each task":  {Move{At: at(70)}, "[c-1 message b-1 message]"},
		"a reply answers what it replies to":         {Move{At: at(70), To: "m1"}, "[a-1 reply]"},
		"only a reply answers a silent one":          {Move{At: at(70), To: "m4"}, "[q-1 reply]"},
		"a press counts for its message, days later": {Move{At: at(9000), To: "m2", Pressed: true}, "[b-1 button]"},
		"a press elsewhere is like words":            {Move{At: at(35), To: "card", Pressed: true}, "[b-1 message a-1 message]"},
		"words after two hours answer nothing":       {Move{At: at(181)}, "[]"},
		"after exactly two hours they do":            {Move{At: at(180)}, "[c-1 message]"},
		"what came before the ping is no answer":     {Move{At: at(-1)}, "[]"},
		"a reply from before it is none either":      {Move{At: at(-1), To: "m1"}, "[]"},
		"what is answered stays as it is":            {Move{At: at(70), To: "m0"}, "[]"},
		"what was refused cannot be answered":        {Move{At: at(70), To: "m5"}, "[]"},
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
	left := 2.5
	where := newPlace(t, "")
	where.append(t,
		Ping{At: at(0), ID: "a-1", Task: "med", Title: "Medi\x1b[31mcation", Kind: "ping", Run: "a", Text: "Take\nit", Message: "m1", Left: &left},
		Ping{At: at(1), Task: "med", Kind: "ping", Run: "a", Text: "again", Refused: "second of its run"})
	for _, m := range []Move{{At: at(10)}, {At: at(10)}, {At: at(20), To: "m1"}} {
		testkit.Must(t, where.journal.Answer(m))
	}
	where.restart()
	got, err := where.journal.All()
	if err != nil || len(got) != 2 {
		t.Fatal(got, err)
	}
	if p := got[0]; !p.Answered.Equal(at(10)) || p.How != Spoke || *p.Left != left || p.Text != "Take it" || p.Title != "Medication" {
		t.Errorf("%+v", p)
	}
	if p := got[1]; p.Refused == "" || !p.Answered.IsZero() {
		t.Errorf("%+v", p)
	}
	if hours := where.journal.Hours(at(30)); hours[23] != 1 {
		t.Errorf("a refused ping was counted: %v", hours)
	}
}

// L5: what is recorded before a ping leaves counts as sent until its outcome takes its place.
func TestTheOutcomeOfAPingTakesThePlaceOfItsBeginning(t *testing.T) {
	p := newPlace(t, "")
	j := p.journal
	add := func(n int, id string, ping Ping) {
		ping.At, ping.ID, ping.Task, ping.Run = at(n), id, "a", id
		p.append(t, ping)
	}
	add(0, "one", Ping{Begun: true, Text: "1"})
	if one, ok := j.Ping("one"); !ok || !one.Begun || CameOf(j.Recent(), "a").Times != 1 {
		t.Errorf("a ping that may have arrived does not count: %+v", j.Recent())
	}
	testkit.Must(t, j.Answer(Move{At: at(1)}))
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

func TestWhatATaskHasSentIsSummedUp(t *testing.T) {
	pings := []Ping{
		{At: at(0), Task: "a", Run: "1", Text: "one", Message: "m1"},
		{At: at(1), Task: "a", Run: "1", Text: "two", Message: "m2"},
		{At: at(2), Task: "b", Run: "2", Text: "other"},
		{At: at(3), Task: "a", Run: "3", Text: "refused", Refused: "no token left"},
		{At: at(4), Task: "c", Run: "4", Text: "three", Message: "m4"},
		{At: at(5), Task: "a", Run: "5", Message: "m5"}, // a file
	}
	for want, list := range map[string][]Ping{
		"two three": LastOf(pings, 2, "a", "c"), "one two": LastOf(pings, 9, "a"), "": LastOf(pings, 9, "d"),
	} {
		var texts []string
		for _, p := range list {
			texts = append(texts, p.Text)
		}
		if got := strings.Join(texts, " "); got != want {
			t.Errorf("the last ones are %q, want %q", got, want)
		}
	}
	for task, want := range map[string]Came{"a": {2, at(0), "m5"}, "b": {1, at(2), ""}, "d": {}} {
		if got := CameOf(pings, task); got != want {
			t.Errorf("%s came %+v, want %+v", task, got, want)
		}
	}
}

func TestAPingThatWasNotWorthItIsNotAnswered(t *testing.T) {
	p := newPlace(t, "")
	p.append(t, Ping{At: at(0), ID: "a-1", Task: "a", Message: "m1"}, Ping{At: at(1), ID: "a-2", Task: "a", Refused: "no token left"}, Ping{At: at(2), Task: "a"})
	testkit.Must(t, p.journal.Answer(Move{At: at(3), To: "m1"}))
	for id, there := range map[string]bool{"a-1": true, "a-2": false, "": false, "b-1": false} {
		for range 2 {
			if ping, ok, err := p.journal.Useless(id, at(4)); ok != there || err != nil || ok && ping.ID != id {
				t.Errorf("%q: %+v, %v, %v", id, ping, ok, err)
			}
		}
	}
	ping, _ := p.journal.Ping("a-1")
	if a := AnswersTo(p.journal.Recent(), "a"); ping.How != Useless || !ping.Answered.Equal(at(3)) || a != (Answers{Pings: 2, Useless: 1}) {
		t.Errorf("%+v, in all %+v", ping, a)
	}
	if n := strings.Count(storetest.Text(t, p.dir, journalFile), string(Useless)); n != 1 {
		t.Errorf("it is in %d lines", n)
	}
	testkit.Must(t, p.journal.Answer(Move{At: at(5), To: "m1"}))
	if ping, _ = p.journal.Ping("a-1"); ping.How != Useless {
		t.Errorf("a later reply counts: %+v", ping)
	}
}

// After any sequence of actions, an answer is never before its ping, no ping has two, and
// the sums match the pings.
func TestPropertyAnswersAddUp(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		dir := storetest.Prepared(t)
		j, pings, at := NewJournal(dir, time.UTC, nil), 0, morning
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
		pings = append(pings, Ping{At: morning, Task: "a", Answered: at(minutes)})
	}
	pings = append(pings, Ping{At: morning, Task: "a"}, Ping{At: morning, Task: "b", Answered: at(1)}, Ping{At: morning, Task: "a", Answered: at(1), Quiet: true},
		Ping{At: morning, Task: "a", Answered: at(1), Refused: "no token left"})
	if a := AnswersTo(pings, "a"); a != (Answers{Pings: 5, Answered: 4, Median: 4 * time.Minute}) || a.Rate() != 0.8 {
		t.Errorf("%+v", a)
	}
	if b, none := AnswersTo(pings, "b"), AnswersTo(pings, "c"); b != (Answers{Pings: 1, Answered: 1, Median: time.Minute}) || none != (Answers{}) || none.Rate() != 0 {
		t.Errorf("one ping: %+v, none: %+v", b, none)
	}
}

// Facts are recomputed after a ping or an answer, and after an hour.
func TestHabitsAreLearnedWhenTheJournalHasChanged(t *testing.T) {
	p := newPlace(t, "")
	j := p.journal
	begin := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	ping := func(n int) Ping {
		return Ping{At: begin.AddDate(0, 0, n), ID: fmt.Sprintf("%08x-1", n), Task: "a", Kind: "ping", Message: fmt.Sprint(n)}
	}
	refused := ping(3)
	refused.Refused = "in conversation"
	p.append(t, ping(0), ping(1), ping(2), refused)
	now := begin.AddDate(0, 0, 3)
	if f := j.Habits(now); f.All.Sent != 3 || f.All.Answered != 0 {
		t.Errorf("%+v", f.All)
	}
	if err := j.Answer(Move{At: ping(2).At.Add(5 * time.Minute), To: "2"}); err != nil {
		t.Fatal(err)
	}
	if f := j.Habits(now); f.All.Answered != 1 || f.Tasks["a"].Median != 5*time.Minute {
		t.Errorf("after an answer: %+v", f)
	}
	if _, _, err := j.Useless(ping(2).ID, ping(2).At.Add(6*time.Minute)); err != nil {
		t.Fatal(err)
	}
	if f := j.Habits(now); f.All.Answered != 0 {
		t.Errorf("one that was not useful counts as answered: %+v", f.All)
	}
	if f := j.Habits(begin.AddDate(0, 0, 200)); f.All.Sent != 0 {
		t.Errorf("half a year later: %+v", f.All)
	}
	if f := j.Habits(now); f.All.Sent != 3 {
		t.Errorf("after the clock was set back: %+v", f.All)
	}
}
