package config

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/base/pycompat"
	"ollimbot/core/base/words"
	"ollimbot/routines/when"
)

// key is one setting: how it is parsed, encoded and shown. Its text is the form that Set
// accepts.
type key struct {
	name string // in the file and in messages
	// always marks the ten keys that the original program writes with every save.
	always bool
	// ours marks keys that only this program has.
	ours bool
	// unused marks keys that nothing reads yet: their values are preserved, but not offered.
	unused bool
	must   string            // the accepted values: "must be …"
	offers []string          // the same as short words
	free   bool              // the offers except the default are only examples
	legacy map[string]string // values of early files of the original, and their meaning
	parse  func(r *Runtime, text string) bool
	// why describes the error in a text that parse refuses. If it is nil or returns "", must is
	// used.
	why  func(text string) string
	text func(r Runtime) string
	// shown returns the value as shown to the user; nil means the text.
	shown func(r Runtime) string
	// long returns the value with its unit in full; nil means shown.
	long   func(r Runtime) string
	closed bool                     // only the offers are accepted
	encode func(text string) string // the text as JSON
}

// A year is longer than anyone needs, and fits into a time.Duration.
const (
	maxSeconds = 366 * 24 * 3600
	maxMinutes = 366 * 24 * 60
)

// keys are all settings: those of the original in its order, then those of this program.
var keys = slices.Concat(
	each(func(k *key) { k.always = true },
		modelKey("model_main", shownDefault, func(r *Runtime) *string { return &r.ModelMain }),
		modelKey("model_fork", shownInherit, func(r *Runtime) *string { return &r.ModelFork }),
		thinkingKey("thinking_main", func(r *Runtime) *string { return &r.ThinkingMain }),
		thinkingKey("thinking_fork", func(r *Runtime) *string { return &r.ThinkingFork }),
		spanKey("bg_fork_timeout", time.Second, func(r *Runtime) *time.Duration { return &r.BgForkTimeout }),
		spanKey("fork_idle_timeout", time.Minute, func(r *Runtime) *time.Duration { return &r.ForkIdleTimeout }),
		choiceKey("permission_mode", "", []string{"acceptEdits", "bypassPermissions", "default", "dontAsk"}, func(r *Runtime) *string { return &r.PermissionMode }),
		unused(switchKey("auto_update", func(r *Runtime) *bool { return &r.AutoUpdate })),
		unused(spanKey("auto_update_interval", time.Minute, func(r *Runtime) *time.Duration { return &r.AutoUpdateInterval })),
		unused(hourKey("auto_update_hour", func(r *Runtime) *int { return &r.AutoUpdateHour })),
	),
	each(func(*key) {},
		wordsKey("google_calendars", "", list, func(r *Runtime) *string { return &r.GoogleCalendars }).takes(mustCalendars, "primary", "id,id"),
		wordsKey("google_task_list", "", word, func(r *Runtime) *string { return &r.GoogleTaskList }).takes(mustWord, "@default", "id"),
	),
	each(func(k *key) { k.ours = true },
		choiceKey("engine", "auto", []string{"auto", "claude", "messages", "script"}, func(r *Runtime) *string { return &r.Engine }),
		free(wordsKey("fallback", "none", fallback, func(r *Runtime) *string { return &r.Fallback }).takes(mustFallback, "local/qwen3", "messages", "none")),
		wordsKey("voice_language", "auto", language, func(r *Runtime) *string { return &r.VoiceLanguage }).takes(mustLanguage, "de", "auto"),
		spanKey("voice_limit", time.Minute, func(r *Runtime) *time.Duration { return &r.VoiceLimit }),
		countKey("max_background_forks", bounds{1, 100}, func(r *Runtime) *int { return &r.MaxBackgroundForks }),
		free(textKey("quiet_hours", quiet, Quiet.text, func(r *Runtime) *Quiet { return &r.QuietHours }).takes(mustQuiet, "22:00-07:30", "off")),
		wordsKey(KeyZone, "machine", timezone, func(r *Runtime) *string { return &r.Timezone }).takes(mustZone, "Europe/Berlin", "tokyo", "machine"),
		clockKey("morning", func(r *Runtime) *int { return &r.Morning }),
		clockKey("noon", func(r *Runtime) *int { return &r.Noon }),
		clockKey("afternoon", func(r *Runtime) *int { return &r.Afternoon }),
		clockKey("evening", func(r *Runtime) *int { return &r.Evening }),
		clockKey("night", func(r *Runtime) *int { return &r.Night }),
		countKey("quiet_messages", bounds{0, 20}, func(r *Runtime) *int { return &r.QuietMessages }),
		dollarsKey("daily_cap", func(r *Runtime) *float64 { return &r.DailyCap }),
		dollarsKey("monthly_cap", func(r *Runtime) *float64 { return &r.MonthlyCap }),
		dollarsKey("turn_cap", func(r *Runtime) *float64 { return &r.TurnCap }),
		switchKey("status_line", func(r *Runtime) *bool { return &r.StatusLine }),
		countKey("claude_warm", bounds{0, 16}, func(r *Runtime) *int { return &r.ClaudeWarm }),
		memoryKey("claude_memory_limit", func(r *Runtime) *int64 { return &r.ClaudeMemoryLimit }),

		choiceKey("sandbox", "auto", []string{"auto", "off"}, func(r *Runtime) *string { return &r.Sandbox }),
		networkKey("sandbox_network", func(r *Runtime) *string { return &r.SandboxNetwork }),
		wordsKey("sandbox_visible", "none", paths, func(r *Runtime) *string { return &r.SandboxVisible }).takes(mustPaths, "~/notes", "~/site:rw", "none"),

		hostsKey("webhook_hosts", func(r *Runtime) *string { return &r.WebhookHosts }),
		switchKey("discord_budget", func(r *Runtime) *bool { return &r.DiscordBudget }),
		switchKey("promises", func(r *Runtime) *bool { return &r.Promises }),
		switchKey("learning", func(r *Runtime) *bool { return &r.Learning }),
	),
)

// removed are the settings of earlier versions that no longer exist, each with what replaces it. Files keep their values.
var removed = map[string]string{
	"update_source": "/update says how this installation gets a newer program",
}

// each applies mark to several keys.
func each(mark func(*key), list ...key) []key {
	for i := range list {
		mark(&list[i])
	}
	return list
}

func unused(k key) key {
	k.unused = true
	return k
}

func free(k key) key {
	k.free = true
	return k
}

// takes sets what a setting accepts: as a sentence and as short offers.
func (k key) takes(must string, offers ...string) key {
	k.must, k.offers = must, offers
	return k
}

// textKey returns a setting that parse reads and text formats.
func textKey[T any](name string, parse func(to *T, s string) bool, text func(T) string, field func(*Runtime) *T) key {
	return key{
		name:   name,
		parse:  func(r *Runtime, s string) bool { return parse(field(r), s) },
		text:   func(r Runtime) string { return text(*field(&r)) },
		encode: pycompat.Quote,
	}
}

// wordsKey returns a setting with free text. If it may be empty, none is the word for that.
func wordsKey(name, none string, parse func(to *string, s string) bool, field func(*Runtime) *string) key {
	k := textKey(name, func(to *string, s string) bool {
		if none != "" && (s == "" || strings.EqualFold(s, none)) {
			*to = ""
			return true
		}
		return parse(to, s)
	}, func(s string) string { return cmp.Or(s, none) }, field)
	k.free = true
	return k
}

// choiceKey returns a setting with one of several words. standard is the one stored as "". The
// original's permission modes have none, and are case-sensitive.
func choiceKey(name, standard string, choices []string, field func(*Runtime) *string) key {
	k := textKey(name, func(to *string, s string) bool {
		if standard != "" {
			s = strings.ToLower(s)
		}
		if !slices.Contains(choices, s) {
			return false
		}
		if *to = s; s == standard {
			*to = ""
		}
		return true
	}, func(s string) string { return cmp.Or(s, standard) }, field)
	k.closed = true
	return k.takes(fmt.Sprintf(mustOneOf, strings.Join(choices, ", ")), choices...)
}

func modelKey(name, none string, field func(*Runtime) *string) key {
	k := textKey(name, model, func(s string) string { return cmp.Or(s, "default") }, field).takes(mustModel, "opus", "sonnet", "haiku", "default")
	k.shown = func(r Runtime) string { return cmp.Or(*field(&r), none) }
	k.long = func(r Runtime) string {
		return cmp.Or(*field(&r), map[string]string{shownDefault: shownEngines, shownInherit: shownMain}[none])
	}
	k.encode = func(text string) string {
		if text == "default" {
			return "null"
		}
		return pycompat.Quote(text)
	}
	return k
}

func thinkingKey(name string, field func(*Runtime) *string) key {
	k := textKey(name, thinking, func(s string) string { return s }, field).takes(mustThinking, "off", "adaptive", "tokens")
	k.legacy = map[string]string{"true": "adaptive", "false": "off"}
	k.shown = func(r Runtime) string { return budget(*field(&r)) }
	k.long = func(r Runtime) string {
		if n, err := strconv.ParseUint(*field(&r), 10, 64); err == nil {
			return fmt.Sprintf(shownBudget, words.Thousands(n))
		}
		return *field(&r)
	}
	return k
}

// numberKey returns a setting with a whole number of units.
func numberKey[T ~int | ~int64](name string, unit T, b bounds, field func(*Runtime) *T) key {
	k := textKey(name, func(to *T, s string) bool {
		n, ok := whole(s, b)
		if ok {
			*to = T(n) * unit
		}
		return ok
	}, func(v T) string { return strconv.Itoa(int(v / unit)) }, field)
	k.encode = func(text string) string { return text }
	return k
}

// spanKey returns a setting with a duration in whole seconds or minutes.
func spanKey(name string, unit time.Duration, field func(*Runtime) *time.Duration) key {
	most, unitName := maxSeconds, "seconds"
	if unit == time.Minute {
		most, unitName = maxMinutes, "minutes"
	}
	k := numberKey(name, unit, bounds{1, most}, field).takes(fmt.Sprintf(mustSpan, unitName, most), unitName)
	text := k.text
	k.shown = func(r Runtime) string { return text(r) + unitName[:1] }
	k.long = func(r Runtime) string { return words.Long(*field(&r)) }
	return k
}

func countKey(name string, b bounds, field func(*Runtime) *int) key {
	k := numberKey(name, 1, b, field).takes(fmt.Sprintf(mustCount, b.low, b.high), fmt.Sprintf("%d-%d", b.low, b.high))
	if about, _ := About(name); about.Unit != "" {
		k.long = func(r Runtime) string { return words.Count(*field(&r), strings.TrimSuffix(about.Unit, "s")) }
	}
	return k
}

// clockKey returns a setting with a time of day, in minutes after midnight.
func clockKey(name string, field func(*Runtime) *int) key {
	about, _ := About(name)
	return free(textKey(name, func(to *int, s string) (ok bool) {
		minute, ok := when.Clock(s)
		if ok {
			*to = minute
		}
		return ok
	}, func(minute int) string { return fmt.Sprintf("%d:%02d", minute/60, minute%60) }, field).takes(mustClock, about.Example))
}

func hourKey(name string, field func(*Runtime) *int) key {
	k := countKey(name, bounds{0, 23}, field)
	k.shown = func(r Runtime) string { return strconv.Itoa(*field(&r)) + ":00" }
	return k
}

func switchKey(name string, field func(*Runtime) *bool) key {
	k := textKey(name, boolean, func(on bool) string {
		if on {
			return "on"
		}
		return "off"
	}, field).takes(mustSwitch, "on", "off")
	k.closed = true
	k.encode = func(text string) string { return strconv.FormatBool(text == "on") }
	return k
}

// hostsKey returns a setting with a list of hosts; any means all.
func hostsKey(name string, field func(*Runtime) *string) key {
	k := wordsKey(name, "any", hostList, field).takes(mustHosts, "hooks.example.org", "any")
	k.why = whyNoHosts
	return k
}

// networkKey returns a setting that is a switch or a list of hosts. A switch is stored in the same
// form as before.
func networkKey(name string, field func(*Runtime) *string) key {
	k := textKey(name, network, func(s string) string { return cmp.Or(s, "off") }, field).
		takes(mustNetwork, "on", "off", "host,host")
	k.why = whyNoHosts
	k.encode = func(text string) string {
		if text == "on" || text == "off" {
			return strconv.FormatBool(text == "on")
		}
		return pycompat.Quote(text)
	}
	return k
}

// memoryKey returns a setting with an amount of memory.
func memoryKey(name string, field func(*Runtime) *int64) key {
	k := free(textKey(name, memory, size, field).takes(mustMemory, "4GB", "512MB"))
	k.long = func(r Runtime) string {
		return strings.TrimRight(size(*field(&r)), "KMGB") + " " + strings.TrimLeft(size(*field(&r)), "0123456789")
	}
	return k
}

// wants returns the accepted values or, if the setting can tell, the error in a text.
func (k key) wants(text string) string {
	if k.why != nil {
		if why := k.why(text); why != "" {
			return why
		}
	}
	return k.must
}

// dollarsKey returns a setting with a cap on spending; off means no cap.
func dollarsKey(name string, field func(*Runtime) *float64) key {
	about, _ := About(name)
	k := free(textKey(name, dollars, func(v float64) string {
		if math.IsInf(v, 1) {
			return "off"
		}
		return strconv.FormatFloat(v, 'f', -1, 64)
	}, field).takes(mustDollars, about.Example, "off"))
	text := k.text
	k.shown = func(r Runtime) string {
		if text(r) == "off" {
			return "off"
		}
		return words.Dollars(*field(&r))
	}
	shown := k.shown
	k.long = func(r Runtime) string {
		if text(r) == "off" {
			return "off"
		}
		return shown(r) + strings.TrimPrefix(about.Unit, "dollars")
	}
	return k
}
