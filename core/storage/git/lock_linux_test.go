package git

import (
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ollimbot/core/base/testkit"
)

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
		t.Errorf("reported %d times: %s", got, log)
	}
	testkit.Must(t, f.Close())
	if !g.work(t.Context()) {
		t.Error("still waits after the lock's owner has gone")
	}
	if got := git(t, d, "log", "--format=%s"); got != "add a" {
		t.Errorf("the log is %q", got)
	}
}
