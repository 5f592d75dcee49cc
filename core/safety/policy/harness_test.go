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
	return New(Options{Dir: dir, Zone: time.UTC, Log: slog.New(slog.DiscardHandler)}), root
}

func write(t testing.TB, path, text string) {
	t.Helper()
	testkit.Must(t, os.WriteFile(path, []byte(text), 0o600))
}

func link(t testing.TB, target, name string) {
	t.Helper()
	testkit.Must(t, os.Symlink(target, name))
}
