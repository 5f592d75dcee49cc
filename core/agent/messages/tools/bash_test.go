package tools

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
)

func TestACommandEndsInTimeWithAllThatItHasStarted(t *testing.T) {
	testkit.Alone(t)
	g := newGround(t, nil)
	begun := time.Now()
	g.refused("Bash", with{"command": "echo before; (sleep 60; touch late) & sleep 60", "timeout": 300}, "before\n(ended after ")
	if got := g.does("Bash", with{"command": "sleep 60 & echo done"}); got != "done\n" {
		t.Errorf("%q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	if r := g.run(ctx, "Bash", []byte(`{"command":"echo a; sleep 60"}`)); !r.IsError || r.Text != "a\n"+textInterrupted {
		t.Errorf("%q", r.Text)
	}
	done := make(chan Result)
	go func() {
		done <- g.run(context.Background(), "Bash", []byte(`{"command":"touch begun; sleep 60"}`))
	}()
	for begun := filepath.Join(g.dir, "begun"); ; {
		if _, err := os.Stat(begun); err == nil {
			break
		}
	}
	testkit.Must(t, g.box.Close())
	if r := <-done; !r.IsError {
		t.Errorf("%q", r.Text)
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
	out, err := exec.Command("pgrep", "-f", g.dir).Output()
	if err == nil && len(out) > 0 {
		t.Errorf("these still run: %s", out)
	}
}

// L8: the folder of a session's temporary files, which is on the disk, holds no more than the one in memory.
func TestACommandCannotFillTheDiskWithTemporaryFiles(t *testing.T) {
	testkit.Alone(t)
	g := newGround(t, nil)
	g.refused("Bash", with{"command": "truncate -s 513M $TMPDIR/big; echo begun; sleep 600"}, "begun\n(ended, because $TMPDIR holds more than 512")
	if got := g.does("Bash", with{"command": "rm $TMPDIR/big; truncate -s 511M $TMPDIR/big; sleep 0.6; echo kept"}); got != "kept\n" {
		t.Errorf("%q", got)
	}
}
