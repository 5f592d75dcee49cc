package toolset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"ollimbot/core/base/clean"
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

const (
	// maxWhole is the most of a call that its one line shows to whoever has to
	// allow it, in characters.
	maxWhole = 2000
	// maxFull is the most that can be read of it, in bytes.
	maxFull = 256 << 10
)

// Whole is a tool call with everything that it would do, for whoever has to
// allow it: nothing is shortened to its first words, because what is hidden is
// allowed too. Line breaks show as "⏎". It is cleaned and of one line; a call
// beyond 2,000 characters says how much of it is missing.
func Whole(name string, input json.RawMessage) string {
	name = bare(clean.Line(name))
	text := everything(name, input)
	if text == "" {
		return name
	}
	text = clean.Line(strings.ReplaceAll(clean.Text(text), "\n", " ⏎ "))
	if n := utf8.RuneCountInString(text); n > maxWhole {
		text = clean.Cut(text, maxWhole) + fmt.Sprintf(" (%d more characters: read them, or deny it)", n-maxWhole)
	}
	return name + "(" + text + ")"
}

// Full is Whole for reading: with its line breaks, up to 256 kB. Of a longer call
// it says how much is missing.
func Full(name string, input json.RawMessage) string {
	name = bare(clean.Line(name))
	text := clean.Text(everything(name, input))
	if n := len(text); n > maxFull {
		cut := strings.ToValidUTF8(text[:maxFull], "")
		text = cut + fmt.Sprintf("\n… (%d more bytes cannot be shown: deny it if in doubt)", n-len(cut))
	}
	if text == "" {
		return name
	}
	return name + "(" + text + ")"
}

// everything is the argument that says it all where there is one, with what would
// be written there, else all of them.
func everything(name string, input json.RawMessage) string {
	if a, ok := argument[name]; ok && len(a.keys) == 1 {
		var fields map[string]any
		if json.Unmarshal(input, &fields) == nil {
			if s, ok := fields[a.keys[0]].(string); ok && strings.TrimSpace(s) != "" {
				return s + written(name, fields)
			}
		}
	}
	var b bytes.Buffer
	if json.Compact(&b, input) != nil || b.String() == "{}" {
		return ""
	}
	return b.String()
}

// written is what a tool that writes would put into its file.
func written(name string, fields map[string]any) string {
	text := func(key string) string {
		s, _ := fields[key].(string)
		return s
	}
	switch name {
	case "Write":
		return "\n" + text("content")
	case "Edit":
		return "\nfrom " + text("old_string") + "\nto " + text("new_string")
	}
	return ""
}
