package policy

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/routines"
)

func TestGlobsMatchFilesAsTheListSays(t *testing.T) {
	for _, c := range []struct {
		glob    string
		yes, no []string
	}{
		{"**.md", []string{"a.md", "a/b/c.md"}, []string{"a.txt"}},
		{"**/*.md", []string{"a.md", "a/b.md"}, nil},
		{"**/x", []string{"x", "a/b/x"}, []string{"ax"}},
		{"**", []string{"anything/at/all"}, nil},
		{"*.md", []string{"a.md"}, []string{"a/b.md"}},
		{"a/*/c", []string{"a/b/c"}, []string{"a/b/b/c"}},
		{"?.md", []string{"a.md"}, []string{"/.md", "ab.md"}},
		{"a+b.md", []string{"a+b.md"}, []string{"aab.md"}},
		{"a\n**", []string{"a\nb\nc"}, nil},
		{"x", nil, []string{"x\n"}},
	} {
		for i, path := range append(c.yes, c.no...) {
			if got := routines.Glob(c.glob).MatchString(path); got != (i < len(c.yes)) {
				t.Errorf("%q on %q: %v", c.glob, path, got)
			}
		}
	}
}

func TestNoPatternAllowsWhatIsNoCallOrTooLong(t *testing.T) {
	set := Compile(t.TempDir(), Rules{Allowed: []string{"", "Read(./**.md)", "Bash(ollim-bot tasks *)"}})
	for name, u := range map[string]agent.ToolUse{
		"input that is no object": {Name: "Read", Input: json.RawMessage(`"x.md"`)}, "no name": {},
		"a lone return": bash("ollim-bot tasks add 'a\rb'"),
		"brackets":      bash("ollim-bot tasks add " + strings.Repeat("(", 1<<20)), "a word": bash("ollim-bot tasks add '" + strings.Repeat("x", 1<<20) + "'"),
	} {
		if set.Allows(u) {
			t.Errorf("%s: allowed", name)
		}
	}
}

// A data directory that is reached through a link: engines name its files by their real paths.
func TestTheFilesOfALinkedDataDirectoryAreItsOwn(t *testing.T) {
	r := newRoom(t)
	link(t, r.root, filepath.Join(r.base, "alias"))
	set := Compile(filepath.Join(r.base, "alias"), Rules{Allowed: []string{"Read(./**.md)"}})
	for _, path := range []string{filepath.Join(r.root, "USER.md"), "USER.md"} {
		if !set.Allows(file("Read", path)) {
			t.Errorf("%s is not taken for one", path)
		}
	}
}

// However a path into state/ is written, it stays protected.
func TestNoSpellingOpensState(t *testing.T) {
	r := newRoom(t)
	r.plays(`disk: mkdir state/forks
disk: mkdir deep/er
disk: ln notes/door $DATA/state
disk: ln notes/side $DATA/deep/er
disk: ln ../alias $DATA`)
	ways := []string{"state", "notes/door", "notes/../state", "./state", "notes/side/../../state", r.root + "/state", r.base + "/alias/state"}
	testkit.Check(t, func(t *rapid.T) {
		path := rapid.SampledFrom(ways).Draw(t, "way")
		for range rapid.IntRange(0, 3).Draw(t, "steps") {
			path += rapid.SampledFrom([]string{"/x", "/./y", "//z", "/a/../b", "/forks"}).Draw(t, "step")
		}
		if r.tree.closed(path, true, nil) == "" {
			t.Fatalf("%s is not protected", path)
		}
	})
}
