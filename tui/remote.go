package tui

import (
	"context"
	"os"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/time/rate"
)

// Remote describes a dashboard over a connection. Options.Input and Options.Output are a
// local terminal that is forwarded to the viewer, and Options.Env is the viewer's
// environment. When the viewer quits, the bot keeps running.
type Remote struct {
	// Host is the bot's host for the top line; empty if the viewer is on the same machine.
	Host string
	// Signals receives SIGWINCH when the terminal is resized.
	Signals <-chan os.Signal
	// Programs is the environment of programs started on the terminal: the bot's, never
	// the viewer's.
	Programs []string
	// OnInput is called for each key, click and paste; nil is ignored.
	OnInput func()
	// OnOpen is called for each file that is opened in the editor; nil is ignored.
	OnOpen func(file string)
}

// The rate limit of a viewer: pace is events a second, burst is events at once. Each event
// costs a frame. A faster viewer slows down only itself.
const (
	pace  = 60
	burst = 300
)

// filter applies the rate limit to input events. A nil Remote has no limit.
func (o *Remote) filter(ctx context.Context) func(tea.Model, tea.Msg) tea.Msg {
	limit := rate.NewLimiter(pace, burst)
	return func(_ tea.Model, msg tea.Msg) tea.Msg {
		switch msg.(type) {
		case tea.KeyMsg, tea.MouseMsg, tea.PasteMsg, tea.FocusMsg, tea.BlurMsg, tea.BackgroundColorMsg, signalMsg:
			if o == nil {
				break
			}
			_ = limit.Wait(ctx) // it fails only if ctx ends
			if _, signal := msg.(signalMsg); !signal && o.OnInput != nil {
				o.OnInput()
			}
		}
		return msg
	}
}
