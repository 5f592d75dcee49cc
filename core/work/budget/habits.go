package budget

import (
	"sync"
	"time"

	"ollimbot/core/storage/store"
	"ollimbot/routines/habits"
)

// relearn is the maximum age of cached facts when there are no new pings or answers.
const relearn = time.Hour

// learned caches the facts of a journal.
type learned struct {
	mu    sync.Mutex
	from  []Ping
	at    time.Time
	facts habits.Facts
}

// Habits returns when the user answers, according to the recent pings. It is recomputed
// after the journal changes, and once an hour, so calls are cheap.
func (j *Journal) Habits(now time.Time) habits.Facts {
	pings := j.Recent()
	j.learned.mu.Lock()
	defer j.learned.mu.Unlock()
	if age := now.Sub(j.learned.at); !store.Same(j.learned.from, pings) || age < 0 || age > relearn {
		j.learned.from, j.learned.at, j.learned.facts = pings, now, habits.Learn(Asks(pings), now, j.zone)
	}
	return j.learned.facts
}

// Asks converts the sent pings to the input of habits. A ping the user found not useful
// counts as unanswered.
func Asks(pings []Ping) []habits.Ask {
	list := make([]habits.Ask, 0, len(pings))
	for _, p := range pings {
		if p.Refused != "" {
			continue
		}
		a := habits.Ask{Task: p.Task, At: p.At, Acted: p.Answered}
		if p.How == Useless {
			a.Acted = time.Time{}
		}
		list = append(list, a)
	}
	return list
}
