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

// HelperArg makes the bot's own program confine itself, on Linux.
const HelperArg = "__confined"

var errNotHere = errors.New("this system has neither bubblewrap nor Landlock")

// Helper is not used on this system.
func Helper([]string) int { return 126 }

// filter is used on Linux only.
type filter struct{ command bool }

func (filter) bytes() []byte { return nil }

func inMemory(string, []byte) (*os.File, error) { return nil, errNotHere }

// scratch is used with Landlock only.
type scratch struct{}

func (b *Box) closeScratch() {}

func (b *Box) landlock(*exec.Cmd, *view, bool) error { return errNotHere }

// probe tests sandbox-exec, which macOS still has although it is deprecated.
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
