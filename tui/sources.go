package tui

import (
	"context"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"
)

// The messages that do not come from the user.
type (
	changedMsg struct{}                // the core has something new
	rearmMsg   struct{}                // wait for the core again
	paintMsg   struct{}                // paint a frame that had to wait
	tickMsg    struct{}                // a second or a minute has passed
	signalMsg  struct{ sig os.Signal } // from the terminal
)

// sources waits for messages from the core, the terminal and the clock, until ctx ends.
type sources struct {
	ctx     context.Context
	core    interface{ Changed() <-chan struct{} }
	signals <-chan os.Signal
	timer   *time.Timer
}

// await waits for a value and makes a message of it.
func await[T any](ctx context.Context, c <-chan T, message func(T) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		select {
		case v := <-c:
			return message(v)
		case <-ctx.Done():
			return nil
		}
	}
}

func (s *sources) changed() tea.Cmd {
	return await(s.ctx, s.core.Changed(), func(struct{}) tea.Msg { return changedMsg{} })
}

func (s *sources) signal() tea.Cmd {
	return await(s.ctx, s.signals, func(sig os.Signal) tea.Msg { return signalMsg{sig} })
}

func (s *sources) tick() tea.Cmd {
	return await(s.ctx, s.timer.C, func(time.Time) tea.Msg { return tickMsg{} })
}

// schedule sets the time of the next tick: the next full second or minute.
func (s *sources) schedule(now time.Time, every time.Duration) {
	s.timer.Reset(now.Truncate(every).Add(every).Sub(now))
}

// after sends a message after a while. Unlike tea.Tick it ends with ctx.
func (s *sources) after(d time.Duration, msg tea.Msg) tea.Cmd {
	return await(s.ctx, time.After(d), func(time.Time) tea.Msg { return msg })
}
