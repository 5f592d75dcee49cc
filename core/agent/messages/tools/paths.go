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

// spot is the real place of a file or folder: a name in an open folder, so that neither a link nor
// a folder moved in the meantime can redirect it.
type spot struct {
	folder *os.File
	name   string // "." for the root of the file system
	full   string // the real path
	shown  string // the path that the model used
}

func (s spot) close() { _ = s.folder.Close() } // opened only for reading

// find opens the folder of the path in the field key. The call was checked with this path, but
// another session's command may have created links since. So links are followed once, their target
// is checked again, and the path opened after that must contain no link. Missing folders are
// created if the call writes.
func (b *Box) find(ctx context.Context, c call, key string, write bool) (spot, error) {
	return b.findAt(ctx, c, key, c.Text(key), write)
}

// findAt is find for a path that differs from the field's value.
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

// about returns the call with another path.
func (c call) about(key, path string) agent.ToolUse {
	fields := map[string]any{}
	maps.Copy(fields, c.Arguments)
	fields[key] = path
	input, err := json.Marshal(fields)
	if err != nil { // cannot happen: it was decoded from JSON
		input = nil
	}
	return agent.ToolUse{Name: c.tool, Input: input}
}

// join resolves a path of a call: relative ones start in the data directory, "~/" is the home
// directory. It is not cleaned, because "link/.." must keep its meaning.
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

// expected returns where a path leads without links, except those to the data directory itself.
func (b *Box) expected(path string) string {
	full := filepath.Clean(b.join(path))
	if rel, err := filepath.Rel(b.o.Dir, full); err == nil && filepath.IsLocal(rel) {
		return filepath.Join(b.real, rel)
	}
	return full
}

// sees reports whether a real path may be accessed: the sandbox shows it, or it is a
// temporary file of the session.
func (b *Box) sees(full string, write bool) bool {
	if tmp := b.shell.tmp(); tmp != "" && (full == tmp || strings.HasPrefix(full, tmp+"/")) {
		return true
	}
	return b.o.Sight()(full, write)
}

// display returns a real path as shown to the model, which is relative within the data directory.
func (b *Box) display(full string) string {
	if rel, err := filepath.Rel(b.real, full); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return full
}

// says describes an error of the system about a spot.
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

// openFolder opens a folder by its real path, name by name, so that a link on the way is an error.
// If create is set, missing folders are created.
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
		_ = unix.Close(fd) // opened only for reading
		if err != nil {
			return nil, err
		}
		fd = next
	}
	return os.NewFile(uintptr(fd), path), nil
}

// openIn opens a file in a folder. The file must not be a link; opening a pipe does not block.
func openIn(folder *os.File, name string, flags int) (*os.File, error) {
	fd, err := unix.Openat(int(folder.Fd()), name, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), filepath.Join(folder.Name(), name)), nil
}

// errKind means that a file is not regular: a pipe, a socket, a device.
var errKind = errors.New(textOdd)

// errSize means that a file is larger than the limit.
var errSize = errors.New("too large")

// readIn reads a regular file of at most limit bytes.
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
	// maxEntries limits how many entries one search visits, maxDeep how deep it goes, and walkTime
	// how long it takes.
	maxEntries = 200_000
	maxDeep    = 64
	walkTime   = 20 * time.Second
)

// file is a file visited by a walk.
type file struct {
	folder *os.File // open during the visit
	name   string
	rel    string // relative to the start of the walk, with forward slashes
	full   string
}

// changed returns the time of the file's last change.
func (f file) changed() time.Time {
	var s unix.Stat_t
	if err := unix.Fstatat(int(f.folder.Fd()), f.name, &s, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return time.Time{}
	}
	return time.Unix(s.Mtim.Unix())
}

// histories are folders of version control, which are not searched.
var histories = []string{".git", ".hg", ".svn", ".jj"}

// errEnough ends a walk at its limits. The findings so far are used.
var errEnough = errors.New("enough")

// walk visits the regular files below a folder, which it closes. It follows no links and
// skips what the sandbox hides.
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
				err = nil // it is gone or not accessible
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

// maxAlternatives is the number of globs that one with braces may expand to, maxGlob the
// longest glob.
const maxAlternatives, maxGlob = 64, 4 << 10

// globs returns the expressions of a glob with braces: "*.{a,b}" has two. "**/" matches any number
// of folders, "**" anything; "*" and "?" stay within one name.
func globs(glob string) []*regexp.Regexp {
	var list []*regexp.Regexp
	for _, one := range alternatives(glob, maxAlternatives) {
		list = append(list, routines.Glob(one))
	}
	return list
}

// alternatives expands the braces of a glob. Unclosed braces, or too many alternatives, are
// taken literally.
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
