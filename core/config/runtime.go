package config

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/clean"
	"ollimbot/core/store"
)

// RuntimeFile is the runtime configuration's name in the data directory.
const RuntimeFile = store.StateDir + "/config.json"

// Runtime is the configuration that the user changes while the bot lives (spec
// 08.7), and four settings of our own that the original program ignores.
type Runtime struct {
	ModelMain          string        // "opus", "sonnet", "haiku"; empty: the engine's default
	ModelFork          string        // the same; empty: as the main conversation
	ThinkingMain       string        // "off", "adaptive" or a number of tokens
	ThinkingFork       string        // the same
	BgForkTimeout      time.Duration // of one background run
	ForkIdleTimeout    time.Duration // of an interactive fork
	PermissionMode     string        // "dontAsk", "default", "acceptEdits", "bypassPermissions"
	AutoUpdate         bool
	AutoUpdateInterval time.Duration
	AutoUpdateHour     int // 0 to 23, in the configured zone

	MaxBackgroundForks int   // runs at once; more wait
	QuietHours         Quiet // zero: none
	ClaudeWarm         int   // engine processes that are kept ready
	ClaudeMemoryLimit  int64 // bytes, of one engine process
}

// DefaultRuntime is the configuration of a directory without a config file.
func DefaultRuntime() Runtime {
	return Runtime{
		ThinkingMain: "off", ThinkingFork: "adaptive",
		BgForkTimeout: 1800 * time.Second, ForkIdleTimeout: 10 * time.Minute,
		PermissionMode: "dontAsk", AutoUpdateInterval: 60 * time.Minute, AutoUpdateHour: 6,
		MaxBackgroundForks: 4, ClaudeWarm: 1, ClaudeMemoryLimit: 4 << 30,
	}
}

// LoadRuntime reads state/config.json. A missing file or key, and a value that
// is not accepted, mean the default. Each value that was not accepted is one
// sentence in problems, which names the key, the value and what is accepted.
// Unknown keys are ignored. A file that is no JSON is an error and stays where
// it is: people edit it by hand, and half a save must not move it away.
func LoadRuntime(d *store.Dir) (r Runtime, problems []string, err error) {
	r = DefaultRuntime()
	raw := map[string]json.RawMessage{}
	found, err := d.PeekJSON(RuntimeFile, &raw)
	if err != nil {
		return r, nil, fmt.Errorf("state/config.json: %w", err)
	}
	if !found {
		return r, nil, nil
	}
	for _, k := range keys {
		value, ok := raw[k.name]
		if !ok {
			continue
		}
		if text := plain(value); !k.set(&r, text) {
			problems = append(problems, fmt.Sprintf(msgRuntime, k.name, shown(value), k.accepts, k.standard))
		}
	}
	return r, problems, nil
}

// key is one setting: how it is read and what people are told about it.
type key struct {
	name     string
	accepts  string
	standard string // the default, as people read it
	set      func(r *Runtime, text string) bool
}

// keys are all settings, in the order of spec 08.7, then ours.
var keys = []key{
	{"model_main", acceptModel, "null", func(r *Runtime, s string) bool { return model(&r.ModelMain, s) }},
	{"model_fork", acceptModel, "null", func(r *Runtime, s string) bool { return model(&r.ModelFork, s) }},
	{"thinking_main", acceptThinking, "off", func(r *Runtime, s string) bool { return thinking(&r.ThinkingMain, s) }},
	{"thinking_fork", acceptThinking, "adaptive", func(r *Runtime, s string) bool { return thinking(&r.ThinkingFork, s) }},
	number("bg_fork_timeout", "1800", 1, maxSeconds, func(r *Runtime, n int) {
		r.BgForkTimeout = time.Duration(n) * time.Second
	}),
	number("fork_idle_timeout", "10", 1, maxMinutes, func(r *Runtime, n int) {
		r.ForkIdleTimeout = time.Duration(n) * time.Minute
	}),
	{"permission_mode", acceptMode, "dontAsk", func(r *Runtime, s string) bool {
		return oneOf(&r.PermissionMode, s, "acceptEdits", "bypassPermissions", "default", "dontAsk")
	}},
	{"auto_update", acceptBool, "false", func(r *Runtime, s string) bool { return boolean(&r.AutoUpdate, s) }},
	number("auto_update_interval", "60", 1, maxMinutes, func(r *Runtime, n int) {
		r.AutoUpdateInterval = time.Duration(n) * time.Minute
	}),
	number("auto_update_hour", "6", 0, 23, func(r *Runtime, n int) { r.AutoUpdateHour = n }),
	number("max_background_forks", "4", 1, 100, func(r *Runtime, n int) { r.MaxBackgroundForks = n }),
	{"quiet_hours", acceptQuiet, "(off)", func(r *Runtime, s string) bool {
		q, ok := parseQuiet(s)
		if ok {
			r.QuietHours = q
		}
		return ok
	}},
	number("claude_warm", "1", 0, 16, func(r *Runtime, n int) { r.ClaudeWarm = n }),
	{"claude_memory_limit", acceptMemory, "4GB", func(r *Runtime, s string) bool {
		return memory(&r.ClaudeMemoryLimit, s)
	}},
}

// A year is longer than anybody waits, and short enough for a time.Duration.
const (
	maxSeconds = 366 * 24 * 3600
	maxMinutes = 366 * 24 * 60
)

func number(name, standard string, low, high int, set func(*Runtime, int)) key {
	return key{name, fmt.Sprintf(acceptInt, low, high), standard, func(r *Runtime, s string) bool {
		n, err := strconv.Atoi(s)
		if err != nil || strings.Trim(s, "0123456789") != "" || n < low || n > high {
			return false
		}
		set(r, n)
		return true
	}}
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

func oneOf(to *string, s string, accepted ...string) bool {
	if !slices.Contains(accepted, s) {
		return false
	}
	*to = s
	return true
}

func model(to *string, s string) bool {
	s = strings.ToLower(s)
	switch s {
	case "", "null", "none", "default":
		*to = ""
		return true
	}
	return oneOf(to, s, "opus", "sonnet", "haiku")
}

// thinking also takes the booleans that early versions wrote.
func thinking(to *string, s string) bool {
	switch s = strings.ToLower(s); s {
	case "true":
		s = "adaptive"
	case "false":
		s = "off"
	}
	if n, err := strconv.Atoi(s); err == nil && n > 0 && strings.Trim(s, "0123456789") == "" {
		s = strconv.Itoa(n)
		*to = s
		return true
	}
	return oneOf(to, s, "off", "adaptive")
}

func boolean(to *bool, s string) bool {
	switch strings.ToLower(s) {
	case "true", "on", "yes", "1":
		*to = true
	case "false", "off", "no", "0":
		*to = false
	default:
		return false
	}
	return true
}

// memory reads a size in bytes, or with KB, MB or GB behind it.
func memory(to *int64, s string) bool {
	s = strings.ToUpper(strings.ReplaceAll(s, " ", ""))
	shift := 0
	for _, u := range []struct {
		suffix string
		shift  int
	}{{"GIB", 30}, {"MIB", 20}, {"KIB", 10}, {"GB", 30}, {"MB", 20}, {"KB", 10}, {"G", 30}, {"M", 20}, {"B", 0}} {
		if rest, ok := strings.CutSuffix(s, u.suffix); ok {
			s, shift = rest, u.shift
			break
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > 1<<50>>shift || n<<shift < 64<<20 {
		return false
	}
	*to = n << shift
	return true
}
