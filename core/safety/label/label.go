// Package label records where text came from if anyone but the user could have written it, and the
// path it took since. It owns the form of a label and how labels combine. It must not know what
// carries labels, or what follows from one.
//
// # The rules
//
// Text is either the user's own or carries a label. Anything made from labeled text carries the
// label on, one step longer:
//
//   - a run, a turn or a session has the label of everything it has read;
//   - everything a session writes has the session's label at that moment: updates,
//     reminders, task files, other files, and the lines of the chat;
//   - a run, a session or a summary that continues another has that one's label.
//
// Package policy decides what a labeled session may still do.
package label

import (
	"slices"
	"strings"

	"ollimbot/core/base/clean"
)

// Label is where untrusted text came from and the path it took, such as
// "webhook build → run 4f2a91c0 → update". The zero Label is the user's own text. It is
// stored as this string.
type Label string

const (
	arrow = " → "
	// gap replaces steps that were left out.
	gap = "…"
	// maxSteps is how many steps a label keeps: its origin and the latest ones.
	maxSteps = 8
	// maxStep is the length of a step in characters.
	maxStep = 60
)

// From returns the label of text from a source, such as "mail" or "webhook build".
func From(source string) Label { return Label("").with(source) }

// Via adds a step to the path. The user's own text stays the user's own.
func (l Label) Via(step string) Label {
	if l == "" {
		return ""
	}
	return l.with(step)
}

// Join returns the label of text made from all of these: the first one that is not the
// user's own.
func Join(labels ...Label) Label {
	i := slices.IndexFunc(labels, func(l Label) bool { return l != "" })
	if i < 0 {
		return ""
	}
	return labels[i]
}

// Origin returns the first step, or "" for the user's own text.
func (l Label) Origin() string {
	first, _, _ := strings.Cut(string(l), arrow)
	return first
}

// Steps returns the path, beginning with its origin.
func (l Label) Steps() []string {
	if l == "" {
		return nil
	}
	return strings.Split(string(l), arrow)
}

// UnmarshalText reads a stored label, which a person or an earlier version may have written. Any
// text that is not blank is a label.
func (l *Label) UnmarshalText(text []byte) error {
	*l = ""
	for step := range strings.SplitSeq(string(text), strings.TrimSpace(arrow)) {
		if clean.Line(step) != "" {
			*l = l.with(step)
		}
	}
	if *l == "" && strings.TrimSpace(string(text)) != "" {
		*l = From(gap)
	}
	return nil
}

// with adds a cleaned step. Repeated steps count once, and a long path loses its middle.
func (l Label) with(step string) Label {
	step = strings.TrimSpace(strings.ReplaceAll(clean.Line(step), strings.TrimSpace(arrow), "->"))
	step = clean.Cut(step, maxStep)
	if step == "" {
		step = gap
	}
	steps := l.Steps()
	if len(steps) > 0 && steps[len(steps)-1] == step {
		return l
	}
	steps = append(steps, step)
	if extra := len(steps) - maxSteps; extra > 0 {
		steps = slices.Compact(slices.Replace(steps, 1, 2+extra, gap))
	}
	return Label(strings.Join(steps, arrow))
}
