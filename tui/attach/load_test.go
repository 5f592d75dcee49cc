package attach

import (
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
)

// TestKeysAreAnsweredByABotUnderLoad lets the bot change without a pause, with nine more viewers beside one that is at
// work.
func TestKeysAreAnsweredByABotUnderLoad(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	for range 9 {
		h.attaches()
	}
	d := h.attaches()
	stop := make(chan struct{})
	var g sync.WaitGroup
	g.Go(func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			if _, err := h.bot.Do(t.Context(), command.SetBudget{Capacity: new(5 + i%2)}); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for _, key := range "12341234" {
		d.shows(string(key), "▸ "+string(key)+" ")
	}
	close(stop)
	g.Wait()
}

// BenchmarkKey is from a key at the client's terminal to the first bytes of what it changes.
func BenchmarkKey(b *testing.B) {
	d := open(b).attaches()
	d.out.vt = nil
	var all []time.Duration
	for i := 0; b.Loop(); i++ {
		time.Sleep(20 * time.Millisecond) // as fast as a person types
		select {
		case <-d.out.more:
		default:
		}
		began := time.Now()
		d.types(strconv.Itoa(1 + i%2))
		<-d.out.more
		all = append(all, time.Since(began))
	}
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2].Microseconds()), "µs-median")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), "µs-99%")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkAttach is from the connection to the whole first frame.
func BenchmarkAttach(b *testing.B) {
	h := open(b)
	for b.Loop() {
		d := sits(b, h.client())
		d.out.sees(b, "detach")
		b.StopTimer()
		d.stop()
		_ = d.ends()
		b.StartTimer()
	}
}
