package fakeapi

import (
	"fmt"
	"slices"
)

// fault says why the real API would refuse a history, or "". Only what a client
// can get wrong about forks, resumed sessions and empty texts is checked.
func (r Request) fault() string {
	if len(r.Messages) == 0 {
		return "messages: at least one message is required"
	}
	if r.MaxTokens < 1 {
		return "max_tokens: must be at least 1"
	}
	var asked []string // ids of the newest tool calls without a result
	known := map[string]bool{}
	for i, m := range r.Messages {
		switch m.Role {
		case "user", "system":
		case "assistant":
			if len(asked) > 0 {
				return missing(i, asked)
			}
		default:
			return fmt.Sprintf("messages.%d.role: %q is not a role", i, m.Role)
		}
		for j, b := range m.Blocks {
			switch {
			case b.Type == "text" && b.Text == "" && m.Role != "system":
				return fmt.Sprintf("messages.%d.content.%d: text content blocks must be non-empty", i, j)
			case b.Type == "tool_use":
				asked = append(asked, b.ID)
				known[b.ID] = true
			case b.Type == "tool_result" && !known[b.ID]:
				return fmt.Sprintf("messages.%d.content.%d: unexpected tool_use_id %s", i, j, b.ID)
			case b.Type == "tool_result":
				asked = slices.DeleteFunc(asked, func(id string) bool { return id == b.ID })
			}
		}
	}
	if len(asked) > 0 {
		return missing(len(r.Messages), asked)
	}
	return ""
}

func missing(before int, ids []string) string {
	return fmt.Sprintf("messages.%d: tool_use ids were found without tool_result blocks: %v", before, ids)
}
