package toolset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"ollimbot/core/clean"
)

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
