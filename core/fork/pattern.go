package fork

import (
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
)

// pattern is one entry of a tool list: "Read", "Bash(ollim-bot tasks *)",
// "Read(./**.md)", "mcp__docs__*".
type pattern struct {
	tool string
	arg  string
	// bare patterns have no argument and mean every call of the tool.
	bare bool
	// glob is the argument of a file tool; local means inside the data directory.
	glob  *regexp.Regexp
	local bool
}

func parsePattern(root, s string) pattern {
	s = strings.TrimSpace(s)
	name, arg, ok := strings.Cut(s, "(")
	if !ok || !strings.HasSuffix(arg, ")") {
		return pattern{tool: toolName(s), bare: true}
	}
	arg = strings.TrimSpace(strings.TrimSuffix(arg, ")"))
	p := pattern{tool: toolName(strings.TrimSpace(name)), arg: arg, bare: arg == "" || arg == "*"}
	if touchesFiles(p.tool) && !p.bare {
		switch {
		case strings.HasPrefix(arg, "//"):
			p.glob = globExpr(arg[1:])
		case strings.HasPrefix(arg, "~/"):
			p.glob = globExpr(filepath.ToSlash(absolute(root, arg)))
		default:
			p.glob, p.local = globExpr(strings.TrimPrefix(arg, "./")), true
		}
	}
	return p
}

func touchesFiles(tool string) bool {
	switch tool {
	case "Read", "Write", "Edit", "MultiEdit", "NotebookEdit", "Glob", "Grep":
		return true
	}
	return false
}

func (p pattern) names(tool string) bool {
	if p.tool == tool && tool != "" {
		return true
	}
	if !strings.HasPrefix(tool, "mcp__") || !strings.HasPrefix(p.tool, "mcp__") {
		return false
	}
	server := strings.TrimSuffix(p.tool, "__*") // a whole server: mcp__docs, mcp__docs__*
	return strings.Count(server, "__") == 1 && strings.HasPrefix(tool, server+"__")
}

// allows reports whether the pattern lets this call pass.
func (p pattern) allows(u use, root string) bool {
	if !p.names(u.tool) {
		return false
	}
	if p.bare {
		return true
	}
	switch {
	case u.tool == "Bash":
		return simple(u.arg) && commandMatches(p.arg, strings.TrimSpace(u.arg))
	case p.glob != nil:
		return p.pathMatches(u.path, root)
	case u.tool == "WebFetch":
		return domainMatches(p.arg, u.arg)
	}
	return commandMatches(p.arg, strings.TrimSpace(u.arg))
}

// forbids is wider than allows: each part of a chained command counts.
func (p pattern) forbids(u use, root string) bool {
	if u.tool != "Bash" || p.bare {
		return p.allows(u, root)
	}
	if !p.names(u.tool) {
		return false
	}
	parts := strings.FieldsFunc(u.arg, func(c rune) bool { return strings.ContainsRune(";&|\n\r`()", c) })
	for _, part := range parts {
		if commandMatches(p.arg, strings.TrimSpace(part)) {
			return true
		}
	}
	return false
}

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

// simple reports whether a command line is one command: no chaining, no
// substitution and no redirection outside of quotes, whatever a prefix allows.
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
		case c == '`', c == '$' && i+1 < len(command) && command[i+1] == '(':
			return false
		case quote == '"':
			if c == '"' {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case strings.IndexByte(";&|<>\n\r()", c) >= 0:
			return false
		}
	}
	return quote == 0
}

// pathMatches compares a path with the glob. A relative glob means files
// inside the data directory, also where symbolic links lead; "//x" and "~/x"
// are absolute ones.
func (p pattern) pathMatches(path, root string) bool {
	if path == "" {
		return false
	}
	full := absolute(root, path)
	if !p.local {
		return p.glob.MatchString(filepath.ToSlash(full))
	}
	if !inside(full, root) {
		return false
	}
	realRoot, ok := resolve(root)
	if !ok {
		return false
	}
	if target, ok := resolve(full); !ok || !inside(target, realRoot) {
		return false
	}
	rel, err := filepath.Rel(root, full)
	return err == nil && p.glob.MatchString(filepath.ToSlash(rel))
}

func domainMatches(pattern, address string) bool {
	domain, ok := strings.CutPrefix(pattern, "domain:")
	if !ok {
		return commandMatches(pattern, address)
	}
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	domain = strings.ToLower(domain)
	return host == domain || strings.HasSuffix(host, "."+domain)
}

// globExpr writes a glob as an expression: "**/" is any number of folders,
// "**" anything, "*" and "?" stay within one name (spec 06.5).
func globExpr(glob string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`\A`)
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

// wildcard is a pattern whose stars stand for anything.
func wildcard(pattern string) *regexp.Regexp {
	parts := strings.Split(pattern, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile(`\A(?s:` + strings.Join(parts, ".*") + `)\z`)
}
