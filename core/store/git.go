package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"ollimbot/core/clean"
)

const (
	gitLimit = 10 * time.Second // one git command
	gitDrain = 5 * time.Second  // what is left when the bot stops
	gitQueue = 1000             // commits that may wait; beyond it they are dropped
)

// Git commits files of the data directory (spec 01.4). Add and Remove only put
// a note into a queue that Run works off; nothing here ever makes a caller
// wait, and no failure is more than a line in the log.
type Git struct {
	dir  *Dir
	log  *slog.Logger
	wake chan struct{}

	mu sync.Mutex
	// jobs wait for Run; told holds the failures already warned about, so that a
	// missing identity is one warning and not one a minute.
	jobs []job
	told map[string]bool
}

// job is one commit of one path.
type job struct {
	rel, message string
	remove       bool
}

// NewGit returns the committer of a directory. It starts nothing.
func NewGit(d *Dir, log *slog.Logger) *Git {
	return &Git{dir: d, log: log, wake: make(chan struct{}, 1), told: map[string]bool{}}
}

// Init makes the directory a repository of its own if it has no .git. That git
// is missing is a warning, once; only a failing git is an error.
func (g *Git) Init(ctx context.Context) error {
	if _, err := os.Lstat(g.dir.Path(".git")); err == nil {
		return nil
	}
	out, err := g.run(ctx, g.dir.root, "init", "--quiet")
	if errors.Is(err, exec.ErrNotFound) {
		g.warn("git_missing", "git not found, changes are not recorded", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("git init in %s: %w%s", g.dir.Display(), err, said(out))
	}
	return nil
}

// Add queues a commit of a file that was written. It never waits.
func (g *Git) Add(rel, message string) { g.push(job{rel: rel, message: message}) }

// Remove queues a commit of a file that was removed. It never waits.
func (g *Git) Remove(rel, message string) { g.push(job{rel: rel, message: message, remove: true}) }

func (g *Git) push(j job) {
	g.mu.Lock()
	full := len(g.jobs) >= gitQueue
	if !full {
		g.jobs = append(g.jobs, j)
	}
	g.mu.Unlock()
	if full {
		g.warn("git_queue", "too many commits wait, some are dropped", nil)
		return
	}
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

func (g *Git) pop() (job, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.jobs) == 0 {
		return job{}, false
	}
	j := g.jobs[0]
	g.jobs = g.jobs[1:]
	return j, true
}

// Run works off the queue until ctx ends, and then what is left, for at most 5
// seconds. It returns nil: no commit is worth an end of the bot.
func (g *Git) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		g.work(ctx)
		select {
		case <-ctx.Done():
		case <-g.wake:
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), gitDrain)
	defer cancel()
	g.work(last)
	g.mu.Lock()
	left := len(g.jobs)
	g.mu.Unlock()
	if left > 0 {
		g.log.Warn("commits left undone", "count", left)
	}
	return nil
}

func (g *Git) work(ctx context.Context) {
	for ctx.Err() == nil {
		j, ok := g.pop()
		if !ok {
			return
		}
		// A commit that has begun when the bot stops is finished within its limit.
		if err := g.commit(context.WithoutCancel(ctx), j); err != nil {
			g.warn("commit "+err.Error(), "commit not made", err)
		}
	}
}

// Commit commits one file at once, for the command line. It succeeds without a
// repository or without git: there is nothing to do then.
func (g *Git) Commit(ctx context.Context, rel, message string) error {
	_, err := os.Lstat(g.dir.Path(rel))
	return g.commit(ctx, job{rel: rel, message: message, remove: errors.Is(err, os.ErrNotExist)})
}

// commit makes the commit of one path, and of nothing else that may be staged.
func (g *Git) commit(ctx context.Context, j job) error {
	repo, ok := repository(g.dir.Path(j.rel))
	if !ok {
		return nil
	}
	path, err := filepath.Rel(repo, g.dir.Path(j.rel))
	if err != nil {
		return fmt.Errorf("find %s in its repository: %w", j.rel, err)
	}
	stage := []string{"add", "--", path}
	if j.remove {
		stage = []string{"rm", "-f", "--quiet", "--ignore-unmatch", "--", path}
	}
	out, err := g.run(ctx, repo, stage...)
	if errors.Is(err, exec.ErrNotFound) {
		g.warn("git_missing", "git not found, changes are not recorded", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("git %s: %w%s", stage[0], err, said(out))
	}
	if _, err := g.run(ctx, repo, "diff", "--cached", "--quiet", "--", path); err == nil {
		return nil // nothing changed: a file written as it was, or never known to git
	}
	commit := append(g.author(ctx, repo), "commit", "--quiet", "-m", j.message, "--", path)
	if out, err = g.run(ctx, repo, commit...); err != nil {
		return fmt.Errorf("git commit: %w%s", err, said(out))
	}
	return nil
}

// author names one for the commit where the user has told git none: without it
// nothing would be recorded on a fresh machine.
func (g *Git) author(ctx context.Context, repo string) []string {
	if _, err := g.run(ctx, repo, "var", "GIT_AUTHOR_IDENT"); err == nil {
		return nil
	}
	return []string{"-c", "user.name=ollim-bot", "-c", "user.email=ollim-bot@localhost"}
}

// repository is the nearest parent with a .git directory.
func repository(path string) (string, bool) {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(filepath.Join(dir, ".git")); err == nil && info.IsDir() {
			return dir, true
		}
		if dir == filepath.Dir(dir) {
			return "", false
		}
	}
}

// run runs git without any way to ask a question, for at most 10 seconds.
func (g *Git) run(ctx context.Context, repo string, args ...string) (output string, err error) {
	ctx, cancel := context.WithTimeout(ctx, gitLimit)
	defer cancel()
	always := []string{"-C", repo, "--literal-pathspecs", "-c", "commit.gpgsign=false", "-c", "gc.auto=0"}
	cmd := exec.CommandContext(ctx, "git", append(always, args...)...)
	cmd.Env = gitEnv(os.Environ())
	cmd.WaitDelay = time.Second // a hook's child may keep the pipe open
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil && err != nil {
		err = ctx.Err()
	}
	return string(out), err
}

// gitEnv is the environment of our git: no prompts, no editor, English, and
// nothing inherited that would point it at another repository.
func gitEnv(environ []string) []string {
	env := make([]string, 0, len(environ)+5)
	for _, e := range environ {
		name, _, _ := strings.Cut(e, "=")
		switch name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR",
			"GIT_NAMESPACE", "GIT_PREFIX", "GIT_LITERAL_PATHSPECS":
			continue
		}
		env = append(env, e)
	}
	return append(env, "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true", "GIT_ASKPASS=true", "SSH_ASKPASS=true", "LC_ALL=C")
}

// said is what git printed, fit for a log line.
func said(out string) string {
	if out = clean.Cut(clean.Line(out), 300); out == "" {
		return ""
	}
	return ": " + out
}

// warn logs each reason once.
func (g *Git) warn(reason, message string, err error) {
	g.mu.Lock()
	known := g.told[reason] || len(g.told) > 100
	g.told[reason] = true
	g.mu.Unlock()
	if known {
		return
	}
	if err != nil {
		g.log.Warn("git: recording changes", "problem", message, "error", err)
		return
	}
	g.log.Warn("git: recording changes", "problem", message)
}
