package store

import (
	"os"
	"path/filepath"
	"strings"
)

// maxLinks is how many symbolic links one path may lead through.
const maxLinks = 64

// Follow walks an absolute path as the system does: a link is followed before
// the ".." behind it. What does not exist is taken as it is written, so that a
// link to a file not yet made leads there too. A loop of links is not ok.
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
