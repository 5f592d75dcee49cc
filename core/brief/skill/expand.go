package skill

import (
	"context"
	"os/exec"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/lazyregexp"
	"ollimbot/core/storage/store"
)

// Limits of the commands in one text.
const (
	// TotalTime is the time limit for all commands of one text.
	TotalTime  = 30 * time.Second
	eachTime   = 10 * time.Second
	maxOutput  = 2000      // characters of one command's output
	maxOutputs = 256 << 10 // total bytes of all outputs in a text
)

// marked is the start of a command in a text; marker matches the whole command.
const marked = "!`"

var marker = lazyregexp.New("!`([^`]+)`")

// Commands returns the commands in a text that Expand would run, in order.
func Commands(text string) []string {
	var list []string
	for _, m := range marker().FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	return list
}

// Expand replaces the commands in a skill's text with their output, or with a note in
// brackets about why they failed. It blocks for at most TotalTime, and returns early when
// ctx ends. Identical commands run once. Output is cleaned and not expanded again.
func Expand(ctx context.Context, d *store.Dir, how How, text string) string {
	return expander{How: how, dir: d.Root(), each: eachTime, total: TotalTime}.expand(ctx, text)
}

// How is the environment for the commands of a text. The zero value adds nothing.
type How struct {
	// Sandbox puts a command into a sandbox; done is called after its end. May be nil.
	Sandbox func(*exec.Cmd) (done func())
	Zone    string   // the TZ of the commands, an IANA name; empty is the machine's
	Env     []string // NAME=value, in addition to the standard environment
}

// locate cleans a text and finds the commands in it, with their marks. Every check of a
// skill's commands uses it, so that nothing runs that was not seen.
func locate(text string) (cleaned string, marks []string) {
	if !strings.Contains(text, "!") {
		return text, nil
	}
	cleaned = clean.Text(text)
	return cleaned, marker().FindAllString(cleaned, -1)
}

// expander runs the commands of one text.
type expander struct {
	How
	dir         string // where they run
	each, total time.Duration
}

func (e expander) expand(ctx context.Context, text string) string {
	text, marks := locate(text)
	if len(marks) == 0 {
		return text
	}
	ctx, cancel := context.WithTimeout(ctx, e.total)
	defer cancel()
	outputs, added := map[string]string{}, 0
	return marker().ReplaceAllStringFunc(text, func(match string) string {
		if added > maxOutputs {
			return textTruncated
		}
		line := match[len(marked) : len(match)-1]
		out, known := outputs[line]
		if !known {
			out = e.run(ctx, line)
			outputs[line] = out
		}
		added += len(out)
		return out
	})
}
