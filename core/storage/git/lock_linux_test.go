package git

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ollimbot/core/base/testkit"
)

func TestALeftLockIsRemovedOnceItsOwnerIsGone(t *testing.T) {
	testkit.Alone(t)
	for _, lock := range []string{"index.lock", "HEAD.lock", "refs/heads/main.lock"} {
		d, g, log := gitRepo(t)
		put(t, d, "a.md", "x")
		put(t, d, ".git/"+lock, "")
		old := time.Now().Add(-time.Hour)
		testkit.Must(t, os.Chtimes(d.Path(".git/"+lock), old, old))
		g.Add("a.md", "add a")
		drain(t, g)
		if got := git(t, d, "log", "--format=%s"); got != "add a" {
			t.Errorf("%s: the log is %q", lock, got)
		}
		if strings.Count(log.String(), "level=WARN") != 1 || !strings.Contains(log.String(), lock) {
			t.Errorf("%s: logged %s", lock, log)
		}
	}
}

func TestALockInUseStays(t *testing.T) {
	testkit.Alone(t)
	d, g, log := gitRepo(t)
	put(t, d, "a.md", "x")
	lock := d.Path(".git/index.lock")
	f, err := os.Create(lock)
	testkit.Must(t, err)
	old := time.Now().Add(-leftLock - time.Second)
	var info unix.Sysinfo_t
	testkit.Must(t, unix.Sysinfo(&info))
	if time.Duration(info.Uptime)*time.Second < 2*leftLock {
		t.Log("this machine was started too recently: every old lock counts as left behind")
		return
	}
	testkit.Must(t, os.Chtimes(lock, old, old))
	for range 3 {
		g.Add("a.md", "add a")
		if g.work(t.Context()) {
			t.Error("a commit was made beside a lock")
		}
	}
	if got := strings.Count(log.String(), "commits are pending"); got != 1 || !strings.Contains(log.String(), "rm -r") {
		t.Errorf("told %d times: %s", got, log)
	}
	testkit.Must(t, f.Close())
	if !g.work(t.Context()) {
		t.Error("still waits after the lock's owner has gone")
	}
	if got := git(t, d, "log", "--format=%s"); got != "add a" {
		t.Errorf("the log is %q", got)
	}
}

func TestACommitWaitsForAnotherGit(t *testing.T) {
	testkit.Alone(t)
	d, g, log := gitRepo(t)
	put(t, d, "a.md", "x")
	put(t, d, ".git/index.lock", "")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- g.Run(ctx) }()
	g.Add("a.md", "add a")
	testkit.Must(t, os.Remove(d.Path(".git/index.lock")))
	for ctx.Err() == nil {
		if out, err := exec.Command("git", "-C", d.Root(), "log", "--format=%s").Output(); err == nil && string(out) == "add a\n" {
			break
		}
	}
	cancel()
	if err := <-done; err != nil || log.Len() > 0 {
		t.Errorf("%v, logged %s", err, log)
	}
	if got := git(t, d, "log", "--format=%s"); got != "add a" {
		t.Errorf("the log is %q", got)
	}
}

func TestACommandSaysWhoHoldsTheLock(t *testing.T) {
	testkit.Alone(t)
	d, g, _ := gitRepo(t)
	put(t, d, "a.md", "x")
	testkit.Must(t, os.Mkdir(filepath.Join(d.Root(), ".git", "rebase-merge"), 0o700))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := g.Commit(ctx, "a.md", "add a")
	var busy *busyError
	if !errors.As(err, &busy) || !strings.Contains(err.Error(), "rebase-merge") {
		t.Error(err)
	}
}
