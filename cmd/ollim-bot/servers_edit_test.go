package main

import (
	"fmt"
	"strings"
	"testing"

	"ollimbot/core/agent/choice"
	"ollimbot/core/base/testkit"
)

// The whole path of an edit of the servers' file, with the tools of each engine: the call is
// answered with a sentence, the user sees the changes, and only their word writes the file. // M10
func TestAnEditOfTheServersFileByOurOwnTools(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	editOfTheServersFile(t, choice.Messages)
}

func TestAnEditOfTheServersFileByTheRealCommand(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	editOfTheServersFile(t, choice.Claude)
}

func editOfTheServersFile(t *testing.T, engine string) {
	s := newSiege(t, engine, "no sandbox")
	one := fmt.Sprintf(`{"mcpServers": {"weather": {"type": "http", "url": %q}}}`, weather(t, 0).URL)
	two := strings.TrimSuffix(one, "}}") + `, "evil": {"command": "/bin/evil"}}}`
	s.start()
	s.types("/permissions default") // by default the conversation writes notes alone
	s.hears("permissions: default")

	// A new file: nothing is there before the user allows it.
	got := s.talks(writing(".mcp.json", one))
	if !got[0].IsError || !strings.Contains(got[0].Text, ".mcp.json is not changed yet: your edit waits for the user") {
		t.Errorf("the model is told: %+v", got[0])
	}
	if s.read(".mcp.json") != "" || s.read("state/mcp.json") != "" {
		t.Errorf("written before the user has allowed it: %q", s.read(".mcp.json"))
	}
	s.hears("The agent's edit of .mcp.json waits for you")
	s.hears("+" + one) // the card
	s.types("servers")
	s.hears("There are no MCP servers")
	s.types("allow .mcp.json")
	s.types("yes")
	s.hears("the edit of the list of MCP servers is in force")
	if s.read(".mcp.json") != one {
		t.Errorf("allowed, the file is %q", s.read(".mcp.json"))
	}
	s.until("the server's tools", func() bool { return strings.Contains(s.read("state/mcp.json"), `"forecast"`) })
	s.types("servers")
	s.hears("weather: ready, 1 tool")

	// An edit of a file that is there.
	end := one[len(one)-4:]
	got = s.talks(call("Edit", map[string]any{"file_path": ".mcp.json", "old_string": end, "new_string": strings.TrimPrefix(two, strings.TrimSuffix(one, end))}))
	if engine == choice.Claude && strings.Contains(got[0].Text, "has not been read yet") {
		// Older versions of the command refuse the call before they ask us, because the agent may
		// not read this file.
		if s.read(".mcp.json") != one {
			t.Errorf("refused by the command, the file is %q", s.read(".mcp.json"))
		}
		return
	}
	if !got[0].IsError || !strings.Contains(got[0].Text, "your edit waits for the user") {
		t.Errorf("the model is told: %+v", got[0])
	}
	s.hears("+" + two)
	s.types("deny .mcp.json")
	s.types("yes")
	s.hears("the edit of the list of MCP servers was refused; its file is unchanged")
	if s.read(".mcp.json") != one {
		t.Errorf("refused, the file is %q", s.read(".mcp.json"))
	}
	s.talks()
	prompts := s.api.Requests()
	if last := prompts[len(prompts)-1].Prompt(); !strings.Contains(last, "The user refused your edit of .mcp.json") {
		t.Errorf("the model does not read that it was refused:\n%s", last)
	}
}
