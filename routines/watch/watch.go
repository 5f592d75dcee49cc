// Package watch owns the watching of a few directories: which of their files may
// have changed, told soon after the change and never half-way through a save. It
// must not know what the files are for, and it never reads one.
//
// Directories are watched, not files, because editors save by renaming a new
// file over the old one, which a watch on the file would not survive. A folder
// may be missing, appear later, be deleted and come back, or be a symbolic link.
// Where the system cannot watch (its limit is reached), the same Batch comes
// from a timer alone, and where it loses events, a full rescan makes up for it.
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
	// quietFor is how long a file has to stay untouched before it is told.
	quietFor = 30 * time.Millisecond
	// rescanEvery is the time between two full batches.
	rescanEvery = time.Minute
	// holdAtMost is how long a file that keeps being written waits for silence.
	holdAtMost = 250 * time.Millisecond
	// pollEvery is the rescan where the system's watch limit is reached.
	pollEvery = 10 * time.Second
	// lookEvery is the rescan while a link leads nowhere: no watch can tell when
	// what it leads to appears.
	lookEvery = 2 * time.Second
)

// Options say what is watched and who is told.
type Options struct {
	// Root is the directory that Folders are relative to. It may be missing.
	Root string
	// Folders are relative to Root, with forward slashes; "." is Root itself.
	// What lies deeper than the folder is not watched.
	Folders []string
	// Match says whether a name ("folder/file") is of interest. It is called
	// for every event before any other work.
	Match func(name string) bool
	// Changed takes each batch. Calls come from one goroutine, one at a time, and
	// none begins after the context has ended. It may take its time: what
	// happens meanwhile is in the next batch.
	Changed func(b Batch)
	// Log takes the one warning about a watch limit.
	Log *slog.Logger
}

// Batch is what may have changed since the batch before it.
type Batch struct {
	// Names are "folder/file" names that may have changed, appeared or gone, in
	// no order, each once. Empty when Full.
	Names []string
	// Full asks to look at everything: at the start, every Rescan, after lost
	// events, and when a folder came or went.
	Full bool
}

// Run watches until ctx ends, which is not an error: it then returns nil. It
// has no other end: whatever the system refuses is made up for by rescans.
func Run(ctx context.Context, o Options) error {
	s, err := openSource()
	if err != nil {
		s = source{} // no events at all: the timer alone
	}
	if s.close != nil {
		defer func() { _ = s.close() }() // nothing is written through it
	}
	return run(ctx, o, s, err)
}

// source is the part of fsnotify that is used, as a value, so that limits and
// lost events can be played in tests. The zero source watches nothing.
type source struct {
	events  <-chan fsnotify.Event
	errors  <-chan error
	add     func(dir string) error
	remove  func(dir string) error
	watched func() []string
	close   func() error
}

func openSource() (source, error) {
	// The buffer outlives a short absence of the reader; the kernel's own queue
	// (16,384 events on Linux) does the rest, and its overflow is told.
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
	var armed time.Time // what due was last set to
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
			w.pending.clear() // all of it is in the full batch
			w.deliver(ctx, Batch{Full: true})
			rescan.Reset(w.interval())
		}
		if w.dirs.changed { // a link that leads nowhere now, or no longer
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

// event sorts one event into: a folder came or went, a file of interest, noise.
func (w *watcher) event(e fsnotify.Event, now time.Time) {
	if w.dirs.structural(e.Name) {
		if e.Op == fsnotify.Chmod || e.Op == fsnotify.Write {
			return // of the folder itself: nothing came or went
		}
		// Renewed even if it looks the same: a new directory may have the old
		// one's inode number, and its watch died with the old one.
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
	// What is a link now, or was one, may lead to other directories than before.
	if e.Has(fsnotify.Create) || e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
		if w.relink(e.Name) {
			w.dirs.follow()
		}
	}
}

// relink looks at the links again that a path stands for.
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

// failed takes an error of the watch: mostly that events were lost, so that
// only a full look can tell what happened.
func (w *watcher) failed(err error, now time.Time) {
	if !errors.Is(err, fsnotify.ErrEventOverflow) {
		w.o.Log.Warn("directory watch reported an error", "error", err)
	}
	w.sync()
	w.pending.add("", now)
}

// lost goes on by timer alone.
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

// warn says once per Run that saved files are noticed later than usual.
func (w *watcher) warn(err error) {
	if w.warned {
		return
	}
	w.warned = true
	w.o.Log.Warn("files cannot be watched; looking every 10 seconds instead (on Linux, raise "+
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

// pending holds what was touched and not told yet. Each name waits for a
// silence of its own, so that one file under constant writing delays no other.
// The name "" stands for everything.
type pending struct {
	names map[string]span
	// at is no later than the moment when the first name is due: a touch moves
	// its name's moment away without anybody looking for the new first.
	at time.Time
	// taken is when take was last called. The next call waits a third of quietFor:
	// ten thousand files saved at once come in a few batches, not one by one.
	taken time.Time
}

// span is the first and the last touch of a name.
type span struct{ first, last time.Time }

func (p *pending) dueAt(s span) time.Time {
	quiet, hold := s.last.Add(quietFor), s.first.Add(holdAtMost)
	if hold.Before(quiet) {
		return hold
	}
	return quiet
}

// add notes a touch.
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

// take removes and returns what is due. A full batch takes everything along,
// since nothing is left to look at after it.
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
