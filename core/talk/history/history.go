// Package history reads what was said in earlier sessions, of the claude command and of
// the Messages API: it lists them, shows one, searches their words, and sets what
// the bot sent against when the user wrote next. It owns the reading of their
// files and nothing else: it writes nothing, opens no file outside of the CLI's
// projects folder but in our state folder, and must not know engines, surfaces or
// the command line.
//
// The files belong to another program and hold what strangers wrote: a line that
// cannot be read is passed over, a line may have any length, and every text is
// cleaned.
package history

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"ollimbot/core/agent/claude/sessionfile"
	sessions "ollimbot/core/agent/messages/history"
	"ollimbot/core/base/clean"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/session"
	"ollimbot/core/work/fork"
)

// ErrNoSession says that no session has that id.
var ErrNoSession = errors.New("no such session")

// Options are the parts of a History. Dir and ConfigDir are required.
type Options struct {
	Dir       *store.Dir
	ConfigDir string         // where the claude command keeps its files
	Zone      *time.Location // of the times in the answers; nil is UTC
	Log       *slog.Logger   // nil is silent
}

// History reads sessions. Use New; its methods only read, and may be called by
// several goroutines.
type History struct{ o Options }

// New is the history of a data directory. Nothing is read yet.
func New(o Options) *History {
	o.Zone = cmp.Or(o.Zone, time.UTC)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &History{o}
}

// folders are the projects folder of the CLI and the one of our own sessions, as roots
// that no name and no symbolic link leads out of; nil where there is none.
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
			_ = root.Close() // only read
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

// find lists the session files that changed at or after since, newest first:
// those of this data directory, or of every folder.
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

// filesIn lists the session files of one folder, as those of a directory.
func filesIn(root *os.Root, folder, of string, since time.Time) (list []found) {
	for _, name := range names(root, folder) {
		id, ok := strings.CutSuffix(name, sessionfile.Ext)
		if !ok || !validID(id) || strings.HasPrefix(id, "agent-") {
			continue // a subagent's file is a part of its session
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

// names are the names in a folder; none where it cannot be read.
func names(root *os.Root, folder string) []string {
	if root == nil {
		return nil
	}
	f, err := root.OpenFile(folder, os.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // only read
	list, _ := f.Readdirnames(-1)
	return list
}

// open opens a session's file. A pipe in its place must not make us wait.
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

// read calls f with each entry of a session, oldest first, until it says no. Of
// lines that seen knows already it makes no entries; a nil seen knows none.
func (h *History) read(s found, seen map[string]bool, f func(Entry) bool) error {
	file, err := s.open()
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // only read
	var fork forking
	return store.EachLine(file, func(data []byte) bool {
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

// skipped logs that a file was passed over: the others are still of use.
func (h *History) skipped(s found, err error) {
	h.o.Log.Warn("session was not read", "session", s.id, "error", err)
}

// forking tells what a fork has copied from what is its own. The CLI copies the
// parent's lines with their times when the fork gets its first message, and
// notes that message before it: so lines older than the first time of the file
// are copies, up to the first that is not.
type forking struct {
	began time.Time // the first time of the file
	begun bool      // a message was seen
	own   bool      // and one that is no copy
	clock time.Time // of what follows, in a session of ours
}

// copied takes the next line. One of ours, which says nothing of its time, gets that of
// the note before it, and is no copy: our forks hold none.
func (f *forking) copied(l *line) bool {
	if l.ours && l.kind == other {
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

// validID keeps what is no id away from paths: an id is letters, digits, dots,
// dashes and underscores, and begins with a letter or a digit.
func validID(id string) bool {
	const most = 200
	if id == "" || len(id) > most || strings.ContainsAny(id[:1], "-._") {
		return false
	}
	return !strings.ContainsFunc(id, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '.' && r != '_' && r != '-'
	})
}

// Kind is what a session was to the bot.
type Kind string

// The kinds of sessions.
const (
	Main       Kind = "main"
	Fork       Kind = "fork"       // an interactive one
	Background Kind = "background" // a run of a task
	Other      Kind = "other"      // none of the bot's, or none that it remembers
)

// runsRead is how many background runs are asked for titles and fires; the
// ledger holds fewer.
const runsRead = 10_000

// knowledge is what our own files tell about sessions.
type knowledge struct {
	kind   map[string]Kind
	parent map[string]string
	runs   map[string]fork.View // by session
}

func (h *History) knowledge() knowledge {
	k := knowledge{kind: map[string]Kind{}, parent: map[string]string{}, runs: map[string]fork.View{}}
	for _, v := range h.runs() {
		if v.Session != "" {
			k.runs[v.Session], k.kind[v.Session], k.parent[v.Session] = v, Background, v.Parent
		}
	}
	h.stateLines("state/session_history.jsonl", func(data []byte) {
		var e struct {
			ID     string  `json:"session_id"`
			Event  string  `json:"event"`
			Parent *string `json:"parent_session_id"`
		}
		if json.Unmarshal(data, &e) != nil || e.ID == "" {
			return
		}
		if kind := kindAfter(e.Event); kind != "" {
			k.kind[e.ID] = kind
		}
		if e.Parent != nil {
			k.parent[e.ID] = clean.Line(*e.Parent)
		}
	})
	return k
}

// kindAfter is what a session is after an event of its history; the
// last one counts, because a fork can become the main session.
func kindAfter(event string) Kind {
	switch event {
	case session.Created, session.Compacted, session.Swapped:
		return Main
	case session.InteractiveFork:
		return Fork
	case session.BgFork, session.IsolatedBg:
		return Background
	}
	return ""
}

// runs are the background runs that the ledger remembers, newest first.
func (h *History) runs() []fork.View {
	list, err := fork.Ledger(h.o.Dir, runsRead)
	if err != nil {
		h.o.Log.Warn("the ledger of runs was not read", "error", err)
	}
	return list
}

// stateLines calls f with each line of a file of the data directory. A missing
// one has none.
func (h *History) stateLines(rel string, f func(data []byte)) {
	file, err := h.o.Dir.Open(rel)
	if err == nil {
		defer func() { _ = file.Close() }() // only read
		err = store.EachLine(file, func(data []byte) bool { f(data); return true })
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.o.Log.Warn("a file was not read to its end", "file", rel, "error", err)
	}
}
