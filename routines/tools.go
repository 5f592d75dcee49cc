package routines

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// called is a pattern that limits what a tool may be called with: compiled when a
// file first has one.
var called = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\w+)\((.*)\)$`) })

// CheckTool judges one pattern of a tool list: an error for what
// would hand the agent everything, a warning for what is broad, and "" with an
// empty message for a fine one.
func CheckTool(pattern string) (Severity, string) {
	pattern = strings.TrimSpace(pattern)
	if pattern == "" {
		return Error, msgEmptyPattern
	}
	m := called().FindStringSubmatch(pattern)
	if m == nil {
		if strings.ContainsAny(pattern, "()") {
			return Warning, fmt.Sprintf(msgBrokenPattern, show(pattern))
		}
		return "", ""
	}
	name, args := m[1], strings.TrimSpace(m[2])
	switch {
	case name == "Bash" && strings.Trim(args, "*: ") == "":
		return Error, fmt.Sprintf(msgTooBroad, show(pattern))
	case name == "Bash" && strings.ContainsAny(args, ";&|"):
		return Error, fmt.Sprintf(msgChaining, show(pattern))
	case (name == "Write" || name == "Edit") && reachesState(args):
		return Error, fmt.Sprintf(msgWritesState, show(pattern))
	case name != "Bash" && args == "*":
		return Warning, fmt.Sprintf(msgOverlyBroad, show(pattern), name)
	}
	return "", ""
}

// Files that stand for everything a pattern could reach in state/: of any name,
// and those that it really holds.
var stateFiles = []string{
	"state/x", "state/x.json", "state/x.jsonl", "state/sub/x",
	"state/bot.pid", "state/config.json", "state/credentials.json", "state/due_times.jsonl", "state/fork_messages.json",
	"state/fork_runs.jsonl", "state/holds.json", "state/inquiries.json", "state/mute.json", "state/pending_updates.json", "state/ping_budget.json",
	"state/pings.jsonl", "state/schedule.json", "state/session_history.jsonl", "state/sessions.json", "state/settings.json",
	"state/token.json",
}

// reachesState reports whether a file pattern could match something in state/,
// seen from the data directory, from the home directory or from the root.
func reachesState(pattern string) bool {
	if _, inside, ok := strings.Cut(pattern, ".ollim-bot/"); ok {
		pattern = inside
	}
	prefix := ""
	switch {
	case strings.HasPrefix(pattern, "~/"):
		prefix = "~/.ollim-bot/"
	case strings.HasPrefix(pattern, "/"):
		pattern = "/" + strings.TrimLeft(pattern, "/")
		prefix = "/home/user/.ollim-bot/"
	default:
		pattern = path.Clean(pattern) // ./ and ../ lead to the same files
		if pattern == "state" || strings.HasPrefix(pattern, "state/") {
			return true
		}
	}
	glob := Glob(pattern)
	return slices.ContainsFunc(stateFiles, func(file string) bool { return glob.MatchString(prefix + file) })
}

// Glob writes a file pattern as an expression: "**/" is any number of folders,
// "**" anything, "*" and "?" stay within one name.
func Glob(glob string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`\A`)
	glob = string([]rune(glob)) // a byte that is not UTF-8 becomes U+FFFD: expressions read names that way
	for i := 0; i < len(glob); {
		switch {
		case strings.HasPrefix(glob[i:], "**/"):
			b.WriteString(`(?:[^/]*/)*`)
			i += 3
		case strings.HasPrefix(glob[i:], "**"):
			b.WriteString(`(?s:.*)`)
			i += 2
		case glob[i] == '*':
			b.WriteString(`[^/]*`)
			i++
		case glob[i] == '?':
			b.WriteString(`[^/]`)
			i++
		default:
			n := strings.IndexAny(glob[i:], "*?")
			if n < 0 {
				n = len(glob) - i
			}
			b.WriteString(regexp.QuoteMeta(glob[i : i+n]))
			i += n
		}
	}
	b.WriteString(`\z`)
	return regexp.MustCompile(b.String()) // every part is quoted or ours
}
