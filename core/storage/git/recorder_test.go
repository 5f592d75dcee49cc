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

func TestEachCommitNamesOnlyItsOwnPath(t *testing.T) {
	testkit.Alone(t)
	d, g, log := gitRepo(t)
	put(t, d, "routines/a.md", "a")
	put(t, d, "notes.md", "staged by the user")
	put(t, d, "untracked.md", "x")
	git(t, d, "add", "notes.md")
	g.Add("routines/a.md", "add routine aaaa0000")
	drain(t, g)
	if got := git(t, d, "log", "--format=%s", "--name-only"); got != "add routine aaaa0000\n\nroutines/a.md" {
		t.Errorf("the log is %q", got)
	}
	if got := git(t, d, "status", "--porcelain"); got != "A  notes.md\n?? untracked.md" {
		t.Errorf("the status is %q", got)
	}
	testkit.Must(t, d.Remove("routines/a.md"))
	g.Remove("routines/a.md", "remove routine aaaa0000")
	drain(t, g)
	if got := git(t, d, "log", "-1", "--format=%s", "--name-status"); got != "remove routine aaaa0000\n\nD\troutines/a.md" {
		t.Errorf("the log is %q", got)
	}
	if log.Len() > 0 {
		t.Errorf("logged %s", log)
	}
}

func TestStrangeNamesAreTakenAsTheyAre(t *testing.T) {
	testkit.Alone(t)
	d, g, log := gitRepo(t)
	for _, name := range []string{":(exclude)x.md", "*.md", "-f.md", "a b.md", "other.md"} {
		put(t, d, name, "x")
	}
	for _, name := range []string{":(exclude)x.md", "*.md", "-f.md", "a b.md"} {
		if err := g.Commit(t.Context(), name, "add "+name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := git(t, d, "ls-files"); strings.Count(got, "\n") != 3 || strings.Contains(got, "other") {
		t.Errorf("tracked: %q, log %s", got, log)
	}
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

func TestNothingToCommitIsNoError(t *testing.T) {
	testkit.Alone(t)
	d, g, log := gitRepo(t)
	put(t, d, "a.md", "a")
	for range 2 {
		testkit.Must(t, g.Commit(t.Context(), "a.md", "add a"))
	}
	if err := g.Commit(t.Context(), "never-there.md", "remove it"); err != nil {
		t.Error(err)
	}
	if got := git(t, d, "log", "--format=%s"); got != "add a" || log.Len() > 0 {
		t.Errorf("the log is %q; logged %s", got, log)
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

func TestTheNearestRepositoryIsUsed(t *testing.T) {
	testkit.Alone(t)
	d, g, _ := gitRepo(t)
	inner := filepath.Join(d.Root(), "skills", "own")
	testkit.Must(t, os.MkdirAll(inner, 0o700))
	if out, err := exec.Command("git", "init", "-q", inner).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	put(t, d, "skills/own/refs/SKILL.md", "x")
	testkit.Must(t, g.Commit(t.Context(), "skills/own/refs/SKILL.md", "auto: write"))
	out, err := exec.Command("git", "-C", inner, "ls-files").CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "refs/SKILL.md" {
		t.Errorf("%s, %v", out, err)
	}
}

func TestWithoutARepositoryNothingHappens(t *testing.T) {
	isolateGit(t)
	d := storetest.Prepared(t)
	put(t, d, "a.md", "a")
	put(t, d, ".git", "gitdir: elsewhere") // a file is not a repository
	g := New(d, slog.New(slog.DiscardHandler))
	testkit.Must(t, g.Init(t.Context()))
	if err := g.Commit(t.Context(), "a.md", "x"); err != nil {
		t.Error(err)
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
	testkit.Must(t, os.Remove(d.Path(".git")))
	if err := g.Init(t.Context()); err != nil {
		t.Error(err)
	}
	if got := strings.Count(log.String(), "git not found"); got != 1 {
		t.Errorf("logged %d times: %s", got, &log)
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

func TestRunCommitsWhileItRunsAndStops(t *testing.T) {
	testkit.Alone(t)
	d, g, log := gitRepo(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	put(t, d, "a.md", "x")
	var group errgroup.Group
	group.Go(func() error { return g.Run(ctx) })
	g.Add("a.md", "add a")
	for ctx.Err() == nil { // each check starts a process, so this is not a busy wait
		if out, err := exec.Command("git", "-C", d.Root(), "log", "--format=%s").Output(); err == nil && string(out) == "add a\n" {
			break
		}
	}
	cancel()
	if err := group.Wait(); err != nil || log.Len() > 0 {
		t.Errorf("%v, logged %s", err, log)
	}
	if got := git(t, d, "log", "--format=%s"); got != "add a" {
		t.Errorf("the log is %q", got)
	}
}

func TestAMachineThatToldGitNoNameRecordsToo(t *testing.T) {
	testkit.Alone(t)
	d, g, _ := gitRepo(t)
	isolateGit(t)
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "user.useConfigOnly") // otherwise git derives a name from the machine's
	t.Setenv("GIT_CONFIG_VALUE_0", "true")
	testkit.Must(t, d.Write("routines/a.md", []byte("x")))
	testkit.Must(t, g.Commit(t.Context(), "routines/a.md", "add a"))
	if out := git(t, d, "log", "--format=%an %s"); !strings.Contains(out, "ollim-bot add a") {
		t.Errorf("%q", out)
	}
}

// Q4: the user's "git add -A" took the secrets and the bot's state.
func TestSecretsAndStateStayOutOfTheUsersOwnAdd(t *testing.T) {
	d, g, _ := gitRepo(t)
	put(t, d, ".env", "DISCORD_TOKEN=x\n")
	put(t, d, "state/config.json", "{}")
	put(t, d, "routines/a.md", "text")
	git(t, d, "add", "-A")
	if got := git(t, d, "ls-files"); strings.TrimSpace(got) != "routines/a.md" {
		t.Errorf("added: %q", got)
	}
	put(t, d, ".git/info/exclude", "mine\n")
	testkit.Must(t, g.Init(t.Context()))
	if data, err := os.ReadFile(d.Path(".git/info/exclude")); err != nil || string(data) != "mine\n" {
		t.Errorf("the user's list is now %q, %v", data, err)
	}
}
