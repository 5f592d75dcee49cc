package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	gitDrain = 5 * time.Second // what is left when the bot stops
	gitQueue = 1000            // paths that may wait; beyond it they are dropped
	gitTries = 3               // of a commit that fails for a reason of its own
	// gitBackoff is the first pause after a failure; it doubles up to gitPause.
	gitBackoff = time.Second
	gitPause   = time.Minute
	// gitAtOnce is how long Commit waits for a git of the user's to finish.
	gitAtOnce = 3 * time.Second
)

// Git records files of the data directory. Add and Remove only put a note into
// a queue that Run works off; nothing here ever makes a caller wait, and no
// failure is more than a line in the log.
//
// The work tree is only read, by us and never by git: a commit is made of what
// is on disk when its turn comes, with git's plumbing, which runs no filters.
type Git struct {
	// Sandbox puts every git command into its sandbox before it starts; done is
	// called after the start. Nil is none. Set it before the first use.
	Sandbox func(*exec.Cmd) (done func())

	dir  *Dir
	log  *slog.Logger
	wake chan struct{}

	mu sync.Mutex
	// waiting are the changes that Run has not taken yet, one for each path, the
	// oldest first; told holds the failures already warned about, so that a
	// missing git is one warning and not one a minute.
	waiting []change
	told    map[string]bool

	// The rest belongs to whoever commits: Run, or Commit where there is no Run.
	packed time.Time // when packing was last tried
	packAt int       // how many loose objects are worth a pack
}

// change is one path that may differ from the last commit, and what the commit
// says in either case.
type change struct {
	rel            string // in the data directory
	path           string // in its repository, once that is known
	added, removed string
	tries          int
}

// NewGit returns the recorder of a directory. It starts nothing.
func NewGit(d *Dir, log *slog.Logger) *Git {
	return &Git{dir: d, log: log, wake: make(chan struct{}, 1), told: map[string]bool{}, packAt: packAt}
}

// Init makes the directory a repository of its own if it has no .git, and ends what
// a start that was killed has begun. That git is missing is a warning, once; only a
// failing git is an error. The folder is made here: in a sandbox git may write in it
// and nowhere beside it.
func (g *Git) Init(ctx context.Context) error {
	folder := g.dir.Path(".git")
	if err := os.Mkdir(folder, 0o700); errors.Is(err, fs.ErrExist) {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() || wholeRepository(folder) {
			return nil //nolint:nilerror // a file there leads to a repository elsewhere
		}
		for _, lock := range []string{"HEAD.lock", "config.lock"} {
			_ = os.Remove(filepath.Join(folder, lock)) // of the git that was killed
		}
	} else if err != nil {
		return fmt.Errorf("make a repository: %w", err)
	}
	r := repo{git: g, root: g.dir.root}
	_, err := r.run(ctx, call{}, "-c", "init.defaultBranch=main", "init", "--quiet", "--template=")
	if err != nil {
		_ = os.Remove(folder) // it stays where git has left something in it
	}
	if errors.Is(err, exec.ErrNotFound) {
		g.warn("git_missing", "git not found, changes are not recorded", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w (in %s)", err, g.dir.Display())
	}
	return nil
}

// wholeRepository reports whether git takes the folder for a repository. One that
// lacks any of this holds no history yet.
func wholeRepository(folder string) bool {
	return !slices.ContainsFunc([]string{"HEAD", "config", "objects", "refs"}, func(name string) bool {
		_, err := os.Lstat(filepath.Join(folder, name))
		return err != nil
	})
}

// Add queues a commit of a file that was written. It never waits.
func (g *Git) Add(rel, message string) { g.push(change{rel: rel, added: message}) }

// Remove queues a commit of a file that was removed. It never waits.
func (g *Git) Remove(rel, message string) { g.push(change{rel: rel, removed: message}) }

func (g *Git) push(c change) {
	g.mu.Lock()
	full := !g.put(c)
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

// put queues a change; one for a path that waits already becomes part of it.
// The caller holds mu.
func (g *Git) put(c change) bool {
	if i := slices.IndexFunc(g.waiting, func(w change) bool { return w.rel == c.rel }); i >= 0 {
		w := &g.waiting[i]
		w.added, w.removed = cmp.Or(c.added, w.added), cmp.Or(c.removed, w.removed)
		return true
	}
	if len(g.waiting) >= gitQueue {
		return false
	}
	g.waiting = append(g.waiting, c)
	return true
}

// Run works off the queue until ctx ends, and then what is left, for at most 5
// seconds. It returns nil: no commit is worth an end of the bot.
func (g *Git) Run(ctx context.Context) error {
	retry := time.NewTimer(0)
	defer retry.Stop()
	pause := gitBackoff
	for ctx.Err() == nil {
		if g.work(ctx) {
			pause = gitBackoff
			retry.Stop()
		} else {
			retry.Reset(pause)
			pause = min(2*pause, gitPause)
		}
		select {
		case <-ctx.Done():
		case <-g.wake:
		case <-retry.C:
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), gitDrain)
	defer cancel()
	for g.left() > 0 && last.Err() == nil && g.work(last) {
	}
	if left := g.left(); left > 0 {
		g.log.Warn("commits left undone", "count", left)
	}
	return nil
}

func (g *Git) left() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.waiting)
}

// work commits all that waits; false means that some of it waits again.
func (g *Git) work(ctx context.Context) bool {
	g.mu.Lock()
	batch := g.waiting
	g.waiting = nil
	g.mu.Unlock()
	if len(batch) == 0 {
		return true
	}
	if g.dir.Present() != nil {
		return g.requeue(batch) // for when the directory is back
	}
	// A commit that has begun when the bot stops is finished within its limit.
	ctx = context.WithoutCancel(ctx)
	var again []change
	for _, part := range g.byRepository(batch) {
		err := part.repo.commit(ctx, part.changes)
		var busy *busyError
		switch {
		case err == nil:
			g.mu.Lock() // a lock that comes back is told anew
			maps.DeleteFunc(g.told, func(reason string, _ bool) bool { return strings.HasPrefix(reason, busyReason) })
			g.mu.Unlock()
			g.maybePack(ctx, part.repo)
		case errors.As(err, &busy):
			if busy.old { // it stays: warn once
				g.warn(busyReason+busy.file, "commits wait", busy)
			}
			again = append(again, part.changes...)
		case errors.Is(err, exec.ErrNotFound):
			g.warn("git_missing", "git not found, changes are not recorded", err)
		default:
			g.warn("commit "+err.Error(), "commit not made", err)
			for _, c := range part.changes {
				if c.tries++; c.tries < gitTries {
					again = append(again, c)
				}
			}
		}
	}
	return g.requeue(again)
}

// requeue puts changes back in front of those that have come since.
func (g *Git) requeue(again []change) bool {
	if len(again) == 0 {
		return true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	since := g.waiting
	g.waiting = again
	for _, c := range since {
		g.put(c)
	}
	return false
}

// Commit commits one file at once, for the command line. It succeeds without a
// repository or without git: there is nothing to do then. It waits a moment for
// another git.
func (g *Git) Commit(ctx context.Context, rel, message string) error {
	ctx, cancel := context.WithTimeout(ctx, gitLimit)
	defer cancel()
	patience := time.Now().Add(gitAtOnce)
	for _, part := range g.byRepository([]change{{rel: rel, added: message, removed: message}}) {
		for {
			err := part.repo.commit(ctx, part.changes)
			var busy *busyError
			if errors.As(err, &busy) && time.Now().Before(patience) && ctx.Err() == nil {
				select {
				case <-ctx.Done():
				case <-time.After(gitBackoff / 10):
				}
				continue
			}
			if errors.Is(err, exec.ErrNotFound) {
				g.warn("git_missing", "git not found, changes are not recorded", err)
				return nil
			}
			return err
		}
	}
	return nil
}

// warn logs each reason once.
func (g *Git) warn(reason, message string, err error) {
	g.mu.Lock()
	known := g.told[reason] || len(g.told) > 100
	g.told[reason] = true
	g.mu.Unlock()
	args := []any{"problem", message}
	if err != nil {
		args = append(args, "error", err)
	}
	if !known {
		g.log.Warn("git: recording changes", args...)
	}
}

// work of one repository.
type part struct {
	repo    repo
	changes []change
}

// byRepository sorts changes by the repository that holds them; those that none
// holds are left out.
func (g *Git) byRepository(batch []change) []part {
	var parts []part
	for _, c := range batch {
		r, path, ok := g.locate(c.rel)
		if !ok {
			continue
		}
		c.path = path
		i := slices.IndexFunc(parts, func(p part) bool { return p.repo.root == r.root })
		if i < 0 {
			parts, i = append(parts, part{repo: r}), len(parts)
		}
		parts[i].changes = append(parts[i].changes, c)
	}
	return parts
}
