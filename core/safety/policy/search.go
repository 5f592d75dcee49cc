package policy

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"ollimbot/core/safety/closed"
)

// maxLooked is how many entries of a folder are checked. A search in a larger folder counts as
// impossible to judge.
const maxLooked = 20_000

// plainText are the extensions of files that people write for people. Closed places contain such
// files only with the user's own text.
var plainText = []string{".md", ".markdown", ".txt", ".csv"}

// searches returns the objection to a search, in addition to those that apply to the folder or file
// it names: it must not print the contents of closed places below that folder. A search for names
// prints only names.
func (g *Guard) searches(x call) string {
	if x.tool != "Grep" {
		return ""
	}
	folders, ok := g.tree.places(x.folder)
	if !ok {
		return answerLoop
	}
	prints := g.tree.keeps
	if plainGlob(x.arg) {
		prints = func(folder string) bool { return g.tree.links(x, folder) }
	}
	if slices.ContainsFunc(folders, prints) {
		return answerSearch
	}
	return ""
}

// links reports whether a search in a folder may visit another name of a file in a closed place.
func (t tree) links(x call, folder string) bool {
	return filepath.WalkDir(folder, func(at string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil // what cannot be read is not printed either
		}
		rel, err := filepath.Rel(folder, at)
		if err != nil || !mayVisit(x, filepath.ToSlash(rel)) {
			return nil
		}
		if info, err := e.Info(); err != nil || !otherNames(info) {
			return nil
		}
		for i, aliased := range t.alias(at) {
			if aliased && accesses[closed.Places[i].Kind].read != listed {
				return errKept
			}
		}
		return nil
	}) != nil
}

// keeps reports whether there is a closed place below a folder that does not contain the folder
// itself, or more entries than maxLooked.
func (t tree) keeps(folder string) bool {
	begin, beginsWithin := t.elements(folder)
	looked := 0
	return filepath.WalkDir(folder, func(at string, _ fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && at == folder {
			return nil
		}
		if looked++; err != nil || looked > maxLooked {
			return errKept
		}
		elements, within := t.elements(at)
		for _, c := range closed.Places {
			if accesses[c.Kind].read != listed && c.Holds(elements, within) && !c.Holds(begin, beginsWithin) {
				return errKept
			}
		}
		return nil
	}) != nil
}

var errKept = errors.New("there is something that must not be printed")

// plainGlob reports whether a search visits only plain text files.
func plainGlob(glob string) bool {
	return !strings.ContainsAny(glob, "!{}[],\\ \t\r\n") && slices.Contains(plainText, path.Ext(glob)) &&
		!strings.ContainsAny(path.Ext(glob), "*?")
}
