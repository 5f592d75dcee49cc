package webhook

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/testkit"
)

// raw opens a connection and writes the beginning of a request.
func raw(t *testing.T, l *pipes, text string) net.Conn {
	t.Helper()
	c, err := l.dial()
	testkit.Must(t, err)
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSlowClientsAreCutOffInTime(t *testing.T) {
	head := "POST /hook/open HTTP/1.1\r\nHost: x\r\n"
	whole := head + "Authorization: Bearer " + secret + "\r\nContent-Length: 900\r\n\r\n"
	for name, c := range map[string]struct {
		text  string
		after time.Duration
		want  string // the status of the answer, or nothing
	}{
		"silent":     {"", headerTimeout, ""},
		"header":     {head, headerTimeout, ""},
		"body":       {whole + `{"note":`, readTimeout, "408"},
		"strangers":  {head + "Content-Length: 900\r\n\r\n", 0, "401"},
		"large head": {head + "X: " + strings.Repeat("a", 20000) + "\r\n", 0, "431"},
	} {
		serving(t, nil, func(t *testing.T, r *rig, l *pipes) {
			begun := time.Now()
			client, err := l.dial()
			testkit.Must(t, err)
			var sending sync.WaitGroup
			sending.Go(func() { _, _ = io.WriteString(client, c.text) }) // the server may stop reading midway
			answer, _ := bufio.NewReader(client).ReadString('\n')
			if took := time.Since(begun); took > c.after+time.Second || took < c.after {
				t.Errorf("%s: an answer or an end after %s", name, took)
			}
			if c.want != "" && !strings.Contains(answer, " "+c.want+" ") || c.want == "" && answer != "" {
				t.Errorf("%s: %q", name, answer)
			}
			if status, text := l.post(t, "fixed", `{"status":"up"}`); status != http.StatusAccepted {
				t.Errorf("%s: others get %d %s", name, status, text)
			}
			_ = client.Close()
			sending.Wait()
		})
	}
}

func TestAFullHouseLastsUntilItsSilentClientsAreCutOff(t *testing.T) {
	serving(t, nil, func(t *testing.T, r *rig, l *pipes) {
		for range maxConnections {
			defer raw(t, l, "").Close()
		}
		begun := time.Now()
		if status, _ := l.post(t, "fixed", `{"status":"up"}`); status != http.StatusAccepted || time.Since(begun) != headerTimeout {
			t.Errorf("answered %d after %s", status, time.Since(begun))
		}
	})
}

func TestAPortThatIsTakenIsToldWithItsCureAndTakenWhenItIsFree(t *testing.T) {
	testkit.Alone(t)
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		l := newPipes()
		var taken atomic.Bool
		taken.Store(true)
		ctx, cancel := context.WithCancel(t.Context())
		var g sync.WaitGroup
		g.Go(func() {
			if err := r.run(ctx, func(context.Context) (net.Listener, error) {
				if taken.Load() {
					return nil, errors.New("address already in use; choose another WEBHOOK_PORT")
				}
				return l, nil
			}); err != nil {
				t.Error(err)
			}
		})
		waitFor(10 * time.Minute)
		if n := strings.Count(r.logged(), "level=ERROR"); n != 1 || !strings.Contains(r.logged(), "WEBHOOK_PORT") || r.Addr() != "" {
			t.Errorf("told %d times:\n%s", n, r.logged())
		}
		taken.Store(false)
		waitFor(retryEvery)
		if status, _ := l.post(t, "fixed", `{"status":"up"}`); status != http.StatusAccepted {
			t.Errorf("once it is free: %d", status)
		}
		if len(r.toldAtOnce()) != 1 || r.toldAtOnce()[0] != textTakenAgain {
			t.Errorf("told %q", r.toldAtOnce())
		}
		cancel()
		g.Wait()
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	defer l.Close()
	r := newRig(t, func(o *Options) { o.Addr = l.Addr().String() })
	ctx, cancel := context.WithCancel(t.Context())
	var g sync.WaitGroup
	g.Go(func() { _ = r.Run(ctx) })
	for !strings.Contains(r.logged(), "WEBHOOK_PORT") {
		runtime.Gosched()
	}
	cancel()
	g.Wait()
}

func TestAListenerThatDiesIsToldAndReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		var l *pipes
		ctx, cancel := context.WithCancel(t.Context())
		var g sync.WaitGroup
		g.Go(func() {
			_ = r.run(ctx, func(context.Context) (net.Listener, error) { l = newPipes(); return l, nil })
		})
		synctest.Wait()
		if status, _ := l.post(t, "fixed", `{"status":"up"}`); status != http.StatusAccepted {
			t.Errorf("before: %d", status)
		}
		_ = l.Close()
		waitFor(2 * stopTimeout)
		if r.Addr() != "" || !strings.Contains(r.logged(), textNotTaken) {
			t.Errorf("at %q, log %s", r.Addr(), r.logged())
		}
		waitFor(time.Minute)
		if status, _ := l.post(t, "fixed", `{"status":"up"}`); status != http.StatusAccepted || r.Addr() == "" {
			t.Errorf("a minute later: %d", status)
		}
		cancel()
		g.Wait()
	})
}
