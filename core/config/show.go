package config

import (
	"fmt"
	"strings"

	"ollimbot/core/clean"
)

// Line is one setting as people see it.
type Line struct {
	Key, Label string
	Value      string // with its unit: "1800s", "8k budget", "(inherit main)"
	// Default says that the value is the default and does not say so itself.
	Default bool
	Offers  []string // what Set takes, in a word each: "opus", "minutes"
}

// String is the line in Discord's markup.
func (l Line) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**: %s", l.Label, l.Value)
	if l.Default {
		b.WriteString(" " + shownDefault)
	}
	for _, o := range l.Offers {
		fmt.Fprintf(&b, " `%s`", o)
	}
	return b.String()
}

// Show is every setting of r that does something, in the order of the original, then
// ours.
func Show(r Runtime) []Line {
	var lines []Line
	for _, k := range keys {
		if !k.unused {
			lines = append(lines, k.line(r))
		}
	}
	return lines
}

// ShowOne is the setting of that key or label. The error of an unknown one
// lists what there is.
func ShowOne(r Runtime, name string) (Line, error) {
	k, err := find(name)
	if err != nil {
		return Line{}, err
	}
	return k.line(r), nil
}

func (k key) line(r Runtime) Line {
	value := k.value(r)
	return Line{
		Key: k.name, Label: k.label, Value: value, Offers: k.offers,
		Default: k.text(r) == k.text(DefaultRuntime()) && !strings.HasPrefix(value, "("),
	}
}

// value is a setting in people's words.
func (k key) value(r Runtime) string {
	if k.shown != nil {
		return k.shown(r)
	}
	return k.text(r)
}

// find is the setting of that key or label.
func find(name string) (key, error) {
	name = strings.ToLower(strings.TrimSpace(name))
	var labels []string
	for _, k := range keys {
		known := name == k.name || name == k.label
		switch {
		case known && k.unused:
			return key{}, fmt.Errorf(msgUnused, k.label)
		case known:
			return k, nil
		case !k.unused:
			labels = append(labels, k.label)
		}
	}
	return key{}, fmt.Errorf(msgUnknown, clean.Cut(clean.Line(name), 40), strings.Join(labels, ", "))
}
