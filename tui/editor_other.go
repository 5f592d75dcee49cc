//go:build !unix

package tui

import (
	"io"
	"os/exec"
)

// inForeground runs a command on the terminal.
func inForeground(cmd *exec.Cmd, _ io.Reader) error { return cmd.Run() }
