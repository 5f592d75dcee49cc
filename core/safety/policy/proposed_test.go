package policy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"ollimbot/core/base/testkit"
)

// editing is a call with its effect on a file, as the command performs it. The real command is
// checked with the same table in core/agent/claude. Bytes are written as letters, one for each.
type editing struct {
	Name, File    string
	Missing       bool // the file does not exist before
	Before, After string
	With          map[string]any
	Told          bool // the guard can predict the contents
}

func bytesOf(letters string) []byte {
	var out []byte
	for _, r := range letters {
		out = append(out, byte(r))
	}
	return out
}

func TestTheGuardKnowsWhatAnEditMakes(t *testing.T) {
	data, err := os.ReadFile("testdata/edits.json")
	testkit.Must(t, err)
	var edits []editing
	testkit.Must(t, json.Unmarshal(data, &edits))
	g, root := newGuard(t)
	for _, e := range edits {
		if !e.Missing {
			write(t, filepath.Join(root, "notes", e.File), string(bytesOf(e.Before)))
		}
		tool := "Edit"
		if e.With["content"] != nil {
			tool = "Write"
		}
		e.With["file_path"] = "notes/" + e.File
		rel, got, ok := g.proposed(g.tree.call(toolUse(tool, e.With)))
		if rel != "notes/"+e.File || ok != e.Told || ok && string(got) != string(bytesOf(e.After)) {
			t.Errorf("%s: %q %v %q, want %q", e.Name, rel, ok, got, bytesOf(e.After))
		}
	}
}

// A file with several spellings is reported under the most important one.
func TestAFileIsToldByItsPlace(t *testing.T) {
	g, root := newGuard(t)
	write(t, filepath.Join(root, "notes", "a.md"), "x")
	write(t, filepath.Join(root, "routines", "r.md"), "x")
	link(t, "../notes/a.md", filepath.Join(root, "routines", "linked.md"))
	link(t, "../routines/r.md", filepath.Join(root, "notes", "linked.md"))
	link(t, "loop.md", filepath.Join(root, "notes", "loop.md"))
	for path, want := range map[string]string{
		"notes/a.md": "notes/a.md", "routines/linked.md": "routines/linked.md", "notes/linked.md": "routines/r.md",
		root + "/notes/../routines/r.md": "routines/r.md", "/srv/routines/r.md": "", "notes/loop.md": "",
	} {
		rel, _, ok := g.proposed(g.tree.call(writing(path, "y")))
		if rel != want || ok != (want != "") {
			t.Errorf("%s is %q, %v", path, rel, ok)
		}
	}
}
