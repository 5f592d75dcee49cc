package policy

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxLooked is how many entries of a folder are looked at before a search in it
// counts as one that nobody can judge.
const maxLooked = 20_000

// plainText are the endings of files that people write for people. No closed
// place keeps anything but the user's own words in such files.
var plainText = []string{".md", ".markdown", ".txt", ".csv"}

// searches is what stands against a search, beyond what holds for the folder or
// file that it names: it must not print what lies in a closed place below that
// folder. A search for names prints names only.
func (g *Guard) searches(x use) string {
	if x.tool != "Grep" || plainGlob(x.arg) {
		return ""
	}
	folder := g.tree.absolute(x.folder)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return ""
	}
	begin, beginsIn := g.tree.elements(folder)
	closed := func(c closedPlace, elements []string, inData bool) bool {
		return c.read != listed && c.holds(elements, inData)
	}
	found, looked := "", 0
	err := filepath.WalkDir(folder, func(at string, e fs.DirEntry, err error) error {
		if looked++; err != nil || looked > maxLooked {
			return errTooMany
		}
		elements, inData := g.tree.elements(at)
		if slices.ContainsFunc(closedPlaces, func(c closedPlace) bool {
			return closed(c, elements, inData) && !closed(c, begin, beginsIn)
		}) {
			found = at
			return fs.SkipAll
		}
		return nil
	})
	if found != "" || err != nil {
		return answerSearch
	}
	return ""
}

var errTooMany = errors.New("too many files")

// fixedFolder is the part of a glob before its first wildcard, as far as it is
// folders.
func fixedFolder(glob string) string {
	if i := strings.IndexAny(glob, "*?[{"); i >= 0 {
		return glob[:strings.LastIndexByte(glob[:i], '/')+1]
	}
	return glob
}

// plainGlob reports whether a search looks at nothing but texts.
func plainGlob(glob string) bool {
	return !strings.ContainsAny(glob, "!{}[],\\ \t\r\n") && slices.Contains(plainText, path.Ext(glob)) &&
		!strings.ContainsAny(path.Ext(glob), "*?")
}
