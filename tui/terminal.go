package tui

import (
	"context"
	"errors"
	"fmt"
	"io"

	"ollimbot/core/base/clean"
	"ollimbot/tui/keyboard"
	"ollimbot/tui/screen"
)

// terminal is what the dashboard runs on. It can be lent to another program.
type terminal struct {
	screen   *screen.Screen     // nil where only frames are drawn
	keyboard *keyboard.Keyboard // nil where no input is read
	in       io.Reader
	out      io.Writer
	env      []string // of the programs that it is lent to
	remote   *Remote  // nil for a terminal of this process
}

func newTerminal(o Options) *terminal {
	return &terminal{in: o.Input, out: o.Output, env: o.Env, remote: o.Remote}
}

// lend runs a program on the terminal and takes the terminal back, however the program
// ended. Nothing is painted and no key is read until then.
func (t *terminal) lend(ctx context.Context, argv []string) error {
	return t.without(ctx, func() error {
		if t.remote != nil {
			return t.remote.Run(ctx, argv)
		}
		return screen.Program(ctx, argv, t.env, t.in, t.out)
	})
}

// without gives the terminal back while f runs. Once ctx has ended it is not taken again.
func (t *terminal) without(ctx context.Context, f func() error) (err error) {
	if t.keyboard != nil {
		t.keyboard.Stop()
	}
	defer func() {
		if ctx.Err() != nil {
			return
		}
		if back := t.screen.Open(); back != nil {
			err = errors.Join(err, fmt.Errorf("take the terminal back: %w", back))
		}
		if t.keyboard != nil {
			err = errors.Join(err, t.keyboard.Start())
		}
	}()
	if err := t.screen.Close(); err != nil {
		return fmt.Errorf("hand the terminal over: %w", err)
	}
	return f()
}

// suspend stops the program, or that of a viewer, until its shell continues it.
func (t *terminal) suspend(ctx context.Context) (stopped bool, err error) {
	switch {
	case t.screen == nil, t.remote != nil && t.remote.Suspend == nil:
		return false, nil
	case t.remote != nil:
		return true, t.without(ctx, func() error { return t.remote.Suspend(ctx) })
	}
	return t.screen.Suspend(textPaused)
}

// reopen sets the terminal up again after the shell has had it.
func (t *terminal) reopen() error { return errors.Join(t.screen.Close(), t.screen.Open()) }

// setTitle names the window.
func (t *terminal) setTitle(title string) error {
	if t.screen == nil {
		return nil
	}
	return t.screen.SetTitle(title)
}

// alert gets the user's attention in the way that is chosen, one of settings.Bells.
func (t *terminal) alert(bell, text string) error {
	switch {
	case t.screen == nil:
	case bell == "bell":
		return t.screen.Bell()
	case bell == "notify":
		return t.screen.Notify(clean.Line(text))
	}
	return nil
}
