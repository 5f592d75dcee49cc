package config

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"ollimbot/core/clean"
	"ollimbot/core/store"
)

// RuntimeFile is the runtime configuration's name in the data directory.
const RuntimeFile = store.StateDir + "/config.json"

// Runtime is the configuration that the user changes while the bot lives (spec
// 08.7), and settings of our own that the original program ignores. Its
// values can be compared with ==.
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

	GoogleCalendars string // ids, separated by commas without spaces
	GoogleTaskList  string // an id

	MaxBackgroundForks int   // runs at once; more wait
	QuietHours         Quiet // zero: none
	ClaudeWarm         int   // engine processes that are kept ready
	ClaudeMemoryLimit  int64 // bytes, of one engine process

	SandboxOff     bool   // no sandbox, also where there could be one
	SandboxNetwork bool   // commands in the sandbox may reach the network
	SandboxVisible string // absolute paths, separated by commas; ":rw" behind one lets it be written
}

// DefaultRuntime is the configuration of a directory without a config file.
func DefaultRuntime() Runtime {
	return Runtime{
		ThinkingMain: "off", ThinkingFork: "adaptive",
		BgForkTimeout: 1800 * time.Second, ForkIdleTimeout: 10 * time.Minute,
		PermissionMode: "dontAsk", AutoUpdateInterval: 60 * time.Minute, AutoUpdateHour: 6,
		GoogleCalendars: "primary", GoogleTaskList: "@default",
		MaxBackgroundForks: 4, ClaudeWarm: 1, ClaudeMemoryLimit: 4 << 30,
	}
}

// LoadRuntime reads state/config.json. A missing file or key, and a value that
// is not accepted, mean the default. Each value that was not accepted is one
// sentence in problems, which names the key, the value and what is accepted.
// Unknown keys are ignored. A file that is no JSON is an error and stays where
// it is: people edit it by hand, and half a save must not move it away.
func LoadRuntime(d *store.Dir) (r Runtime, problems []string, err error) {
	raw := map[string]json.RawMessage{}
	if _, err := d.PeekJSON(RuntimeFile, &raw); err != nil {
		return DefaultRuntime(), nil, fmt.Errorf("%s: %w", RuntimeFile, err)
	}
	r, problems = decode(raw)
	return r, problems, nil
}

// decode makes a configuration of a file's values.
func decode(raw map[string]json.RawMessage) (r Runtime, problems []string) {
	r = DefaultRuntime()
	for _, k := range keys {
		value, ok := raw[k.name]
		if !ok {
			continue
		}
		text := plain(value)
		if meant, ok := k.legacy[strings.ToLower(text)]; ok {
			text = meant
		}
		if !k.parse(&r, text) {
			standard := k.encode(k.text(DefaultRuntime()))
			problems = append(problems, fmt.Sprintf(msgRuntime, k.name, shown(value), k.must, standard))
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
