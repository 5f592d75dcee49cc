package plain

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"ollimbot/core/base/fault"
	"ollimbot/core/command"
	"ollimbot/tui"
	"ollimbot/tui/pane"
	"ollimbot/tui/undo"
)

// question is answered by the next line: "yes" runs one function, "no" another.
type question struct {
	again string // the word that also means yes; may be empty
	do    func()
	not   func() // nil: nothing changes
}

// executor passes commands to the bot, asks before some of them, and can undo them.
type executor struct {
	ctx      context.Context
	core     tui.Core
	out      *printer
	wear     func(name, value string) error // saves a display setting
	readOnly string                         // why changes are refused; empty if they are allowed

	changes undo.History
	asked   *question
	awaited []<-chan error // closed when a message of the user was answered
}

// do executes a command and prints its outcome.
func (x *executor) do(r request, v command.Value) { x.doAndAdd(r, v, "") }

// doAndAdd is do with more text after the outcome.
func (x *executor) doAndAdd(r request, v command.Value, more string) {
	o, ok := x.carryOut(v)
	if !ok {
		return
	}
	if q := tui.Sure(v, o); q != nil {
		x.ask(r, q)
		return
	}
	if o.Done != nil {
		x.awaited = append(x.awaited, o.Done)
	}
	done := textDone
	if _, is := v.(command.Say); is {
		done = "sent"
	}
	text := cmp.Or(o.Printed, o.Body, o.Message, done)
	if !r.Verbatim {
		text = spoken(text)
	}
	text += more
	if o.Undo != nil {
		x.changes.Add(undo.Change{Name: spoken(cmp.Or(o.Message, textDone)), Step: o.Undo})
		text += textUndoable
	}
	x.out.answer(text)
}

// carryOut executes a command. ok is false if it failed; then the reason has been printed.
func (x *executor) carryOut(v command.Value) (o command.Outcome, ok bool) {
	if _, line := v.(command.Line); x.readOnly != "" && !line { // obey refuses lines that change something
		x.out.fail(x.readOnly)
		return o, false
	}
	o, ok = call(x, x.core.Do, v)
	if l, is := v.(command.SetLook); ok && is {
		if err := x.wear(l.Name, l.Value); err != nil {
			x.out.fail(err.Error())
		}
	}
	return o, ok
}

// call calls a method of the core, for a limited time; a panic in it is an error. False means
// that it has printed the error.
func call[Q, A any](x *executor, of func(context.Context, Q) (A, error), about Q) (a A, ok bool) {
	ctx, cancel := context.WithTimeout(x.ctx, commandTime)
	defer cancel()
	err := fault.Guard("a command", func() (err error) {
		a, err = of(ctx, about)
		return err
	})()
	switch no := new(command.NoLineError); {
	case errors.As(err, &no):
		x.out.misread(spoken(no.Why))
	case err != nil:
		x.out.fail(spoken(err.Error()))
	}
	return a, err == nil
}

// ask asks a question of the panes, which the next line answers.
func (x *executor) ask(r request, q *pane.Question) {
	x.asked = &question{do: func() { x.do(r, q.Do) }}
	x.out.answer(fmt.Sprintf(textAsk, q.Text, q.Yes, q.No))
}

// confirmed reports whether a word was the answer to a question, and acts on it.
func (x *executor) confirmed(word string) bool {
	q := x.asked
	if q == nil {
		return false
	}
	x.asked = nil
	switch word {
	case "yes", "y", q.again:
		q.do()
	case "no", "n":
		if q.not != nil {
			q.not()
			break
		}
		x.out.answer(textUnchanged)
	default:
		if q.not == nil {
			x.out.answer(textDropped)
		}
		return false
	}
	return true
}

// walk undoes or redoes a change, after a question if that removes a file.
func (x *executor) walk(way undo.Way) {
	change, ok := x.changes.Next(way)
	if !ok {
		x.out.fail(map[undo.Way]string{undo.Back: "nothing to undo", undo.Forward: "nothing to redo"}[way])
		return
	}
	if q := tui.Removal(x.out.snap, change.Step, "undo"); q != nil && x.readOnly == "" {
		x.asked = &question{do: func() { x.step(way, change, q.Do) }}
		x.out.answer(fmt.Sprintf(textAsk, q.Text, q.Yes, q.No))
		return
	}
	x.step(way, change, change.Step)
}

// step executes the command that undoes or redoes a change.
func (x *executor) step(way undo.Way, change undo.Change, step command.Value) {
	o, ok := x.carryOut(step)
	if !ok { // it can be tried again
		return
	}
	x.changes.Take(way)
	if o.Undo != nil {
		x.changes.Put(!way, undo.Change{Name: change.Name, Step: o.Undo})
	}
	x.out.answer(map[undo.Way]string{undo.Back: "undone: ", undo.Forward: "redone: "}[way] + change.Name)
}
