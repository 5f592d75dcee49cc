package store

import (
	"os"
	"path/filepath"
	"strings"
)

// maxLinks is the maximum number of symbolic links in a path.
const maxLinks = 64

// Follow resolves an absolute path as the system does: a link is followed before a ".."
// after it. Missing elements are kept, so that a link to a missing file is resolved too. It
// returns false for a loop of links.
func Follow(path string) (string, bool) {
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
