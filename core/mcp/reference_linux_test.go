package mcp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
)

// referenceServers returns the folder with the programs of the servers maintained by the
// protocol's authors, as installed by npm: OLLIM_TEST_MCP.
func referenceServers(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(os.Getenv("OLLIM_TEST_MCP"), "node_modules", ".bin")
	if _, err := os.Stat(filepath.Join(bin, "mcp-server-memory")); err == nil && filepath.IsAbs(bin) {
		return bin
	}
	testkit.Missing(t, "npm's MCP servers: set OLLIM_TEST_MCP to the folder into which .ci/run installs them")
	return ""
}

// The servers of docs/mcp.md, in the sandbox.
func TestTheReferenceServersWorkInTheSandbox(t *testing.T) {
	testkit.Alone(t)
	bin := referenceServers(t)
	for kind := range boxes {
		t.Run(kind, func(t *testing.T) {
			h, user := fenced(t, kind, func(string) string { return "" })
			memory := h.dir.Path(folder + "/memory/memory.jsonl")
			text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
				"notes":  map[string]any{"command": filepath.Join(bin, "mcp-server-filesystem"), "args": []string{filepath.Join(user, "notes")}},
				"memory": map[string]any{"command": filepath.Join(bin, "mcp-server-memory"), "env": map[string]string{"MEMORY_FILE_PATH": memory}},
				"all":    map[string]any{"command": filepath.Join(bin, "mcp-server-everything"), "args": []string{"stdio"}},
			}})
			testkit.Must(t, err)
			h.save(string(text))
			h.Reload()
			h.run()
			h.known()
			for _, c := range []struct {
				tool, args string
				fails      bool
				says       string
			}{
				{"notes/read_text_file", `{"path": "` + filepath.Join(user, "notes/plums.txt") + `"}`, false, "heliotrope"},
				{"notes/read_text_file", `{"path": "` + filepath.Join(user, "diary.txt") + `"}`, true, "denied"},
				{"memory/create_entities", `{"entities": [{"name": "Ada", "entityType": "person", "observations": ["likes plums"]}]}`, false, "likes plums"},
				{"memory/search_nodes", `{"query": "plums"}`, false, "Ada"},
				{"all/echo", `{"message": "good morning"}`, false, "good morning"},
			} {
				if got := h.call(c.tool, c.args); got.IsError != c.fails || !strings.Contains(got.Text, c.says) {
					t.Errorf("%s: %+v", c.tool, got)
				}
			}
			if kept, err := os.ReadFile(memory); err != nil || !strings.Contains(string(kept), "likes plums") {
				t.Errorf("the memory is %q, %v", kept, err)
			}
		})
	}
}
