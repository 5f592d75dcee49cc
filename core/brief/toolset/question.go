package toolset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"ollimbot/core/base/clean"
)

// question is the approval question for a tool's call. short includes the argument named
// by key; long is for an argument that is too long for a sentence and becomes the
// beginning of the text.
type question struct {
	key, short, long string
	// path means that the argument is a path.
	path bool
	// text describes other arguments and removes them from the map.
	text func(a map[string]any) string
}

// questions are the questions for tools whose argument names the user need not know.
var questions = map[string]question{
	"Bash":      {key: "command", long: "Run this command?", text: without("description", "timeout")},
	"Read":      {key: "file_path", short: "Read the file %s?", long: "Read this file?", path: true},
	"Write":     {key: "file_path", short: "Write the file %s?", long: "Write this file?", path: true, text: content},
	"Edit":      {key: "file_path", short: "Change the file %s?", long: "Change this file?", path: true, text: change},
	"Grep":      {key: "pattern", short: "Search files for %s?", long: "Search files for this?"},
	"Glob":      {key: "pattern", short: "List the files %s?", long: "List these files?"},
	"WebSearch": {key: "query", short: "Search the web for %s?", long: "Search the web for this?"},
	"WebFetch":  {key: "url", short: "Open %s?", long: "Open this address?"},
	"Task":      {key: "description", short: "Hand this to a helper: %s?", long: "Hand this to a helper?"},
	"Agent":     {key: "description", short: "Hand this to a helper: %s?", long: "Hand this to a helper?"},
	"Skill":     {key: "skill", short: "Use the skill %s?", long: "Use this skill?"},

	SendFile:       {key: "file_path", short: "Send you %s?", long: "Send you this file?", path: true},
	AddReminder:    {key: "message", short: "Add the reminder %s?", long: "Add this reminder?"},
	CancelReminder: {key: "id", short: "Cancel the reminder %s?", long: "Cancel this reminder?"},
	UpdateNames:    {long: "Change these names?"},
}

const (
	textUse      = "Use %s?"
	textUseOf    = "Use %s of %s?"
	textMoreText = "\n… (%d more bytes cannot be shown: deny it if in doubt)"

	// maxAsked is the maximum length of an argument in a sentence, in characters.
	maxAsked = 80
	// maxText is the maximum length of the text of a question, in bytes.
	maxText = 256 << 10
)

// Question returns the approval question for a tool call: a sentence, and all details
// needed to decide, in lines, because hidden parts would be allowed too. place describes
// where a path leads. Both texts are clean; one of more than 256 kB says how much is
// missing.
func Question(name string, input json.RawMessage, place func(path string) string) (asks, text string) {
	name, input = unwrapped(name, input)
	name = bare(clean.Line(name))
	q, known := questions[name]
	if !known {
		q.long = used(name)
	}
	var a map[string]any
	if json.Unmarshal(input, &a) != nil {
		return q.long, whole(string(input))
	}
	var lines []string
	add := func(s string) {
		if s = strings.Trim(s, "\n"); s != "" {
			lines = append(lines, s)
		}
	}
	value, _ := a[q.key].(string)
	if value != "" {
		delete(a, q.key)
	}
	said, at := value, value
	if q.path && value != "" {
		at = place(value)
		if said = at; name == SendFile {
			said = path.Base(filepath.ToSlash(value))
		}
	}
	asks = q.long
	if said = clean.Line(said); q.short != "" && said != "" && utf8.RuneCountInString(said) <= maxAsked && !strings.Contains(value, "\n") {
		asks = fmt.Sprintf(q.short, said)
	}
	if asks == q.long || name == SendFile {
		add(at)
	}
	if q.text != nil {
		add(q.text(a))
	}
	for _, key := range slices.Sorted(maps.Keys(a)) {
		add(key + ": " + argumentText(a[key]))
	}
	return asks, whole(strings.Join(lines, "\n"))
}

// used returns the question for an unknown tool.
func used(name string) string {
	if server, tool, ok := strings.Cut(name, "/"); ok {
		return fmt.Sprintf(textUseOf, tool, server)
	}
	return fmt.Sprintf(textUse, name)
}

// Name returns a tool's display name.
func Name(tool string) string { return bare(clean.Line(tool)) }

// argumentText formats the value of an argument. Lines after the first are indented, so
// that they cannot pass for another argument.
func argumentText(v any) string {
	if s, ok := v.(string); ok {
		return strings.ReplaceAll(strings.TrimRight(clean.Text(s), "\n"), "\n", "\n    ")
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSpace(b.String())
}

// without removes arguments that do not matter.
func without(keys ...string) func(map[string]any) string {
	return func(a map[string]any) string {
		for _, k := range keys {
			delete(a, k)
		}
		return ""
	}
}

// content shows the content of the file to be written.
func content(a map[string]any) string {
	s, ok := a["content"].(string)
	if ok {
		delete(a, "content")
	}
	return s
}

// change shows an edit as a diff.
func change(a map[string]any) string {
	var lines []string
	for _, side := range []struct{ key, mark string }{{"old_string", "-"}, {"new_string", "+"}} {
		s, ok := a[side.key].(string)
		if !ok {
			continue
		}
		if delete(a, side.key); s == "" {
			continue
		}
		for l := range strings.SplitSeq(strings.TrimSuffix(s, "\n"), "\n") {
			lines = append(lines, side.mark+l)
		}
	}
	if a["replace_all"] == false {
		delete(a, "replace_all")
	}
	return strings.Join(lines, "\n")
}

// whole returns a clean text, with a note about the missing part if it is too long.
func whole(text string) string {
	text = clean.Text(text)
	if n := len(text); n > maxText {
		cut := strings.ToValidUTF8(text[:maxText], "")
		text = cut + fmt.Sprintf(textMoreText, n-len(cut))
	}
	return text
}
