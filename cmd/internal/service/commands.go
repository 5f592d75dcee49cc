package service

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// maxSaid is how much of what somebody says is told on, in characters.
const maxSaid = 200

// Commands runs the system's commands for an Options.
type Commands struct {
	Getenv   func(string) string
	Out, Err io.Writer
}

// Run is Options.Run.
func (c Commands) Run(ctx context.Context, words ...string) (string, error) {
	out, err := c.command(ctx, words).CombinedOutput()
	return string(out), err
}

// Show is Options.Show.
func (c Commands) Show(ctx context.Context, words ...string) error {
	cmd := c.command(ctx, words)
	cmd.Stdout, cmd.Stderr = c.Out, c.Err
	return cmd.Run()
}

// command is a command with a way to the user's systemd, which a shell that no login
// has opened does not know.
func (c Commands) command(ctx context.Context, words []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	if c.Getenv("XDG_RUNTIME_DIR") == "" {
		cmd.Env = append(os.Environ(), fmt.Sprintf("XDG_RUNTIME_DIR=/run/user/%d", os.Getuid()))
	}
	return cmd
}

// Program is this program's file by the name that it was called by, where that leads to
// it: a link in a folder of programs outlives the version that it leads to.
func Program() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program's file: %w", err)
	}
	called, err := exec.LookPath(os.Args[0])
	if err == nil {
		called, err = filepath.Abs(called)
	}
	if err == nil && same(called, exe) {
		return called, nil
	}
	return exe, nil
}

// same reports whether two paths lead to one file.
func same(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	two, err := os.Stat(b)
	return err == nil && os.SameFile(one, two)
}

// Temporary reports whether a program's file lies where the system tidies up: what `go
// run` has built would be gone at the next start.
func Temporary(exe string) bool {
	rel, err := filepath.Rel(os.TempDir(), exe)
	return err == nil && filepath.IsLocal(rel)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
