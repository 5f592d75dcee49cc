package core

import (
	"sync"
	"time"

	"ollimbot/core/storage/config"
	"ollimbot/core/work/budget"
	"ollimbot/routines/schedule"
)

// pingFires are the fires of the newest list that can spend a token. The schedule makes a
// list of its own for each minute and each change, and nobody changes one.
type pingFires struct {
	mu      sync.Mutex
	of      *schedule.Entry // where the list stands
	n       int
	runtime *config.Runtime
	fires   []budget.Fire
}

// take gives those of a list, which it makes anew where that or the settings are others.
func (k *pingFires) take(list []schedule.Entry, set *config.Runtime, anew func() []budget.Fire) []budget.Fire {
	if len(list) == 0 {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of != &list[0] || k.n != len(list) || k.runtime != set {
		k.of, k.n, k.runtime, k.fires = &list[0], len(list), set, anew()
	}
	return k.fires
}

// mayPing are the fires that can spend a token, with how likely each does: of background
// tasks that are allowed to, outside of the times for which quiet says that it is quiet.
func mayPing(fires []schedule.Entry, quiet func(time.Time) time.Time, rate func(task string) float64) []budget.Fire {
	list := make([]budget.Fire, 0, len(fires))
	for _, e := range fires {
		if !e.Held && !e.Silent && !e.Foreground && quiet(e.FireTime).IsZero() {
			list = append(list, budget.Fire{At: e.FireTime, Task: e.ID, Title: e.Description, Rate: rate(e.ID)})
		}
	}
	return list
}
