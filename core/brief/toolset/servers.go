package toolset

import (
	"encoding/json"
	"slices"
	"strings"

	"ollimbot/core/agent"
)

// The two tools that replace those of MCP servers if there are too many for a prompt.
const (
	Servers  = "servers" // the name under which they are served
	FindTool = "find"
	CallTool = "call"
	// Find and Call are their names on the wire.
	Find = "mcp__" + Servers + "__" + FindTool
	Call = "mcp__" + Servers + "__" + CallTool
)

// OwnServers are the names of the bot's own tool servers.
var OwnServers = []string{server, "docs", Servers}

// Inner parses the arguments of Call: the tool of an MCP server, and its arguments. Both
// the permission check and the call use it, so that they cannot differ.
func Inner(args json.RawMessage) (tool string, inner json.RawMessage, ok bool) {
	tool, inner, ok = Named(args)
	parts := strings.SplitN(tool, "__", 3)
	if !ok || len(parts) != 3 || parts[0] != "mcp" || slices.Contains(OwnServers, parts[1]) {
		return "", nil, false
	}
	return tool, inner, true
}

// Named parses arguments that name a tool and have its arguments. Arguments that are no object count as none.
func Named(args json.RawMessage) (tool string, inner json.RawMessage, ok bool) {
	var a struct {
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if json.Unmarshal(args, &a) != nil || a.Tool == "" {
		return "", nil, false
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(a.Arguments, &fields) != nil || fields == nil {
		a.Arguments = json.RawMessage("{}")
	}
	return a.Tool, a.Arguments, true
}

// Unwrap returns the inner call of a call of Call, and any other call unchanged.
func Unwrap(u agent.ToolUse) agent.ToolUse {
	if u.Name == Call {
		if tool, args, ok := Inner(u.Input); ok {
			u.Name, u.Input = tool, args
		}
	}
	return u
}
