package policy

import (
	"os"
	"path/filepath"
	"strings"
)

// tree is the data directory as paths are judged against it.
type tree struct{ root string }

// absolute is a path as a tool's call names it: relative ones count from the
// data directory, which is where the agent works; "~/" is the home directory.
func (t tree) absolute(path string) string { return filepath.Clean(t.join(path)) }

// join is absolute without tidying: "link/.." keeps its meaning.
func (t tree) join(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return home + string(filepath.Separator) + rest
		}
	}
	if filepath.IsAbs(path) {
		return path
	}
	return t.root + string(filepath.Separator) + path
}

// places are where a path may really lead: a program that tidies ".." away
// before it opens the file, and one that lets the system follow the links
// first, end at two places where a link stands before "..".
func (t tree) places(path string) ([]string, bool) {
	tidied, ok := follow(t.absolute(path))
	if !ok {
		return nil, false
	}
	plain, ok := follow(t.join(path))
	if !ok {
		return nil, false
	}
	if plain == tidied {
		return []string{tidied}, true
	}
	return []string{tidied, plain}, true
}

// within is the path relative to the data directory, with forward slashes,
// whether it is spelled through the directory's links or not.
func (t tree) within(full string) (string, bool) {
	if rel, ok := relative(full, t.root); ok {
		return rel, true
	}
	realRoot, ok := follow(t.root)
	if !ok {
		return "", false
	}
	return relative(full, realRoot)
}

// maxLinks is how many symbolic links one path may lead through.
const maxLinks = 64

// follow walks an absolute path as the system does: a link is followed before
// the ".." behind it. What does not exist is taken as it is written, so that a
// link to a file not yet made leads there too. A loop of links is not ok.
func follow(path string) (string, bool) {
	const slash = string(filepath.Separator)
	at, links := slash, 0
	todo := strings.Split(path, slash)
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		target, err := os.Readlink(next)
		if err != nil {
			at = next
			continue
		}
		if links++; links > maxLinks {
			return "", false
		}
		if filepath.IsAbs(target) {
			at = slash
		}
		todo = append(strings.Split(target, slash), todo...)
	}
	return at, true
}

func relative(path, dir string) (string, bool) {
	rel, err := filepath.Rel(dir, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}
