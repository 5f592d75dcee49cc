package proposals

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/talk/post"
)

// again is the pause before resending a card that could not be sent.
const again = time.Minute

// Kind is a kind of proposal. To add one, add it to Options.Kinds and call Desk.Propose.
type Kind struct {
	PerDay int       // the maximum number per day
	Ring   post.Kind // whether its cards ring: post.KindNews, or post.KindAside beside an answer
	// Do carries out an answer. value is the time that the user typed, for a button that
	// Asks. Do may be called again after a crash and must not repeat its effect for the same
	// proposal. If it returns an error, which is shown to the user, the proposal stays open.
	Do func(ctx context.Context, p Proposal, b Button, value string) (Done, error)
	// Undo reverts the effect of an answer; nil if that is impossible. It is not needed for
	// an answer without a result.
	Undo func(ctx context.Context, p Proposal) error
}

// Done is the effect of an answer.
type Done struct {
	Message string // for the user, one line
	Result  string // what was accepted or created, as a word or an ID; empty for nothing
}

// Options configure a Desk; all are required.
type Options struct {
	Store *Store
	Zone  *time.Location
	Log   *slog.Logger
	Kinds map[string]Kind
	// Post shows a card. Retire removes the buttons from one and replaces them with a
	// reason.
	Post    func(context.Context, post.Post) (post.MessageID, error)
	Retire  func(ctx context.Context, message post.MessageID, why string)
	Changed func() // called after a proposal was created or answered
}

// Desk creates proposals, shows their cards and handles the answers. Its methods are safe
// for concurrent use. Use New.
type Desk struct {
	o    Options
	wake chan struct{} // capacity 1
}

// New returns a Desk.
func New(o Options) *Desk { return &Desk{o: o, wake: make(chan struct{}, 1)} }

// Propose creates a proposal and shows its card. The errors are those of Store.Add.
func (d *Desk) Propose(p Proposal) (Proposal, error) {
	kind, ok := d.o.Kinds[p.Kind]
	if !ok {
		return p, fmt.Errorf("nobody answers a proposal of the kind %q", p.Kind)
	}
	p, err := d.o.Store.Add(d.now(), p, kind.PerDay)
	if err == nil {
		d.signal()
		d.o.Changed()
	}
	return p, err
}

// Handlers returns the handlers for the Desk's commands.
func (d *Desk) Handlers() []command.Handler {
	return []command.Handler{
		command.On(command.Running, d.answer), command.On(command.Running, d.reopen),
	}
}

// Press handles a control. ok is false if the control belongs to another handler.
type Press func(ctx context.Context, c command.Click) (out command.Outcome, ok bool, err error)

// Before passes controls that do not belong to a proposal on to next.
func (d *Desk) Before(next Press) Press {
	return func(ctx context.Context, c command.Click) (command.Outcome, bool, error) {
		if out, ok, err := d.pressed(ctx, c); ok {
			return out, ok, err
		}
		return next(ctx, c)
	}
}

// pressed handles a button on a card.
func (d *Desk) pressed(ctx context.Context, c command.Click) (out command.Outcome, ok bool, err error) {
	action, data, _ := post.ParseCustomID(c.ID)
	if action != post.Propose && action != post.ProposeWhen {
		return out, false, nil
	}
	id, button, _ := strings.Cut(data, " ")
	out, err = d.answer(ctx, command.AnswerProposal{ID: id, Button: button, Value: c.Value})
	if err != nil || c.Message == "" {
		return out, true, err
	}
	if p, _ := d.o.Store.Find(id); p.Message != c.Message {
		d.o.Retire(ctx, c.Message, out.Message) // an older card of the same proposal
	}
	return out, true, nil
}

// answer answers a proposal. Repeating the same answer is not an error, because a button
// may be pressed twice.
func (d *Desk) answer(ctx context.Context, c command.AnswerProposal) (command.Outcome, error) {
	var done Done
	var kind Kind
	p, err := d.o.Store.Answer(d.now(), c.ID, c.Button, func(p Proposal, b Button) (_ string, err error) {
		var ok bool
		if kind, ok = d.o.Kinds[p.Kind]; !ok {
			return "", ErrGone
		}
		done, err = kind.Do(ctx, p, b, clean.Line(c.Value))
		return done.Result, err
	})
	var before *AnsweredError
	switch {
	case errors.As(err, &before) && before.Proposal.Answer == c.Button:
		return command.Outcome{Message: err.Error()}, nil
	case err != nil:
		return command.Outcome{}, err
	}
	out := command.Outcome{
		Message:  done.Message,
		Decision: audit.Entry{Action: audit.ProposalAnswered, Subject: p.ID, Detail: p.Chosen().Label + ": " + p.Words},
	}
	if kind.Undo != nil || p.Result == "" {
		out.Undo = command.ReopenProposal(c)
	}
	d.o.Changed()
	d.o.Retire(ctx, p.Message, fmt.Sprintf(textFooter, p.Chosen().Label, d.now().Format("15:04")))
	return out, nil
}

// reopen undoes an answer.
func (d *Desk) reopen(ctx context.Context, c command.ReopenProposal) (command.Outcome, error) {
	p, err := d.o.Store.Reopen(c.ID, func(p Proposal) error {
		kind := d.o.Kinds[p.Kind]
		switch {
		case p.Result == "":
			return nil
		case kind.Undo == nil:
			return ErrGone
		}
		return kind.Undo(ctx, p)
	})
	if err != nil {
		return command.Outcome{}, err
	}
	d.signal()
	d.o.Changed()
	return command.Outcome{
		Message: textReopened, Undo: command.AnswerProposal(c),
		Decision: audit.Entry{Action: audit.ProposalReopened, Subject: p.ID, Detail: p.Words},
	}, nil
}

// Withdraw removes a proposal that no longer applies, and the buttons of its card.
func (d *Desk) Withdraw(ctx context.Context, id string) error {
	p, err := d.o.Store.withdraw(id)
	if err != nil {
		return err
	}
	d.o.Changed()
	if p.Answer == "" {
		d.o.Retire(ctx, p.Message, textWithdrawn)
	}
	return nil
}

// Run shows the cards until ctx ends, including those that could not be shown before a
// restart. It returns nil.
func (d *Desk) Run(ctx context.Context) error {
	for {
		var later <-chan time.Time
		for _, p := range d.o.Store.Open(d.now()) {
			if p.Message == "" && !d.show(ctx, p) {
				later = time.After(again)
			}
		}
		select {
		case <-d.wake:
		case <-later:
		case <-ctx.Done():
			return nil
		}
	}
}

// show posts a card. It returns false if it must be retried.
func (d *Desk) show(ctx context.Context, p Proposal) bool {
	message, err := d.o.Post(ctx, card(p, d.o.Kinds[p.Kind].Ring))
	if errors.Is(err, post.ErrUnknown) {
		message, err = unknownMessage, nil
	}
	if err == nil {
		err = d.o.Store.shown(p.ID, message)
	}
	if err != nil {
		d.o.Log.Debug("a proposal was not shown", "error", err)
	}
	return err == nil
}

// unknownMessage marks a card that may have arrived and is not sent again.
const unknownMessage post.MessageID = "unknown"

// card returns the message for a proposal.
func card(p Proposal, ring post.Kind) post.Post {
	e := &post.Embed{Title: p.Title, Color: "blue"}
	for _, b := range p.Buttons {
		action := post.Propose
		if b.Asks {
			action = post.ProposeWhen
		}
		e.Buttons = append(e.Buttons, post.Button{Label: b.Label, Style: b.Style, Action: action + ":" + p.ID + " " + b.ID})
	}
	return post.Post{Nonce: fmt.Sprintf("offer%s%d", p.ID, p.Rounds), Text: p.Text, Embed: e, Kind: ring, Cause: p.ID}
}

func (d *Desk) signal() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

func (d *Desk) now() time.Time { return time.Now().In(d.o.Zone) }
