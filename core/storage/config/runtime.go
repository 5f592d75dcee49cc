package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/storage/store"
)

// The files of the runtime configuration in the data directory. The original
// program writes RuntimeFile anew with each change and drops what it does not know,
// so what is ours alone lies in a file of ours.
const (
	RuntimeFile  = store.StateDir + "/config.json"
	SettingsFile = store.StateDir + "/settings.json"
)

// Runtime is the configuration that the user changes while the bot runs. Values can be
// compared with ==.
type Runtime struct {
	ModelMain          string        // "opus", "sonnet", "haiku", "local/qwen3"; empty: the engine's default
	ModelFork          string        // the same; empty: as the main conversation
	ThinkingMain       string        // "off", "adaptive" or a number of tokens
	ThinkingFork       string        // the same
	BgForkTimeout      time.Duration // of one background run
	ForkIdleTimeout    time.Duration // of an interactive fork
	PermissionMode     string        // "dontAsk", "default", "acceptEdits", "bypassPermissions"
	AutoUpdate         bool
	AutoUpdateInterval time.Duration
	AutoUpdateHour     int // 0 to 23, in the configured zone

	GoogleCalendars string // ids, separated by commas without spaces
	GoogleTaskList  string // an id

	Engine   string // "claude", "messages", "script"; empty: the first that is there
	Fallback string // engines, or models with their provider, separated by commas; empty: none

	MaxBackgroundForks int     // runs at once; more wait
	QuietHours         Quiet   // zero: none
	DailyCap           float64 // dollars that a day may cost; +Inf: no bound
	MonthlyCap         float64 // the same of a month
	ClaudeWarm         int     // 0 opens the main session with its first message and not at start
	ClaudeMemoryLimit  int64   // bytes, of one engine process

	Sandbox        string // "off"; empty: one where there can be one
	SandboxNetwork bool   // commands in the sandbox may reach the network
	SandboxVisible string // absolute paths, separated by commas; ":rw" behind one lets it be written

	UpdateSource string // where releases are: a directory, or an address that begins with http; empty: none
}

// defaultRuntime is the configuration of a directory without a config file.
func defaultRuntime() Runtime {
	return Runtime{
		ThinkingMain: "off", ThinkingFork: "adaptive",
		BgForkTimeout: 1800 * time.Second, ForkIdleTimeout: 10 * time.Minute,
		PermissionMode: "dontAsk", AutoUpdateInterval: 60 * time.Minute, AutoUpdateHour: 6,
		GoogleCalendars: "primary", GoogleTaskList: "@default",
		MaxBackgroundForks: 4, DailyCap: math.Inf(1), MonthlyCap: math.Inf(1), ClaudeWarm: 1, ClaudeMemoryLimit: 4 << 30,
	}
}

// LoadRuntime reads both files. A missing file or key, and a value that is not
// accepted, mean the default. Each value that was not accepted is one sentence in
// problems, which names the key, the value and what is accepted. Unknown keys are
// ignored. A file that is no JSON is an error and stays where it is: people edit it
// by hand, and half a save must not move it away; the other one counts.
func LoadRuntime(d *store.Dir) (r Runtime, problems []string, err error) {
	f, err := peek(d)
	r, problems = f.decode()
	return r, problems, err
}

// files are what the two files hold.
type files struct{ theirs, ours map[string]json.RawMessage }

// peek reads the files and leaves them as they are.
func peek(d *store.Dir) (f files, err error) {
	for rel, raw := range map[string]*map[string]json.RawMessage{RuntimeFile: &f.theirs, SettingsFile: &f.ours} {
		if _, ferr := d.PeekJSON(rel, raw); ferr != nil {
			*raw = nil
			err = errors.Join(err, fmt.Errorf("%s: %w", rel, ferr))
		}
		if *raw == nil {
			*raw = map[string]json.RawMessage{}
		}
	}
	return f, err
}

// find is a key's value and where it lies. A key of ours counts where earlier
// versions kept it as long as our file does not have it.
func (f files) find(k key) (value json.RawMessage, rel string, ok bool) {
	if k.ours {
		if value, ok = f.ours[k.name]; ok {
			return value, SettingsFile, true
		}
	}
	value, ok = f.theirs[k.name]
	return value, RuntimeFile, ok
}

// decode makes a configuration of the files' values.
func (f files) decode() (r Runtime, problems []string) {
	r = defaultRuntime()
	for _, k := range keys {
		value, rel, ok := f.find(k)
		if !ok {
			continue
		}
		text := plain(value)
		if meant, ok := k.legacy[strings.ToLower(text)]; ok {
			text = meant
		}
		if !k.parse(&r, text) {
			if k.unused {
				continue
			}
			standard := k.encode(k.text(defaultRuntime()))
			problems = append(problems, fmt.Sprintf(msgRuntime, rel, k.name, shown(value), k.must, standard))
		}
	}
	return r, problems
}

// plain is a JSON value as the text that it stands for: strings without their
// quotes, null as nothing, all else as it is written.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil { // null leaves s empty
		return strings.TrimSpace(s)
	}
	return string(raw)
}

// shown is a JSON value fit for a sentence.
func shown(raw json.RawMessage) string { return clean.Cut(clean.Line(string(raw)), 60) }

// Line is one setting as people see it.
type Line struct {
	Key     string
	Value   string   // with its unit: "1800s", "8k budget", "(inherit main)"
	Default bool     // the value is the default
	Offers  []string // what Set takes, in a word each: "opus", "minutes"
	Text    string   // the value as Set takes it
	Choices []string // those of Offers that are values themselves
	About   string   // what it changes
}

// String is the line in Discord's markup.
func (l Line) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**: %s", l.Key, l.Value)
	if l.Default && !strings.HasPrefix(l.Value, "(") { // which would repeat it
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

// ShowOne is the setting of that key. The error of an unknown one names the nearest, or
// all.
func ShowOne(r Runtime, name string) (Line, error) {
	k, err := find(name)
	if err != nil {
		return Line{}, err
	}
	return k.line(r), nil
}

func (k key) line(r Runtime) Line {
	value := k.value(r)
	var choices []string
	for _, o := range k.offers {
		if trial := r; !k.free && k.parse(&trial, o) {
			choices = append(choices, o)
		}
	}
	return Line{
		Key: k.name, Value: value, Offers: k.offers, Text: k.text(r), Choices: choices, About: abouts[k.name],
		Default: k.text(r) == k.text(defaultRuntime()),
	}
}

// value is a setting in people's words.
func (k key) value(r Runtime) string {
	if k.shown != nil {
		return k.shown(r)
	}
	return k.text(r)
}

// find is the setting of that key, which may have a dot in place of its first underscore.
func find(name string) (key, error) {
	name = strings.ToLower(strings.TrimSpace(name))
	var names []string
	for _, k := range keys {
		known := name == k.name || name == strings.Replace(k.name, "_", ".", 1) // as it was written once
		switch {
		case known && k.unused:
			return key{}, fmt.Errorf(msgUnused, k.name)
		case known:
			return k, nil
		case !k.unused:
			names = append(names, k.name)
		}
	}
	shown := clean.Cut(clean.Line(name), 40)
	if near := words.Nearest(name, names); near != "" {
		return key{}, fmt.Errorf(msgNearest, shown, near)
	}
	return key{}, fmt.Errorf(msgUnknown, shown, strings.Join(names, ", "))
}
