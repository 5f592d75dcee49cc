package mcp

import (
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
	inBoxes(t, func(t *testing.T, _ string, h *home, user string) {
		kept := h.dir.Path(folder + "/memory/memory.jsonl")
		memory := program(filepath.Join(bin, "mcp-server-memory"))
		memory["env"] = map[string]string{"MEMORY_FILE_PATH": kept}
		h.serve(map[string]any{
			"notes": program(filepath.Join(bin, "mcp-server-filesystem"), filepath.Join(user, "notes")), "memory": memory,
			"all": program(filepath.Join(bin, "mcp-server-everything"), "stdio"),
		})
		h.answers(
			[3]string{"notes/read_text_file", `{"path": "` + filepath.Join(user, "notes/plums.txt") + `"}`, "heliotrope"},
			[3]string{"notes/read_text_file", `{"path": "` + filepath.Join(user, "diary.txt") + `"}`, "! denied"},
			[3]string{"memory/create_entities", `{"entities": [{"name": "Ada", "entityType": "person", "observations": ["likes plums"]}]}`, "likes plums"},
			[3]string{"memory/search_nodes", `{"query": "plums"}`, "Ada"},
			[3]string{"all/echo", `{"message": "good morning"}`, "good morning"},
		)
		if text, err := os.ReadFile(kept); err != nil || !strings.Contains(string(text), "likes plums") {
			t.Errorf("the memory is %q, %v", text, err)
		}
	})
}
