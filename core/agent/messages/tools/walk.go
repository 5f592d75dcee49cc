package tools

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"ollimbot/routines"
)

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
