package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/storage/frontmatter"
	"ollimbot/core/storage/store"
	"ollimbot/routines"
	"ollimbot/routines/when"
)

// The files of the runtime configuration in the data directory. The original
// program rewrites RuntimeFile with each change and drops unknown keys, so the settings
// that only this program has are in SettingsFile.
const (
	RuntimeFile  = store.StateDir + "/config.json"
	SettingsFile = store.StateDir + "/settings.json"
)

// Runtime is the configuration that the user changes while the bot runs. Values can be
// compared with ==.
type Runtime struct {
	ModelMain          string        // "opus", "sonnet", "haiku", "local/qwen3"; empty means the engine's default
	ModelFork          string        // the same; empty means that of the main conversation
	ThinkingMain       string        // "off", "adaptive" or a number of tokens
	ThinkingFork       string        // the same
	BgForkTimeout      time.Duration // of one background run
	ForkIdleTimeout    time.Duration // of an interactive fork
	PermissionMode     string        // "dontAsk", "default", "acceptEdits", "bypassPermissions"
	AutoUpdate         bool
	AutoUpdateInterval time.Duration
	AutoUpdateHour     int // 0 to 23, in the configured zone

	GoogleCalendars string // IDs, separated by commas without spaces
	GoogleTaskList  string // an ID

	Engine   string // "claude", "messages", "script"; empty means the first one available
	Fallback string // engines, or models with their provider, separated by commas; empty means none

	VoiceLanguage string        // of voice messages, a code such as "de"; if empty, it is recognized
	VoiceLimit    time.Duration // longer voice messages are not transcribed

	MaxBackgroundForks int   // simultaneous runs; more wait
	QuietHours         Quiet // zero means none
	// Timezone is the zone in use, an IANA name, unless a flag or a variable of the environment sets it. Empty means none yet.
	Timezone string
	// What the words for parts of the day stand for, in minutes after midnight.
	Morning, Noon, Afternoon, Evening, Night int
	QuietMessages                            int     // per day, without a sound; 0 means none
	DailyCap                                 float64 // dollars per day; +Inf means no cap
	MonthlyCap                               float64 // dollars per month; +Inf means no cap
	TurnCap                                  float64 // dollars per turn or run; +Inf means no cap
	StatusLine                               bool    // Discord shows a message while the bot thinks, which becomes the answer
	ClaudeWarm                               int     // 0 opens the main session with its first message instead of at startup
	ClaudeMemoryLimit                        int64   // bytes per engine process

	Sandbox        string // "off"; empty means on if available
	SandboxNetwork string // "on", or the hosts that commands in the sandbox may reach, as hosts.Parse reads them; empty means none
	SandboxVisible string // absolute paths, separated by commas; ":rw" after one makes it writable
	WebhookHosts   string // the hosts that requests to webhooks may name, as hosts.Parse reads them; empty means any

	DiscordBudget bool // the bot's status in Discord shows how many pings are left
	Promises      bool // the agent offers reminders of the user's promises
	Learning      bool // it learns when the user answers, and proposes better times
}

// defaultRuntime returns the configuration of a directory without a config file.
func defaultRuntime() Runtime {
	return Runtime{
		ThinkingMain: "off", ThinkingFork: "adaptive",
		BgForkTimeout: 1800 * time.Second, ForkIdleTimeout: 10 * time.Minute,
		PermissionMode: "dontAsk", AutoUpdateInterval: 60 * time.Minute, AutoUpdateHour: 6,
		GoogleCalendars: "primary", GoogleTaskList: "@default",
		VoiceLimit: 10 * time.Minute, MaxBackgroundForks: 4, QuietMessages: 3,
		Morning: when.UsualDay.Morning, Noon: when.UsualDay.Noon, Afternoon: when.UsualDay.Afternoon, Evening: when.UsualDay.Evening, Night: when.UsualDay.Night,
		DailyCap: math.Inf(1), MonthlyCap: math.Inf(1), TurnCap: 5, ClaudeWarm: 1, ClaudeMemoryLimit: 4 << 30,
		DiscordBudget: true, Promises: true, Learning: true,
	}
}

// Day returns when the user's morning, noon, afternoon, evening and night are.
func (r Runtime) Day() when.Day {
	return when.Day{Morning: r.Morning, Noon: r.Noon, Afternoon: r.Afternoon, Evening: r.Evening, Night: r.Night}
}

// ForkThinking returns the thinking of a fork whose conversation thinks like main. The default
// means the same: a provider caches a prompt for one depth of thinking, so that any other depth
// pays for the whole history again.
func (r Runtime) ForkThinking(main string) string {
	if r.ThinkingFork == defaultRuntime().ThinkingFork {
		return main
	}
	return r.ThinkingFork
}

// LoadRuntime reads both files. A missing file or key means the default. An invalid value, and all of a file that is not JSON, is
// replaced by that of the file's last valid version, or else the default; problems has each with its line. Unknown
// keys are ignored. err is set if a file is not JSON, as in the middle of an edit; it is not moved aside, and the other file
// still applies.
func LoadRuntime(d *store.Dir) (r Runtime, problems []routines.Problem, err error) {
	f, err := peek(d)
	r, problems = f.decode()
	r.Timezone = cmp.Or(zoneOfEnv(d), r.Timezone)
	return r, problems, err
}

// Check returns what keeps a file of settings, by its name in the data directory, from being used,
// and its values without effect.
func Check(rel string, data []byte) []routines.Problem {
	var f files
	one := &f.theirs
	if rel != RuntimeFile {
		one = &f.ours
	}
	_ = one.read(rel, data) // the error is among the problems
	_, problems := f.decode()
	return problems
}

// files are the two files as read.
type files struct{ theirs, ours oneFile }

// oneFile is one of them.
type oneFile struct {
	values  map[string]json.RawMessage
	lines   map[string]int             // of the keys
	before  map[string]json.RawMessage // of the last valid version
	kept    time.Time                  // when that was kept; zero if there is none
	problem routines.Problem           // why it is not used as a whole; the zero Problem for no reason
}

// of returns the file of a key and its name.
func (f *files) of(k key) (c *oneFile, rel string) {
	if k.ours {
		return &f.ours, SettingsFile
	}
	return &f.theirs, RuntimeFile
}

// peek reads the files without changing them.
func peek(d *store.Dir) (f files, err error) {
	for rel, c := range map[string]*oneFile{RuntimeFile: &f.theirs, SettingsFile: &f.ours} {
		data, ferr := d.Read(rel)
		missing := errors.Is(ferr, fs.ErrNotExist)
		switch {
		case missing:
			c.values, ferr = map[string]json.RawMessage{}, nil
		case ferr == nil:
			ferr = c.read(rel, data)
		default:
			c.problem = routines.Problem{File: rel, Severity: routines.Error, Message: clean.Line(ferr.Error())}
		}
		if ferr != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", rel, ferr))
		}
		if old, at, ok := d.Valid(rel); ok && !missing && json.Unmarshal(old, &c.before) == nil {
			c.kept = at
		}
	}
	return f, err
}

// read parses the text of a file.
func (c *oneFile) read(rel string, data []byte) error {
	c.values, c.lines = map[string]json.RawMessage{}, map[string]int{}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	tree, err := frontmatter.ParseJSON(data)
	if err == nil && tree.Kind != frontmatter.Map {
		err = &frontmatter.SyntaxError{Line: 1, Column: 1, Message: msgNoObject}
	}
	if err == nil {
		err = json.Unmarshal(data, &c.values)
	}
	if err != nil {
		c.values = map[string]json.RawMessage{}
		c.problem = routines.Problem{File: rel, Severity: routines.Error, Message: clean.Line(fmt.Sprintf(msgNoJSON, err))}
		if syntax, ok := errors.AsType[*frontmatter.SyntaxError](err); ok {
			c.problem.Line, c.problem.Column, c.problem.Message = syntax.Line, syntax.Column, clean.Line(fmt.Sprintf(msgNoJSON, syntax.Message))
		}
		return err
	}
	for _, field := range tree.Fields {
		c.lines[field.Key] = field.Line
	}
	return nil
}

// decode returns the configuration in the files, and the problems by file and line.
func (f *files) decode() (r Runtime, problems []routines.Problem) {
	r = defaultRuntime()
	for _, c := range []*oneFile{&f.theirs, &f.ours} {
		if c.problem.Message == "" {
			continue
		}
		p := c.problem
		if c.kept.IsZero() {
			p.Message += msgDefaults
		} else {
			p = p.Keeping(c.kept)
		}
		problems = append(problems, p)
	}
	for _, k := range keys {
		c, rel := f.of(k)
		value, ok := c.values[k.name]
		if ok && k.read(&r, value) || !ok && c.problem.Message == "" {
			continue
		}
		old, kept := c.before[k.name]
		kept = kept && k.read(&r, old)
		if !ok || k.unused {
			continue
		}
		instead := msgDefault
		if standard := k.value(defaultRuntime()); !strings.HasPrefix(standard, "(") { // "(inherit main)"
			instead += " " + standard
		}
		p := routines.Problem{File: rel, Line: c.lines[k.name], Severity: routines.Error}
		if kept {
			instead, p.Kept = fmt.Sprintf(msgBefore, k.value(r), c.kept.Format(time.DateOnly)), c.kept
		}
		p.Message = fmt.Sprintf(msgRuntime, k.name, clean.Cut(clean.Line(string(value)), 60), k.wants(plain(value)), instead)
		problems = append(problems, p)
	}
	for _, name := range slices.Sorted(maps.Keys(removed)) {
		if _, ok := f.ours.values[name]; ok {
			problems = append(problems, routines.Problem{
				File: SettingsFile, Line: f.ours.lines[name], Severity: routines.Warning, Message: fmt.Sprintf(msgRemoved, name, removed[name]) + "; delete its line",
			})
		}
	}
	return r, problems
}

// read sets a setting to a value from a file; false if it is invalid, which changes nothing.
func (k key) read(r *Runtime, value json.RawMessage) bool {
	text := plain(value)
	if meant, ok := k.legacy[strings.ToLower(text)]; ok {
		text = meant
	}
	return k.parse(r, text)
}

// plain returns a JSON value as text: strings unquoted, null as "", anything else
// unchanged.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil { // null leaves s empty
		return strings.TrimSpace(s)
	}
	return string(raw)
}

// Line is one setting as shown to the user.
type Line struct {
	Key     string   `json:"key"`
	Value   string   `json:"value"`   // with its unit: "1800s", "8k budget", "(inherit main)"
	Default bool     `json:"default"` // the value is the default
	Offers  []string `json:"takes"`   // the values that Set accepts, as one word each: "opus", "minutes"
	Text    string   `json:"set"`     // the value in the form for Set
	Choices []string `json:"-"`       // those Offers that are values and not only examples
	Closed  bool     `json:"-"`       // only the Choices are accepted
	Long    string   `json:"-"`       // the value with its unit in full: "30 minutes"
	About   Setting  `json:"-"`
}

// String formats the line in Discord's markup.
func (l Line) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**: %s", l.Key, l.Value)
	if l.Default && !strings.HasPrefix(l.Value, "(") { // "(default)" itself
		b.WriteString(" " + shownDefault)
	}
	for _, o := range l.Offers {
		fmt.Fprintf(&b, " `%s`", o)
	}
	return b.String()
}

// Show lists the settings of r that have an effect, beginning with those of the original program.
func Show(r Runtime) []Line {
	var lines []Line
	for _, k := range keys {
		if !k.unused {
			lines = append(lines, k.line(r))
		}
	}
	return lines
}

// InGroup lists the settings of a group that are in the configuration, in display order.
func InGroup(r Runtime, group string) []Line {
	var lines []Line
	for _, s := range Settings {
		if l, err := ShowOne(r, s.Key); err == nil && s.Group == group {
			lines = append(lines, l)
		}
	}
	return lines
}

// Overview formats the configuration for the user: in its groups, with names and units. others are
// settings that are stored elsewhere.
func Overview(r Runtime, others ...Line) string {
	var b strings.Builder
	for _, g := range Groups {
		fmt.Fprintf(&b, "%s\n", g)
		for _, s := range Settings {
			l, err := ShowOne(r, s.Key)
			if i := slices.IndexFunc(others, func(l Line) bool { return l.Key == s.Key }); i >= 0 {
				l, err = others[i], nil
			}
			if err == nil && s.Group == g {
				fmt.Fprintf(&b, "  %s: %s (%s)\n", s.Name, l.Long, l.Key)
			}
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// ShowOne returns one setting. The error for an unknown key suggests the nearest one, or
// lists all.
func ShowOne(r Runtime, name string) (Line, error) {
	k, err := find(name)
	if err != nil {
		return Line{}, err
	}
	return k.line(r), nil
}

func (k key) line(r Runtime) Line {
	value, long := k.value(r), k.value(r)
	if k.long != nil {
		long = k.long(r)
	}
	about, _ := About(k.name)
	standard := k.text(defaultRuntime())
	var choices []string
	for _, o := range k.offers {
		if trial := r; (!k.free || o == standard) && k.parse(&trial, o) {
			choices = append(choices, o)
		}
	}
	return Line{
		Key: k.name, Value: value, Offers: k.offers, Text: k.text(r), Choices: choices, Closed: k.closed, Long: long, About: about,
		Default: k.text(r) == standard,
	}
}

// value formats a setting for the user.
func (k key) value(r Runtime) string {
	if k.shown != nil {
		return k.shown(r)
	}
	return k.text(r)
}

// find returns a setting by its key, whose first underscore may be a dot.
func find(name string) (key, error) {
	name = strings.ToLower(strings.TrimSpace(name))
	var names []string
	for _, k := range keys {
		known := name == k.name || name == strings.Replace(k.name, "_", ".", 1)
		switch {
		case known && k.unused:
			return key{}, fmt.Errorf(msgUnused, k.name)
		case known:
			return k, nil
		case !k.unused:
			names = append(names, k.name)
		}
	}
	if instead, ok := removed[strings.Replace(name, ".", "_", 1)]; ok {
		return key{}, fmt.Errorf(msgRemoved, name, instead)
	}
	shown := clean.Cut(clean.Line(name), 40)
	if near := words.Nearest(name, names); near != "" {
		return key{}, fmt.Errorf(msgNearest, shown, near)
	}
	return key{}, fmt.Errorf(msgUnknown, shown, strings.Join(names, ", "))
}
