//go:build !linux

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"ollimbot/core/base/clean"
)

// HelperArg makes our own program confine itself, on Linux.
const HelperArg = "__confined"

var errNotHere = errors.New("this system has neither bubblewrap nor Landlock")

// Helper has nothing to do here.
func Helper([]string) int { return 126 }

// filter is of Linux.
type filter struct{ command bool }

func (filter) bytes() []byte { return nil }

func inMemory(string, []byte) (*os.File, error) { return nil, errNotHere }

// scratch is of Landlock.
type scratch struct{}

func (b *Box) closeScratch() {}

func (b *Box) landlock(*exec.Cmd, *view, bool) error { return errNotHere }

// probe tries sandbox-exec, which macOS has: it is called deprecated and still there.
func (b *Box) probe() (State, string) {
	exe := b.find("sandbox-exec")
	if exe == "" {
		return State{Reason: reasonSystem}, ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	trial := b.trial(exe, State{Kind: Seatbelt, Reason: reasonSeatbelt1})
	if err := trial.tryCommand(ctx); err != nil {
		return State{Reason: fmt.Sprintf(reasonSeatbelt, clean.FirstLine(err.Error(), maxReason))}, ""
	}
	return trial.seen, exe
}
