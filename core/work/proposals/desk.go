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

// again is the pause after a card that could not be sent.
const again = time.Minute

// Kind is a kind of proposal. To add one, give Options.Kinds its name, and call Desk.Propose.
type Kind struct {
	PerDay int // how many are made in a day at most
	// Do carries out an answer, value being the time that the user has typed for a button that
	// Asks. It does it only once for a proposal: it may be called again after a crash. Errors are
	// sentences for the user, and the proposal stays open.
	Do func(ctx context.Context, p Proposal, b Button, value string) (Done, error)
	// Undo takes back what an answer has made; nil if that cannot be. What has no result is
	// taken back without it.
	Undo func(ctx context.Context, p Proposal) error
}

// Done is what an answer has done.
type Done struct {
	Message string // for the user, one line
	Result  string // what was accepted or made, in a word or an ID; empty if nothing was
}

// Options are the parts that a Desk needs; all are required.
type Options struct {
	Store *Store
	Zone  *time.Location
	Log   *slog.Logger
	Kinds map[string]Kind
	// Post shows a card, Retire takes the buttons off one and writes a reason there.
	Post    func(context.Context, post.Post) (post.MessageID, error)
	Retire  func(ctx context.Context, message post.MessageID, why string)
	Changed func() // is called after a proposal was made or answered
}

// Desk makes proposals, shows their cards and takes the answers. Its methods may be called
// concurrently. Use New.
type Desk struct {
	o    Options
	wake chan struct{} // capacity 1
}

// New returns a Desk.
func New(o Options) *Desk { return &Desk{o: o, wake: make(chan struct{}, 1)} }

// Propose makes a proposal and has its card shown. The errors are those of Store.Add.
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

// Handlers are the commands that the Desk carries out.
func (d *Desk) Handlers() []command.Handler {
	return []command.Handler{
		command.On(command.Running, d.answer), command.On(command.Running, d.reopen),
	}
}

// Press carries out a control. ok is false if it is none of its.
type Press func(ctx context.Context, c command.Click) (out command.Outcome, ok bool, err error)

// Before hands a control that is none of a proposal on to next.
func (d *Desk) Before(next Press) Press {
	return func(ctx context.Context, c command.Click) (command.Outcome, bool, error) {
		if out, ok, err := d.pressed(ctx, c); ok {
			return out, ok, err
		}
		return next(ctx, c)
	}
}

// pressed carries out a button of a card.
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
	if p, found := d.o.Store.Find(id); found && p.Message != c.Message {
		d.o.Retire(ctx, c.Message, out.Message) // an older card of it
	}
	return out, true, nil
}

// answer answers a proposal. The same answer twice is no error: a button may be pressed twice.
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

// reopen takes an answer back.
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

// Run shows the cards until ctx ends, those too that an earlier run of the program could not show.
// It returns nil.
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

// show posts a card. False means that it has to be tried again.
func (d *Desk) show(ctx context.Context, p Proposal) bool {
	message, err := d.o.Post(ctx, card(p))
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

// unknownMessage stands for a card that may have arrived: it is not sent again.
const unknownMessage post.MessageID = "unknown"

// card is the message about a proposal.
func card(p Proposal) post.Post {
	e := &post.Embed{Title: p.Title, Color: "blue"}
	for _, b := range p.Buttons {
		action := post.Propose
		if b.Asks {
			action = post.ProposeWhen
		}
		e.Buttons = append(e.Buttons, post.Button{Label: b.Label, Style: b.Style, Action: action + ":" + p.ID + " " + b.ID})
	}
	return post.Post{Nonce: fmt.Sprintf("offer%s%d", p.ID, p.Rounds), Text: p.Text, Embed: e}
}

func (d *Desk) signal() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

func (d *Desk) now() time.Time { return time.Now().In(d.o.Zone) }
