// Package watch reports which files in a few directories may have changed, soon after the
// change but not in the middle of a save. It must not know what the files are for, and it
// never reads one.
//
// It watches directories, not files, because editors save by renaming a new file over the old
// one, which ends a watch on the file. A folder may be missing, appear later, be deleted and
// recreated, or be a symbolic link. If the system cannot watch (its limit is reached), a timer
// sends the batches, and after lost events there is a full rescan.
package watch

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// quietFor is how long a file must stay unchanged before it is reported.
	quietFor = 30 * time.Millisecond
	// rescanEvery is the time between two full batches.
	rescanEvery = time.Minute
	// holdAtMost is the longest delay of a file that is written all the time.
	holdAtMost = 250 * time.Millisecond
	// pollEvery is the rescan interval when the system's watch limit is reached.
	pollEvery = 10 * time.Second
	// lookEvery is the rescan interval while a link is dangling: no watch reports when its
	// target appears.
	lookEvery = 2 * time.Second
)

// Options are what to watch and whom to notify.
type Options struct {
	// Root is the directory that Folders are relative to. It may be missing.
	Root string
	// Folders are relative to Root, with forward slashes; "." is Root itself. Their
	// subfolders are not watched.
	Folders []string
	// Match reports whether a name ("folder/file") is of interest. It is called first for
	// every event.
	Match func(name string) bool
	// Changed is called with each batch, never concurrently, and not after the context has
	// ended. It may be slow: further changes are in the next batch.
	Changed func(b Batch)
	// Log gets a warning about a watch limit.
	Log *slog.Logger
}

// Batch is what may have changed since the previous batch.
type Batch struct {
	// Names are the "folder/file" names that may have been changed, created or removed,
	// unordered, each once. Empty if Full.
	Names []string
	// Full asks to check everything: at the start, at every rescan, after lost events, and
	// when a folder was created or removed.
	Full bool
}

// Run watches until ctx ends, and then returns nil. If the system refuses to watch, it
// rescans instead.
func Run(ctx context.Context, o Options) error {
	s, err := openSource()
	if err != nil {
		s = source{} // no events; only the timer works
	}
	if s.close != nil {
		defer func() { _ = s.close() }() // nothing was written, so an error does not matter
	}
	return run(ctx, o, s, err)
}

// source is the part of fsnotify that is used. Tests replace it to simulate limits and lost
// events. The zero source watches nothing.
type source struct {
	events  <-chan fsnotify.Event
	errors  <-chan error
	add     func(dir string) error
	remove  func(dir string) error
	watched func() []string
	close   func() error
}

func openSource() (source, error) {
	// The buffer covers a reader that is briefly busy. Beyond it, the kernel's queue (16,384
	// events on Linux) takes over and reports its overflow.
	w, err := fsnotify.NewBufferedWatcher(1024)
	if err != nil {
		return source{}, err
	}
	return source{events: w.Events, errors: w.Errors, add: w.Add, remove: w.Remove, watched: w.WatchList, close: w.Close}, nil
}

// watcher is one Run.
type watcher struct {
	o       Options
	src     source
	dirs    *dirs
	pending pending
	warned  bool
}

func run(ctx context.Context, o Options, s source, openErr error) error {
	o.Root = filepath.Clean(o.Root)
	w := &watcher{o: o, src: s}
	w.dirs = newDirs(w.o.Root, w.o.Folders, s)
	w.dirs.wanted = w.o.Match
	w.pending = pending{names: map[string]span{}}
	if openErr != nil {
		w.warn(openErr)
	}
	w.sync()
	w.deliver(ctx, Batch{Full: true})

	rescan := time.NewTimer(w.interval())
	defer rescan.Stop()
	due := time.NewTimer(time.Hour)
	due.Stop()
	defer due.Stop()
	var armed time.Time // when due fires
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case e, ok := <-w.src.events:
			if !ok {
				w.lost(errors.New("the event source closed"))
			} else {
				w.event(e, time.Now())
			}
		case err, ok := <-w.src.errors:
			if !ok {
				w.lost(errors.New("the error source closed"))
			} else {
				w.failed(err, time.Now())
			}
		case <-due.C:
			w.deliver(ctx, w.pending.take(time.Now()))
		case <-rescan.C:
			w.sync()
			w.pending.clear() // the full batch covers it
			w.deliver(ctx, Batch{Full: true})
			rescan.Reset(w.interval())
		}
		if w.dirs.changed { // the interval may have changed
			w.dirs.changed = false
			rescan.Reset(w.interval())
		}
		if at := w.pending.at; !at.IsZero() && !at.Equal(armed) {
			armed = at
			due.Reset(time.Until(at))
		}
	}
	return nil
}

// event handles one event: of a folder, of a file of interest, or noise.
func (w *watcher) event(e fsnotify.Event, now time.Time) {
	if w.dirs.structural(e.Name) {
		if e.Op == fsnotify.Chmod || e.Op == fsnotify.Write {
			return // nothing was created or removed
		}
		// Renew it even if it looks the same: a new directory can have the inode of the old
		// one, whose watch has ended.
		w.dirs.drop(e.Name)
		w.sync()
		w.pending.add("", now)
		return
	}
	for _, name := range w.dirs.links.names[e.Name] {
		w.pending.add(name, now)
	}
	if name, ok := w.dirs.rel(e.Name); ok && w.o.Match(name) {
		w.pending.add(name, now)
	} else if len(w.dirs.links.names[e.Name]) == 0 {
		return
	}
	// A link may have been created, changed or removed.
	if e.Has(fsnotify.Create) || e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
		if w.relink(e.Name) {
			w.dirs.follow()
		}
	}
}

// relink updates the links that a path belongs to.
func (w *watcher) relink(path string) (changed bool) {
	for link, list := range w.dirs.links.hops {
		if slices.Contains(list, path) {
			changed = w.dirs.relink(link) || changed
		}
	}
	if _, ok := w.dirs.rel(path); ok {
		changed = w.dirs.relink(path) || changed
	}
	return changed
}

// failed handles an error of the watch, usually lost events, with a full batch.
func (w *watcher) failed(err error, now time.Time) {
	if !errors.Is(err, fsnotify.ErrEventOverflow) {
		w.o.Log.Warn("directory watch reported an error", "error", err)
	}
	w.sync()
	w.pending.add("", now)
}

// lost continues with the timer only.
func (w *watcher) lost(err error) {
	w.src.events, w.src.errors = nil, nil
	w.dirs.src = source{}
	w.dirs.limited = true
	w.dirs.changed = true
	w.warn(err)
}

func (w *watcher) sync() {
	if err := w.dirs.sync(); err != nil {
		w.warn(err)
	}
}

// warn logs once that changes are noticed later than usual.
func (w *watcher) warn(err error) {
	if w.warned {
		return
	}
	w.warned = true
	w.o.Log.Warn("files cannot be watched; checking every 10 seconds instead (on Linux, raise "+
		"fs.inotify.max_user_watches and fs.inotify.max_user_instances)", "error", err)
}

func (w *watcher) interval() time.Duration {
	switch {
	case w.dirs.limited:
		return pollEvery
	case w.dirs.dangling:
		return lookEvery
	}
	return rescanEvery
}

func (w *watcher) deliver(ctx context.Context, b Batch) {
	if ctx.Err() == nil && (b.Full || len(b.Names) > 0) {
		w.o.Changed(b)
	}
}

// pending is what has changed but was not reported yet. Each name has its own delay, so that a
// file that is written all the time delays no other. The name "" means everything.
type pending struct {
	names map[string]span
	// at is when the first name is due, or earlier: a further change delays its name without
	// updating at.
	at time.Time
	// taken is when take was last called. The next call waits a third of quietFor, so that ten
	// thousand files saved at once become a few batches.
	taken time.Time
}

// span is the first and the last change of a name.
type span struct{ first, last time.Time }

func (p *pending) dueAt(s span) time.Time {
	quiet, hold := s.last.Add(quietFor), s.first.Add(holdAtMost)
	if hold.Before(quiet) {
		return hold
	}
	return quiet
}

// add records a change.
func (p *pending) add(name string, now time.Time) {
	s, ok := p.names[name]
	if !ok {
		s.first = now
	}
	s.last = now
	p.names[name] = s
	p.sooner(p.dueAt(s))
}

func (p *pending) sooner(at time.Time) {
	if soonest := p.taken.Add(quietFor / 3); at.Before(soonest) {
		at = soonest
	}
	if p.at.IsZero() || at.Before(p.at) {
		p.at = at
	}
}

// take removes and returns what is due. A full batch covers everything.
func (p *pending) take(now time.Time) Batch {
	p.taken = now
	if s, ok := p.names[""]; ok && !p.dueAt(s).After(now) {
		p.clear()
		return Batch{Full: true}
	}
	var b Batch
	p.at = time.Time{}
	for name, s := range p.names {
		if at := p.dueAt(s); at.After(now) {
			p.sooner(at)
			continue
		}
		b.Names = append(b.Names, name)
		delete(p.names, name)
	}
	return b
}

func (p *pending) clear() {
	clear(p.names)
	p.at = time.Time{}
}
