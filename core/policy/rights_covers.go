package policy

import "strings"

// Covers reports whether a pattern allows nothing that the list does not allow:
// one of the list is the same, is of the whole tool, or is provably wider. What
// cannot be proved is not covered.
func Covers(list []string, pattern string) bool {
	narrow := parsePattern(tree{"/"}, pattern)
	for _, p := range list {
		if strings.TrimSpace(p) == strings.TrimSpace(pattern) || parsePattern(tree{"/"}, p).covers(narrow) {
			return true
		}
	}
	return false
}

func (p pattern) covers(n pattern) bool {
	switch {
	case !p.names(n.tool):
		return false
	case p.bare:
		return true
	case n.bare:
		return false
	case p.globs != nil:
		return p.local == n.local && globCovers(globText(p.arg), globText(n.arg))
	case n.tool == "WebFetch" && strings.HasPrefix(p.arg, "domain:"):
		domain, ok := strings.CutPrefix(n.arg, "domain:")
		return ok && !strings.ContainsAny(domain, "*/") && domainMatches(p.arg, "https://"+domain)
	}
	return commandCovers(p.arg, n.arg)
}

// globText is a glob as the matching takes it.
func globText(arg string) string { return strings.TrimPrefix(arg, "./") }

// globCovers proves that every path of the narrow glob is one of the wide: either
// the narrow one is a single path, or the wide one is "**" between two fixed
// texts that the narrow one begins and ends with.
func globCovers(wide, narrow string) bool {
	if wide == narrow {
		return true
	}
	if !strings.ContainsAny(narrow, "*?") {
		return globExpr(wide).MatchString(narrow)
	}
	before, after, ok := strings.Cut(wide, "**")
	if !ok || strings.ContainsAny(before+after, "*?") || strings.HasPrefix(after, "/") {
		return false
	}
	first, last := strings.IndexAny(narrow, "*?"), strings.LastIndexAny(narrow, "*?")
	return strings.HasPrefix(narrow[:first], before) && strings.HasSuffix(narrow[last+1:], after)
}

// commandCovers is globCovers for commands: a wide pattern is words with anything
// behind them.
func commandCovers(wide, narrow string) bool {
	if wide == narrow {
		return true
	}
	words, open := openCommand(wide)
	if !open || strings.Contains(words, "*") {
		return false
	}
	for _, tail := range []string{"", ":*", " *"} {
		if narrow == words+tail {
			return true
		}
	}
	fixed, _, _ := strings.Cut(narrow, "*")
	return strings.HasPrefix(fixed, words+" ")
}
