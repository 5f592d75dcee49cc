package claude

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/base/testkit"
)

// The guard judges a file by its predicted contents after a call, so the command has to produce
// what the table in core/safety/policy says.
func TestTheCommandEditsAsTheGuardTells(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t)
	data, err := os.ReadFile(filepath.Join("..", "..", "safety", "policy", "testdata", "edits.json"))
	testkit.Must(t, err)
	var edits []struct {
		Name, File, Before, After string
		Missing                   bool
		Varies                    bool // differs between versions of the command
		With                      map[string]any
	}
	testkit.Must(t, json.Unmarshal(data, &edits))
	var steps []claudetest.Step
	for _, e := range edits {
		path := filepath.Join(r.dir, e.File)
		if !e.Missing {
			testkit.Must(t, os.WriteFile(path, letters(e.Before), 0o600))
			steps = append(steps, claudetest.Step{Tool: "Read", Input: map[string]any{"file_path": path}})
		}
		tool := "Edit"
		if e.With["content"] != nil {
			tool = "Write"
		}
		e.With["file_path"] = path
		steps = append(steps, claudetest.Step{Tool: tool, Input: e.With})
	}
	say(t, r.open(), claudetest.Script(append(steps, claudetest.Step{Text: "done"})...)).result(t)
	for _, e := range edits {
		got, err := os.ReadFile(filepath.Join(r.dir, e.File))
		if err != nil || !e.Varies && string(got) != string(letters(e.After)) {
			t.Errorf("%s: %q, want %q (%v)", e.Name, got, letters(e.After), err)
		}
	}
}

// letters writes bytes as letters, one for each.
func letters(s string) []byte {
	var out []byte
	for _, c := range s {
		out = append(out, byte(c))
	}
	return out
}
