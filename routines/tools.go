package routines

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// called matches a pattern that limits a tool's arguments. It is compiled on first use.
var called = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\w+)\((.*)\)$`) })

// CheckTool judges one pattern of a tool list: an error if it would give the agent
// everything, a warning if it is too broad, and an empty message if it is fine.
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

// stateFiles are sample paths for testing whether a pattern reaches state/: made-up names
// and the real ones.
var stateFiles = []string{
	"state/x", "state/x.json", "state/x.jsonl", "state/sub/x",
	"state/bot.pid", "state/config.json", "state/credentials.json", "state/due_times.jsonl", "state/fork_messages.json",
	"state/fork_runs.jsonl", "state/holds.json", "state/inquiries.json", "state/mute.json", "state/pending_updates.json", "state/ping_budget.json",
	"state/pings.jsonl", "state/schedule.json", "state/session_history.jsonl", "state/sessions.json", "state/settings.json",
	"state/token.json",
}

// reachesState reports whether a file pattern could match a file in state/, relative to
// the data directory, the home directory or the root.
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

// Glob compiles a file pattern: "**/" matches any number of folders, "**" anything, and
// "*" and "?" stay within one name.
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
