package tui

import (
	"context"
	"os"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/time/rate"
)

// Remote is a dashboard over a connection: Input and Output are a terminal of ours that
// the other end looks at, Env are the other end's variables. Its user leaves it, and the
// bot goes on.
type Remote struct {
	// Host is where the bot runs, for the top line; empty on the same machine.
	Host string
	// Signals gives SIGWINCH when the terminal has another size.
	Signals <-chan os.Signal
	// Programs is the environment of what is started on the terminal: of the bot, never
	// of the other end.
	Programs []string
	// Heard is told of each key, click and paste, Opened of each file that is opened in
	// the editor; nil tells nobody.
	Heard  func()
	Opened func(file string)
}

// What a viewer may send, in keys and clicks a second, and at once. Each costs a frame;
// who sends more waits, and only they.
const (
	pace  = 60
	burst = 300
)

// filter slows down what comes in faster than a person types. A nil Remote slows nothing.
func (o *Remote) filter(ctx context.Context) func(tea.Model, tea.Msg) tea.Msg {
	limit := rate.NewLimiter(pace, burst)
	return func(_ tea.Model, msg tea.Msg) tea.Msg {
		switch msg.(type) {
		case tea.KeyMsg, tea.MouseMsg, tea.PasteMsg, tea.FocusMsg, tea.BlurMsg, tea.BackgroundColorMsg, signalMsg:
			if o == nil {
				break
			}
			_ = limit.Wait(ctx) // its only error is that the dashboard ends
			if _, key := msg.(signalMsg); !key && o.Heard != nil {
				o.Heard()
			}
		}
		return msg
	}
}
