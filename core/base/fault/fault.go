// Package fault makes an error of a panic, with the place where it happened. A
// panic in a goroutine of ours would end the program and leave the terminal raw,
// so whoever starts one passes it through Guard. It knows nothing of what runs.
package fault

import (
	"errors"
	"fmt"
	"path"
	"runtime"
	"strings"
)

// Error is a panic. Its text is for people; Stack is for the log, which finds it
// in whatever error it is wrapped in.
type Error struct {
	What  string // what was being done: "the schedule"
	Value any    // what the panic said
	// Stack is where it happened, the innermost call first, on one line.
	Stack string
}

func (e *Error) Error() string { return fmt.Sprintf("internal fault in %s: %v", e.What, e.Value) }

// Unwrap is the panic's value, where that is an error.
func (e *Error) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Guard gives a function that does what f does and turns a panic into an *Error.
func Guard(what string, f func() error) func() error {
	return func() (err error) {
		defer Catch(what, &err)
		return f()
	}
}

// Catch is deferred. It stops a panic and puts it into err.
func Catch(what string, err *error) {
	if p := recover(); p != nil {
		*err = &Error{What: what, Value: p, Stack: stack()}
	}
}

// Rescue is deferred. It stops a panic and hands it, as an *Error, to then.
func Rescue(what string, then func(err *Error)) {
	if p := recover(); p != nil {
		then(&Error{What: what, Value: p, Stack: stack()})
	}
}

// Kind names the panic without what it says, which may come from outside: only
// the runtime's own words are known to hold nothing.
func (e *Error) Kind() string {
	if err, ok := e.Value.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("panic of type %T", e.Value)
}

// Stack is the stack of the panic in an error, or empty.
func Stack(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Stack
	}
	return ""
}

// maxFrames of a stack are kept: they say where, and fit into a log line.
const maxFrames = 24

// stack is the calls that led to the panic: "core.(*Bot).Do (do.go:14) < …".
// Files go by their own names, for their folders are those of another machine.
func stack() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	var list []string
	for more := true; more && len(list) < maxFrames; {
		var f runtime.Frame
		f, more = frames.Next()
		name := path.Base(f.Function)
		switch {
		case f.Function == "runtime.gopanic":
			list = nil // what is above is the recovering
		case f.Function == "", strings.HasPrefix(name, "runtime."):
		default:
			list = append(list, fmt.Sprintf("%s (%s:%d)", name, path.Base(f.File), f.Line))
		}
	}
	return strings.Join(list, " < ")
}
