// Package daysoff owns the days that calendars take, which tasks skip: .ics files in the data
// directory, and copies of Google's calendars, both by name. It reads a calendar once and again when
// its file has changed, never while anything asks for a day. It must not know tasks, nor Google: who
// asks Google keeps the answer here.
//
// The reader is ours. It looks at the lines of whole-day events alone, in one pass with a limit for
// everything that a file can repeat.
package daysoff

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ollimbot/core/base/words"
	"ollimbot/core/storage/store"
	"ollimbot/routines/recur"
)

// Calendar is the days of one calendar. It implements recur.Calendar. Its methods never block.
type Calendar struct {
	name string
	now  atomic.Pointer[content]
}

// content is a calendar as last read.
type content struct {
	days  map[recur.Date]string
	wrong string      // why it cannot be read
	odd   string      // what in it is not understood
	info  fs.FileInfo // nil if there is no file
	at    time.Time   // when it was read
}

// Name returns its name, as tasks have it.
func (c *Calendar) Name() string { return c.name }

// Off returns the event that takes a day.
func (c *Calendar) Off(d recur.Date) (event string, off bool) {
	event, off = c.now.Load().days[d]
	return event, off
}

// Trouble says why the days are not known; empty if they are.
func (c *Calendar) Trouble() string { return c.now.Load().wrong }

// Odd says what in the calendar is not understood; empty if nothing is.
func (c *Calendar) Odd() string { return c.now.Load().odd }

// Shelf has the calendars of a data directory. It is safe for concurrent use.
type Shelf struct {
	d    *store.Dir
	mu   sync.Mutex // guards the field below and is held while a file is read
	list []*Calendar
}

// NewShelf returns an empty shelf.
func NewShelf(d *store.Dir) *Shelf { return &Shelf{d: d} }

// Of returns a calendar by its name, and reads it if it is new.
func (s *Shelf) Of(name string) *Calendar {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.list, func(c *Calendar) bool { return c.name == name }); i >= 0 {
		return s.list[i]
	}
	c := &Calendar{name: name}
	c.now.Store(s.read(name, time.Now()))
	s.list = append(s.list, c)
	return c
}

// Calendar is Of for recur.Recurrence.With.
func (s *Shelf) Calendar(name string) recur.Calendar { return s.Of(name) }

// stale is after what time the days ahead are worked out again.
const stale = 30 * 24 * time.Hour

// Look reads the calendars again whose files have changed. It reports whether there are any.
func (s *Shelf) Look() (changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for _, c := range s.list {
		old := c.now.Load()
		info, err := os.Stat(s.d.Path(fileOf(c.name)))
		same := err != nil && old.info == nil ||
			err == nil && old.info != nil && info.Size() == old.info.Size() && info.ModTime().Equal(old.info.ModTime())
		if same && now.Sub(old.at) < stale {
			continue
		}
		c.now.Store(s.read(c.name, now))
		changed = true
	}
	return changed
}

// fileOf is the file that a calendar is read from.
func fileOf(name string) string {
	if _, ok := recur.GoogleCalendar(name); ok {
		return copiesFile
	}
	return name
}

// read reads a calendar.
func (s *Shelf) read(name string, now time.Time) *content {
	c := &content{at: now}
	info, err := os.Stat(s.d.Path(fileOf(name)))
	if err == nil {
		c.info = info
	}
	google, ok := recur.GoogleCalendar(name)
	switch {
	case ok:
		if c.days, c.odd, err = s.copies()[google].content(); c.odd != "" {
			c.odd = fmt.Sprintf(textOldCopy, name, c.odd)
		}
	case errors.Is(err, fs.ErrNotExist):
		err = errors.New(textNoFile)
	case err == nil && !info.Mode().IsRegular():
		err = errors.New(textNoCalendar)
	case err == nil && info.Size() > mostBytes:
		err = fmt.Errorf(textLarge, words.Bytes(info.Size()), words.Bytes(mostBytes))
	case err == nil:
		var data []byte
		if data, err = s.d.Read(name); err == nil {
			var odd []string
			c.days, odd, err = parse(string(data), now)
			if len(odd) > 0 {
				c.odd = fmt.Sprintf(textOdd, name, words.Count(len(odd), "rule"), strings.Join(odd[:1], ""))
			}
		}
	}
	if err != nil {
		c.wrong = name + " " + err.Error()
	}
	return c
}
