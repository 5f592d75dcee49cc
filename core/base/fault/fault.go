// Package fault turns a panic into an error with its stack. A panic in a goroutine would end
// the program and leave the terminal raw, so every goroutine is started through Guard. It must
// not know what runs.
package fault

import (
	"errors"
	"fmt"
	"path"
	"runtime"
	"strings"
)

// Error is a recovered panic. Its text is for the user. Stack is for the log, which also
// finds it in wrapped errors.
type Error struct {
	What  string // what was running: "the schedule"
	Value any    // the value of the panic
	// Stack is the stack on one line, the innermost call first.
	Stack string
}

func (e *Error) Error() string { return fmt.Sprintf("internal fault in %s: %v", e.What, e.Value) }

// Unwrap returns the panic's value if it is an error.
func (e *Error) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Guard wraps f so that a panic becomes an *Error.
func Guard(what string, f func() error) func() error {
	return func() (err error) {
		defer Catch(what, &err)
		return f()
	}
}

// Catch must be deferred. It stops a panic and stores it in err.
func Catch(what string, err *error) {
	if p := recover(); p != nil {
		*err = &Error{What: what, Value: p, Stack: stack()}
	}
}

// Rescue must be deferred. It stops a panic and passes it to then as an *Error.
func Rescue(what string, then func(err *Error)) {
	if p := recover(); p != nil {
		then(&Error{What: what, Value: p, Stack: stack()})
	}
}

// Kind describes the panic without its value, which may contain untrusted text. Only the
// runtime's texts are safe.
func (e *Error) Kind() string {
	if err, ok := e.Value.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("panic of type %T", e.Value)
}

// Stack returns the stack of the panic in an error, or "".
func Stack(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Stack
	}
	return ""
}

// maxFrames is the number of frames that fit into a log line.
const maxFrames = 24

// stack returns the calls that led to the panic: "core.(*Bot).Do (do.go:14) < …". It
// omits folders, which are those of the build machine.
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
			list = nil // the frames so far are those of the recovery
		case f.Function == "", strings.HasPrefix(name, "runtime."):
		default:
			list = append(list, fmt.Sprintf("%s (%s:%d)", name, path.Base(f.File), f.Line))
		}
	}
	return strings.Join(list, " < ")
}
