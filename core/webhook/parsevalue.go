package webhook

import (
	"slices"
	"strings"

	"ollimbot/core/clean"
	"ollimbot/core/store"
	"ollimbot/routines"
)

// What a key with a fixed set of values accepts, in the order of the messages.
var (
	modes  = []string{string(routines.Always), string(routines.OnPing), string(routines.Freely), string(routines.Blocked)}
	models = []string{"opus", "sonnet", "haiku"}
)

// keys are all that a spec may have.
var keys = []string{
	"id", "fields", "description", "isolated", "model", "thinking", "allow-ping", "update-main-session",
	"allowed-tools", "disallowed-tools", "skills", "subagent", "trust-input",
}

// maxID is the longest id, in characters.
const maxID = 64

// valuePlace is where a field's value begins; where it has none, its key.
func valuePlace(f store.Field) place {
	if f.Value.Line == 0 || f.Value.Kind == store.Null {
		return place{f.Line, f.Column}
	}
	return place{f.Value.Line, f.Value.Column}
}

// scalar is the text of a key; not ok where it is absent, null or, with an
// error noted, something else than text.
func (p *reader) scalar(key string) (f store.Field, text string, ok bool) {
	f, ok = p.doc.Get(key)
	if !ok || f.Value.Kind == store.Null {
		return f, "", false
	}
	if f.Value.Kind != store.Scalar {
		p.add(routines.Error, valuePlace(f), notText(key))
		return f, "", false
	}
	return f, f.Value.Text, true
}

func (p *reader) line(key string) string {
	_, text, _ := p.scalar(key)
	return clean.Line(text)
}

// id is the last part of the webhook's address.
func (p *reader) id() string {
	f, text, ok := p.scalar("id")
	switch {
	case ok && plainID(text):
		return text
	case ok:
		p.add(routines.Error, valuePlace(f), badID(text))
	case f.Value.Kind == store.Null:
		p.add(routines.Error, place{f.Line, f.Column}, msgNoID)
	}
	return ""
}

// plainID reports whether a text can be the last part of an address as it stands:
// 1 to 64 plain letters, digits, - or _.
func plainID(text string) bool {
	if text == "" || len(text) > maxID {
		return false
	}
	for i := range len(text) {
		c := text[i]
		if plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'; !plain && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// flag reads a boolean as YAML 1.1 writes it.
func (p *reader) flag(key string, standard bool) bool {
	f, text, ok := p.scalar(key)
	if !ok {
		return standard
	}
	switch strings.ToLower(text) {
	case "true", "yes", "on":
		return true
	case "false", "no", "off":
		return false
	}
	p.add(routines.Error, valuePlace(f), notABool(key, text))
	return standard
}

// choice reads one of a few words.
func (p *reader) choice(key, standard string, accepted []string) string {
	f, text, ok := p.scalar(key)
	if !ok {
		return standard
	}
	if slices.Contains(accepted, text) {
		return text
	}
	p.add(routines.Error, valuePlace(f), notAChoice(key, text, accepted))
	return standard
}

// list reads a list of texts; nil where the key is absent, empty but not nil
// for an empty list.
func (p *reader) list(key string) []string {
	f, ok := p.doc.Get(key)
	if !ok || f.Value.Kind == store.Null {
		return nil
	}
	if f.Value.Kind != store.List {
		p.add(routines.Error, valuePlace(f), notAList(key))
		return nil
	}
	items := make([]string, 0, len(f.Value.Items))
	for _, item := range f.Value.Items {
		text := clean.Line(item.Text)
		if item.Kind != store.Scalar || text == "" {
			p.add(routines.Error, place{item.Line, item.Column}, notAnItem(key))
			continue
		}
		items = append(items, text)
	}
	return items
}

// unknownKeys warns of every key that does nothing here.
func (p *reader) unknownKeys() {
	for _, f := range p.doc.Fields {
		switch {
		case slices.Contains(keys, f.Key):
		case f.Key == "background":
			p.add(routines.Warning, place{f.Line, f.Column}, msgBackground)
		default:
			p.add(routines.Warning, place{f.Line, f.Column}, unknownKey(f.Key))
		}
	}
}
