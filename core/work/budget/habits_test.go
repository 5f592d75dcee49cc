package budget

import (
	"fmt"
	"os"
	"testing"
	"time"

	"ollimbot/core/storage/store/storetest"
)

// Facts are recomputed after a ping or an answer, and after an hour.
func TestHabitsAreLearnedWhenTheJournalHasChanged(t *testing.T) {
	j := NewJournal(storetest.Dir(t), time.UTC, nil)
	begin := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	ping := func(n int) Ping {
		return Ping{At: begin.AddDate(0, 0, n), ID: fmt.Sprintf("%08x-1", n), Task: "a", Kind: "ping", Message: fmt.Sprint(n)}
	}
	add := func(p Ping) {
		t.Helper()
		if err := j.Append(p); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 3 {
		add(ping(n))
	}
	refused := ping(3)
	refused.Refused = "in conversation"
	add(refused)
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
}

func BenchmarkHabits(b *testing.B) {
	d := storetest.Dir(b)
	j := NewJournal(d, time.UTC, nil)
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for n := range 600 {
		at := now.Add(time.Duration(n-600) * 3 * time.Hour)
		if err := j.Append(Ping{At: at, ID: fmt.Sprintf("%08x-1", n), Task: fmt.Sprint(n % 8), Kind: "ping"}); err != nil {
			b.Fatal(err)
		}
	}
	old := now.AddDate(-1, 0, 0) // a file of the current second is reread each time, because it may change again
	if err := os.Chtimes(d.Path(journalFile), old, old); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		j.Habits(now)
	}
}
