package sandbox

import (
	"context"
	"os/exec"
)

func (b *Box) lookLandlock(context.Context) (State, bool) { return State{}, false }

func (b *Box) landlock(*exec.Cmd, *view, bool) error { return nil }
