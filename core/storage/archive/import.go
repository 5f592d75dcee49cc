package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"ollimbot/core/base/words"
	"ollimbot/core/storage/store"
)

// ImportOptions describe an import.
type ImportOptions struct {
	From string // an export, or a data directory of this or the original program
	// FromSessions is the folder of the sessions of From if that is a directory.
	FromSessions string
	Dir          *store.Dir
	// Sessions returns the folder of the conversation's sessions for a data directory at a
	// path, which may not exist yet.
	Sessions func(dir string) string
	// Passphrase returns the passphrase of an encrypted export.
	Passphrase func() (string, error)
	// Joins merge the replaced directory's version of a file (was) with the imported one, by the
	// file's name in the data directory. All other files are the import's.
	Joins map[string]func(was, comes []byte) []byte
	// Replace allows replacing a directory that is not empty, which is kept next to the new one.
	// Its secrets are kept if the import has none.
	Replace bool
	Dry     bool // only check the import
	Now     time.Time
}

// Imported is the result of an import.
type Imported struct {
	Summary
	Kept     string   // the new path of the replaced directory; empty if there was none
	TakenOn  []string // secrets taken from the replaced directory
	Joined   []string // files merged with those of the replaced directory
	KeptSess int      // sessions that already existed in a newer version
}

// source calls put for every imported entry and checks all of them. It can be called again.
type source func(put func(e entry, r io.Reader) error) (Summary, error)

// Import checks an entire export or directory, and then replaces the data directory in one step:
// even if the program is killed, the directory is either the old or the imported one. An error says
// what to do and means that nothing was changed.
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
		unlock, err := o.Dir.Lock() // no bot may start in the meantime
		if err != nil {
			return Imported{}, err
		}
		defer func() { _ = unlock() }() // the lock ends with the process
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
		if done.Joined, err = s.join(root, o.Joins); err != nil {
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

// realPath resolves the links of a path, which may not exist yet.
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

// mayTake reports whether root is a directory that is not empty, and returns an error if it must
// not be replaced.
func mayTake(root string, o ImportOptions) (full bool, err error) {
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("check %s: %w", root, err)
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

// openSource opens the import's source. spool is a folder on the target disk.
func openSource(o ImportOptions, spool string) (source, func(), error) {
	info, err := os.Stat(o.From)
	if err != nil {
		return nil, nil, fmt.Errorf(textNoSource, o.From, store.Bare(err))
	}
	if !info.IsDir() {
		if !info.Mode().IsRegular() {
			return nil, nil, fmt.Errorf(textNoSource, o.From, "it is not a regular file")
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

// looksLikeOne reports whether a directory is a data directory of this or the original
// program.
func looksLikeOne(dir string) bool {
	for _, name := range []string{"state", "routines", "reminders", "IDENTITY.md"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// stage is a directory next to the target in which an import is prepared.
type stage struct {
	path, sessions string
	data, talks    *os.Root
	now            time.Time
	placed         []string // new sessions
	secrets        bool     // the import has secrets
}

// stageMark is part of the names of stages.
const stageMark = ".import-"

// newStage creates a stage, and removes leftovers of killed imports.
func newStage(root string, o ImportOptions) (*stage, error) {
	parent := filepath.Dir(root)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, fmt.Errorf("make %s: %w", parent, err)
	}
	plain := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(root) // escaped for a pattern
	old, _ := filepath.Glob(plain + stageMark + "*")
	for _, path := range old {
		if info, err := os.Stat(path); err == nil && o.Now.Sub(info.ModTime()) > time.Hour {
			_ = os.RemoveAll(path) // a later import tries again
		}
	}
	s := &stage{path: root + stageMark + store.NewID(), now: o.Now}
	s.sessions = s.path + "-sessions"
	for _, dir := range []string{s.path, s.sessions} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, errors.Join(fmt.Errorf("create a temporary folder next to %s: %w", root, err), os.RemoveAll(s.path))
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

// clear removes the rest of the stage.
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
	if errors.Is(err, fs.ErrExist) { // the file system ignores case
		return fmt.Errorf(textTwice, shown(e.name))
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

// takeOn copies the secrets of the old directory if the import has none, and returns their names.
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
		if err != nil || len(data) == 0 { // the sandbox creates empty files for missing ones
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

// join makes one file of each of the replaced directory and its counterpart in the import, and
// returns the names of those that both have.
func (s *stage) join(root string, joins map[string]func(was, comes []byte) []byte) (names []string, err error) {
	for _, rel := range slices.Sorted(maps.Keys(joins)) {
		was, err := os.ReadFile(filepath.Join(root, rel))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		comes, err := s.data.ReadFile(rel)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			err = s.data.MkdirAll(path.Dir(rel), 0o700)
		case err == nil:
			names = append(names, rel)
		}
		if err != nil {
			return nil, err
		}
		if err := s.data.WriteFile(rel, joins[rel](was, comes), 0o600); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// keptLayout is appended to the names of what an import replaced.
const keptLayout = ".before-20060102-150405"

// settle replaces the directory with the stage, and returns the new path of the old one.
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
	_ = os.Remove(filepath.Join(kept, "state", "bot.pid")) // from the lock of this import
	return kept, nil
}

// room returns an error if the disk of a folder, which may not exist yet, has too little
// space.
func room(folder string, needs int64) error {
	for !exists(folder) && folder != filepath.Dir(folder) {
		folder = filepath.Dir(folder)
	}
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return nil //nolint:nilerr // writing will report it
	}
	if free := s.Bavail * uint64(s.Bsize); free < uint64(needs+needs/8) {
		return fmt.Errorf(textNoRoom, words.Bytes(needs), folder, words.Bytes(int64(min(free, math.MaxInt64))))
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
