package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/storage/store"
	"ollimbot/routines"
)

// spot is a file or folder as it really lies: a name in a folder that is held open.
// Neither a link nor a folder that is moved meanwhile leads anywhere else.
type spot struct {
	folder *os.File
	name   string // "." for the root of the file system
	full   string // the real path
	shown  string // as the model knows it
}

func (s spot) close() { _ = s.folder.Close() } // it was opened to look

// find opens the folder of what a call names in the field key. Whoever judged the
// call saw a path, and a command of another session may have made links since: so
// links are followed once, where they lead is judged again, and what is opened then
// is held to have none. Folders on the way are made where the call writes.
func (b *Box) find(ctx context.Context, c call, key string, write bool) (spot, error) {
	return b.findAt(ctx, c, key, c.Text(key), write)
}

// findAt is find for a path that is not exactly what stands in the field.
func (b *Box) findAt(ctx context.Context, c call, key, path string, write bool) (spot, error) {
	s := spot{shown: clean.Cut(clean.Line(path), maxShown)}
	if strings.ContainsRune(path, 0) {
		return s, errors.New(textZero)
	}
	var ok bool
	if s.full, ok = store.Follow(b.join(path)); !ok {
		return s, fmt.Errorf(textLoop, s.shown)
	}
	if s.full != b.expected(path) {
		if refusal := b.o.Judge(ctx, c.about(key, s.full)); refusal != "" {
			return s, errors.New(refusal)
		}
	}
	if !b.sees(s.full, write) {
		return s, fmt.Errorf(textUnseen, s.shown)
	}
	s.name = filepath.Base(s.full)
	if s.full == "/" {
		s.name = "."
	}
	var err error
	if s.folder, err = openFolder(filepath.Dir(s.full), write); err != nil {
		return s, b.says(s, err)
	}
	return s, nil
}

// maxShown is how much of a path an answer repeats, in characters.
const maxShown = 200

// about is the call with another path in it.
func (c call) about(key, path string) agent.ToolUse {
	fields := map[string]any{}
	maps.Copy(fields, c.Arguments)
	fields[key] = path
	input, err := json.Marshal(fields)
	if err != nil { // it was JSON before
		input = nil
	}
	return agent.ToolUse{Name: c.tool, Input: input}
}

// join is a path as calls name it: relative ones count from the data directory,
// "~/" is the home directory. Nothing is tidied: "link/.." keeps its meaning.
func (b *Box) join(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return home + "/" + rest
		}
	}
	if filepath.IsAbs(path) {
		return path
	}
	return b.o.Dir + "/" + path
}

// expected is where a path leads if no link is on its way, but for those to the data
// directory itself.
func (b *Box) expected(path string) string {
	full := filepath.Clean(b.join(path))
	if rel, err := filepath.Rel(b.o.Dir, full); err == nil && filepath.IsLocal(rel) {
		return filepath.Join(b.real, rel)
	}
	return full
}

// sees reports whether a real path may be touched: it is shown by the fence, or one
// of the session's own temporary files.
func (b *Box) sees(full string, write bool) bool {
	if tmp := b.shell.tmp(); tmp != "" && (full == tmp || strings.HasPrefix(full, tmp+"/")) {
		return true
	}
	return b.o.Sight()(full, write)
}

// display is a real path as the model gets it: relative within the data directory.
func (b *Box) display(full string) string {
	if rel, err := filepath.Rel(b.real, full); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return full
}

// says is an error of the system about a spot, in words.
func (b *Box) says(s spot, err error) error {
	switch {
	case errors.Is(err, unix.ELOOP):
		return fmt.Errorf(textMoved, s.shown)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf(textMissing, s.shown)
	case errors.Is(err, unix.ENOTDIR):
		return fmt.Errorf(textNoFolder, s.shown)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf(textForbidden, s.shown)
	}
	return fmt.Errorf("%s: %w", s.shown, store.Bare(err))
}

// openFolder opens a folder by its real path, name by name, so that a link on the
// way is an error. Missing ones are made on demand.
func openFolder(path string, create bool) (*os.File, error) {
	fd, err := unix.Open("/", walkFlags, 0)
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(path, "/") {
		if name == "" {
			continue
		}
		next, err := unix.Openat(fd, name, walkFlags|unix.O_NOFOLLOW, 0)
		if errors.Is(err, fs.ErrNotExist) && create {
			if err = unix.Mkdirat(fd, name, 0o755); err == nil || errors.Is(err, fs.ErrExist) {
				next, err = unix.Openat(fd, name, walkFlags|unix.O_NOFOLLOW, 0)
			}
		}
		_ = unix.Close(fd) // it was opened to look
		if err != nil {
			return nil, err
		}
		fd = next
	}
	return os.NewFile(uintptr(fd), path), nil
}

// openIn opens what lies in a folder under a name, which must be no link. A pipe does
// not block.
func openIn(folder *os.File, name string, flags int) (*os.File, error) {
	fd, err := unix.Openat(int(folder.Fd()), name, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), filepath.Join(folder.Name(), name)), nil
}

// errKind says that a file is none that can be read: a pipe, a socket, a device.
var errKind = errors.New(textOdd)

// errSize says that a file is larger than asked for.
var errSize = errors.New("too large")

// readIn reads an ordinary file of at most limit bytes.
func readIn(folder *os.File, name string, limit int64) ([]byte, error) {
	f, err := openIn(folder, name, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, unix.EISDIR
	case !info.Mode().IsRegular():
		return nil, errKind
	case info.Size() > limit:
		return nil, errSize
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, errSize
	}
	return data, err
}

const (
	// maxEntries bounds how much of a file system one search looks at, and maxDeep
	// how far below its folder; walkTime is how long it may take.
	maxEntries = 200_000
	maxDeep    = 64
	walkTime   = 20 * time.Second
)

// file is what a walk comes by.
type file struct {
	folder *os.File // held open while it is visited
	name   string
	rel    string // from where the walk began, with forward slashes
	full   string
}

// changed is when the file was last written.
func (f file) changed() time.Time {
	var s unix.Stat_t
	if err := unix.Fstatat(int(f.folder.Fd()), f.name, &s, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return time.Time{}
	}
	return time.Unix(s.Mtim.Unix())
}

// histories are folders of version control, which nobody searches for words.
var histories = []string{".git", ".hg", ".svn", ".jj"}

// errEnough ends a walk that has looked at all it may. What was found counts.
var errEnough = errors.New("enough")

// walk visits the ordinary files below a folder, which it closes. It follows no links
// and leaves out what the fence does not show.
type walk struct {
	ctx   context.Context
	sees  func(path string, write bool) bool
	visit func(file) error
	left  int
}

func (b *Box) walk(ctx context.Context, s spot, visit func(file) error) (cut bool, err error) {
	folder, err := openIn(s.folder, s.name, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return false, b.says(s, err)
	}
	ctx, cancel := context.WithTimeout(ctx, walkTime)
	defer cancel()
	w := walk{ctx: ctx, sees: b.o.Sight(), visit: visit, left: maxEntries}
	err = w.folder(folder, "", s.full, 0)
	if errors.Is(err, errEnough) || errors.Is(err, context.DeadlineExceeded) {
		return true, nil
	}
	return false, err
}

func (w *walk) folder(folder *os.File, rel, full string, depth int) error {
	defer folder.Close()
	entries, err := folder.ReadDir(-1)
	if err != nil && len(entries) == 0 {
		return nil //nolint:nilerror // a folder that cannot be read holds nothing to find
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		if w.left--; w.left < 0 {
			return errEnough
		}
		if err := w.ctx.Err(); err != nil {
			return err
		}
		f := file{folder, e.Name(), path.Join(rel, e.Name()), filepath.Join(full, e.Name())}
		if !w.sees(f.full, false) {
			continue
		}
		switch {
		case e.Type().IsRegular():
			err = w.visit(f)
		case e.IsDir() && depth < maxDeep && !slices.Contains(histories, e.Name()):
			var below *os.File
			if below, err = openIn(folder, e.Name(), unix.O_RDONLY|unix.O_DIRECTORY); err != nil {
				err = nil // it is gone, or closed to us
				continue
			}
			err = w.folder(below, f.rel, f.full, depth+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// maxAlternatives is how many globs one with braces may stand for, maxGlob how long it
// may be.
const maxAlternatives, maxGlob = 64, 4 << 10

// globs are the expressions that a glob with braces stands for: "*.{a,b}" is two.
// "**/" is any number of folders, "**" anything, "*" and "?" stay within one name.
func globs(glob string) []*regexp.Regexp {
	var list []*regexp.Regexp
	for _, one := range alternatives(glob, maxAlternatives) {
		list = append(list, routines.Glob(one))
	}
	return list
}

// alternatives writes a glob without its braces. Those that are not closed, or stand
// for too much, are letters.
func alternatives(glob string, most int) []string {
	open := strings.IndexByte(glob, '{')
	if open < 0 || most < 1 || len(glob) > maxGlob {
		return []string{glob}
	}
	var parts []string
	depth, from := 0, open+1
	for at := open; at < len(glob); at++ {
		switch c := glob[at]; {
		case c == '{':
			depth++
		case c == ',' && depth == 1:
			parts, from = append(parts, glob[from:at]), at+1
		case c == '}' && depth > 1:
			depth--
		case c == '}':
			parts = append(parts, glob[from:at])
			var out []string
			for _, part := range parts {
				for _, one := range alternatives(part+glob[at+1:], most/len(parts)) {
					out = append(out, glob[:open]+one)
				}
			}
			if len(out) > most {
				return []string{glob}
			}
			return out
		}
	}
	return []string{glob}
}

func matches(list []*regexp.Regexp, name string) bool {
	return slices.ContainsFunc(list, func(g *regexp.Regexp) bool { return g.MatchString(name) })
}
