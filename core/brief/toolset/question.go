package toolset

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"ollimbot/core/base/visible"
)

// question is the approval question for a tool's call. short includes the argument named
// by key; long is for an argument that is too long for a sentence and becomes the
// beginning of the text.
type question struct {
	key, short, long string
	// path means that the argument is a path.
	path bool
	// code means that the argument is a command, which is shown without its name.
	code bool
	// text describes other arguments and removes them from the map; ok is false without any.
	text func(a map[string]any) (text string, ok bool)
}

// questions are the questions for tools whose argument names the user need not know.
var questions = map[string]question{
	"Bash":      {key: "command", long: "Run this command?", code: true, text: ran},
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
	AddReminder:    {key: "prompt", short: "Add the reminder %s?", long: "Add this reminder?"},
	CancelReminder: {key: "reminder_id", short: "Cancel the reminder %s?", long: "Cancel this reminder?"},
	UpdateNames:    {long: "Change these names?"},
}

const (
	textUse        = "Use %s?"
	textUseOf      = "Use %s of %s?"
	textEmpty      = "an empty file"
	textOneBreak   = "one line break"
	textNoBreak    = "no line break at the end"
	textUnreadable = "unreadable arguments"
	textAsWritten  = "written as"

	// maxAsked is the maximum length of an argument in a sentence, in characters.
	maxAsked = 80
)

// Question returns the picture of a tool call that a person judges: a sentence, and all details of
// the call in lines. It leaves out only what has no effect, the description of a command and a
// replace_all that is false, so two different calls never have the same picture (package visible).
// place returns the picture of where a path leads.
func Question(name string, input json.RawMessage, place func(path string) string) (asks, text string) {
	name, input = unwrapped(name, input)
	name = bare(visible.Line(name))
	q, known := questions[name]
	if !known {
		q.long = used(name)
	}
	a, ok := fields(input)
	if !ok {
		return q.long, visible.Note(textUnreadable) + visible.Text(string(input))
	}
	asks = q.long
	var lines []string
	if value, given := a[q.key].(string); given {
		delete(a, q.key)
		var line string
		if asks, line = q.say(name, value, place); line != "" {
			lines = append(lines, line)
		}
	}
	if q.text != nil {
		if more, ok := q.text(a); ok {
			lines = append(lines, more)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(a)) {
		lines = append(lines, argumentText(key, a[key]))
	}
	return asks, strings.Join(lines, "\n")
}

// say returns the sentence with the main argument of a call, and the line for what the sentence cannot
// hold.
func (q question) say(name, value string, place func(path string) string) (asks, line string) {
	switch {
	case q.code && value != "":
		return q.long, visible.Code(value)
	case value == "" || q.short == "":
		return q.long, argumentText(q.key, value)
	}
	said := visible.Text(value)
	line = argumentText(q.key, value)
	if q.path {
		said = place(value)
		line = visible.Label(q.key) + " " + said
		if as := visible.Path(value); as != said && !strings.HasSuffix(as, "/"+said) {
			line += "\n" + visible.Label(textAsWritten) + " " + as
		}
	}
	switch {
	case name == SendFile:
		said = visible.Path(path.Base(filepath.ToSlash(value)))
	case !strings.Contains(line, "\n"):
		line = ""
	}
	if utf8.RuneCountInString(said) > maxAsked || strings.Contains(said, "\n") {
		return q.long, cmp.Or(line, visible.Label(q.key)+" "+said)
	}
	return fmt.Sprintf(q.short, said), line
}

// fields returns the arguments of a call. Numbers stay as they are written.
func fields(input json.RawMessage) (a map[string]any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(input))
	d.UseNumber()
	if d.Decode(&a) != nil || a == nil {
		return nil, false
	}
	_, err := d.Token()
	return a, errors.Is(err, io.EOF)
}

// used returns the question for an unknown tool.
func used(name string) string {
	if server, tool, ok := strings.Cut(name, "/"); ok {
		return fmt.Sprintf(textUseOf, tool, server)
	}
	return fmt.Sprintf(textUse, name)
}

// Name returns a tool's display name.
func Name(tool string) string { return bare(visible.Line(tool)) }

// argumentText formats an argument. A text that could be taken for another kind of value is quoted.
func argumentText(key string, v any) string {
	s, text := v.(string)
	if !text || s == "" || json.Valid([]byte(s)) {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil { // decoded values always encode
			s = fmt.Sprint(v)
		} else {
			s = strings.TrimSuffix(b.String(), "\n")
		}
	}
	return visible.Label(key) + " " + visible.Text(s)
}

// ran shows nothing but removes the description of a command, which has no effect.
func ran(a map[string]any) (string, bool) {
	delete(a, "description")
	return "", false
}

// content shows the content of the file to be written. Most files end with a line break.
func content(a map[string]any) (string, bool) {
	s, ok := a["content"].(string)
	if !ok {
		return "", false
	}
	delete(a, "content")
	whole, ends := strings.CutSuffix(s, "\n")
	switch {
	case s == "":
		return visible.Note(textEmpty), true
	case whole == "":
		return visible.Note(textOneBreak), true
	case ends:
		return visible.Text(whole), true
	}
	return visible.Text(s) + visible.Note(textNoBreak), true
}

// change shows an edit as a diff.
func change(a map[string]any) (string, bool) {
	var lines []string
	for _, side := range []struct{ key, mark string }{{"old_string", "-"}, {"new_string", "+"}} {
		s, ok := a[side.key].(string)
		if !ok {
			continue
		}
		delete(a, side.key)
		for l := range strings.SplitSeq(visible.Text(s), "\n") {
			lines = append(lines, side.mark+l)
		}
	}
	if a["replace_all"] == false {
		delete(a, "replace_all")
	}
	return strings.Join(lines, "\n"), lines != nil
}
