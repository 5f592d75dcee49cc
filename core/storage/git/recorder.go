package git

import (
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

	"ollimbot/core/storage/store"
)

const (
	drainLimit = 5 * time.Second // for pending commits when the bot stops
	maxTries   = 3               // of a commit that fails
	// firstPause is the pause after a failure, which doubles up to longestPause.
	firstPause   = time.Second
	longestPause = time.Minute
	// patience is how long Commit waits for the user's git.
	patience = 3 * time.Second
)

// Recorder commits files of the data directory. Add and Remove only queue a change, which Run
// commits; failures are logged. A commit contains the files as they are at that moment.
type Recorder struct {
	// Sandbox prepares a git command to start in a sandbox; done is called after the start.
	// It may be nil. Set it before the first use.
	Sandbox func(*exec.Cmd) (done func())

	dir   *store.Dir
	log   *slog.Logger
	warn  warnings
	queue queue
	wake  chan struct{} // a change was queued

	// The rest belongs to the goroutine that commits: that of Run, or of Commit.
	packed time.Time // when packing was last tried
	packAt int       // the number of loose objects that makes packing worthwhile
}

// New returns the recorder of a directory.
func New(d *store.Dir, log *slog.Logger) *Recorder {
	return &Recorder{
		dir: d, log: log, wake: make(chan struct{}, 1), packAt: packAt,
		warn: warnings{log: log, known: map[string]bool{}},
	}
}

// Init makes the directory a repository if it has no .git, and completes one that a killed start
// has left unfinished. If git is missing, it only warns. The folder is created here, because git in
// its sandbox can write only to it.
func (g *Recorder) Init(ctx context.Context) error {
	folder := g.dir.Path(".git")
	removeOldIndexes(folder)
	if err := os.Mkdir(folder, 0o700); errors.Is(err, fs.ErrExist) {
		info, err := os.Stat(folder)
		switch {
		case err != nil || !info.IsDir():
			return nil //nolint:nilerror // a file there refers to a repository elsewhere
		case wholeRepository(folder):
			return exclude(folder)
		}
		for _, lock := range []string{"HEAD.lock", "config.lock"} {
			_ = os.Remove(filepath.Join(folder, lock)) // left by the killed git
		}
	} else if err != nil {
		return fmt.Errorf("create a repository: %w", err)
	}
	_, err := g.repoAt(g.dir.Root()).run(ctx, call{}, "-c", "init.defaultBranch=main", "init", "--quiet", "--template=")
	if err != nil {
		_ = os.Remove(folder) // only if it is empty
	}
	if errors.Is(err, exec.ErrNotFound) {
		g.warn.add("git_missing", "git not found, changes are not recorded", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w (in %s)", err, g.dir.Display())
	}
	return exclude(folder)
}

// excluded keeps secrets and the bot's own state out of the user's "git add".
const excluded = "# Written by ollim-bot; yours to change.\n/.env\n/" + store.StateDir + "/\n"

// exclude writes the list of what git leaves out of a repository that has none.
func exclude(folder string) error {
	if err := os.MkdirAll(filepath.Join(folder, "info"), 0o700); err != nil {
		return fmt.Errorf("keep secrets out of git: %w", store.Bare(err))
	}
	f, err := os.OpenFile(filepath.Join(folder, "info", "exclude"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		_, err = f.WriteString(excluded)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("keep secrets out of git: %w", store.Bare(err))
	}
	return nil
}

// wholeRepository reports whether git accepts the folder as a repository. An incomplete one has no
// history yet.
func wholeRepository(folder string) bool {
	return !slices.ContainsFunc([]string{"HEAD", "config", "objects", "refs"}, func(name string) bool {
		_, err := os.Lstat(filepath.Join(folder, name))
		return err != nil
	})
}

// Add queues a commit of a file that was written. It never blocks.
func (g *Recorder) Add(rel, message string) { g.push(change{rel: rel, added: message}) }

// Remove queues a commit of a file that was removed. It never blocks.
func (g *Recorder) Remove(rel, message string) { g.push(change{rel: rel, removed: message}) }

func (g *Recorder) push(c change) {
	if !g.queue.add(c) {
		g.warn.add("git_queue", "too many commits are pending; some are dropped", nil)
		return
	}
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// Run commits queued changes until ctx ends, and then the rest for at most 5 seconds. It always
// returns nil, because a failed commit should not stop the bot.
func (g *Recorder) Run(ctx context.Context) error {
	retry := time.NewTimer(0)
	defer retry.Stop()
	pause := firstPause
	for ctx.Err() == nil {
		if g.work(ctx) {
			pause = firstPause
			retry.Stop()
		} else {
			retry.Reset(pause)
			pause = min(2*pause, longestPause)
		}
		select {
		case <-ctx.Done():
		case <-g.wake:
		case <-retry.C:
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainLimit)
	defer cancel()
	for g.queue.len() > 0 && last.Err() == nil && g.work(last) {
	}
	if left := g.queue.len(); left > 0 {
		g.log.Warn("some changes were not committed", "count", left)
	}
	return nil
}

// work commits everything pending. It returns false if some of it must be retried.
func (g *Recorder) work(ctx context.Context) bool {
	batch := g.queue.take()
	if len(batch) == 0 {
		return true
	}
	again := batch
	if g.dir.Present() == nil {
		// A commit in progress when the bot stops is finished.
		again = g.commit(context.WithoutCancel(ctx), batch)
	}
	g.queue.putBack(again)
	return len(again) == 0
}

// commit commits a batch and returns the changes to retry.
func (g *Recorder) commit(ctx context.Context, batch []change) (again []change) {
	for _, part := range g.byRepository(batch) {
		err := g.dir.WithLock(turn, func() error { return part.repo.commit(ctx, part.changes) })
		busy, isBusy := errors.AsType[*busyError](err)
		switch {
		case err == nil:
			g.warn.forget(busyReason) // a later lock gets a new warning
			g.maybePack(ctx, part.repo)
		case isBusy:
			if busy.old {
				g.warn.add(busyReason+busy.file, "commits are pending", busy)
			}
			again = append(again, part.changes...)
		case errors.Is(err, exec.ErrNotFound):
			g.warn.add("git_missing", "git not found, changes are not recorded", err)
		default:
			g.warn.add("commit "+err.Error(), "a commit failed", err)
			for _, c := range part.changes {
				if c.tries++; c.tries < maxTries {
					again = append(again, c)
				}
			}
		}
	}
	return again
}

// Commit commits one file immediately, for the command line. It waits briefly for another git. Processes take turns, and
// one of them commits what the others wait for. Without a repository or without git it does nothing.
func (g *Recorder) Commit(ctx context.Context, rel, message string) error {
	ctx, cancel := context.WithTimeout(ctx, gitLimit)
	defer cancel()
	r, _, ok := g.locate(rel)
	if !ok {
		return nil
	}
	mine, err := r.announce(rel, message)
	if err != nil {
		return err
	}
	return g.dir.WithLock(turn, func() error {
		names := r.announced()
		if !slices.Contains(names, mine) { // another process has committed it
			return nil
		}
		defer func() {
			for _, name := range names {
				_ = os.Remove(name) // Init removes leftovers
			}
		}()
		return g.commitNow(ctx, r, names)
	})
}

const (
	// turn is the lock of the process that commits.
	turn = "commits"
	// announcement ends the name of a file with a change that a process is about to commit.
	announcement = ".change"
)

// announce notes a change for whichever process commits next.
func (r repo) announce(rel, message string) (name string, err error) {
	name = r.meta(indexPrefix + store.NewID() + announcement)
	if err = os.WriteFile(name+".new", []byte(rel+"\n"+message), 0o600); err == nil {
		err = os.Rename(name+".new", name)
	}
	if err != nil {
		return "", fmt.Errorf("note what to commit: %w", store.Bare(err))
	}
	return name, nil
}

// announced returns the files of the noted changes.
func (r repo) announced() []string {
	names, _ := filepath.Glob(filepath.Join(globbed(r.meta("")), indexPrefix+"*"+announcement)) // the pattern is well formed
	return names
}

// globbed returns a path as a pattern that only the path matches.
func globbed(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// commitNow commits the noted changes.
func (g *Recorder) commitNow(ctx context.Context, r repo, names []string) error {
	var changes []change
	for _, name := range names {
		data, err := store.ReadFile(name)
		if err != nil {
			return fmt.Errorf("read what to commit: %w", store.Bare(err))
		}
		rel, message, _ := strings.Cut(string(data), "\n")
		if _, path, ok := g.locate(rel); ok {
			changes = append(changes, change{rel: rel, path: path, added: message, removed: message})
		}
	}
	for until := time.Now().Add(patience); ; {
		err := r.commit(ctx, changes)
		if _, busy := errors.AsType[*busyError](err); busy && time.Now().Before(until) && ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-time.After(firstPause / 10):
			}
			continue
		}
		if errors.Is(err, exec.ErrNotFound) {
			g.warn.add("git_missing", "git not found, changes are not recorded", err)
			return nil
		}
		return err
	}
}

// part is the changes of a batch in one repository.
type part struct {
	repo    repo
	changes []change
}

// byRepository groups changes by repository, and drops those outside of any.
func (g *Recorder) byRepository(batch []change) []part {
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

func (g *Recorder) repoAt(root string) repo {
	return repo{root: root, dir: g.dir, log: g.log, sandbox: g.Sandbox}
}

// locate returns the repository of a file, which is the nearest parent with a .git
// directory, and the file's path in it. Links are followed within the data directory.
func (g *Recorder) locate(rel string) (r repo, path string, ok bool) {
	if !filepath.IsLocal(filepath.FromSlash(rel)) {
		return r, "", false
	}
	abs := g.dir.Path(rel)
	if folder, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		root, err := filepath.EvalSymlinks(g.dir.Root())
		if err != nil {
			return r, "", false
		}
		if inside, err := filepath.Rel(root, folder); err != nil || !filepath.IsLocal(inside) {
			return r, "", false
		}
		abs = filepath.Join(folder, filepath.Base(abs))
	}
	for dir := filepath.Dir(abs); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(filepath.Join(dir, ".git")); err == nil && info.IsDir() {
			path, err := filepath.Rel(dir, abs)
			return g.repoAt(dir), filepath.ToSlash(path), err == nil
		}
		if dir == filepath.Dir(dir) {
			return r, "", false
		}
	}
}

// maybePack packs if it is worthwhile.
func (g *Recorder) maybePack(ctx context.Context, r repo) {
	if time.Since(g.packed) < packPause || r.loose() < g.packAt {
		return
	}
	g.packed = time.Now()
	if err := r.pack(ctx); err != nil {
		g.warn.add("pack", "could not pack the history; continuing", err)
	}
}

// maxWarnings is how many reasons are remembered; further ones are not logged.
const maxWarnings = 100

// warnings logs each reason once, so that a missing git is not a warning every minute.
type warnings struct {
	log *slog.Logger

	mu    sync.Mutex
	known map[string]bool
}

func (w *warnings) add(reason, message string, err error) {
	w.mu.Lock()
	known := w.known[reason] || len(w.known) > maxWarnings
	w.known[reason] = true
	w.mu.Unlock()
	if known {
		return
	}
	args := []any{"problem", message}
	if err != nil {
		args = append(args, "error", err)
	}
	w.log.Warn("git: recording changes", args...)
}

// forget lets reasons with a prefix be logged again.
func (w *warnings) forget(prefix string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	maps.DeleteFunc(w.known, func(reason string, _ bool) bool { return strings.HasPrefix(reason, prefix) })
}
