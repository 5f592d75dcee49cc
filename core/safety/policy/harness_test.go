package policy

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
)

func toolUse(tool string, input any) agent.ToolUse {
	data, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return agent.ToolUse{ID: "x", Name: tool, Input: data}
}

// everything is a list that allows each tool that touches files or runs commands.
var everything = Rules{Allowed: []string{"Read", "Write", "Edit", "MultiEdit", "NotebookEdit", "Glob", "Grep", "Bash", "Skill"}}

type fields map[string]any

// table reads a table of testdata.
func table(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	testkit.Must(t, err)
	testkit.Must(t, json.Unmarshal(data, into))
}

func writing(path, text string) agent.ToolUse {
	return toolUse("Write", fields{"file_path": path, "content": text})
}

func bash(command string) agent.ToolUse { return toolUse("Bash", fields{"command": command}) }

func file(tool, path string) agent.ToolUse {
	key := "file_path"
	if tool == "NotebookEdit" {
		key = "notebook_path"
	}
	return toolUse(tool, fields{key: path})
}

// newGuard returns a guard over a fresh data directory.
func newGuard(t testing.TB) (*Guard, string) {
	t.Helper()
	return guardAt(t, t.TempDir())
}

func guardAt(t testing.TB, root string) (*Guard, string) {
	t.Helper()
	dir := storetest.At(t, root)
	testkit.Must(t, dir.Prepare())
	for _, folder := range []string{"routines", "reminders", "notes"} {
		testkit.Must(t, os.MkdirAll(filepath.Join(root, folder), 0o700))
	}
	return New(Options{
		Dir: dir, Zone: time.UTC, Log: slog.New(slog.DiscardHandler),
		Reading: []string{"help", "history list", "reminder list", "tasks list", "gmail read", "gmail unread"},
	}), root
}

// answering gives every question the answer of decide, or none if that is empty, and returns the questions.
func answering(t testing.TB, g *Guard, decide func(Approval) Verdict) *[]Approval {
	t.Helper()
	asked := &[]Approval{}
	g.approvals.OnChange(func(a Approval) {
		if a.Verdict != "" {
			return
		}
		*asked = append(*asked, a)
		if v := decide(a); v != "" {
			testkit.Must(t, g.approvals.Answer(t.Context(), a.ID, v))
		}
	})
	return asked
}

// always is a decision for answering.
func (v Verdict) always(Approval) Verdict { return v }

// write writes a file, with its folder.
func write(t testing.TB, path, text string) {
	t.Helper()
	testkit.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	testkit.Must(t, os.WriteFile(path, []byte(text), 0o600))
}

// cannotRecord makes every record of provenance fail, and returns what ends that.
func cannotRecord(t testing.TB, g *Guard) (end func()) {
	t.Helper()
	lock := g.o.Dir.Path("state/." + provenanceTurn + ".lock")
	testkit.Must(t, os.RemoveAll(lock))
	link(t, lock, lock) // a loop, which cannot be opened
	return func() { testkit.Must(t, os.Remove(lock)) }
}

func link(t testing.TB, target, name string) {
	t.Helper()
	testkit.Must(t, os.Symlink(target, name))
}
