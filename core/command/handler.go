package command

import (
	"context"
	"fmt"
	"reflect"
)

// Needs is the precondition of a command.
type Needs int

// The preconditions.
const (
	Directory Needs = iota // the data directory is enough
	Unowned                // no other program runs the bot on the directory
	Running                // this program runs the bot
)

// Handler carries out the commands of one type. Each service lists the handlers for its
// commands.
type Handler struct {
	Needs Needs
	// Do carries out the command. It may block on file I/O. A command that starts a run
	// returns once the run is queued. Errors are sentences for the user, and the outcome is
	// meaningless if there is an error.
	Do func(context.Context, Value) (Outcome, error)

	of reflect.Type
}

// On returns the handler for commands of type C.
func On[C Value](needs Needs, do func(context.Context, C) (Outcome, error)) Handler {
	return Handler{Needs: needs, of: reflect.TypeFor[C](), Do: func(ctx context.Context, c Value) (Outcome, error) {
		return do(ctx, c.(C))
	}}
}

// Handlers maps command types to handlers.
type Handlers map[reflect.Type]Handler

// Add registers handlers. It panics if a type already has one, because the result must
// not depend on the order.
func (h Handlers) Add(list ...Handler) {
	for _, one := range list {
		if _, twice := h[one.of]; twice {
			panic(fmt.Sprintf("two handlers for %v", one.of))
		}
		h[one.of] = one
	}
}

// Do carries out a command that is part of another one, whose precondition is already
// met.
func (h Handlers) Do(ctx context.Context, c Value) (Outcome, error) {
	one, ok := h.Of(c)
	if !ok {
		return Outcome{}, fmt.Errorf("nothing carries out %T", c)
	}
	return one.Do(ctx, c)
}

// Of returns the handler of a command.
func (h Handlers) Of(c Value) (Handler, bool) {
	one, ok := h[reflect.TypeOf(c)]
	return one, ok
}
