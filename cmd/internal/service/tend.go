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

// tellEvery is how often the supervisor hears of the bot where it has set no watchdog.
const tellEvery = 30 * time.Second

// Bot is what a supervisor hears of. The functions are called by one goroutine.
type Bot struct {
	// Alive proves that the bot does its work; it may wait until ctx ends.
	Alive func(ctx context.Context) error
	// Status is how things stand, in a line.
	Status func() string
	// Reload reads the settings again.
	Reload func()
	// Again reports whether the end that has come is that of a program which begins
	// anew in the same process.
	Again func() bool
	Log   *slog.Logger
}

// Tend tells the supervisor (sd_notify) how the bot stands until ctx ends: that it is
// ready once it has proved to live, that it goes on, for the watchdog, only as often as it
// proves so again, and that it ends. What comes from reload has it read its settings
// again. Without a supervisor only that is done.
func Tend(ctx context.Context, b Bot, reload <-chan os.Signal) error {
	every := tellEvery
	watchdog, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		b.Log.Warn("the supervisor's watchdog was not understood", "error", err)
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
			b.Log.Error("the bot does not get on: the watchdog is not fed", "error", err)
			b.tell("STATUS=does not get on: " + clean.FirstLine(err.Error(), maxSaid))
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
				b.tell("STOPPING=1\nSTATUS=ends")
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

// tell sends a message to the supervisor; where there is none, nothing.
func (b Bot) tell(state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		b.Log.Warn("the supervisor was not reached", "error", err)
	}
}

// reloading is the message before a reload, with the clock that systemd wants.
func reloading() string {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) // this clock is always there
	return fmt.Sprintf("RELOADING=1\nMONOTONIC_USEC=%d", now.Nano()/1000)
}
