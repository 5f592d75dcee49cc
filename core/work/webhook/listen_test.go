package webhook

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/testkit"
)

// raw opens a connection and writes the beginning of a request.
func raw(t *testing.T, l *pipes, text string) net.Conn {
	t.Helper()
	c, err := l.dial()
	must(t, err)
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
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			l := newPipes()
			stop := r.start(t, l)
			begun := time.Now()
			client, err := l.dial()
			must(t, err)
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
			stop()
		})
	}
}

func TestAFullHouseMakesRoomForWhoeverDelivers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		l := newPipes()
		stop := r.start(t, l)
		var idle []net.Conn
		for range 3 * maxConnections {
			idle = append(idle, raw(t, l, ""))
		}
		if status, _ := l.post(t, "fixed", `{"status":"up"}`); status != http.StatusAccepted {
			t.Errorf("%d", status)
		}
		open := 0
		for _, c := range idle {
			_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
			if _, err := c.Read(make([]byte, 1)); errors.Is(err, io.EOF) {
				continue
			}
			open++
			_ = c.Close()
		}
		if open == 0 || open > maxConnections {
			t.Errorf("%d idle connections are held", open)
		}
		stop()
	})
}

func TestAConnectionOnWhichADeliveryIsSavedIsNotClosed(t *testing.T) {
	g := newConnections(2)
	var ends, conns []net.Conn
	for range 4 {
		here, there := net.Pipe()
		ends, conns = append(ends, here), append(conns, there)
	}
	request := func(c net.Conn) *http.Request {
		return new(http.Request).WithContext(context.WithValue(t.Context(), connKey{}, c))
	}
	assertOpen := func(want ...bool) {
		t.Helper()
		for i, open := range want {
			_ = ends[i].SetReadDeadline(time.Now())
			if _, err := ends[i].Read(make([]byte, 1)); errors.Is(err, io.EOF) == open {
				t.Errorf("connection %d: open %t: %v", i, !open, err)
			}
		}
	}
	g.changed(conns[0], http.StateNew)
	g.changed(conns[1], http.StateNew)
	assertOpen(true, true, true, true)
	release := g.protect(request(conns[0]))
	g.changed(conns[2], http.StateNew)
	assertOpen(true, false, true, true) // the oldest one on which nothing is being saved
	g.protect(request(conns[2]))
	g.changed(conns[3], http.StateNew)
	assertOpen(true, false, true, false) // no room: a delivery is being saved on both
	if g.evict() {
		t.Error("a connection was closed while its delivery was being saved")
	}
	release()
	if !g.evict() {
		t.Error("its connection can go once the delivery is saved")
	}
	assertOpen(false, false, true, false)
	g.changed(conns[2], http.StateClosed)
	if len(g.open) != 0 || len(g.saving) != 0 {
		t.Errorf("closed connections are still listed: %d, %d", len(g.open), len(g.saving))
	}
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
	must(t, err)
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

// exhausted is a listener that sometimes has no file handle.
type exhausted struct {
	*pipes
	none atomic.Bool
}

func (l *exhausted) Accept() (net.Conn, error) {
	if l.none.Load() {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return l.pipes.Accept()
}

func TestAMomentWithoutFileHandlesPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		l := &exhausted{pipes: newPipes()}
		stop := r.start(t, l)
		idle := raw(t, l.pipes, "")
		defer idle.Close()
		synctest.Wait()
		l.none.Store(true)
		second := raw(t, l.pipes, "") // the waiting Accept takes it
		defer second.Close()
		waitFor(10 * time.Second)
		if _, err := idle.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("the oldest connection keeps its handle: %v", err)
		}
		if n := strings.Count(r.logged(), "level=ERROR"); n != 1 || !strings.Contains(r.logged(), "ulimit -n") {
			t.Errorf("told %d times:\n%s", n, r.logged())
		}
		l.none.Store(false)
		waitFor(2 * time.Second)
		if status, _ := l.post(t, "fixed", `{"status":"up"}`); status != http.StatusAccepted {
			t.Errorf("once there are handles: %d", status)
		}
		waitFor(time.Minute)
		if status, _ := l.post(t, "fixed", `{"status":"up"}`); status != http.StatusAccepted || len(r.toldAtOnce()) != 1 {
			t.Errorf("a minute later: %d, told %q", status, r.toldAtOnce())
		}
		stop()
	})
}
