package attach_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
)

// TestKeysAreAnsweredByABotUnderLoad lets ten runs talk and the log fill, with nine more
// viewers beside one that is at work.
func TestKeysAreAnsweredByABotUnderLoad(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	for range 9 {
		h.attaches("", "").out.sees(t, "Ping budget")
	}
	v := h.attaches("", "")
	v.out.sees(t, "Ping budget")
	stop := make(chan struct{})
	var g sync.WaitGroup
	g.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
			if _, err := h.bot.Do(t.Context(), command.SetBudget{Capacity: new(5 + i%2)}); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for _, key := range "12341234" {
		v.types(string(key))
		v.out.sees(t, "▸ "+string(key)+" ")
	}
	close(stop)
	g.Wait()
}

// BenchmarkKey is from a key at the client to the first bytes of what it changes, over the
// socket and over the port.
func BenchmarkKey(b *testing.B) {
	h := open(b)
	for name, key := range map[string]string{"socket": "", "port": h.key("")} {
		b.Run(name, func(b *testing.B) {
			v := h.attaches(key, "")
			v.out.sees(b, "Ping budget")
			v.out.vt = nil
			var all []time.Duration
			for i := 0; b.Loop(); i++ {
				time.Sleep(20 * time.Millisecond) // as fast as nobody types
				select {
				case <-v.out.more:
				default:
				}
				began := time.Now()
				v.types(fmt.Sprint(1 + i%2))
				<-v.out.more
				all = append(all, time.Since(began))
			}
			slices.Sort(all)
			b.ReportMetric(float64(all[len(all)/2].Microseconds()), "µs-median")
			b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), "µs-99%")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkAttach is from the connection to the whole first frame.
func BenchmarkAttach(b *testing.B) {
	h := open(b)
	for name, key := range map[string]string{"socket": "", "port": h.key("")} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				v := h.attaches(key, "")
				v.out.sees(b, "detach")
				b.StopTimer()
				_ = v.conn.Close()
				v.leaves()
				b.StartTimer()
			}
		})
	}
}
