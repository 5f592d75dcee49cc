package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ollimbot/core/original"
	"ollimbot/core/store"
)

const turnName = "config"

// Change is one setting that was changed.
type Change struct {
	Key, Label string
	// Before and After are what Set takes: setting Before takes the change back.
	Before, After string
	// Was and Is are the same in people's words: "1800s", "(inherit main)".
	Was, Is string
	// Note is a sentence for the user: the file was no JSON and was set aside.
	// Mostly empty.
	Note string
}

// Set changes one setting, named by its key or label, and returns the
// configuration that is then in force. The error of an unknown key lists the
// keys, that of a value says what is accepted; nothing is written then.
//
// The file gets the ten keys that the original writes, and every other one
// that is set; what else is in it stays as it is, also what nobody understands.
func Set(d *store.Dir, name, value string) (r Runtime, c Change, err error) {
	k, err := find(name)
	if err != nil {
		return Runtime{}, Change{}, err
	}
	if trial := DefaultRuntime(); !k.parse(&trial, strings.TrimSpace(value)) {
		return Runtime{}, Change{}, fmt.Errorf(msgRefused, k.label, k.must)
	}
	err = d.Exclusive(turnName, func() error {
		r, c, err = k.save(d, strings.TrimSpace(value))
		return err
	})
	if err != nil {
		return Runtime{}, Change{}, fmt.Errorf("set %s: %w", k.label, err)
	}
	return r, c, nil
}

// save changes the setting in the file. The caller is alone with it, and the
// value is one that is accepted.
func (k key) save(d *store.Dir, value string) (Runtime, Change, error) {
	raw := map[string]json.RawMessage{}
	c := Change{Key: k.name, Label: k.label}
	var corrupt *store.CorruptError
	_, err := d.ReadJSON(RuntimeFile, &raw)
	if errors.As(err, &corrupt) {
		c.Note = corrupt.Error()
	} else if err != nil {
		return Runtime{}, Change{}, err
	}
	if raw == nil { // the file holds null
		raw = map[string]json.RawMessage{}
	}
	r, _ := decode(raw)
	c.Before, c.Was = k.text(r), k.value(r)
	k.parse(&r, value)
	c.After, c.Is = k.text(r), k.value(r)
	for _, o := range keys {
		_, there := raw[o.name]
		switch text := o.text(r); {
		case o.name == k.name && (there || o.always || text != o.text(DefaultRuntime())):
			raw[o.name] = json.RawMessage(o.encode(text))
		case o.always && !there:
			raw[o.name] = json.RawMessage(o.encode(text))
		}
	}
	data, err := spell(raw, spread(d))
	if err != nil {
		return Runtime{}, Change{}, err
	}
	return r, c, d.Write(RuntimeFile, data)
}

// spread reports whether somebody has laid the file out over several lines.
func spread(d *store.Dir) bool {
	data, err := d.Read(RuntimeFile)
	return err == nil && bytes.ContainsRune(bytes.TrimSpace(data), '\n')
}

// spell is the file's content: known keys in their order, then the others by
// name; on one line, as the original writes it, or a line for each key.
func spell(raw map[string]json.RawMessage, lines bool) ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	add := func(name string) {
		if b.Len() > 1 {
			b.WriteString(", ")
		}
		b.WriteString(original.Quote(name) + ": ")
		b.Write(raw[name])
	}
	others := maps.Clone(raw)
	for _, k := range keys {
		if _, ok := raw[k.name]; ok {
			add(k.name)
			delete(others, k.name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(others)) {
		add(name)
	}
	b.WriteString("}\n")
	if !lines {
		return b.Bytes(), nil
	}
	var out bytes.Buffer
	if err := json.Indent(&out, b.Bytes(), "", "  "); err != nil {
		return nil, fmt.Errorf("lay out %s: %w", RuntimeFile, err)
	}
	return out.Bytes(), nil
}
