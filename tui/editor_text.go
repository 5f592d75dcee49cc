package tui

import (
	"errors"
	"os/exec"

	"ollimbot/core/clean"
)

// editorText says why an editor has failed, and what to do.
func editorText(name string, err error) string {
	name = clean.Line(name)
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		return name + " ended with " + clean.Line(ended.String()) + ": look whether the file is as you want it"
	}
	if errors.Is(err, exec.ErrNotFound) {
		return name + " is not installed: set EDITOR to an editor that is"
	}
	return name + " could not be opened: " + clean.Line(err.Error())
}

const textNoFile = "that file does not lie in the data directory"
