package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

// gitRepo returns a data directory with a repository, an identity and a log. The machine's git
// settings are ignored.
func gitRepo(t *testing.T) (*store.Dir, *Recorder, *bytes.Buffer) {
	t.Helper()
	isolateGit(t)
	t.Setenv("GIT_AUTHOR_NAME", "Sam")
	t.Setenv("GIT_AUTHOR_EMAIL", "sam@example.com")
	t.Setenv("GIT_COMMITTER_NAME", "Sam")
	t.Setenv("GIT_COMMITTER_EMAIL", "sam@example.com")
	d := storetest.Prepared(t)
	var log bytes.Buffer
	g := New(d, slog.New(slog.NewTextHandler(&log, nil)))
	testkit.Must(t, g.Init(t.Context()))
	return d, g, &log
}

func isolateGit(t *testing.T) {
	t.Helper()
	home := t.TempDir()
	for _, name := range []string{
		"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "EMAIL",
		"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE",
	} {
		t.Setenv(name, "")
		testkit.Must(t, os.Unsetenv(name))
	}
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(home, "gitconfig"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
}

// put writes a file as a user would, without the store.
func put(t testing.TB, d *store.Dir, rel, text string) {
	t.Helper()
	testkit.Must(t, os.MkdirAll(filepath.Dir(d.Path(rel)), 0o700))
	testkit.Must(t, os.WriteFile(d.Path(rel), []byte(text), 0o600))
}

func git(t *testing.T, d *store.Dir, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", d.Root()}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// drain makes Run empty the queue and stop.
func drain(t *testing.T, g *Recorder) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	testkit.Must(t, g.Run(ctx))
}

// S5: many commands at once, each a process of its own, without a bot.
func TestManyProcessesCommitWithoutAnError(t *testing.T) {
	testkit.Alone(t)
	d, _, _ := gitRepo(t)
	var g errgroup.Group
	for i := range 20 {
		name := fmt.Sprintf("reminders/%02d.md", i)
		put(t, d, name, "x")
		g.Go(func() error {
			own, err := store.At(d.Root()) // with locks of its own
			if err != nil {
				return err
			}
			return New(own, slog.New(slog.DiscardHandler)).Commit(t.Context(), name, "add "+name)
		})
	}
	testkit.Must(t, g.Wait())
	if got := git(t, d, "ls-files"); strings.Count(got, "\n") != 19 {
		t.Errorf("tracked: %q", got)
	}
	if left, _ := filepath.Glob(d.Path(".git/ollim-bot-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestARepositoryThatWasHalfMadeIsMadeWhole(t *testing.T) {
	testkit.Alone(t)
	for _, gone := range []string{"HEAD", "config", "objects", "refs"} {
		isolateGit(t)
		d := storetest.Prepared(t)
		g := New(d, slog.New(slog.DiscardHandler))
		testkit.Must(t, g.Init(t.Context()))
		testkit.Must(t, errors.Join(os.RemoveAll(d.Path(".git/"+gone)), os.WriteFile(d.Path(".git/HEAD.lock"), nil, 0o600)))
		if err := g.Init(t.Context()); err != nil || !wholeRepository(d.Path(".git")) {
			t.Errorf("without %s: %v", gone, err)
		}
	}
}

func TestTheRepositorysFolderIsThereBeforeGitIs(t *testing.T) {
	testkit.Alone(t)
	for name, begun := range map[string]bool{"a fresh directory": false, "one that an earlier start has left": true} {
		isolateGit(t)
		d := storetest.Prepared(t)
		if begun {
			testkit.Must(t, os.Mkdir(d.Path(".git"), 0o700))
		}
		g := New(d, slog.New(slog.DiscardHandler))
		g.Sandbox = func(*exec.Cmd) func() {
			if _, err := os.Stat(d.Path(".git")); err != nil { // a sandbox shows only existing files
				t.Errorf("%s: %v", name, err)
			}
			return func() {}
		}
		if err := g.Init(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(d.Path(".git/HEAD")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAMissingGitIsOneWarning(t *testing.T) {
	d := storetest.Prepared(t)
	t.Setenv("PATH", t.TempDir())
	var log bytes.Buffer
	g := New(d, slog.New(slog.NewTextHandler(&log, nil)))
	testkit.Must(t, os.Mkdir(d.Path(".git"), 0o700))
	put(t, d, "a.md", "x")
	if err := g.Commit(t.Context(), "a.md", "x"); err != nil {
		t.Error(err)
	}
	g.Add("a.md", "x")
	drain(t, g)
	testkit.Must(t, os.Remove(d.Path(".git")))
	if err := g.Init(t.Context()); err != nil {
		t.Error(err)
	}
	if got := log.String(); strings.Count(got, "git not found, changes are not recorded") != 1 || strings.Count(got, "\n") != 1 {
		t.Errorf("logged %s", got)
	}
}

func TestQueueingNeverWaitsAndIsBounded(t *testing.T) {
	testkit.Alone(t)
	d, g, log := gitRepo(t)
	put(t, d, "a.md", "x")
	for n := range 3 * queueLimit {
		g.Add(fmt.Sprintf("%d.md", n), "add it")
		g.Add("0.md", "add it once more")
	}
	if len(g.queue.pending) != queueLimit || strings.Count(log.String(), "dropped") != 1 {
		t.Errorf("%d wait, logged %s", len(g.queue.pending), log)
	}
}

func TestRunCommitsWhileItRunsAlsoAfterALockAndStops(t *testing.T) {
	testkit.Alone(t)
	for name, lock := range map[string]string{"at once": "state/free.lock", "after another git": ".git/index.lock"} {
		d, g, log := gitRepo(t)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		put(t, d, "a.md", "x")
		put(t, d, lock, "")
		var group errgroup.Group
		group.Go(func() error { return g.Run(ctx) })
		g.Add("a.md", "add a")
		testkit.Must(t, os.Remove(d.Path(lock)))
		for ctx.Err() == nil { // each check starts a process, so this is not a busy wait
			if out, err := exec.Command("git", "-C", d.Root(), "log", "--format=%s").Output(); err == nil && string(out) == "add a\n" {
				break
			}
		}
		cancel()
		if err := group.Wait(); err != nil || log.Len() > 0 {
			t.Errorf("%s: %v, logged %s", name, err, log)
		}
		if got := git(t, d, "log", "--format=%s"); got != "add a" {
			t.Errorf("%s: the log is %q", name, got)
		}
	}
}
