package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ollimbot/core/base/pycompat"
	"ollimbot/core/storage/store"
)

const turnName = "config"

// KeyZone is the setting with the time zone.
const KeyZone = "timezone"

// Change is a change of one setting.
type Change struct {
	Key string
	// Before and After are in the form for Set: setting Before undoes the change.
	Before, After string
	// Was and Is are the same as shown to the user: "1800s", "(inherit main)".
	Was, Is string
	// Note tells the user that the file was not JSON and was set aside; usually empty.
	Note string
}

// Set changes one setting and returns the new configuration. The error for an unknown key suggests
// the nearest one or lists all; the error for an invalid value lists the accepted ones. In both
// cases nothing is written.
//
// The original program's file gets the ten keys that it always has, this program's only those that
// were set. Everything else in them is preserved, including unknown keys.
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
		if r, c, err = k.save(d, strings.TrimSpace(value)); err != nil || k.name != KeyZone {
			return err
		}
		return setZoneOfEnv(d, r.Timezone)
	})
	if err != nil {
		return Runtime{}, Change{}, fmt.Errorf("set %s: %w", k.name, err)
	}
	return r, c, nil
}

// Try changes one setting of a configuration in memory only. It returns the same errors as Set.
func Try(r *Runtime, name, value string) error {
	k, err := find(name)
	if err == nil && !k.parse(r, strings.TrimSpace(value)) {
		err = fmt.Errorf(msgRefused, k.name, k.wants(strings.TrimSpace(value)))
	}
	return err
}

// save changes the setting in its file. The caller holds the lock and has checked the value.
func (k key) save(d *store.Dir, value string) (Runtime, Change, error) {
	c := Change{Key: k.name}
	_, rel := (&files{}).of(k)
	var corrupt *store.CorruptError
	var held map[string]json.RawMessage
	if _, err := d.ReadJSON(rel, &held); errors.As(err, &corrupt) { // it was set aside
		c.Note = corrupt.Error()
		if old, at, ok := d.Valid(rel); ok {
			if err := d.Write(rel, old); err != nil {
				return Runtime{}, Change{}, err
			}
			c.Note = fmt.Sprintf(msgAside, rel, corrupt.Err, corrupt.Kept, at.Format(time.DateOnly))
		}
	} else if err != nil {
		return Runtime{}, Change{}, err
	}
	f, _ := peek(d) // an error in the other file is for the user to fix
	r, _ := f.decode()
	r.Timezone = cmp.Or(zoneOfEnv(d), r.Timezone)
	c.Before, c.Was = k.text(r), k.value(r)
	k.parse(&r, value)
	c.After, c.Is = k.text(r), k.value(r)
	in, _ := f.of(k)
	raw := in.values
	if _, there := raw[k.name]; there || k.text(r) != k.text(defaultRuntime()) {
		raw[k.name] = json.RawMessage(k.encode(k.text(r)))
	}
	for _, o := range keys {
		if _, there := raw[o.name]; !k.ours && o.always && !there {
			raw[o.name] = json.RawMessage(o.encode(o.text(r)))
		}
	}
	if len(raw) == 0 {
		return r, c, nil // the default of a key that was never set
	}
	before, _ := d.Read(rel) // if missing: on one line
	data, err := spell(raw, bytes.ContainsRune(bytes.TrimSpace(before), '\n'))
	if err != nil {
		return r, c, fmt.Errorf("format %s: %w", rel, err)
	}
	return r, c, d.Write(rel, data)
}

// spell encodes the file: known keys in their order, then the others by name; on one
// line as the original program writes it, or indented.
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
