package toolset

import (
	"bytes"
	"encoding/json"
	"strings"

	"ollimbot/core/clean"
)

// maxWhole is the most of a call that is shown to whoever has to allow it.
const maxWhole = 2000

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
	if cut := clean.Cut(text, maxWhole); cut != text {
		text = cut + " (too long to be shown: deny it if in doubt)"
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
