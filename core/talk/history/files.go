package history

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"ollimbot/core/agent/claude/sessionfile"
	sessions "ollimbot/core/agent/messages/history"
	"ollimbot/core/storage/jsonl"
)

// folders are the projects folder of the CLI and the folder of our own sessions, as roots
// that no name and no symbolic link can escape; nil if missing.
type folders struct{ projects, own *os.Root }

func (h *History) folders() (f folders, err error) {
	for _, one := range []struct {
		root **os.Root
		path string
	}{
		{&f.projects, filepath.Join(h.o.ConfigDir, sessionfile.Projects)}, {&f.own, h.o.Dir.Path(sessions.Folder)},
	} {
		*one.root, err = os.OpenRoot(one.path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			f.close()
			return folders{}, fmt.Errorf("open the folder of the sessions: %w", err)
		}
	}
	return f, nil
}

func (f folders) close() {
	for _, root := range []*os.Root{f.projects, f.own} {
		if root != nil {
			_ = root.Close() // opened for reading only
		}
	}
}

// found is a session's file.
type found struct {
	id, folder string
	root       *os.Root
	name       string // in root
	size       int64
	changed    time.Time
}

// find lists the session files that changed at or after since, newest first: those of
// this data directory, or of all folders.
func (h *History) find(in folders, since time.Time, all bool) []found {
	here := sessionfile.Folder(h.o.Dir.Root())
	theirs := []string{here}
	if all {
		theirs = names(in.projects, ".")
	}
	list := filesIn(in.own, ".", here, since)
	for _, folder := range theirs {
		list = append(list, filesIn(in.projects, folder, folder, since)...)
	}
	slices.SortStableFunc(list, func(a, b found) int {
		if c := b.changed.Compare(a.changed); c != 0 {
			return c
		}
		return strings.Compare(a.id, b.id)
	})
	return list
}

// filesIn lists the session files of one folder; of is the folder that they report.
func filesIn(root *os.Root, folder, of string, since time.Time) (list []found) {
	for _, name := range names(root, folder) {
		id, ok := strings.CutSuffix(name, sessionfile.Ext)
		if !ok || !validID(id) || strings.HasPrefix(id, "agent-") {
			continue // a subagent's file is part of its session
		}
		name = folder + "/" + name
		info, err := root.Lstat(name)
		if err != nil || !info.Mode().IsRegular() || info.ModTime().Before(since) {
			continue
		}
		list = append(list, found{id, of, root, name, info.Size(), info.ModTime()})
	}
	return list
}

// names returns the names in a folder; none if it cannot be read.
func names(root *os.Root, folder string) []string {
	if root == nil {
		return nil
	}
	f, err := root.OpenFile(folder, os.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // opened for reading only
	list, _ := f.Readdirnames(-1)
	return list
}

// open opens a session's file. A pipe in its place must not block.
func (s found) open() (*os.File, error) {
	f, err := s.root.OpenFile(s.name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = f.Close()
		return nil, errors.Join(err, fmt.Errorf("%s is not a regular file", s.name))
	}
	return f, nil
}

// read calls f with each entry of a session, oldest first, until it returns false. It
// skips the lines in seen and adds the others to it; seen may be nil.
func (h *History) read(s found, seen map[string]bool, f func(Entry) bool) error {
	file, err := s.open()
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // opened for reading only
	var fork forking
	return jsonl.EachLine(file, func(data []byte) bool {
		l, ok := readLine(data)
		if !ok {
			return true
		}
		copied := fork.copied(&l)
		if seen != nil && l.uuid != "" {
			if seen[l.uuid] {
				return true
			}
			seen[l.uuid] = true
		}
		for i, e := range l.entries() {
			e.counts = i == 0 && l.counts()
			if e.Copied = copied; !e.At.IsZero() {
				e.At = e.At.In(h.o.Zone)
			}
			if !f(e) {
				return false
			}
		}
		return true
	})
}

// skipped logs that a file was skipped: the others are still useful.
func (h *History) skipped(s found, err error) {
	h.o.Log.Warn("session was not read", "session", s.id, "error", err)
}

// forking separates a fork's copied lines from its own. The CLI copies the parent's lines
// with their times when the fork gets its first message, and records that message before
// them: so lines older than the first time in the file are copies, up to the first that
// is not.
type forking struct {
	began time.Time // the first time of the file
	begun bool      // a message was seen
	own   bool      // and one that is not a copy
	clock time.Time // of the following lines, in a session of ours
}

// copied reports whether the next line is a copy. A line of ours has no time and gets that
// of the note before it; our forks have no copies.
func (f *forking) copied(l *line) bool {
	if l.kind == other {
		f.clock = l.at
	} else if l.ours {
		l.at, f.own = f.clock, true
	}
	if f.began.IsZero() {
		f.began = l.at
	}
	if l.kind != other {
		f.begun = true
		f.own = f.own || !l.at.Before(f.began)
	}
	return !f.own
}

// validID keeps anything but ids out of paths: an id consists of letters, digits, dots,
// dashes and underscores, and starts with a letter or a digit.
func validID(id string) bool {
	const most = 200
	if id == "" || len(id) > most || strings.ContainsAny(id[:1], "-._") {
		return false
	}
	return !strings.ContainsFunc(id, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '.' && r != '_' && r != '-'
	})
}
