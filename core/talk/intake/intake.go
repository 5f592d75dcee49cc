// Package intake passes the user's messages and button presses to the conversation, and
// records which ping they answer. It must not know where the input comes from or how a
// turn runs.
package intake

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"ollimbot/core/command"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/absence"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/routines/when"
)

// Conversation accepts messages and button presses. It may block on a file.
type Conversation interface {
	Receive(ctx context.Context, c command.Receive) (answered <-chan error, err error)
	Reword(from, key, text string, gone bool) error
	Click(ctx context.Context, message post.MessageID, id string) (reply string, err error)
	DeliverUpdates() (n int, answered <-chan error, err error)
	Interrupt(ctx context.Context) error
}

// Forks opens and closes the interactive fork.
type Forks interface {
	Resume(session, title string, ended time.Time) error
	ExitFork(how command.Exit) error
}

// Options configure a Desk; all are required.
type Options struct {
	Dir     *store.Dir
	Zone    *time.Location
	Log     *slog.Logger
	Chat    Conversation
	Forks   Forks
	Runs    func() []fork.View // the listed ones
	Journal *budget.Journal
	Present *absence.Keeper
	Book    *transcript.Chat
	// Times reads times as the user says them.
	Times func() when.Reader
	// Slash returns the host for a line that begins with "/".
	Slash func() command.Host
	// Remind answers a reminder with a button on a message.
	Remind func(ctx context.Context, c command.Remind, pressed post.MessageID) (command.Outcome, error)
	// Review decides about an agent's edit with a button.
	Review func(ctx context.Context, allow bool, version string) (command.Outcome, error)
	// Press handles a control of a card or a ping. ok is false for other controls.
	Press func(ctx context.Context, c command.Click) (out command.Outcome, ok bool, err error)
}

// Desk handles the user's input. Its methods are safe for concurrent use.
type Desk struct{ o Options }

// New returns a Desk.
func New(o Options) *Desk { return &Desk{o} }

// Handlers returns the handlers for the Desk's commands.
func (d *Desk) Handlers() []command.Handler {
	return []command.Handler{
		command.On(command.Running, d.say),
		command.On(command.Running, d.receive),
		command.On(command.Running, d.click),
		command.On(command.Running, d.deliver),
		command.On(command.Running, d.resume),
		command.On(command.Running, func(ctx context.Context, c command.Slash) (command.Outcome, error) {
			host := d.o.Slash()
			out, err := c.CarryOut(ctx, host)
			if err == nil {
				out.Card, out.Picture = c.Card(host), c.Picture()
			}
			return out, err
		}),
		command.On(command.Directory, func(ctx context.Context, c command.SetConfig) (command.Outcome, error) {
			return c.CarryOut(ctx, d.o.Slash())
		}),
		command.On(command.Running, func(_ context.Context, c command.Reword) (command.Outcome, error) {
			return command.Outcome{}, d.o.Chat.Reword(c.From, c.Key, c.Text, c.Gone)
		}),
		command.On(command.Running, func(ctx context.Context, _ command.Interrupt) (command.Outcome, error) {
			return command.Outcome{}, d.o.Chat.Interrupt(ctx)
		}),
		command.On(command.Running, func(_ context.Context, c command.ExitFork) (command.Outcome, error) {
			return command.Outcome{}, d.o.Forks.ExitFork(c.How)
		}),
		command.On(command.Running, func(context.Context, command.UserActive) (command.Outcome, error) {
			d.o.Present.UserActive(d.now())
			return command.Outcome{}, nil
		}),
	}
}

// say handles a line from the dashboard: a command, or a message for the conversation.
func (d *Desk) say(ctx context.Context, c command.Say) (command.Outcome, error) {
	text := strings.TrimSpace(c.Text)
	if strings.HasPrefix(text, "/") {
		d.o.Present.UserActive(d.now())
		out, err := command.Slash{Line: text, Sure: c.Sure}.CarryOut(ctx, d.o.Slash())
		if err == nil && out.Message != "" {
			d.o.Book.Add(transcript.Notice, out.Message)
		}
		return out, err
	}
	d.answered(budget.Move{At: d.now(), To: string(c.ReplyTo)})
	done, err := d.o.Chat.Receive(ctx, command.Receive{Text: text, ReplyTo: c.ReplyTo})
	return command.Outcome{Done: done}, err
}

// receive handles a message from another surface.
func (d *Desk) receive(ctx context.Context, c command.Receive) (command.Outcome, error) {
	m := budget.Move{At: d.now(), To: string(c.ReplyTo)}
	if !c.At.IsZero() {
		m.At = c.At
	}
	d.answered(m)
	done, err := d.o.Chat.Receive(ctx, c)
	return command.Outcome{Done: done}, err
}

// words maps the buttons of a reminder to its answers.
var words = map[string]command.Word{
	post.RemindDone: command.Done, post.RemindLater: command.Later, post.RemindNotToday: command.NotToday,
}

// until parses the time entered in a form; empty means the zero time.
func until(typed string, read when.Reader) (time.Time, error) {
	if typed == "" {
		return time.Time{}, nil
	}
	return read.Moment(typed)
}

// click handles a button press: on a reminder it answers that, on an edit it decides it,
// on a card or ping it does what the button says. All others go to the conversation.
func (d *Desk) click(ctx context.Context, c command.Click) (command.Outcome, error) {
	action, id, _ := post.ParseCustomID(c.ID)
	if action == post.PingUseless || c.Message == "" { // the opposite of an answer, or not about a message of the bot
		d.o.Present.UserActive(d.now())
	} else {
		d.answered(budget.Move{At: d.now(), To: string(c.Message), Pressed: true})
	}
	if word, ok := words[action]; ok {
		until, err := until(c.Value, d.o.Times())
		if err != nil {
			return command.Outcome{}, err
		}
		return d.o.Remind(ctx, command.Remind{ID: id, Word: word, Until: until}, c.Message)
	}
	if action == post.EditAllow || action == post.EditRefuse {
		return d.o.Review(ctx, action == post.EditAllow, id)
	}
	if out, ok, err := d.o.Press(ctx, c); ok {
		return out, err
	}
	reply, err := d.o.Chat.Click(ctx, c.Message, c.ID)
	return command.Outcome{Message: reply}, err
}

// answered records that the user is active, and which ping they answer. It is called
// before the action itself: if the program ends between the two, the action is repeated,
// and a recorded answer stays unchanged.
func (d *Desk) answered(m budget.Move) {
	d.o.Present.UserActive(d.now())
	if err := d.o.Journal.Answer(m); err != nil {
		d.o.Log.Warn("the answer to a ping was not written down", "error", err)
	}
}

// deliver starts a turn that delivers the pending updates to the main session.
func (d *Desk) deliver(context.Context, command.DeliverNow) (command.Outcome, error) {
	n, done, err := d.o.Chat.DeliverUpdates()
	switch {
	case err != nil:
		return command.Outcome{}, err
	case n == 0:
		return command.Outcome{Message: textNothingPending}, nil
	case n == 1:
		return command.Outcome{Message: textDeliverOne, Done: done}, nil
	}
	return command.Outcome{Message: fmt.Sprintf(textDeliverMany, n), Done: done}, nil
}

// resume continues a finished run in its own session, as an interactive fork.
func (d *Desk) resume(_ context.Context, c command.ResumeFork) (command.Outcome, error) {
	v, err := d.run(c.Run)
	if err != nil {
		return command.Outcome{}, err
	}
	if v.Live() || v.Session == "" {
		return command.Outcome{}, fmt.Errorf(textCannotResume, v.Title)
	}
	return command.Outcome{Message: fmt.Sprintf(textResuming, v.Title)}, d.o.Forks.Resume(v.Session, v.Title, v.Ended)
}

// run finds a run among the listed ones, or in the ledger.
func (d *Desk) run(id string) (fork.View, error) {
	listed := d.o.Runs()
	if i := slices.IndexFunc(listed, func(v fork.View) bool { return v.ID == id }); i >= 0 {
		return listed[i], nil
	}
	v, ok, err := fork.Find(d.o.Dir, id)
	if !ok {
		return v, cmp.Or(err, fmt.Errorf(textNoRun, id))
	}
	return v, nil
}

func (d *Desk) now() time.Time { return time.Now().In(d.o.Zone) }
