package policy

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// reading is what it takes to read a closed place.
type reading int

const (
	never  reading = iota // nobody reads it for the agent
	named                 // a pattern of the list has to name the place: "Read(./state/config.json)"
	listed                // read like any other file
)

// closedPlace is a place that no tool writes, whatever the session, the mode, a
// list or the user's "always" says.
type closedPlace struct {
	// names are patterns of one path element in small letters. What lies below
	// belongs to the place.
	names []string
	// top places are entries of the data directory itself; the others are closed
	// at any depth, outside of the directory too.
	top  bool
	read reading
	says string // what the agent is told
}

// closedPlaces are all of them: what holds secrets (a token that was read is in
// the conversation for good), what belongs to the bot, and what configures the
// programs that work here, by which a writer would reach past everything that is
// decided in this package.
var closedPlaces = []closedPlace{
	{[]string{"state"}, true, named, answerState},
	{[]string{".env", ".env*"}, false, never, answerSecret},
	{[]string{".git"}, false, never, answerGit},
	{[]string{".claude", ".mcp.json"}, false, named, answerSettings},
	{[]string{"claude.md", "claude.local.md"}, false, listed, answerSettings},
	{[]string{FileName, "keys.yaml"}, true, listed, answerSettings},
	{[]string{
		".ssh", ".gnupg", ".netrc", "authorized_keys", "*.pem", "*.key", "*.p12", "id_rsa*", "id_ed25519*", "id_ecdsa*",
		"credentials*.json", "token*.json",
	}, false, never, answerKey},
}

// holds reports whether a path, as its folded elements, lies in the place.
func (c closedPlace) holds(elements []string, inData bool) bool {
	if c.top {
		return inData && len(elements) > 0 && c.has(elements[0])
	}
	return slices.ContainsFunc(elements, c.has)
}

func (c closedPlace) has(name string) bool {
	return slices.ContainsFunc(c.names, func(pattern string) bool {
		hit, err := path.Match(pattern, name)
		return hit && err == nil
	})
}

// closed is what stands against touching a path, or "". It holds for the path as
// it is written and wherever its links lead. open says whether the session's list
// names a place for reading.
func (t tree) closed(file string, write bool, open func(closedPlace) bool) string {
	spots, ok := t.spots(file)
	if !ok {
		return answerLoop
	}
	for _, c := range closedPlaces {
		if !write && (c.read == listed || c.read == named && open(c)) {
			continue
		}
		for _, spot := range spots {
			if elements, inData := t.elements(spot); c.holds(elements, inData) || t.isIn(spot, c) {
				return c.says
			}
		}
	}
	return ""
}

// spots are the spellings of a path that count: as it is written, and where its
// links lead. The engine reaches the user's skills through a link of ours in
// .claude, which stands for the skills themselves.
func (t tree) spots(file string) ([]string, bool) {
	places, ok := t.places(file)
	if !ok {
		return nil, false
	}
	written := t.absolute(file)
	if rel, inside := t.within(written); inside && strings.HasPrefix(rel, engineSkills+"/") && t.same(engineSkills, "skills") {
		return places, true
	}
	return append(places, written), true
}

// engineSkills is where the engine looks for skills.
const engineSkills = ".claude/skills"

// same reports whether two entries of the data directory are one.
func (t tree) same(a, b string) bool {
	at, ok := follow(filepath.Join(t.root, a))
	to, okToo := follow(filepath.Join(t.root, b))
	return ok && okToo && at == to
}

// elements are the folded names of a path, from the data directory on where it
// lies in there.
func (t tree) elements(full string) (names []string, inData bool) {
	rel, inData := t.within(full)
	if !inData {
		rel = filepath.ToSlash(full)
	}
	for name := range strings.SplitSeq(rel, "/") {
		if name != "" && name != "." {
			names = append(names, fold(name))
		}
	}
	return names, inData
}

// fold is a name as file systems that ignore case, invisible characters, or dots
// and spaces at the end take it.
func fold(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) || unicode.IsControl(r) {
			return -1
		}
		return unicode.ToLower(unicode.ToUpper(r))
	}, name)
	return strings.TrimRight(name, " .")
}

// isIn finds a place of the data directory under any other name: through a second
// mount, a hard link, or where the place is a link itself.
func (t tree) isIn(spot string, c closedPlace) bool {
	for _, name := range c.names {
		if strings.Contains(name, "*") {
			continue
		}
		entry := filepath.Join(t.root, name)
		info, err := os.Lstat(entry)
		if err == nil && c.read != listed {
			info, err = os.Stat(entry)
		}
		if err == nil && below(spot, info) {
			return true
		}
	}
	return false
}

// opens reports whether one of the list's patterns names the place, before its
// first wildcard, and lets this call read in it.
func (s *Set) opens(x use, c closedPlace) bool {
	return slices.ContainsFunc(s.allowed, func(p pattern) bool {
		return p.globs != nil && c.holds(p.fixed(s.tree)) && p.allows(x, s.tree)
	})
}

// fixed are the elements of a file pattern that hold no wildcard.
func (p pattern) fixed(t tree) (names []string, inData bool) {
	fixed := strings.TrimPrefix(p.arg, "/") // "//srv" is the path /srv
	if i := strings.IndexAny(fixed, "*?"); i >= 0 {
		fixed = fixed[:strings.LastIndexByte(fixed[:i], '/')+1]
	}
	return t.elements(t.absolute(fixed))
}
