package fault

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// deep panics a few calls down.
func deep(n int, value any) error {
	if n > 0 {
		return deep(n-1, value)
	}
	panic(value)
}

func TestAPanicBecomesAnErrorThatKnowsItsPlace(t *testing.T) {
	err := Guard("the schedule", func() error { return deep(2, "boom") })()
	if err == nil || err.Error() != "internal fault in the schedule: boom" {
		t.Fatalf("%v", err)
	}
	s := Stack(fmt.Errorf("run it: %w", err))
	if !strings.HasPrefix(s, "fault.deep (fault_test.go:") || strings.Count(s, "fault.deep") != 3 || strings.ContainsAny(s, "\n/") {
		t.Errorf("the stack is %q", s)
	}
}

func TestAFaultOfTheRuntimeIsOneToo(t *testing.T) {
	var none []int
	err := Guard("x", func() error { return fmt.Errorf("%d", none[3]) })()
	if err == nil || !strings.Contains(err.Error(), "index out of range") || !strings.HasPrefix(Stack(err), "fault.TestAFault") {
		t.Errorf("%v at %q", err, Stack(err))
	}
}

func TestAnErrorThatIsThrownCanBeRecognised(t *testing.T) {
	if err := Guard("x", func() error { return deep(0, io.EOF) })(); !errors.Is(err, io.EOF) {
		t.Errorf("%v", err)
	}
}

func TestWithoutAPanicNothingChanges(t *testing.T) {
	for _, want := range []error{nil, io.EOF} {
		if err := Guard("x", func() error { return want })(); !errors.Is(err, want) {
			t.Errorf("%v became %v", want, err)
		}
	}
	if Stack(io.EOF) != "" || Stack(nil) != "" {
		t.Error("a fault came of nothing")
	}
}

func TestADeepStackStaysShort(t *testing.T) {
	err := Guard("x", func() error { return deep(500, "boom") })()
	if s := Stack(err); len(s) > 3000 || strings.Count(s, " < ") != maxFrames-1 {
		t.Errorf("%d bytes, %q", len(s), s)
	}
}

func TestARescuerGetsTheSameErrorAndOnlyAfterAPanic(t *testing.T) {
	var got *Error
	run := func(value any) {
		defer Rescue("a tool", func(err *Error) { got = err })
		if value != nil {
			_ = deep(1, value)
		}
	}
	if run(nil); got != nil {
		t.Errorf("a fault came of nothing: %v", got)
	}
	run("secret")
	if got == nil || !strings.HasPrefix(Stack(got), "fault.deep (") || got.Kind() != "panic of type string" {
		t.Errorf("%v of kind %q at %q", got, got.Kind(), Stack(got))
	}
}
