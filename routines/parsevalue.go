package routines

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ollimbot/core/clean"
	"ollimbot/core/store"
)

// What a key with a fixed set of values accepts, in the order of the messages.
var (
	modes         = []string{string(Always), string(OnPing), string(Freely), string(Blocked)}
	models        = []string{"opus", "sonnet", "haiku"}
	missedChoices = []string{"note", "run"}
)

// scalar is the text of a key; ok is false where it is absent, null or, with an
// error noted, something else than text.
func (p *parser) scalar(key string) (f store.Field, text string, ok bool) {
	f, ok = p.doc.Get(key)
	if !ok || f.Value.Kind == store.Null {
		return f, "", false
	}
	if f.Value.Kind != store.Scalar {
		p.errorAt(f, notText(key))
		return f, "", false
	}
	return f, f.Value.Text, true
}

// oneLine is what cleaning does to text that nobody need be warned of.
var oneLine = strings.NewReplacer("\n", " ", "\t", "    ")

// line is a text of one line, cleaned, with a warning where that changed it.
func (p *parser) line(key string) string {
	f, text, ok := p.scalar(key)
	if !ok {
		return ""
	}
	cleaned := clean.Line(text)
	if cleaned != strings.TrimSpace(oneLine.Replace(text)) {
		p.addAt(Warning, f, cleanedField(key))
	}
	return cleaned
}

// MaxID is the longest id, in characters. Ours have 8; the original knows no
// bound, but nobody types a longer one.
const MaxID = 256

// id reads an id.
func (p *parser) id(key string) string {
	f, text, ok := p.scalar(key)
	if !ok {
		return ""
	}
	if !ValidID(text) {
		p.errorAt(f, badID(key, text, p.rel, p.data))
		return ""
	}
	return text
}

// ValidID reports whether a text can be an id: whatever the original takes for
// one that can be shown and typed on one line. Ids stand in prompts, commands and
// messages, and in no file's name.
func ValidID(text string) bool {
	return text != "" && utf8.RuneCountInString(text) <= MaxID && clean.Line(text) == text
}

// flag reads a boolean as YAML 1.1 writes it.
func (p *parser) flag(key string, standard bool) bool {
	f, text, ok := p.scalar(key)
	if !ok {
		return standard
	}
	switch strings.ToLower(text) {
	case "true", "yes", "on":
		return true
	case "false", "no", "off":
		if f.Value.Quoted {
			p.addAt(Warning, f, quotedFalse(key, text))
		}
		return false
	}
	p.errorAt(f, notABool(key, text))
	return standard
}

// choice reads one of a few words.
func (p *parser) choice(key, standard string, accepted []string) string {
	f, text, ok := p.scalar(key)
	if !ok {
		return standard
	}
	if slices.Contains(accepted, text) {
		return text
	}
	p.errorAt(f, notAChoice(key, text, accepted))
	return standard
}

// maxCount keeps a slip of the finger from becoming a chain without end.
const maxCount = 10000

// count reads a whole number from 0.
func (p *parser) count(key string) int {
	f, text, ok := p.scalar(key)
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxCount {
		p.errorAt(f, notACount(key, text))
		return 0
	}
	return n
}

// list reads a list of texts; nil where the key is absent, empty but not nil
// for an empty list.
func (p *parser) list(key string) []string {
	f, ok := p.doc.Get(key)
	if !ok || f.Value.Kind == store.Null {
		return nil
	}
	if f.Value.Kind != store.List {
		p.errorAt(f, notAList(key, f.Value.Text))
		return nil
	}
	items := make([]string, 0, len(f.Value.Items))
	for _, item := range f.Value.Items {
		text := clean.Line(item.Text)
		if item.Kind != store.Scalar || text == "" {
			p.add(Error, item.Line, item.Column, notAnItem(key))
			continue
		}
		items = append(items, text)
	}
	return items
}

// Keys that a file may have, by kind.
var (
	commonKeys = []string{
		"id", "background", "model", "thinking", "isolated", "description", "update-main-session",
		"allow-ping", "allowed-tools", "disallowed-tools", "skills", "subagent", "trust-input",
	}
	routineKeys  = []string{"cron", "missed"}
	reminderKeys = []string{"run-at", "chain-depth", "max-chain", "chain-parent"}
)

// unknownKeys warns of keys that look like a slip, and of those that belong to
// the other kind of file. All others are a newer version's, or the user's own.
func (p *parser) unknownKeys() {
	own, other := routineKeys, reminderKeys
	if p.kind == KindReminder {
		own, other = other, own
	}
	for _, f := range p.doc.Fields {
		switch {
		case slices.Contains(commonKeys, f.Key), slices.Contains(own, f.Key):
		case slices.Contains(other, f.Key):
			p.add(Warning, f.Line, f.Column, foreignKey(f.Key, p.kind))
		default:
			if meant := closest(f.Key, commonKeys, own); meant != "" {
				p.add(Warning, f.Line, f.Column, didYouMean(f.Key, meant))
			}
		}
	}
}

// closest is the known key that is one slip away, or empty.
func closest(key string, known ...[]string) string {
	for _, keys := range known {
		for _, k := range keys {
			if oneSlip(strings.ToLower(key), k) {
				return k
			}
		}
	}
	return ""
}

// oneSlip reports whether a becomes b by at most one letter put in, left out,
// replaced, or swapped with its neighbour.
func oneSlip(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return a[i:] == b[i+1:]
	}
	if i == len(a) || a[i+1:] == b[i+1:] {
		return true
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}
