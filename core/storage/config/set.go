package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ollimbot/core/base/pycompat"
	"ollimbot/core/storage/store"
)

const turnName = "config"

// Change is one setting that was changed.
type Change struct {
	Key string
	// Before and After are what Set takes: setting Before takes the change back.
	Before, After string
	// Was and Is are the same in people's words: "1800s", "(inherit main)".
	Was, Is string
	// Note is a sentence for the user: the file was no JSON and was set aside.
	// Mostly empty.
	Note string
}

// Set changes one setting, named by its key, and returns the
// configuration that is then in force. The error of an unknown key names the
// nearest, or all, that of a value says what is accepted; nothing is written then.
//
// The original's file gets the ten keys that it writes, ours gets what is set; what
// else is in them stays as it is, also what nobody understands.
func Set(d *store.Dir, name, value string) (r Runtime, c Change, err error) {
	trial := defaultRuntime()
	if err := Try(&trial, name, value); err != nil {
		return Runtime{}, Change{}, err
	}
	k, err := find(name)
	if err != nil {
		return Runtime{}, Change{}, err
	}
	err = d.WithLock(turnName, func() error {
		r, c, err = k.save(d, strings.TrimSpace(value))
		return err
	})
	if err != nil {
		return Runtime{}, Change{}, fmt.Errorf("set %s: %w", k.name, err)
	}
	return r, c, nil
}

// Try changes one setting of a configuration, and nothing on the disk. The error is
// that of Set.
func Try(r *Runtime, name, value string) error {
	k, err := find(name)
	if err == nil && !k.parse(r, strings.TrimSpace(value)) {
		err = fmt.Errorf(msgRefused, k.name, k.must)
	}
	return err
}

// save changes the setting in its file. The caller is alone with both, and the
// value is one that is accepted.
func (k key) save(d *store.Dir, value string) (Runtime, Change, error) {
	c := Change{Key: k.name}
	rel := RuntimeFile
	if k.ours {
		rel = SettingsFile
	}
	var corrupt *store.CorruptError
	var held map[string]json.RawMessage
	if _, err := d.ReadJSON(rel, &held); errors.As(err, &corrupt) { // set aside now: what follows finds none
		c.Note = corrupt.Error()
	} else if err != nil {
		return Runtime{}, Change{}, err
	}
	f, _ := peek(d) // the other file is somebody's to mend
	r, _ := f.decode()
	c.Before, c.Was = k.text(r), k.value(r)
	k.parse(&r, value)
	c.After, c.Is = k.text(r), k.value(r)
	raw := f.theirs
	if k.ours {
		raw = f.ours
	}
	if _, _, there := f.find(k); there || k.always || k.text(r) != k.text(defaultRuntime()) {
		raw[k.name] = json.RawMessage(k.encode(k.text(r)))
	}
	for _, o := range keys {
		if _, there := raw[o.name]; !k.ours && o.always && !there {
			raw[o.name] = json.RawMessage(o.encode(o.text(r)))
		}
	}
	if len(raw) == 0 {
		return r, c, nil // the default of what was never set
	}
	return r, c, put(d, rel, raw)
}

func put(d *store.Dir, rel string, raw map[string]json.RawMessage) error {
	data, err := spell(raw, spread(d, rel))
	if err != nil {
		return fmt.Errorf("lay out %s: %w", rel, err)
	}
	return d.Write(rel, data)
}

// Move puts our keys into our own file, where earlier versions kept them in the
// original's. Keys that our file has too stay where they are unless they say the
// same. It does nothing where there is nothing to move.
func Move(d *store.Dir) error {
	return d.WithLock(turnName, func() error {
		f, err := peek(d)
		if err != nil {
			return err
		}
		var moved []string
		for _, k := range keys {
			old, there := f.theirs[k.name]
			now, known := f.ours[k.name]
			if k.ours && there && (!known || bytes.Equal(old, now)) {
				f.ours[k.name] = old
				moved = append(moved, k.name)
			}
		}
		if len(moved) == 0 {
			return nil
		}
		if err := put(d, SettingsFile, f.ours); err != nil { // first: a crash in between leaves them twice
			return err
		}
		for _, name := range moved {
			delete(f.theirs, name)
		}
		return put(d, RuntimeFile, f.theirs)
	})
}

// spread reports whether somebody has laid the file out over several lines.
func spread(d *store.Dir, rel string) bool {
	data, err := d.Read(rel)
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
		b.WriteString(pycompat.Quote(name) + ": ")
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
		return nil, err
	}
	return out.Bytes(), nil
}
