package gateway

import (
	"errors"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// oneWay is a connection on which writing fails.
type oneWay struct {
	net.Conn
	err error
}

func (c oneWay) Write([]byte) (int, error) { return 0, c.err }

// upgraded is a wire over a connection that is past the HTTP answer, and the
// server's end of it.
func upgraded(t *testing.T, wrap func(net.Conn) net.Conn) (*wire, net.Conn) {
	near, far := net.Pipe()
	t.Cleanup(func() { _ = near.Close(); _ = far.Close() })
	w := newWire(wrap(near), time.Minute, func() {})
	w.frames.stage = stageHead
	return w, far
}

func TestACloseCodeThatIsOnItsWayIsReadThoughWritingFailsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, far := upgraded(t, func(c net.Conn) net.Conn { return oneWay{c, errors.New("reset")} })
		if n, err := w.Write(frame(frameText, []byte(`{"op":1,"d":5}`))); n == 0 || err != nil {
			t.Errorf("Write = %d, %v: the library must not learn of the end twice", n, err)
		}
		var send sync.WaitGroup
		send.Go(func() { _, _ = far.Write(serverFrame(frameClose, []byte{0x0f, 0xa4})) })
		defer send.Wait()
		if _, err := w.Read(make([]byte, 100)); !errors.Is(err, errEnded) {
			t.Errorf("Read = %v", err)
		}
		if c := w.cause(); c.end != endClosed || c.code != 4004 {
			t.Errorf("cause %+v", c)
		}
	})
}

func TestAWriteThatFailsEndsTheWireWhenNothingMoreIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken pipe")
		w, _ := upgraded(t, func(c net.Conn) net.Conn { return oneWay{c, broken} })
		began := time.Now()
		_, _ = w.Write(frame(frameText, []byte(`{"op":1,"d":5}`)))
		_, _ = w.Read(make([]byte, 100))
		<-w.done
		if took := time.Since(began); took != byeWait {
			t.Errorf("ended after %v", took)
		}
		want := cause{end: endLost, err: broken}
		if diff := cmp.Diff(want.sentence(), w.cause().sentence()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestTheLibrarysGoodbyeNeverLeavesAndOursDoes(t *testing.T) {
	goodbye := frame(frameClose, []byte{0x03, 0xe8})
	for name, tc := range map[string]struct {
		say  func(*wire)
		want int
	}{
		"the library's": {func(w *wire) { _, _ = w.Write(goodbye) }, 0},
		"ours":          {func(w *wire) { w.leave() }, len(goodbye)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, far := upgraded(t, func(c net.Conn) net.Conn { return c })
				got := make(chan int, 1)
				var read sync.WaitGroup
				read.Go(func() {
					n, _ := far.Read(make([]byte, 100))
					got <- n
				})
				defer read.Wait()
				tc.say(w)
				_ = w.Close()
				if n := <-got; n != tc.want {
					t.Errorf("%d bytes left, want %d", n, tc.want)
				}
			})
		})
	}
}
