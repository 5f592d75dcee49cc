package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
)

// linked returns a data directory with links of every kind in and around it.
func linked(t *testing.T) (g *Guard, root, base string) {
	t.Helper()
	base = t.TempDir()
	g, root = guardAt(t, filepath.Join(base, "data"))
	for _, d := range []string{filepath.Join(base, "outside"), filepath.Join(root, "state", "forks"), filepath.Join(root, "deep", "er")} {
		testkit.Must(t, os.MkdirAll(d, 0o700))
	}
	for name, target := range map[string]string{
		"notes/door":    filepath.Join(root, "state"),
		"notes/inner":   "../state/forks",
		"notes/new.md":  filepath.Join(root, "state", "not-yet.md"), // dangling
		"notes/away.md": filepath.Join(base, "outside", "x.md"),
		"notes/loop.md": "loop.md",
		"notes/side":    filepath.Join(root, "deep", "er"),
		"notes/here.md": "plain.md",
		"notes/odd.md":  "plain.json",
	} {
		link(t, target, filepath.Join(root, name))
	}
	link(t, root, filepath.Join(base, "alias"))
	return g, root, base
}

func TestStateIsWriteProtectedByHookAndByCallback(t *testing.T) {
	g, root, base := linked(t)
	permission := g.Session(Scope{Rules: Rules{Allowed: []string{"Write", "Edit", "MultiEdit", "NotebookEdit"}}}).Permission
	for _, tt := range []struct {
		path string
		want bool // may be written
	}{
		{"state", false},
		{"state/", false},
		{"./state/config.json", false},
		{"state/forks/a.jsonl", false},
		{"state/forks/new/deep.json", false},
		{"notes/../state/x.md", false},
		{"notes/../../data/state/x.md", false},
		{"//" + root + "/state/x", false},
		{filepath.Join(root, "state", "x.json"), false},
		{filepath.Join(base, "alias", "state", "x.md"), false},
		{"notes/door", false},
		{"notes/door/config.json", false},
		{"notes/inner/x", false},
		{"notes/new.md", false},
		{"notes/loop.md", false},
		{"notes/side/../../state/x.md", false}, // if the system follows the link first
		{"notes/inner/../x.md", false},         // notes/x.md, or state/x.md if the link is followed first
		{"notes/loop.md/../x.md", false},       // notes/x.md, or nothing at all
		{filepath.Join(base, "outside") + "/../data/state/x", false},

		{"notes/plain.md", true},
		{"state.md", true},
		{"notes/state/x.md", true},
		{"mystate/x.md", true},
		{"notes/side/x.md", true},
		{filepath.Join(base, "outside", "x.md"), true},
	} {
		for _, tool := range []string{"Write", "Edit", "MultiEdit", "NotebookEdit"} {
			u := file(tool, tt.path)
			for name, d := range map[string]agent.Decision{"hook": g.Session(Scope{Rules: everything}).PreTool(t.Context(), u), "callback": permission(t.Context(), u)} {
				if d.Allow != tt.want {
					t.Errorf("%s %s by %s: %v, want %v (%s)", tool, tt.path, name, d.Allow, tt.want, d.Reason)
				}
				if !d.Allow && !strings.Contains(d.Reason, "write-protected") {
					t.Errorf("%s %s by %s: reason %q", tool, tt.path, name, d.Reason)
				}
			}
		}
	}
	if d := g.Session(Scope{}).PreTool(t.Context(), toolUse("Write", nil)); d.Allow || !strings.Contains(d.Reason, "file") {
		t.Errorf("a write without a path: %+v", d)
	}
}

func TestLinksMustMatchThePatternTooWhereTheyLead(t *testing.T) {
	_, root, base := linked(t)
	rules := Rules{Allowed: []string{"Read(./**.md)", "Edit(//" + strings.TrimPrefix(filepath.Join(base, "alias"), "/") + "/deep/**)"}}
	for _, tt := range []struct {
		tool, path string
		want       bool
	}{
		{"Read", "notes/here.md", true},
		{"Read", "notes/odd.md", false},
		{"Read", "notes/away.md", false},
		{"Read", "notes/loop.md", false},
		{"Read", filepath.Join(base, "alias", "notes", "here.md"), false}, // not spelled as a file of the directory
		{"Edit", filepath.Join(base, "alias", "deep", "x"), true},
		{"Edit", filepath.Join(root, "deep", "x"), true},
		{"Edit", filepath.Join(base, "alias", "deep", "..", "x"), false},
	} {
		if got := Compile(root, rules).Allows(file(tt.tool, tt.path)); got != tt.want {
			t.Errorf("%s %s: allowed %v, want %v", tt.tool, tt.path, got, tt.want)
		}
	}
	// A data directory that is reached through a link: engines name its files by their real paths.
	set := Compile(filepath.Join(base, "alias"), rules)
	if !set.Allows(file("Read", filepath.Join(root, "USER.md"))) || !set.Allows(file("Read", "USER.md")) {
		t.Error("the real path of a linked data directory is not taken for its own")
	}
	link(t, "loop", filepath.Join(base, "loop"))
	if Compile(root, Rules{Allowed: []string{"Read(//" + filepath.Join(base, "loop", "x")[1:] + "/**)"}}).Allows(file("Read", "/etc/hosts")) {
		t.Error("a pattern that leads nowhere allows everything")
	}
	taken := Compile(root, Rules{Allowed: []string{"Read"}, Disallowed: []string{"Read(./state/**)"}})
	if taken.Allows(file("Read", "notes/door/config.json")) {
		t.Error("a disallowed file is open by a link")
	}
}

// However a path into state/ is written, it stays protected.
func TestNoSpellingOpensState(t *testing.T) {
	g, root, base := linked(t)
	ways := []string{"state", "notes/door", "notes/../state", "./state", "notes/side/../../state", root + "/state", base + "/alias/state"}
	testkit.Check(t, func(t *rapid.T) {
		path := rapid.SampledFrom(ways).Draw(t, "way")
		for range rapid.IntRange(0, 3).Draw(t, "steps") {
			path += rapid.SampledFrom([]string{"/x", "/./y", "//z", "/a/../b", "/forks"}).Draw(t, "step")
		}
		if g.tree.closed(path, true, nil) == "" {
			t.Fatalf("%s is not protected", path)
		}
	})
}
