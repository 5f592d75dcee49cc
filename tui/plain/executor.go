package plain

import (
	"cmp"
	"context"
	"fmt"

	"ollimbot/core/base/fault"
	"ollimbot/core/command"
	"ollimbot/tui"
	"ollimbot/tui/pane"
	"ollimbot/tui/undo"
)

// question is asked before a change that cannot be undone. Only "yes" on the very next
// line confirms it.
type question struct {
	again string // the word that also confirms; may be empty
	do    func()
}

// executor has the bot carry out commands, asks before some of them, and can undo them.
type executor struct {
	ctx      context.Context
	core     tui.Core
	out      *printer
	readOnly string // why changes are refused; empty if they are not

	changes undo.History
	asked   *question
	awaited []<-chan struct{} // closed when a message of the user was answered
}

// do carries out a command and prints its outcome.
func (x *executor) do(r request, v command.Value) { x.doAndAdd(r, v, "") }

// doAndAdd is do with more words after the outcome.
func (x *executor) doAndAdd(r request, v command.Value, more string) {
	o, ok := x.carryOut(v)
	if !ok {
		return
	}
	if o.Done != nil {
		x.awaited = append(x.awaited, o.Done)
	}
	text := spoken(cmp.Or(o.Body, o.Message, textDone)) + more
	if o.Undo != nil {
		x.changes.Add(undo.Change{Name: spoken(cmp.Or(o.Message, textDone)), Step: o.Undo})
		text += textUndoable
	}
	x.out.answer(kindOK, text)
}

// carryOut carries out a command. False means that it has printed why not.
func (x *executor) carryOut(v command.Value) (o command.Outcome, ok bool) {
	if x.readOnly != "" {
		x.out.fail(x.readOnly)
		return o, false
	}
	return call(x, x.core.Do, v)
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
	if err != nil {
		x.out.fail(spoken(err.Error()))
	}
	return a, err == nil
}

// ask asks a question of the panes, which the next line answers.
func (x *executor) ask(r request, q *pane.Question) {
	x.asked = &question{do: func() { x.do(r, q.Do) }}
	x.out.answer(kindQuestion, fmt.Sprintf(textAsk, q.Text, q.Yes, q.No))
}

// confirmed reports whether a word was the answer to a question, and carries it out.
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
		x.out.answer(kindOK, textUnchanged)
	default:
		x.out.answer(kindQuestion, textDropped)
		return false
	}
	return true
}

// walk undoes or redoes a change.
func (x *executor) walk(way undo.Way) {
	said := map[undo.Way]struct{ done, none string }{undo.Back: {textUndone, textNoUndo}, undo.Forward: {textRedone, textNoRedo}}[way]
	change, ok := x.changes.Next(way)
	if !ok {
		x.out.fail(said.none)
		return
	}
	o, ok := x.carryOut(change.Step)
	if !ok { // it can be tried again
		return
	}
	x.changes.Take(way)
	if o.Undo != nil {
		x.changes.Put(!way, undo.Change{Name: change.Name, Step: o.Undo})
	}
	x.out.answer(kindOK, said.done+change.Name)
}
