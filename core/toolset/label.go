package toolset

import (
	"encoding/json"
	"strings"

	"ollimbot/core/clean"
)

// argument is what a label shows of a tool's input: the keys in
// order, and how their values are shortened.
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

// Label is a tool call in a few words: "Read(user/notes.md)", "ping_user". It
// is cleaned and of one line; whoever shows it as markdown escapes it.
func Label(name string, input json.RawMessage) string {
	name = bare(clean.Line(name))
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
		shown = append(shown, clean.Cut(clean.Line(s), 100))
	}
	if len(shown) == 0 {
		return name
	}
	return name + "(" + strings.Join(shown, ", ") + ")"
}

// bare takes the server off an MCP tool's name.
func bare(name string) string {
	if parts := strings.SplitN(name, "__", 3); len(parts) == 3 && parts[0] == "mcp" {
		return parts[2]
	}
	return name
}

// shortPath keeps the last two components.
func shortPath(p string) string {
	parts := strings.Split(strings.ReplaceAll(p, `\`, "/"), "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

// firstLine says with an ellipsis that more follows.
func firstLine(s string) string {
	line, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	if more {
		line = strings.TrimRight(line, " \t\r") + "…"
	}
	return clean.Cut(line, 50)
}
