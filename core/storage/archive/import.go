package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"ollimbot/core/storage/store"
)

// ImportOptions say what is imported, and where it goes.
type ImportOptions struct {
	From string // an export, or a data directory, ours or the original program's
	// FromSessions is the folder of the sessions of From where that is a directory.
	FromSessions string
	Dir          *store.Dir
	// Sessions gives the folder of the conversation's sessions for a data directory at a
	// path, which need not be there yet.
	Sessions func(dir string) string
	// Passphrase is asked for an encrypted export.
	Passphrase func() (string, error)
	// Replace lets the import take the place of a directory that is not empty, which is
	// kept beside it. Its secrets are taken over where the import brings none.
	Replace bool
	Dry     bool // check it, and change nothing
	Now     time.Time
}

// Imported is what an import has done.
type Imported struct {
	Summary
	Kept     string   // where the directory before it is now; empty where there was none
	TakenOn  []string // secrets of the directory before it that go on in the new one
	KeptSess int      // sessions that were there already, in a newer state
}

// source is what an import takes: each calls put with every entry and checks all of
// them, and can do so again.
type source func(put func(e entry, r io.Reader) error) (Summary, error)

// Import checks an export or a directory as a whole, and then puts it in the place of the data
// directory, in one step: whatever ends the program, and whenever, the directory is what it
// was or what was imported. An error says what to do; then nothing was changed.
func Import(o ImportOptions) (Imported, error) {
	root, err := realPath(o.Dir.Root())
	if err != nil {
		return Imported{}, err
	}
	full, err := mayTake(root, o)
	if err != nil {
		return Imported{}, err
	}
	from, closeFrom, err := openSource(o, filepath.Dir(root))
	if err != nil {
		return Imported{}, advise(err)
	}
	defer closeFrom()
	done := Imported{}
	if done.Summary, err = from(func(entry, io.Reader) error { return nil }); err != nil {
		return Imported{}, advise(err)
	}
	if err := room(filepath.Dir(root), done.Bytes); err != nil || o.Dry {
		return done, err
	}
	if full {
		unlock, err := o.Dir.Lock() // no bot begins while its directory goes
		if err != nil {
			return Imported{}, err
		}
		defer func() { _ = unlock() }() // the lock goes with the process at the latest
	}
	s, err := newStage(root, o)
	if err != nil {
		return Imported{}, advise(err)
	}
	defer s.clear()
	if _, err := from(s.put); err != nil {
		return Imported{}, advise(err)
	}
	if full {
		if done.TakenOn, err = s.takeOn(root); err != nil {
			return Imported{}, advise(err)
		}
	}
	if done.KeptSess, err = s.settleSessions(o.Sessions(root)); err != nil {
		return Imported{}, advise(err)
	}
	if done.Kept, err = s.settle(root, full); err != nil {
		return Imported{}, advise(err)
	}
	return done, nil
}

// realPath is where a path leads, which may not be there yet.
func realPath(path string) (string, error) {
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, lerr := os.Lstat(path); lerr == nil {
			return "", fmt.Errorf(textDangling, path)
		}
		var parent string
		if parent, err = realPath(filepath.Dir(path)); err == nil {
			return filepath.Join(parent, filepath.Base(path)), nil
		}
	}
	return target, err
}

// mayTake reports whether a directory that is not empty stands at the place, and
// refuses what may not be replaced.
func mayTake(root string, o ImportOptions) (full bool, err error) {
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look at %s: %w", root, err)
	}
	if pid, running := o.Dir.Running(); running {
		return true, fmt.Errorf(textRuns, o.Dir.Display(), pid)
	}
	if home, err := os.UserHomeDir(); root == filepath.Dir(root) || err == nil && within(root, home) {
		return true, fmt.Errorf(textHoldsHome, o.Dir.Display())
	}
	if !o.Replace {
		return true, fmt.Errorf(textNotEmpty, o.Dir.Display(), o.Dir.Display())
	}
	return true, nil
}

// openSource finds out what is imported. spool is a folder on the disk where it goes.
func openSource(o ImportOptions, spool string) (source, func(), error) {
	info, err := os.Stat(o.From)
	if err != nil {
		return nil, nil, fmt.Errorf(textNoSource, o.From, store.Bare(err))
	}
	if !info.IsDir() {
		if !info.Mode().IsRegular() {
			return nil, nil, fmt.Errorf(textNoSource, o.From, "it is no ordinary file")
		}
		f, err := os.Open(o.From)
		if err != nil {
			return nil, nil, fmt.Errorf(textNoSource, o.From, store.Bare(err))
		}
		a := &archive{file: f, passphrase: o.Passphrase}
		return a.each, func() { _ = f.Close() }, nil // only read
	}
	from, err := store.At(o.From)
	if err != nil {
		return nil, nil, err
	}
	if !looksLikeOne(from.Root()) {
		return nil, nil, fmt.Errorf(textNoDataDir, o.From)
	}
	if pid, running := from.Running(); running {
		return nil, nil, fmt.Errorf(textSourceRuns, o.From, pid)
	}
	if within(from.Root(), o.Dir.Root()) || within(o.Dir.Root(), from.Root()) {
		return nil, nil, fmt.Errorf(textSame, o.From, o.Dir.Display())
	}
	if err := os.MkdirAll(spool, 0o700); err != nil {
		return nil, nil, err
	}
	p, err := snapshotOf(from.Root(), o.FromSessions, true, spool)
	if err != nil {
		return nil, nil, err
	}
	return func(put func(entry, io.Reader) error) (Summary, error) {
		for _, name := range p.names() {
			it := p.items[name]
			if err := put(it.entry(name, o.Now), p.open(it)); err != nil {
				return Summary{}, err
			}
		}
		return p.sum(Head{Format: format, Dir: from.Display(), Secrets: true}), nil
	}, p.close, nil
}

// looksLikeOne reports whether a directory is a bot's, ours or the original's.
func looksLikeOne(dir string) bool {
	for _, name := range []string{"state", "routines", "reminders", "IDENTITY.md"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// stage is a directory beside the place, in which an import is made ready.
type stage struct {
	path, sessions string
	data, talks    *os.Root
	now            time.Time
	placed         []string // sessions that were put in place
	secrets        bool     // the import brings some of its own
}

// stageMark is in the names of stages.
const stageMark = ".import-"

// newStage makes one, and removes what an import that was killed has left.
func newStage(root string, o ImportOptions) (*stage, error) {
	parent := filepath.Dir(root)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, fmt.Errorf("make %s: %w", parent, err)
	}
	plain := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(root) // it means that path alone
	old, _ := filepath.Glob(plain + stageMark + "*")
	for _, path := range old {
		if info, err := os.Stat(path); err == nil && o.Now.Sub(info.ModTime()) > time.Hour {
			_ = os.RemoveAll(path) // what cannot be removed stays
		}
	}
	s := &stage{path: root + stageMark + store.NewID(), now: o.Now}
	s.sessions = s.path + "-sessions"
	for _, dir := range []string{s.path, s.sessions} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, errors.Join(fmt.Errorf("make room beside %s: %w", root, err), os.RemoveAll(s.path))
		}
	}
	var err error
	if s.data, err = os.OpenRoot(s.path); err == nil {
		s.talks, err = os.OpenRoot(s.sessions)
	}
	if err != nil {
		s.clear()
		return nil, err
	}
	return s, nil
}

// clear removes what is left of the stage.
func (s *stage) clear() {
	for _, r := range []*os.Root{s.data, s.talks} {
		if r != nil {
			_ = r.Close()
		}
	}
	_ = os.RemoveAll(s.path) // a later import removes the rest
	_ = os.RemoveAll(s.sessions)
}

// put writes an entry into the stage.
func (s *stage) put(e entry, r io.Reader) error {
	root, rel := s.data, strings.TrimPrefix(e.name, dataPrefix)
	if rel == e.name {
		root, rel = s.talks, strings.TrimPrefix(e.name, sessPrefix)
	}
	s.secrets = s.secrets || root == s.data && judge(rel) == secret
	if e.folder {
		return root.MkdirAll(rel, 0o700)
	}
	if err := root.MkdirAll(path.Dir(rel), 0o700); err != nil {
		return err
	}
	f, err := root.OpenFile(rel, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600|fs.FileMode(e.Mode)&0o100)
	if errors.Is(err, fs.ErrExist) { // a file system that does not tell them apart
		return fmt.Errorf(textTwice, clean(e.name))
	}
	if err != nil {
		return err
	}
	if rel == gitConfig && root == s.data {
		var data []byte
		if data, err = io.ReadAll(io.LimitReader(r, store.MaxRead)); err == nil {
			r = bytes.NewReader(plainGitConfig(data))
		}
	}
	if err == nil {
		_, err = io.Copy(f, r)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return root.Chtimes(rel, e.ModTime, e.ModTime)
}

// takeOn copies the secrets of the directory that goes into the one that comes, where
// the import brings none. It gives their names.
func (s *stage) takeOn(root string) (names []string, err error) {
	if s.secrets {
		return nil, nil
	}
	err = filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil || rel == "." {
			return err
		}
		rel = filepath.ToSlash(rel)
		if e.IsDir() && (rel == ".git" || judge(rel) == stays) {
			return fs.SkipDir
		}
		if !e.Type().IsRegular() || judge(rel) != secret {
			return nil
		}
		data, err := os.ReadFile(file)
		if err != nil || len(data) == 0 { // the sandbox covers what is missing with empty files
			return err
		}
		names = append(names, rel)
		if err := s.data.MkdirAll(path.Dir(rel), 0o700); err != nil {
			return err
		}
		return s.data.WriteFile(rel, data, 0o600)
	})
	return names, err
}

// keptLayout is behind the names of what was there before an import.
const keptLayout = ".before-20060102-150405"

// settle puts the stage in place of the directory. It gives the path of the one before.
func (s *stage) settle(root string, full bool) (kept string, err error) {
	if full {
		kept = root + s.now.Format(keptLayout)
		for i := 2; exists(kept); i++ {
			kept = fmt.Sprintf("%s%s-%d", root, s.now.Format(keptLayout), i)
		}
	}
	if err := exchange(s.path, root, kept); err != nil {
		s.withdraw()
		return "", err
	}
	_ = os.Remove(filepath.Join(kept, "state", "bot.pid")) // it was ours
	return kept, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
