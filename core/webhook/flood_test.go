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
	"syscall"
	"testing"
	"time"
)

func TestTenThousandIdleConnectionsLeaveTheBotAlive(t *testing.T) {
	const idle = 10_000
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur < idle+4*maxConnections {
		t.Skipf("this machine allows %d open files, %v", limit.Cur, err)
	}
	r := newRig(t, nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	stop := r.start(t, l)
	defer stop()
	conns := make([]net.Conn, 0, idle)
	defer func() {
		for _, c := range conns {
			_ = c.Close()
		}
	}()
	for i := range idle {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		conns = append(conns, c)
		if i%1000 == 999 {
			status, answer, err := Deliver(t.Context(), l.Addr().String(), secret, "fixed", []byte(`{"status":"up"}`))
			if status != http.StatusAccepted || err != nil {
				t.Fatalf("beside %d idle connections: %d %s %v", i+1, status, answer, err)
			}
		}
	}
}

// A thousand deliveries a second from eight senders, paced; what is reported is
// the time to the answer. Most are refused, by the token, the schema or the
// rate: that is what a thousand a second come to.
func BenchmarkAThousandDeliveriesASecond(b *testing.B) {
	r := newRig(b, func(o *Options) {
		o.Run = func(context.Context, Job) error { return nil }
	})
	for i := range 64 { // enough webhooks that not everything is refused by the rate
		put(b, r.dir, fmt.Sprintf("w%d.md", i), strings.Replace(fixedSpec, "id: fixed", fmt.Sprintf("id: w%d", i), 1))
	}
	r.index.Scan()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	stop := r.start(b, l)
	defer stop()
	const senders = 8
	client := http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: senders}}
	var next, accepted atomic.Int64
	var mu sync.Mutex
	var took []time.Duration
	b.ResetTimer()
	begun := time.Now()
	var g sync.WaitGroup
	for range senders {
		g.Go(func() {
			for {
				i := next.Add(1) - 1
				if i >= int64(b.N) {
					return
				}
				due := begun.Add(time.Duration(i) * time.Millisecond)
				time.Sleep(time.Until(due))
				status, d := one(b, &client, l.Addr().String(), int(i))
				if status == http.StatusAccepted {
					accepted.Add(1)
				}
				mu.Lock()
				took = append(took, d)
				mu.Unlock()
			}
		})
	}
	g.Wait()
	elapsed := time.Since(begun)
	b.StopTimer()
	slices.Sort(took)
	at := func(p float64) float64 {
		return float64(took[min(len(took)-1, int(p*float64(len(took))))].Microseconds()) / 1000
	}
	b.ReportMetric(float64(b.N)/elapsed.Seconds(), "deliveries/s")
	b.ReportMetric(at(0.50), "p50-ms")
	b.ReportMetric(at(0.99), "p99-ms")
	b.ReportMetric(at(0.999), "p99.9-ms")
	b.ReportMetric(100*float64(accepted.Load())/float64(b.N), "%accepted")
}

// one delivery: of eight, one has the wrong token and one a bad payload.
func one(b *testing.B, client *http.Client, addr string, i int) (int, time.Duration) {
	body, token := `{"status":"up","n":12}`, "Bearer "+secret
	switch i % 8 {
	case 3:
		token = "Bearer wrong"
	case 5:
		body = `{"status":"sideways","n":"x"}`
	}
	request, err := http.NewRequest(http.MethodPost, fmt.Sprintf("http://%s/hook/w%d", addr, i%64), strings.NewReader(body))
	if err != nil {
		b.Error(err)
		return 0, 0
	}
	request.Header.Set("Authorization", token)
	begun := time.Now()
	response, err := client.Do(request)
	if err != nil {
		b.Error(err)
		return 0, 0
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	return response.StatusCode, time.Since(begun)
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
