package config

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/pycompat"
	"ollimbot/core/words"
)

// key is one setting: how it is read, written and told to people. A setting's
// text is the form in which Set takes it and gives it back.
type key struct {
	name  string // in the file
	label string // for people; Set takes both
	// always marks the ten keys that the original program writes with every save.
	always bool
	// ours marks the keys that the original does not know.
	ours bool
	// unused marks the keys that nothing reads yet: their values are kept, and they
	// are not offered.
	unused bool
	must   string            // what is accepted, the end of "x is not accepted; it …"
	offers []string          // the same in a few words each
	free   bool              // the offers are examples: a value is the user's own
	legacy map[string]string // what early files hold, and what it means
	parse  func(r *Runtime, text string) bool
	text   func(r Runtime) string
	// shown is the value in people's words; nil: the text itself.
	shown  func(r Runtime) string
	encode func(text string) string // the text as JSON
}

// A year is longer than anybody waits, and short enough for a time.Duration.
const (
	maxSeconds = 366 * 24 * 3600
	maxMinutes = 366 * 24 * 60
)

// keys are all settings, in the order of the original, then ours.
var keys = []key{
	modelKey("model_main", "model.main", shownDefault, func(r *Runtime) *string { return &r.ModelMain }),
	modelKey("model_fork", "model.fork", shownInherit, func(r *Runtime) *string { return &r.ModelFork }),
	thinkingKey("thinking_main", "thinking.main", func(r *Runtime) *string { return &r.ThinkingMain }),
	thinkingKey("thinking_fork", "thinking.fork", func(r *Runtime) *string { return &r.ThinkingFork }),
	spanKey("bg_fork_timeout", time.Second, func(r *Runtime) *time.Duration { return &r.BgForkTimeout }),
	spanKey("fork_idle_timeout", time.Minute, func(r *Runtime) *time.Duration { return &r.ForkIdleTimeout }),
	modeKey("permission_mode", func(r *Runtime) *string { return &r.PermissionMode }),
	unused(switchKey("auto_update", func(r *Runtime) *bool { return &r.AutoUpdate })),
	unused(spanKey("auto_update_interval", time.Minute, func(r *Runtime) *time.Duration { return &r.AutoUpdateInterval })),
	unused(hourKey("auto_update_hour", func(r *Runtime) *int { return &r.AutoUpdateHour })),

	calendarsKey("google_calendars", func(r *Runtime) *string { return &r.GoogleCalendars }),
	wordKey("google_task_list", func(r *Runtime) *string { return &r.GoogleTaskList }),

	ours(engineKey("engine", func(r *Runtime) *string { return &r.Engine })),
	ours(fallbackKey("fallback", func(r *Runtime) *string { return &r.Fallback })),
	ours(countKey("max_background_forks", bounds{1, 100}, func(r *Runtime) *int { return &r.MaxBackgroundForks })),
	ours(quietKey("quiet_hours", func(r *Runtime) *Quiet { return &r.QuietHours })),
	ours(dollarsKey("daily_cap", func(r *Runtime) *float64 { return &r.DailyCap })),
	ours(dollarsKey("monthly_cap", func(r *Runtime) *float64 { return &r.MonthlyCap })),
	ours(countKey("claude_warm", bounds{0, 16}, func(r *Runtime) *int { return &r.ClaudeWarm })),
	ours(memoryKey("claude_memory_limit", func(r *Runtime) *int64 { return &r.ClaudeMemoryLimit })),

	ours(sandboxKey("sandbox", func(r *Runtime) *bool { return &r.SandboxOff })),
	ours(switchKey("sandbox_network", func(r *Runtime) *bool { return &r.SandboxNetwork })),
	ours(pathsKey("sandbox_visible", func(r *Runtime) *string { return &r.SandboxVisible })),

	ours(sourceKey("update_source", func(r *Runtime) *string { return &r.UpdateSource })),
}

func ours(k key) key {
	k.always, k.ours = false, true
	return k
}

func unused(k key) key {
	k.unused = true
	return k
}

// bare is a text that JSON takes as it stands.
func bare(text string) string { return text }

func modelKey(name, label, none string, field func(*Runtime) *string) key {
	return key{
		name: name, label: label, always: true, must: mustModel, offers: []string{"opus", "sonnet", "haiku", "default"},
		parse: func(r *Runtime, s string) bool { return model(field(r), s) },
		text: func(r Runtime) string {
			if m := *field(&r); m != "" {
				return m
			}
			return "default"
		},
		shown: func(r Runtime) string {
			if m := *field(&r); m != "" {
				return m
			}
			return none
		},
		encode: func(text string) string {
			if text == "default" {
				return "null"
			}
			return pycompat.Quote(text)
		},
	}
}

func engineKey(name string, field func(*Runtime) *string) key {
	choices := []string{"auto", "claude", "messages", "script"}
	return key{
		name: name, label: name, must: fmt.Sprintf(mustOneOf, strings.Join(choices, ", ")), offers: choices,
		parse: func(r *Runtime, s string) bool {
			ok := oneOf(field(r), strings.ToLower(s), choices...)
			if ok && *field(r) == "auto" {
				*field(r) = ""
			}
			return ok
		},
		text:   func(r Runtime) string { return cmp.Or(*field(&r), "auto") },
		encode: pycompat.Quote,
	}
}

func fallbackKey(name string, field func(*Runtime) *string) key {
	return key{
		name: name, label: name, must: mustFallback, free: true, offers: []string{"local/qwen3", "messages", "none"},
		parse:  func(r *Runtime, s string) bool { return fallback(field(r), s) },
		text:   func(r Runtime) string { return cmp.Or(*field(&r), "none") },
		encode: pycompat.Quote,
	}
}

func thinkingKey(name, label string, field func(*Runtime) *string) key {
	return key{
		name: name, label: label, always: true, must: mustThinking, offers: []string{"off", "adaptive", "tokens"},
		legacy: map[string]string{"true": "adaptive", "false": "off"},
		parse:  func(r *Runtime, s string) bool { return thinking(field(r), s) },
		text:   func(r Runtime) string { return *field(&r) },
		shown:  func(r Runtime) string { return budget(*field(&r)) },
		encode: pycompat.Quote,
	}
}

// spanKey is a time in whole units, seconds or minutes.
func spanKey(name string, unit time.Duration, field func(*Runtime) *time.Duration) key {
	most, suffix, words := maxSeconds, "s", "seconds"
	if unit == time.Minute {
		most, suffix, words = maxMinutes, "m", "minutes"
	}
	text := func(r Runtime) string { return strconv.Itoa(int(*field(&r) / unit)) }
	return key{
		name: name, label: name, always: true,
		must: fmt.Sprintf(mustSpan, words, most), offers: []string{words},
		parse: func(r *Runtime, s string) bool {
			n, ok := whole(s, bounds{1, most})
			if ok {
				*field(r) = time.Duration(n) * unit
			}
			return ok
		},
		text: text, shown: func(r Runtime) string { return text(r) + suffix }, encode: bare,
	}
}

func modeKey(name string, field func(*Runtime) *string) key {
	modes := []string{"acceptEdits", "bypassPermissions", "default", "dontAsk"}
	return key{
		name: name, label: name, always: true, must: fmt.Sprintf(mustOneOf, strings.Join(modes, ", ")), offers: modes,
		parse:  func(r *Runtime, s string) bool { return oneOf(field(r), s, modes...) },
		text:   func(r Runtime) string { return *field(&r) },
		encode: pycompat.Quote,
	}
}

func switchKey(name string, field func(*Runtime) *bool) key {
	return key{
		name: name, label: name, always: true, must: mustSwitch, offers: []string{"on", "off"},
		parse: func(r *Runtime, s string) bool { return boolean(field(r), s) },
		text: func(r Runtime) string {
			if *field(&r) {
				return "on"
			}
			return "off"
		},
		encode: func(text string) string { return strconv.FormatBool(text == "on") },
	}
}

func hourKey(name string, field func(*Runtime) *int) key {
	k := countKey(name, bounds{0, 23}, field)
	text := k.text
	k.always, k.shown = true, func(r Runtime) string { return text(r) + ":00" }
	return k
}

func countKey(name string, b bounds, field func(*Runtime) *int) key {
	return key{
		name: name, label: name, must: fmt.Sprintf(mustCount, b.low, b.high),
		offers: []string{fmt.Sprintf("%d-%d", b.low, b.high)},
		parse: func(r *Runtime, s string) bool {
			n, ok := whole(s, b)
			if ok {
				*field(r) = n
			}
			return ok
		},
		text: func(r Runtime) string { return strconv.Itoa(*field(&r)) }, encode: bare,
	}
}

func quietKey(name string, field func(*Runtime) *Quiet) key {
	return key{
		name: name, label: name, must: mustQuiet, offers: []string{"22:00-07:30", "off"},
		parse: func(r *Runtime, s string) bool {
			q, ok := parseQuiet(s)
			if ok {
				*field(r) = q
			}
			return ok
		},
		text: func(r Runtime) string {
			if s := field(&r).String(); s != "" {
				return s
			}
			return "off"
		},
		encode: pycompat.Quote,
	}
}

// dollarsKey is an amount that may be spent; off is no bound.
func dollarsKey(name string, field func(*Runtime) *float64) key {
	text := func(r Runtime) string {
		if v := *field(&r); !math.IsInf(v, 1) {
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
		return "off"
	}
	return key{
		name: name, label: name, must: mustDollars, offers: []string{"5", "2.50", "off"},
		parse: func(r *Runtime, s string) bool { return dollars(field(r), s) },
		text:  text,
		shown: func(r Runtime) string {
			if s := text(r); s != "off" {
				return words.Dollars(*field(&r))
			}
			return "off"
		},
		encode: pycompat.Quote,
	}
}

func memoryKey(name string, field func(*Runtime) *int64) key {
	return key{
		name: name, label: name, must: mustMemory, offers: []string{"4GB", "512MB"},
		parse:  func(r *Runtime, s string) bool { return memory(field(r), s) },
		text:   func(r Runtime) string { return size(*field(&r)) },
		encode: pycompat.Quote,
	}
}

func sandboxKey(name string, off func(*Runtime) *bool) key {
	choices := []string{"auto", "off"}
	return key{
		name: name, label: name, must: fmt.Sprintf(mustOneOf, strings.Join(choices, ", ")), offers: choices,
		parse: func(r *Runtime, s string) bool {
			choice := ""
			ok := oneOf(&choice, strings.ToLower(s), choices...)
			if ok {
				*off(r) = choice == "off"
			}
			return ok
		},
		text: func(r Runtime) string {
			if *off(&r) {
				return "off"
			}
			return "auto"
		},
		encode: pycompat.Quote,
	}
}

func pathsKey(name string, field func(*Runtime) *string) key {
	k := placeKey(name, field, paths)
	k.must, k.offers = mustPaths, []string{"~/notes", "~/site:rw", "none"}
	return k
}

func sourceKey(name string, field func(*Runtime) *string) key {
	k := placeKey(name, field, source)
	k.must, k.offers = mustSource, []string{"https://example.org/ollim-bot", "/srv/ollim-bot", "none"}
	return k
}

// placeKey is a text of the user's own, empty for none.
func placeKey(name string, field func(*Runtime) *string, parse func(to *string, s string) bool) key {
	return key{
		name: name, label: name, free: true,
		parse:  func(r *Runtime, s string) bool { return parse(field(r), s) },
		text:   func(r Runtime) string { return cmp.Or(*field(&r), "none") },
		encode: pycompat.Quote,
	}
}

func calendarsKey(name string, field func(*Runtime) *string) key {
	return key{
		name: name, label: name, must: mustCalendars, free: true, offers: []string{"primary", "id,id"},
		parse:  func(r *Runtime, s string) bool { return list(field(r), s) },
		text:   func(r Runtime) string { return *field(&r) },
		encode: pycompat.Quote,
	}
}

func wordKey(name string, field func(*Runtime) *string) key {
	return key{
		name: name, label: name, must: mustWord, free: true, offers: []string{"@default", "id"},
		parse:  func(r *Runtime, s string) bool { return word(field(r), s) },
		text:   func(r Runtime) string { return *field(&r) },
		encode: pycompat.Quote,
	}
}
