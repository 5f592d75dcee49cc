package service

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"ollimbot/core/base/clean"

	"github.com/coreos/go-systemd/v22/daemon"
	"golang.org/x/sys/unix"
)

// tellEvery is how often the state is reported without a watchdog.
const tellEvery = 30 * time.Second

// Bot is what is reported to a supervisor. The functions are called from one goroutine.
type Bot struct {
	// Alive proves that the bot is working; it may block until ctx ends.
	Alive func(ctx context.Context) error
	// Status describes the state in one line.
	Status func() string
	// Reload reloads the settings.
	Reload func()
	// Again reports whether the program ends only to restart in the same process.
	Again func() bool
	Log   *slog.Logger
}

// Tend reports to the supervisor (sd_notify) until ctx ends: that the bot is ready once
// Alive has succeeded, to the watchdog whenever it succeeds again, and that it stops. A
// signal on reload reloads the settings; without a supervisor that is all it does.
func Tend(ctx context.Context, b Bot, reload <-chan os.Signal) error {
	every := tellEvery
	watchdog, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		b.Log.Warn("the supervisor's watchdog interval is invalid", "error", err)
	}
	if watchdog > 0 {
		every = watchdog / 4
	}
	ready := false
	look := func() {
		if os.Getenv("NOTIFY_SOCKET") == "" {
			return
		}
		within, stop := context.WithTimeout(ctx, every)
		defer stop()
		err := b.Alive(within)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			b.Log.Error("the bot is stuck; the watchdog is not notified", "error", err)
			b.tell("STATUS=stuck: " + clean.FirstLine(err.Error(), maxSaid))
		case !ready:
			ready = true
			b.tell("READY=1\nWATCHDOG=1\nSTATUS=" + clean.FirstLine(b.Status(), maxSaid))
		default:
			b.tell("WATCHDOG=1\nSTATUS=" + clean.FirstLine(b.Status(), maxSaid))
		}
	}
	look()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			if b.Again() {
				b.tell(reloading())
			} else {
				b.tell("STOPPING=1\nSTATUS=stopping")
			}
			return nil
		case <-reload:
			b.tell(reloading())
			b.Reload()
			b.tell("READY=1\nSTATUS=" + clean.FirstLine(b.Status(), maxSaid))
		case <-tick.C:
			look()
		}
	}
}

// tell sends a message to the supervisor, if there is one.
func (b Bot) tell(state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		b.Log.Warn("the supervisor could not be reached", "error", err)
	}
}

// reloading is the message before a reload, with the clock that systemd requires.
func reloading() string {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) // this clock always exists
	return fmt.Sprintf("RELOADING=1\nMONOTONIC_USEC=%d", now.Nano()/1000)
}
