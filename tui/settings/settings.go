// Package settings reads and writes the user's choices about the dashboard itself:
// dashboard.yaml, which the dashboard writes too, and keys.yaml, which only the user writes.
// Both are in the user's configuration directory, never in the bot's data directory. An
// error in them is reported with its place and changes nothing. The package must not know
// what the dashboard looks like.
package settings

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ollimbot/core/base/clean"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/frontmatter"
	"ollimbot/core/storage/store"
	"ollimbot/routines"
	"ollimbot/tui/action"
	"ollimbot/tui/layout"
)

// The files, below Dir.
const (
	DashboardFile = "dashboard.yaml"
	KeysFile      = "keys.yaml"
)

// Dashboard is how the dashboard looks: the values of the names in its file. A name without
// a choice is not in it. It is immutable: With makes another one.
type Dashboard map[string]string

// Welcome is the name that says whether the welcome opens by itself until setup is complete.
const Welcome = "welcome"

// Prefix is the name that says whether plain mode puts the time before what happens.
const Prefix = "prefix"

// Names are the names of the file whose values are single words.
var Names = []string{"theme", "layout", "clock", "bell", "title", "motion", Welcome, Prefix}

// The values of the names; the first is the default. Bells is what happens when something
// starts to need the user: the terminal's bell, a desktop notification if the terminal can
// (OSC 9), or neither.
var (
	Themes   = []string{"auto", "dark", "light", "contrast", "16"}
	Clocks   = []string{"24", "12"}
	Bells    = []string{"bell", "notify", "off"}
	switches = []string{"on", "off"}

	Choices = map[string][]string{
		"theme": Themes, "layout": layout.Presets, "clock": Clocks, "bell": Bells, "title": switches, "motion": switches,
		Welcome: switches, Prefix: switches,
	}
)

// Get is the value of one of Names.
func (d Dashboard) Get(name string) string { return cmp.Or(d[name], Choices[name][0]) }

// With is the dashboard with other values, as in the file; an empty value removes its name.
func (d Dashboard) With(values map[string]string) Dashboard {
	out := Dashboard{}
	maps.Copy(out, d)
	maps.Copy(out, values)
	maps.DeleteFunc(out, func(_, value string) bool { return value == "" })
	return out
}

// Size is the user's size of a layout.
func (d Dashboard) Size(of string) layout.Size {
	moved := func(name string) int {
		n, _ := strconv.Atoi(d[name+"-"+of])
		return n
	}
	s := layout.Size{Columns: moved("columns"), Right: moved("right"), Rows: map[action.Pane]int{}}
	for _, p := range action.Panes {
		s.Rows[p] = moved("rows-" + string(p))
	}
	return s
}

// Values are the size of a layout as in the file; 0 is empty.
func Values(s layout.Size, of string) map[string]string {
	out := map[string]string{"columns-" + of: number(s.Columns), "right-" + of: number(s.Right)}
	for _, p := range action.Panes {
		out["rows-"+string(p)+"-"+of] = number(s.Rows[p])
	}
	return out
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// mostMoved is how far a size can be moved, in cells or rows: beyond any screen. The layout
// has its own limits.
const mostMoved = 1000

// isSize reports that a name is a size of a layout, such as rows-updates-chat.
func isSize(name string) bool {
	return slices.ContainsFunc(layout.Presets, func(l string) bool {
		_, ok := Values(layout.Size{}, l)[name]
		return ok
	})
}

// Dir is the directory of the settings for an environment as os.Environ returns it: ollim-bot
// in $XDG_CONFIG_HOME, else in ~/.config; empty without a home.
func Dir(env []string) string {
	value := func(name string) string { return config.Lookup(env, name) }
	// By the standard a relative path is ignored.
	if base := value("XDG_CONFIG_HOME"); filepath.IsAbs(base) {
		return filepath.Join(base, "ollim-bot")
	}
	if home := value("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".config", "ollim-bot")
	}
	return ""
}

// Load reads dashboard.yaml and ignores invalid values.
func Load(dir string) (Dashboard, []routines.Problem) {
	d := Dashboard{}
	r := reader{file: DashboardFile}
	for _, f := range r.fields(dir) {
		switch choices := Choices[f.Key]; {
		case f.Value.Kind != frontmatter.Scalar:
			r.key(f, textOneValue)
		case choices != nil:
			d[f.Key] = r.choice(f.Value, choices)
		case isSize(f.Key):
			d[f.Key] = r.number(f.Value)
		default:
			r.key(f, textUnknown)
		}
	}
	return d.With(nil), r.problems
}

// Save writes dashboard.yaml atomically. It does not sync to the disk: a lost theme is not
// worth the wait in the dashboard's loop.
func Save(dir string, d Dashboard) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the directory of the settings: %w", err)
	}
	f, err := os.CreateTemp(dir, ".dashboard-*")
	if err != nil {
		return fmt.Errorf("save the settings: %w", err)
	}
	text := fileHead
	for _, name := range slices.Sorted(maps.Keys(d)) {
		text += name + ": " + strconv.Quote(d[name]) + "\n"
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, DashboardFile))
	}
	if err != nil {
		return fmt.Errorf("save the settings: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

// Stamp identifies a version of keys.yaml by its size and modification time. The zero Stamp
// is a missing file.
type Stamp [2]int64

// Look returns the stamp of keys.yaml with one stat.
func Look(dir string) Stamp {
	info, err := os.Stat(filepath.Join(dir, KeysFile))
	if err != nil || dir == "" {
		return Stamp{}
	}
	return Stamp{info.Size(), info.ModTime().UnixNano()}
}

// reader collects the problems of a file.
type reader struct {
	file     string
	problems []routines.Problem
}

// maxFile is how much of a file is read, in bytes: the YAML reader's time grows
// faster than the text.
const maxFile = 16 << 10

// fields reads the file in a directory: names with a value or a list of values. A missing
// file is empty.
func (r *reader) fields(dir string) []frontmatter.Field {
	if dir == "" {
		return nil
	}
	path := filepath.Join(dir, r.file)
	info, err := os.Stat(path)
	var data []byte
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
	case !info.Mode().IsRegular():
		err = errNoFile
	case info.Size() > maxFile:
		err = errTooLarge
	default:
		data, err = os.ReadFile(path)
	}
	if err != nil {
		r.add(0, 0, textUnreadable, err)
		return nil
	}
	fields, problems, _ := routines.Keys(r.file, data[:min(len(data), maxFile)]) // it may have grown since
	r.problems = append(r.problems, problems...)
	return fields
}

func (r *reader) add(line, column int, format string, args ...any) {
	r.problems = append(r.problems, routines.Problem{
		File: r.file, Line: line, Column: column, Severity: routines.Error, Message: fmt.Sprintf(format, args...),
	})
}

// key and value report a problem with a name or its value.
func (r *reader) key(f frontmatter.Field, format string) { r.add(f.Line, f.Column, format, f.Key) }

func (r *reader) value(v frontmatter.Value, format string, args ...any) {
	r.add(v.Line, v.Column, format, append([]any{v.Text}, args...)...)
}

// choice is one of some words, or empty.
func (r *reader) choice(v frontmatter.Value, from []string) string {
	// YAML reads on and off without quotes as true and false.
	word := cmp.Or(map[string]string{"true": "on", "false": "off"}[v.Text], v.Text)
	if slices.Contains(from, word) {
		return word
	}
	r.value(v, textChoice, strings.Join(from, ", "))
	return ""
}

// number is a whole number up to mostMoved, or empty.
func (r *reader) number(v frontmatter.Value) string {
	if n, err := strconv.Atoi(v.Text); err == nil && n >= -mostMoved && n <= mostMoved {
		return number(n)
	}
	r.value(v, textNumber, -mostMoved, mostMoved)
	return ""
}

// Keys reads keys.yaml: names of actions with a key or a list of keys each.
// "forks/tail.wrap" means the action of one pane, "tail.wrap" those of all panes. Invalid
// entries leave the keys of the table unchanged.
func Keys(dir string) (action.Keys, []routines.Problem) {
	r := reader{file: KeysFile}
	var changes []action.Change
	var places []frontmatter.Field
	for _, f := range r.fields(dir) {
		if c, ok := r.change(f); ok {
			changes, places = append(changes, c), append(places, f)
		}
	}
	keys, refused := action.Keys{}.Change(changes)
	for _, why := range refused {
		f := places[why.Index]
		line, column := f.Line, f.Column
		if i := slices.Index(changes[why.Index].Keys, why.Key); i >= 0 {
			v := valuesOf(f)[i]
			line, column = v.Line, v.Column
		}
		r.add(line, column, "%s", why.Text)
	}
	slices.SortStableFunc(r.problems, func(a, b routines.Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return keys, r.problems
}

// Problems returns the problems of both files, each under its full name.
func Problems(dir string) (list []routines.Problem) {
	folder, err := store.At(dir)
	if dir == "" || err != nil {
		return nil
	}
	_, inDashboard := Load(dir)
	_, inKeys := Keys(dir)
	for _, p := range slices.Concat(inDashboard, inKeys) {
		p.File = clean.Line(filepath.Join(folder.Display(), p.File))
		list = append(list, p)
	}
	return list
}

// valuesOf are the values of a field; a single one need not be a list.
func valuesOf(f frontmatter.Field) []frontmatter.Value {
	if f.Value.Kind == frontmatter.Scalar {
		return []frontmatter.Value{f.Value}
	}
	return f.Value.Items
}

// change reads one field.
func (r *reader) change(f frontmatter.Field) (action.Change, bool) {
	c := action.Change{ID: action.ID(f.Key)}
	if pane, id, ok := strings.Cut(f.Key, "/"); ok {
		c.Pane, c.ID = action.Pane(pane), action.ID(id)
	}
	if f.Value.Kind == frontmatter.Null || f.Value.Kind == frontmatter.Map {
		r.key(f, textNoKeys)
		return c, false
	}
	for _, v := range valuesOf(f) {
		key, ok := action.Spell(v.Text)
		if !ok {
			r.value(v, textNoKey)
			return c, false
		}
		c.Keys = append(c.Keys, key)
	}
	return c, true
}

// Names and values are shortened and quoted, because they may be anything.
const (
	textUnreadable = "the file cannot be read: %v"
	textOneValue   = "%.40q takes one value"
	textUnknown    = "%.40q is not a known setting"
	textChoice     = "%.40q is invalid: choose %s"
	textNumber     = "%.40q is invalid: enter a number from %d to %d"

	textNoKeys = "%.40q takes a key or a list of keys, signs in quotes; write [] to take its keys away"
	textNoKey  = "%.40q is not a key: write a character, or names as in ctrl+p, alt+up, pgdown, f5"

	fileHead = "# Written by the dashboard of ollim-bot; yours to edit while it does not run.\n"
)

var (
	errNoFile   = errors.New("it is not a regular file")
	errTooLarge = errors.New("it is larger than 16 KiB")
)
