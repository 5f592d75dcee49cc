package service

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// maxSaid is the maximum length of quoted output, in characters.
const maxSaid = 200

// Commands runs the system's commands for an Options.
type Commands struct {
	Getenv   func(string) string
	Out, Err io.Writer
}

// Run implements Options.Run.
func (c Commands) Run(ctx context.Context, words ...string) (string, error) {
	out, err := c.command(ctx, words).CombinedOutput()
	return string(out), err
}

// Show implements Options.Show.
func (c Commands) Show(ctx context.Context, words ...string) error {
	cmd := c.command(ctx, words)
	cmd.Stdout, cmd.Stderr = c.Out, c.Err
	return cmd.Run()
}

// command prepares a command that can reach the user's systemd, even from a shell without a
// login session.
func (c Commands) command(ctx context.Context, words []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	if c.Getenv("XDG_RUNTIME_DIR") == "" {
		cmd.Env = append(os.Environ(), fmt.Sprintf("XDG_RUNTIME_DIR=/run/user/%d", os.Getuid()))
	}
	return cmd
}

// Program returns the path that this program was called by if it is a link to its file,
// because the link outlives the current version; otherwise the file.
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

// same reports whether two paths lead to the same file.
func same(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	two, err := os.Stat(b)
	return err == nil && os.SameFile(one, two)
}

// Temporary reports whether a program is in the temporary folder, such as one built by `go
// run`, which would not exist at the next start.
func Temporary(exe string) bool {
	rel, err := filepath.Rel(os.TempDir(), exe)
	return err == nil && filepath.IsLocal(rel)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
