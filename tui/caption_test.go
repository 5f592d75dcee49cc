package tui

import (
	"strings"
	"testing"
	"time"

	"ollimbot/core"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
)

func TestTheCaptionTellsWhatHappenedLast(t *testing.T) {
	s := busyDay(day)
	ago := func(seconds int) time.Time { return day.Add(-time.Duration(seconds) * time.Second) }
	for _, c := range []struct {
		change func(*core.Snapshot)
		want   string
	}{
		{func(*core.Snapshot) {}, ""},
		{func(s *core.Snapshot) { s.Forks = []fork.View{{State: fork.Running, Title: "Inbox", Started: ago(9)}} }, "Inbox began"},
		{func(s *core.Snapshot) {
			s.Ended = []fork.View{{State: fork.Done, Title: "Inbox", Reports: 1, Ended: ago(8)}}
		}, "Inbox ended and left an update"},
		{func(s *core.Snapshot) { s.Budget.Pings = []budget.Ping{{Title: "Tea", At: ago(7)}} }, "Tea pinged: one token spent, 3.2/5 left"},
		{func(s *core.Snapshot) {
			s.Budget.Pings = append(s.Budget.Pings, budget.Ping{Title: "Tea", At: ago(6), Refused: "one ping for each run"})
		}, "Tea wanted to ping and was refused: one ping"},
		{func(s *core.Snapshot) {
			s.Ended = append(s.Ended, fork.View{State: fork.Failed, Title: "Mail", Ended: ago(5)})
		}, "Mail failed"},
		{func(s *core.Snapshot) { s.At = s.At.Add(time.Minute) }, ""},
	} {
		c.change(&s)
		if got := caption(&s); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	play(t, setup{options: Options{Try: true}}, func(st *stage) {
		st.press("3") // the first words were read
		time.Sleep(time.Minute)
		st.sees("demo: try 1 then +")
	})
	play(t, setup{}, func(st *stage) { st.misses("demo:") })
}
