package policy

import (
	"regexp"
	"slices"
	"strings"
)

// commandMatches compares word by word: "a b *" is the command "a b" with any
// further words, "a:*" the same in an older spelling, anything else is exact.
func commandMatches(pattern, command string) bool {
	prefix, open := strings.CutSuffix(pattern, ":*")
	if !open {
		prefix, open = strings.CutSuffix(pattern, " *")
	}
	if !open && !strings.ContainsAny(pattern, "*") {
		return command == pattern
	}
	if open && !strings.Contains(prefix, "*") {
		return command == prefix || strings.HasPrefix(command, prefix+" ")
	}
	return wildcard(pattern).MatchString(command)
}

// simple reports whether a command line is one command, whatever a prefix
// allows: outside of single quotes no chaining, no substitution, no
// redirection, no variable that may hold a secret, and nothing that can run a
// command or shift the quotes unseen: ${…@P}, $'…', or a comment, whose quotes do
// not count.
func simple(command string) bool {
	var quote byte
	for i := 0; i < len(command); i++ {
		c := command[i]
		switch {
		case quote == '\'':
			if c == '\'' {
				quote = 0
			}
		case c == '\\' && i+1 < len(command) && command[i+1] != '\n':
			i++
		case c == '`', c == '$' && i+1 < len(command) && (opensExpansion(command[i+1], quote) || namesSecret(command[i+1:])):
			return false
		case quote == '"':
			if c == '"' {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case strings.IndexByte(";&|<>\n\r()", c) >= 0, c == '#' && (i == 0 || !inWord(command[i-1])):
			return false
		}
	}
	return quote == 0
}

// opensExpansion judges the byte behind a dollar sign.
func opensExpansion(c, quote byte) bool {
	return c == '(' || c == '{' || c == '[' || quote == 0 && (c == '\'' || c == '"')
}

// plainVariables are those of the environment that hold no secret. Of the others
// some do, and a command that prints its arguments would print them.
var plainVariables = []string{"HOME", "PWD", "USER", "LANG", "TZ", "TMPDIR", "PATH", "OLLIM_DATA_DIR"}

// namesSecret judges what stands behind a dollar sign: the name of a variable that
// may hold a key or a token.
func namesSecret(rest string) bool {
	n := 0
	for n < len(rest) && (rest[n] == '_' || inWord(rest[n])) {
		n++
	}
	return n > 0 && (rest[0] < '0' || rest[0] > '9') && !slices.Contains(plainVariables, rest[:n])
}

// inWord reports whether a number sign behind this byte begins no comment.
func inWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// wildcard is a pattern whose stars stand for anything.
func wildcard(pattern string) *regexp.Regexp {
	parts := strings.Split(pattern, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile(`\A(?s:` + strings.Join(parts, ".*") + `)\z`)
}
