package budget

import (
	"sync"
	"time"

	"ollimbot/core/storage/store"
	"ollimbot/routines/habits"
)

// relearn is how old facts may be that no new ping or answer has changed.
const relearn = time.Hour

// learned keeps the facts of a journal until something changes.
type learned struct {
	mu    sync.Mutex
	from  []Ping
	at    time.Time
	facts habits.Facts
}

// Habits are what the recent pings say about when the user answers. It is learned anew when the
// journal has changed, and once an hour: asking costs nothing otherwise.
func (j *Journal) Habits(now time.Time) habits.Facts {
	pings := j.Recent()
	j.learned.mu.Lock()
	defer j.learned.mu.Unlock()
	if age := now.Sub(j.learned.at); !store.Same(j.learned.from, pings) || age < 0 || age > relearn {
		j.learned.from, j.learned.at, j.learned.facts = pings, now, habits.Learn(Asks(pings), now, j.zone)
	}
	return j.learned.facts
}

// Asks are the pings that were sent, as habits are learned from. One that the user did not find
// useful counts as not answered.
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
