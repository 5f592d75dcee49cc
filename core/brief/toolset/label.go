package toolset

import (
	"encoding/json"
	"slices"
	"strings"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/visible"
)

// argument is what a label shows of a tool's input: the keys in order, and how to shorten
// their values.
var argument = map[string]struct {
	keys    []string
	shorten func(string) string
}{
	"Read":      {[]string{"file_path"}, shortPath},
	"Write":     {[]string{"file_path"}, shortPath},
	"Edit":      {[]string{"file_path"}, shortPath},
	"Bash":      {[]string{"command"}, firstLine},
	"Grep":      {[]string{"pattern", "path"}, nil},
	"Glob":      {[]string{"pattern"}, nil},
	"WebSearch": {[]string{"query"}, nil},
	"WebFetch":  {[]string{"url"}, nil},
	"Task":      {[]string{"description"}, nil},
	"Agent":     {[]string{"description"}, nil},
}

// Label describes a tool call briefly: "Read(user/notes.md)", "ping_user". It is one clean
// line, but not escaped for Markdown.
func Label(name string, input json.RawMessage) string {
	name, input = unwrapped(name, input)
	name = bare(visible.Line(name))
	a, ok := argument[name]
	if !ok {
		return clean.Cut(name, 80)
	}
	var fields map[string]any
	if json.Unmarshal(input, &fields) != nil {
		return name
	}
	var shown []string
	for _, k := range a.keys {
		s, ok := fields[k].(string)
		if !ok || strings.TrimSpace(s) == "" {
			continue
		}
		if a.shorten != nil {
			s = a.shorten(s)
		}
		shown = append(shown, clean.Cut(visible.Line(s), 100))
	}
	if len(shown) == 0 {
		return name
	}
	return name + "(" + strings.Join(shown, ", ") + ")"
}

// unwrapped returns the inner call of a call made through the tool search.
func unwrapped(name string, input json.RawMessage) (string, json.RawMessage) {
	u := Unwrap(agent.ToolUse{Name: name, Input: input})
	return u.Name, u.Input
}

// bare returns the display name of an MCP tool: "ping_user" for one of the bot's own, and
// "weather/forecast" for another server's, because two servers may have tools of the same
// name.
func bare(name string) string {
	parts := strings.SplitN(name, "__", 3)
	switch {
	case len(parts) != 3 || parts[0] != "mcp":
		return name
	case slices.Contains(OwnServers, parts[1]):
		return parts[2]
	}
	return parts[1] + "/" + parts[2]
}

// shortPath keeps the last two components.
func shortPath(p string) string {
	parts := strings.Split(strings.ReplaceAll(p, `\`, "/"), "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

// firstLine returns the first line, with an ellipsis if there are more.
func firstLine(s string) string {
	line, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	if more {
		line = strings.TrimRight(line, " \t\r") + "…"
	}
	return clean.Cut(line, 50)
}
