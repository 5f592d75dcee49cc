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

// question is how a tool's call is asked about. short has the argument of key; long is for one
// that is too long for a sentence, which then begins the text.
type question struct {
	key, short, long string
	// path says that the argument is one.
	path bool
	// text describes other arguments, and takes them out.
	text func(a map[string]any) string
}

// questions are those of the tools whose arguments people need not know.
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

// Question is what a user decides about a tool call: a sentence, and all that they have to see
// to decide, in lines: hidden parts would be allowed too. place describes where a path leads. Both
// are clean; a text of more than 256 kB says how much is missing.
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

// used asks about a tool of which nothing is known.
func used(name string) string {
	if server, tool, ok := strings.Cut(name, "/"); ok {
		return fmt.Sprintf(textUseOf, tool, server)
	}
	return fmt.Sprintf(textUse, name)
}

// Name is a tool's name as people read it.
func Name(tool string) string { return bare(clean.Line(tool)) }

// argumentText is the value of an argument. What follows its first line is indented, so that it
// cannot pass for another argument.
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

// without leaves arguments out that change nothing.
func without(keys ...string) func(map[string]any) string {
	return func(a map[string]any) string {
		for _, k := range keys {
			delete(a, k)
		}
		return ""
	}
}

// content is what a file would hold.
func content(a map[string]any) string {
	s, ok := a["content"].(string)
	if ok {
		delete(a, "content")
	}
	return s
}

// change is an edit as a diff.
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

// whole is a clean text, with what is missing of one that is too long.
func whole(text string) string {
	text = clean.Text(text)
	if n := len(text); n > maxText {
		cut := strings.ToValidUTF8(text[:maxText], "")
		text = cut + fmt.Sprintf(textMoreText, n-len(cut))
	}
	return text
}
