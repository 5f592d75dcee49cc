package webhook

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
)

// Paced deliveries over loopback. All of them are accepted, so each answer waits for the
// disk. The benchmark reports the time to the answer.
func BenchmarkAccepted(b *testing.B) {
	for _, perSecond := range []int{10, 100} {
		b.Run(fmt.Sprint(perSecond), func(b *testing.B) { acceptedAt(b, perSecond) })
	}
}

func acceptedAt(b *testing.B, perSecond int) {
	const hooks, senders = 500, 128 // enough that neither the rate limit nor a slow answer matters
	r := newRig(b, func(o *Options) {
		o.Run = func(context.Context, Job) error { return nil }
	})
	for i := range hooks {
		put(b, r.dir, fmt.Sprintf("w%d.md", i), strings.Replace(fixedSpec, "id: fixed", fmt.Sprintf("id: w%d", i), 1))
	}
	r.index.Scan()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(b, err)
	stop := r.start(b, l)
	defer stop()
	client := http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: senders}}
	var next, accepted atomic.Int64
	took := make([]time.Duration, b.N)
	b.ResetTimer()
	begun := time.Now()
	var bare []time.Duration // the disk's own time in the same period
	var g sync.WaitGroup
	g.Go(func() {
		for more := true; more; more = next.Load() < int64(b.N) {
			sent := time.Now()
			if err := r.dir.Append("bare", []byte("a line")); err != nil {
				b.Error(err)
			}
			bare = append(bare, time.Since(sent))
			time.Sleep(20 * time.Millisecond)
		}
	})
	for range senders {
		g.Go(func() {
			for {
				i := next.Add(1) - 1
				if i >= int64(b.N) {
					return
				}
				due := begun.Add(time.Duration(i) * time.Second / time.Duration(perSecond))
				time.Sleep(time.Until(due))
				sent := time.Now()
				if one(b, &client, l.Addr().String(), int(i)%hooks) == http.StatusAccepted {
					accepted.Add(1)
				}
				took[i] = time.Since(sent)
			}
		})
	}
	g.Wait()
	elapsed := time.Since(begun)
	b.StopTimer()
	at := func(list []time.Duration, p float64) float64 {
		slices.Sort(list)
		return float64(list[min(len(list)-1, int(p*float64(len(list))))].Microseconds()) / 1000
	}
	b.ReportMetric(float64(b.N)/elapsed.Seconds(), "deliveries/s")
	b.ReportMetric(at(took, 0.50), "p50-ms")
	b.ReportMetric(at(took, 0.99), "p99-ms")
	b.ReportMetric(at(bare, 0.50), "bare-sync-p50-ms")
	b.ReportMetric(at(bare, 0.99), "bare-sync-p99-ms")
	b.ReportMetric(100*float64(accepted.Load())/float64(b.N), "%accepted")
}

// one sends a delivery to a webhook and returns the status of the answer.
func one(b *testing.B, client *http.Client, addr string, hook int) int {
	request, err := http.NewRequest(http.MethodPost, fmt.Sprintf("http://%s/hook/w%d", addr, hook), strings.NewReader(`{"status":"up","n":12}`))
	if err != nil {
		b.Error(err)
		return 0
	}
	request.Header.Set("Authorization", "Bearer "+secret)
	response, err := client.Do(request)
	if err != nil {
		b.Error(err)
		return 0
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	return response.StatusCode
}

func BenchmarkCheck(b *testing.B) {
	s := parsed(b, ciSpec)
	payload := []byte(`{"repo":"ollim-bot","status":"failure","branch":"main","run":12}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Check(payload); err != nil {
			b.Fatal(err)
		}
	}
}
