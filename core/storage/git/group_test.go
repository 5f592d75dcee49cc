package git

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"testing"

	"ollimbot/core/base/testkit"
)

func TestGitEndsWithAllThatItHasStarted(t *testing.T) {
	testkit.Alone(t)
	alive, held, err := os.Pipe()
	testkit.Must(t, err)
	defer alive.Close()
	r := repo{root: t.TempDir(), sandbox: func(cmd *exec.Cmd) func() {
		cmd.Path = "/bin/sh"
		cmd.Args = []string{"sh", "-c", "sleep 1000 & echo started >&3; wait"}
		cmd.ExtraFiles = []*os.File{held}
		return func() { _ = held.Close() }
	}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { _, err := r.run(ctx, call{}, "status"); ended <- err }()
	lines := bufio.NewReader(alive)
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; err == nil {
		t.Error("a git that was stopped says that all went well")
	}
	if _, err := io.ReadAll(lines); err != nil {
		t.Error(err)
	}
}
