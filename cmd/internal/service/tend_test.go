package service

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/base/testkit"
)

// supervisor is a socket such as systemd's, and the bot that speaks to it.
type supervisor struct {
	t      *testing.T
	socket *net.UnixConn
	hangup chan os.Signal
	alive  atomic.Pointer[error] // what Alive answers
	again  atomic.Bool
	reads  atomic.Int32 // of the settings
	end    func()
}

func supervised(t *testing.T, watchdog string, alive error) *supervisor {
	t.Helper()
	dir, err := os.MkdirTemp("", "n")
	testkit.Must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	testkit.Must(t, err)
	t.Setenv("NOTIFY_SOCKET", path)
	t.Setenv("WATCHDOG_USEC", watchdog)
	t.Setenv("WATCHDOG_PID", "")
	s := &supervisor{t: t, socket: socket, hangup: make(chan os.Signal, 1)}
	s.lives(alive)
	ctx, stop := context.WithCancel(t.Context())
	var ended errgroup.Group
	ended.Go(func() error {
		return Tend(ctx, Bot{
			Alive:  func(context.Context) error { return *s.alive.Load() },
			Status: func() string { return "3 routines\nsecond line" },
			Reload: func() { s.reads.Add(1) },
			Again:  s.again.Load,
			Log:    slog.New(slog.NewTextHandler(t.Output(), nil)),
		}, s.hangup)
	})
	s.end = func() {
		stop()
		testkit.Must(t, ended.Wait())
	}
	t.Cleanup(func() { // its last word goes to whatever socket the environment names then
		s.end()
		_ = socket.Close()
	})
	return s
}

func (s *supervisor) lives(err error) { s.alive.Store(&err) }

// hears waits for a message that has all parts, and skips others.
func (s *supervisor) hears(parts ...string) string {
	s.t.Helper()
	testkit.Must(s.t, s.socket.SetReadDeadline(time.Now().Add(10*time.Second)))
	buf := make([]byte, 4096)
	for {
		n, err := s.socket.Read(buf)
		if err != nil {
			s.t.Fatalf("no message with %q: %v", parts, err)
		}
		text, all := string(buf[:n]), true
		for _, part := range parts {
			all = all && strings.Contains(text, part)
		}
		if all {
			return text
		}
	}
}

func TestASupervisorHearsOfReadinessReloadAndEnd(t *testing.T) {
	s := supervised(t, "", nil)
	if text := s.hears("READY=1"); !strings.HasSuffix(text, "STATUS=3 routines") {
		t.Errorf("ready is reported as %q", text)
	}
	s.hangup <- syscall.SIGHUP
	s.hears("RELOADING=1\nMONOTONIC_USEC=")
	s.hears("READY=1")
	if s.reads.Load() != 1 {
		t.Errorf("the settings were read %d times", s.reads.Load())
	}
	s.end()
	s.hears("STOPPING=1")
}

func TestTheWatchdogIsFedOnlyWhileTheBotLives(t *testing.T) {
	s := supervised(t, "80000", nil) // a look every 20 ms
	s.hears("READY=1", "WATCHDOG=1")
	s.hears("WATCHDOG=1")
	s.lives(errors.New("the schedule makes no step"))
	s.hears("STATUS=stuck: the schedule makes no step")
	for range 5 {
		if text := s.hears("STATUS="); strings.Contains(text, "WATCHDOG") {
			t.Fatalf("a stuck bot feeds the watchdog: %q", text)
		}
	}
	s.lives(nil)
	if text := s.hears("WATCHDOG=1"); strings.Contains(text, "READY") {
		t.Errorf("it is ready twice: %q", text)
	}
}

func TestABotIsReadyOnceItLives(t *testing.T) {
	s := supervised(t, "80000", errors.New("not yet"))
	if text := s.hears("STATUS"); strings.Contains(text, "READY") {
		t.Errorf("a bot that does not live is ready: %q", text)
	}
	s.lives(nil)
	s.hears("READY=1")
}

func TestABotThatStartsAgainDoesNotSayThatItEnds(t *testing.T) {
	s := supervised(t, "", nil)
	s.hears("READY=1")
	s.again.Store(true)
	s.end()
	if text := s.hears("1"); strings.Contains(text, "STOPPING") || !strings.Contains(text, "RELOADING=1") {
		t.Errorf("it says %q: systemd would end it", text)
	}
}
