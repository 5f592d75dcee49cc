package routines

import (
	"path"
	"regexp"
	"strings"
)

// called is a pattern that limits what a tool may be called with.
var called = regexp.MustCompile(`^(\w+)\((.*)\)$`)

// CheckTool judges one pattern of a tool list: an error for what
// would hand the agent everything, a warning for what is broad, and "" with an
// empty message for a fine one.
func CheckTool(pattern string) (Severity, string) {
	pattern = strings.TrimSpace(pattern)
	if pattern == "" {
		return Error, emptyPattern()
	}
	m := called.FindStringSubmatch(pattern)
	if m == nil {
		if strings.ContainsAny(pattern, "()") {
			return Warning, brokenPattern(pattern)
		}
		return "", ""
	}
	name, args := m[1], strings.TrimSpace(m[2])
	switch {
	case name == "Bash" && strings.Trim(args, "*: ") == "":
		return Error, tooBroad(pattern)
	case name == "Bash" && strings.ContainsAny(args, ";&|"):
		return Error, chaining(pattern)
	case (name == "Write" || name == "Edit") && reachesState(args):
		return Error, writesState(pattern)
	case name != "Bash" && args == "*":
		return Warning, overlyBroad(pattern, name)
	}
	return "", ""
}

// Files that stand for everything a pattern could reach in state/: of any name,
// and those that it really holds.
var stateFiles = []string{
	"state/x", "state/x.json", "state/x.jsonl", "state/sub/x",
	"state/bot.pid", "state/config.json", "state/credentials.json", "state/fork_messages.json",
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
	tokens := globTokens(pattern)
	for _, file := range stateFiles {
		if globMatches(tokens, prefix+file) {
			return true
		}
	}
	return false
}

// globToken is a literal byte, or one of the wildcards below.
type globToken int

const (
	anyDirs    globToken = 256 + iota // **/ zero or more directories
	anything                          // **
	anySegment                        // * within one segment
	anyByte                           // ? one character of a segment
)

func globTokens(pattern string) []globToken {
	var out []globToken
	for i := 0; i < len(pattern); i++ {
		switch {
		case strings.HasPrefix(pattern[i:], "**/"):
			out = append(out, anyDirs)
			i += 2
		case strings.HasPrefix(pattern[i:], "**"):
			out = append(out, anything)
			i++
		case pattern[i] == '*':
			out = append(out, anySegment)
		case pattern[i] == '?':
			out = append(out, anyByte)
		default:
			out = append(out, globToken(pattern[i]))
		}
	}
	return out
}

// globMatches walks the pattern once and keeps every place in the text that the
// tokens so far can have reached, so that no pattern takes more than its length
// times the text's.
func globMatches(tokens []globToken, text string) bool {
	at := make([]bool, len(text)+1)
	at[0] = true
	for _, token := range tokens {
		next := make([]bool, len(text)+1)
		spread := false // a wildcard began earlier and still holds
		for i := range at {
			switch token {
			case anything:
				spread = spread || at[i]
				next[i] = spread
			case anyDirs:
				next[i] = at[i] || spread && i > 0 && text[i-1] == '/'
				spread = spread || at[i]
			case anySegment:
				spread = at[i] || spread && text[i-1] != '/'
				next[i] = spread
			case anyByte:
				next[i] = i > 0 && at[i-1] && text[i-1] != '/'
			default:
				next[i] = i > 0 && at[i-1] && text[i-1] == byte(token)
			}
		}
		at = next
	}
	return at[len(text)]
}
