package policy

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"ollimbot/core/base/visible"
	"ollimbot/core/safety/closed"
	"ollimbot/core/storage/store"
)

// tree is the data directory, against which paths are judged.
type tree struct{ root string }

// absolute returns the absolute form of a path in a tool's call. Relative paths start in the data
// directory, where the agent works; "~/" is the home directory.
func (t tree) absolute(path string) string { return filepath.Clean(t.join(path)) }

// join is absolute without cleaning: "link/.." keeps its meaning.
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

// places returns where a path may really lead. If a link comes before "..", a program that cleans
// the path before it opens the file and one that lets the system follow the links first end at two
// different places.
func (t tree) places(path string) ([]string, bool) {
	tidied, ok := store.Follow(t.absolute(path))
	if !ok {
		return nil, false
	}
	plain, ok := store.Follow(t.join(path))
	if !ok {
		return nil, false
	}
	if plain == tidied {
		return []string{tidied}, true
	}
	return []string{tidied, plain}, true
}

// within returns the path relative to the data directory, with forward slashes, whether or not it
// is spelled through the directory's links.
func (t tree) within(full string) (string, bool) {
	if rel, ok := relative(full, t.root); ok {
		return rel, true
	}
	realRoot, ok := store.Follow(t.root)
	if !ok {
		return "", false
	}
	return relative(full, realRoot)
}

// shown returns the picture of a path for the user: relative if it is in the data directory, otherwise
// absolute, with the places outside to which its links lead.
func (t tree) shown(path string) string {
	full := t.absolute(path)
	rel, inside := t.within(full)
	if !inside {
		return visible.Path(full)
	}
	picture := visible.Path(rel)
	places, _ := t.places(path)
	for _, p := range places {
		if _, inside := t.within(p); !inside {
			picture += " " + visible.Note("leads to "+visible.Path(p))
		}
	}
	return picture
}

func relative(path, dir string) (string, bool) {
	rel, err := filepath.Rel(dir, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// reading is the requirement for reading a closed place.
type reading int

const (
	never  reading = iota // the agent cannot read it
	named                 // a pattern in the list has to name the place: "Read(./state/config.json)"
	listed                // read like any other file
)

// access describes how a kind of closed place is judged. No tool may write one, regardless of the
// session, the mode, the lists and the user's "always".
type access struct {
	read reading
	says string // the refusal for the agent
}

var accesses = map[closed.Kind]access{
	closed.State:        {named, answerState},
	closed.Env:          {never, answerSecret},
	closed.Keys:         {never, answerKey},
	closed.Git:          {never, answerGit},
	closed.Engine:       {named, answerSettings},
	closed.Servers:      {named, answerSettings},
	closed.Instructions: {listed, answerSettings},
	closed.Settings:     {listed, answerSettings},
	closed.Programs:     {listed, answerPrograms},
	closed.System:       {never, answerSystem},
}

// closed returns the objection to touching a path, or "". It applies to the path as it is written
// and to the places its links lead to. open reports whether the session's list names a place for
// reading.
func (t tree) closed(file string, write bool, open func(closed.Place) bool) string {
	spots, ok := t.spots(file)
	if !ok {
		return answerLoop
	}
	for _, spot := range spots {
		elements, within := t.elements(spot)
		aliases := t.alias(spot)
		for i, c := range closed.Places {
			to := accesses[c.Kind]
			if (c.Holds(elements, within) || aliases[i]) && (write || to.read == never || to.read == named && !open(c)) {
				return to.says
			}
		}
	}
	return ""
}

// spots returns the spellings of a path that count: as it is written, and where its links lead. The
// engine reaches the user's skills through the bot's link in .claude, which counts as the skills
// themselves.
func (t tree) spots(file string) ([]string, bool) {
	places, ok := t.places(file)
	if !ok {
		return nil, false
	}
	written := t.absolute(file)
	if rel, inside := t.within(written); inside && strings.HasPrefix(rel, engineSkills+"/") && t.sameEntry(engineSkills, "skills") {
		return places, true
	}
	if slices.Contains(places, written) {
		return places, true
	}
	return append(places, written), true
}

// engineSkills is where the engine looks for skills.
const engineSkills = ".claude/skills"

// sameEntry reports whether two paths are the same entry of the data directory.
func (t tree) sameEntry(a, b string) bool {
	at, ok := store.Follow(filepath.Join(t.root, a))
	to, okToo := store.Follow(filepath.Join(t.root, b))
	return ok && okToo && at == to
}

// elements returns the folded names of a path, relative to the data directory if it is inside.
func (t tree) elements(full string) (names []string, within bool) {
	rel, within := t.within(full)
	if !within {
		rel = filepath.ToSlash(full)
	}
	for name := range strings.SplitSeq(rel, "/") {
		if name != "" && name != "." {
			names = append(names, closed.Fold(name))
		}
	}
	return names, within
}

// alias returns which closed places of the data directory contain a path under another name:
// through a second mount, a hard link, or if the place is a link itself.
func (t tree) alias(spot string) (in [len(closed.Places)]bool) {
	type entry struct {
		place int
		info  os.FileInfo
	}
	var entries []entry
	for i, c := range closed.Places {
		for _, name := range c.Names {
			if c.Where == closed.InSystem || strings.Contains(name, "*") {
				continue
			}
			full := filepath.Join(t.root, name)
			info, err := os.Lstat(full)
			if err == nil && accesses[c.Kind].read != listed {
				info, err = os.Stat(full)
			}
			if err == nil {
				entries = append(entries, entry{i, info})
			}
		}
	}
	for at := spot; len(entries) > 0; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err == nil {
			for _, e := range entries {
				in[e.place] = in[e.place] || os.SameFile(info, e.info)
			}
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	return in
}

// fixedFolder returns the folders of a glob before its first wildcard.
func fixedFolder(glob string) string {
	if i := strings.IndexAny(glob, "*?[{"); i >= 0 {
		return glob[:strings.LastIndexByte(glob[:i], '/')+1]
	}
	return glob
}

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
