// Package settings is what the user has chosen about the dashboard itself, in two
// small files of their own: dashboard.yaml, which the dashboard writes too, and
// keys.yaml, which only the user writes. They stand in the configuration
// directory of the user, never in the bot's data directory. What is wrong in them
// is reported with its place and changes nothing. The package must not know what
// the dashboard looks like.
package settings

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/config"
	"ollimbot/tui/action"
)

// The files, below Dir.
const (
	DashboardFile = "dashboard.yaml"
	KeysFile      = "keys.yaml"
)

// Dashboard is how the dashboard looked last.
type Dashboard struct {
	Theme  string          // one of Themes; empty means the first
	Layout string          // one of the layouts that Load is given; empty means the first
	Sizes  map[string]Size // by layout
	Clock  string          // one of Clocks; empty means the first
	Charts string          // one of Pens; empty means the first
	Bell   string          // one of Bells: what happens when something begins to wait
	Title  bool            // say in the window's title what waits
	Motion bool            // count seconds on the screen
}

// Names are the names of the file whose values are single words.
var Names = []string{"theme", "layout", "clock", "charts", "bell", "title", "motion"}

// word is what a name says in a word, and what it may say; nil for another name.
func (d *Dashboard) word(name string, layouts []string) (value *string, choices []string) {
	switch name {
	case "theme":
		return &d.Theme, Themes
	case "layout":
		return &d.Layout, layouts
	case "clock":
		return &d.Clock, Clocks
	case "charts":
		return &d.Charts, Pens
	case "bell":
		return &d.Bell, Bells
	}
	return nil, nil
}

// toggle is what a name switches on and off; nil for another name.
func (d *Dashboard) toggle(name string) *bool {
	switch name {
	case "title":
		return &d.Title
	case "motion":
		return &d.Motion
	}
	return nil
}

// switches are the values of what is on or off.
var switches = []string{"on", "off"}

// Get gives the value of a name and what it may be; layouts are those that there are.
func (d *Dashboard) Get(name string, layouts []string) (value string, choices []string) {
	if word, choices := d.word(name, layouts); word != nil {
		return cmp.Or(*word, choices[0]), choices
	}
	if on := d.toggle(name); on != nil && *on {
		return switches[0], switches
	}
	return switches[1], switches
}

// Set takes a value that Get has given as a choice.
func (d *Dashboard) Set(name, value string) {
	if word, _ := d.word(name, nil); word != nil {
		*word = value
	}
	if on := d.toggle(name); on != nil {
		*on = value == switches[0]
	}
}

// Size is what the user has moved in a layout. The zero Size is the layout's own.
type Size struct {
	Columns int                 // by how many cells the left column is wider than the layout says
	Right   int                 // the same for a third column
	Rows    map[action.Pane]int // by how many rows panes are taller
}

// Themes are the values of the theme, the first is the default.
var Themes = []string{"auto", "dark", "light", "contrast", "16"}

// Clocks are how many hours the times of a day have, the first is the default.
var Clocks = []string{"24", "12"}

// Pens are what curves are drawn with, the first is the default: a font without braille
// has blocks.
var Pens = []string{"braille", "blocks"}

// Bells are the values of the bell, the first is the default: the terminal's bell, a
// notification of the desktop where the terminal can (OSC 9), neither.
var Bells = []string{"bell", "notify", "off"}

// Default is the dashboard of somebody who has chosen nothing.
func Default() Dashboard { return Dashboard{Bell: Bells[0], Title: true, Motion: true} }

// The limits of what is read, in cells and rows: beyond any screen. How far a
// pane can be moved is the layout's to say.
const (
	maxColumns = 1000
	maxRows    = 500
)

// Problem is something wrong in a file.
type Problem struct {
	File         string // its name
	Line, Column int    // from 1; 0 where the whole file is meant
	Text         string // one line, says the cure
}

// String is the problem in one line, as compilers write it.
func (p Problem) String() string {
	if p.Line == 0 {
		return p.File + ": " + p.Text
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Text)
}

// Dir is the directory of the settings for an environment as os.Environ gives
// it: ollim-bot below $XDG_CONFIG_HOME, else below ~/.config; empty when there is
// no home.
func Dir(env []string) string {
	value := func(name string) string { return config.Lookup(env, name) }
	// The standard says that a relative path is to be ignored.
	if base := value("XDG_CONFIG_HOME"); filepath.IsAbs(base) {
		return filepath.Join(base, "ollim-bot")
	}
	if home := value("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".config", "ollim-bot")
	}
	return ""
}

// Load reads dashboard.yaml for a dashboard with these layouts, at least one. What is missing
// or wrong is as in Default.
func Load(dir string, layouts []string) (Dashboard, []Problem) {
	d := Default()
	r := reader{file: DashboardFile}
	for _, f := range r.fields(dir) {
		r.dashboard(&d, f, layouts)
	}
	return d, r.inOrder()
}

// Chosen reports whether something has been remembered in dir.
func Chosen(dir string) bool {
	if dir == "" {
		return false
	}
	_, err := os.Stat(filepath.Join(dir, DashboardFile))
	return err == nil
}

// Save writes dashboard.yaml, whole or not at all. It is not forced to the disk:
// the loss of a theme is not worth the wait in the dashboard's loop.
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
	_, err = f.WriteString(encode(d))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, DashboardFile))
	}
	if err != nil {
		return fmt.Errorf("save the settings: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

func encode(d Dashboard) string {
	var b strings.Builder
	b.WriteString(fileHead)
	line := func(name, value string) { b.WriteString(name + ": " + value + "\n") }
	number := func(name string, n int) {
		if n != 0 {
			line(name, strconv.Itoa(n))
		}
	}
	for _, name := range Names {
		if on := d.toggle(name); on != nil {
			line(name, strconv.FormatBool(*on))
		} else if word, _ := d.word(name, nil); *word != "" {
			line(name, strconv.Quote(*word))
		}
	}
	for _, layout := range slices.Sorted(maps.Keys(d.Sizes)) {
		size := d.Sizes[layout]
		number("columns-"+layout, size.Columns)
		number("right-"+layout, size.Right)
		for _, p := range action.Panes {
			number("rows-"+string(p)+"-"+layout, size.Rows[p])
		}
	}
	return b.String()
}

// Stamp tells one state of keys.yaml from another. The zero Stamp is a file that
// does not exist.
type Stamp struct {
	size int64
	at   time.Time
}

// Look gives the stamp of keys.yaml: one cheap question to the file system.
func Look(dir string) Stamp {
	if dir == "" {
		return Stamp{}
	}
	info, err := os.Stat(filepath.Join(dir, KeysFile))
	if err != nil {
		return Stamp{}
	}
	return Stamp{info.Size(), info.ModTime()}
}
