package policy

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/safety/closed"
	"ollimbot/core/storage/store"
	"ollimbot/routines"
)

// pattern is one entry of a tool list: "Read", "Bash(ollim-bot tasks *)",
// "Read(./**.md)", "mcp__docs__*".
type pattern struct {
	tool string
	arg  string
	// bare patterns have no argument and match every call of the tool.
	bare bool
	// globs are the argument of a file tool, in each of its spellings; local means inside the data
	// directory.
	globs []*regexp.Regexp
	local bool
}

func parsePattern(t tree, s string) pattern {
	s = strings.TrimSpace(s)
	name, arg, ok := strings.Cut(s, "(")
	if !ok || !strings.HasSuffix(arg, ")") {
		return pattern{tool: toolName(s), bare: true}
	}
	arg = strings.TrimSpace(strings.TrimSuffix(arg, ")"))
	p := pattern{tool: toolName(strings.TrimSpace(name)), arg: arg, bare: arg == "" || arg == "*"}
	if !touchesFiles(p.tool) || p.bare {
		return p
	}
	switch {
	case strings.HasPrefix(arg, "//"):
		p.globs = absoluteGlobs(arg[1:])
	case strings.HasPrefix(arg, "~/"):
		p.globs = absoluteGlobs(filepath.ToSlash(t.absolute(arg)))
	default:
		p.globs, p.local = []*regexp.Regexp{routines.Glob(strings.TrimPrefix(arg, "./"))}, true
	}
	return p
}

// absoluteGlobs returns the expressions for a glob as it is written, and with the links of its
// fixed folders followed. A path is also matched in both of its spellings.
func absoluteGlobs(glob string) []*regexp.Regexp {
	out := []*regexp.Regexp{routines.Glob(glob)}
	fixed := glob
	if i := strings.IndexAny(fixed, "*?"); i >= 0 {
		fixed = fixed[:i]
	}
	folder := fixed[:strings.LastIndexByte(fixed, '/')+1]
	target, ok := store.Follow(filepath.FromSlash(folder))
	if target = strings.TrimSuffix(filepath.ToSlash(target), "/") + "/"; ok && target != folder {
		out = append(out, routines.Glob(target+glob[len(folder):]))
	}
	return out
}

// names reports whether the pattern is for that tool, or for its whole server.
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

// allows reports whether the pattern allows this call.
func (p pattern) allows(u call, t tree) bool {
	if !p.names(u.tool) {
		return false
	}
	if p.bare {
		return true
	}
	switch {
	case u.tool == "Bash":
		return simple(u.arg) && commandMatches(p.arg, strings.Trim(u.arg, blanks))
	case p.globs != nil:
		return u.path != "" && p.reaches(u.path, t, true)
	}
	return p.matchesText(u)
}

// forbids is wider than allows: each part of a chained command counts, and each of the places that
// a file's path may mean.
func (p pattern) forbids(u call, t tree) bool {
	if !p.names(u.tool) {
		return false
	}
	switch {
	case p.bare:
		return true
	case u.tool == "Bash":
		return slices.ContainsFunc(commandsIn(u.arg), func(c string) bool { return commandMatches(p.arg, strings.TrimSpace(c)) })
	case p.globs != nil:
		return u.path == "" || p.reaches(u.path, t, false)
	}
	return p.matchesText(u)
}

func (p pattern) matchesText(u call) bool {
	if u.tool == "WebFetch" {
		return domainMatches(p.arg, u.arg)
	}
	return commandMatches(p.arg, strings.TrimSpace(u.arg))
}

// reaches matches a path, as it is written and where its links lead, against the pattern. Every
// spelling must match, or any of them.
func (p pattern) reaches(path string, t tree, every bool) bool {
	places, ok := t.places(path)
	if !ok {
		return !every
	}
	for _, full := range append(places, t.absolute(path)) {
		if p.matchesFile(full, t) != every {
			return !every
		}
	}
	return every
}

func (p pattern) matchesFile(full string, t tree) bool {
	name := filepath.ToSlash(full)
	if p.local {
		rel, ok := t.within(full)
		if !ok {
			return false
		}
		name = rel
	}
	return slices.ContainsFunc(p.globs, func(g *regexp.Regexp) bool { return g.MatchString(name) })
}

func domainMatches(pattern, address string) bool {
	domain, ok := strings.CutPrefix(pattern, "domain:")
	if !ok {
		return commandMatches(pattern, address)
	}
	u, err := url.Parse(address)
	if err != nil || domain == "" {
		return false
	}
	host := strings.ToLower(u.Hostname())
	domain = strings.ToLower(domain)
	return host == domain || strings.HasSuffix(host, "."+domain)
}

// Rules are tool patterns: those that a session may use, and those that are taken from it.
type Rules struct{ Allowed, Disallowed []string }

// Set is a compiled form of Rules. It is safe for concurrent use.
type Set struct {
	tree                tree
	allowed, disallowed []pattern
}

// Compile compiles rules. File patterns are relative to root, the data directory. It takes a few
// microseconds per pattern.
func Compile(root string, r Rules) *Set {
	t := tree{root}
	parse := func(list []string) []pattern {
		out := make([]pattern, len(list))
		for i, p := range list {
			out[i] = parsePattern(t, p)
		}
		return out
	}
	return &Set{t, parse(r.Allowed), parse(r.Disallowed)}
}

// Allows reports whether a pattern allows the call and none forbids it. It does not check the
// closed places; Session does.
func (s *Set) Allows(u agent.ToolUse) bool {
	x := s.tree.call(u)
	return !s.forbids(x) && s.allows(x)
}

// Forbids reports whether a pattern of Disallowed matches the call.
func (s *Set) Forbids(u agent.ToolUse) bool { return s.forbids(s.tree.call(u)) }

func (s *Set) allows(x call) bool {
	return slices.ContainsFunc(s.allowed, func(p pattern) bool { return p.allows(x, s.tree) })
}

func (s *Set) forbids(x call) bool {
	return slices.ContainsFunc(s.disallowed, func(p pattern) bool { return p.forbids(x, s.tree) })
}

// Names reports whether a pattern allows at least some calls of the tool.
func (s *Set) Names(tool string) bool {
	return slices.ContainsFunc(s.allowed, func(p pattern) bool { return p.names(toolName(tool)) })
}

// WouldPass returns a sentence about the calls of the same tool that the patterns allow, or "".
func (s *Set) WouldPass(u agent.ToolUse) string {
	return s.wouldPass(s.tree.call(u), func(pattern) bool { return true })
}

// wouldPass lists the calls of the same tool that the patterns allow, as far as told accepts them,
// or "".
func (s *Set) wouldPass(x call, told func(pattern) bool) string {
	var list []string
	for _, p := range s.allowed {
		if p.names(x.tool) && !p.bare && told(p) {
			list = append(list, clean.Line(p.arg))
		}
	}
	if len(list) == 0 {
		return ""
	}
	says := fmt.Sprintf(answerWouldPass, clean.Cut(strings.Join(list, ", "), maxWouldPass))
	if x.tool == "Grep" || x.tool == "Glob" {
		says += answerGlob
	}
	return says
}

// Told returns the patterns to show to a model in that kind of session, in its prompt and in
// refusals. Without Google its commands do not exist. In a conversation, mail is only for the
// gmail-reader, which is the reason the list allows it.
func Told(patterns []string, kind Kind, google bool) []string {
	return slices.DeleteFunc(slices.Clone(patterns), func(s string) bool { return !parsePattern(tree{"/"}, s).told(kind, google) })
}

func (p pattern) told(kind Kind, google bool) bool {
	switch p.google() {
	case "":
		return true
	case "gmail":
		return google && kind == Background
	}
	return google
}

// google returns the Google command that a pattern allows: "tasks", "cal" or "gmail"; "" for any
// other pattern.
func (p pattern) google() string {
	words := strings.FieldsFunc(p.arg, func(r rune) bool { return r == ' ' || r == ':' })
	if p.tool == "Bash" && len(words) > 1 && words[0] == ownProgram && slices.Contains([]string{"tasks", "cal", "gmail"}, words[1]) {
		return words[1]
	}
	return ""
}

// NeedsGoogle returns the Google command without which a pattern allows nothing: "tasks", "cal" or
// "gmail"; "" for any other pattern.
func NeedsGoogle(s string) string {
	p := parsePattern(tree{"/"}, s)
	if p.tool == toolName("Agent") && p.arg == "gmail-reader" {
		return "gmail"
	}
	return p.google()
}

// maxWouldPass is how much of a list a refusal shows, in characters.
const maxWouldPass = 400

// covers reports whether a pattern allows nothing beyond the list: a pattern in the list is the
// same, matches the whole tool, or is provably wider. A pattern without proof is not covered.
func covers(list []string, pattern string) bool {
	narrow := parsePattern(tree{"/"}, pattern)
	return slices.ContainsFunc(list, func(p string) bool {
		return strings.TrimSpace(p) == strings.TrimSpace(pattern) || parsePattern(tree{"/"}, p).covers(narrow)
	})
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

// globText returns a glob in the form used for matching.
func globText(arg string) string { return strings.TrimPrefix(arg, "./") }

// globCovers proves that every path matched by the narrow glob is matched by the wide one: either
// the narrow one is a single path, or the wide one is "**" between two fixed texts with which the
// narrow one begins and ends.
func globCovers(wide, narrow string) bool {
	if wide == narrow {
		return true
	}
	if !strings.ContainsAny(narrow, "*?") {
		return routines.Glob(wide).MatchString(narrow)
	}
	before, after, ok := strings.Cut(wide, "**")
	if !ok || strings.ContainsAny(before+after, "*?") || strings.HasPrefix(after, "/") {
		return false
	}
	first, last := strings.IndexAny(narrow, "*?"), strings.LastIndexAny(narrow, "*?")
	return strings.HasPrefix(narrow[:first], before) && strings.HasSuffix(narrow[last+1:], after)
}

// commandCovers is globCovers for commands: a wide pattern is a fixed command followed by any
// arguments.
func commandCovers(wide, narrow string) bool {
	if wide == narrow {
		return true
	}
	words, open := openCommand(wide)
	if !open || strings.Contains(words, "*") {
		return false
	}
	if slices.Contains([]string{words, words + ":*", words + " *"}, narrow) {
		return true
	}
	fixed, _, _ := strings.Cut(narrow, "*")
	return strings.HasPrefix(fixed, words+" ")
}

// MayRun reports whether the patterns allow the bot's own command with this name, with or without
// further arguments.
func (s *Set) MayRun(name []string) bool {
	for _, line := range [][]string{name, append(slices.Clone(name), "x")} {
		input, err := json.Marshal(map[string]string{"command": quoted(append([]string{ownProgram}, line...))})
		if err == nil && s.Allows(agent.ToolUse{Name: "Bash", Input: input}) {
			return true
		}
	}
	return false
}

// MainTools returns the patterns that the main session and interactive forks may use without
// asking. The bot's own tools decide for themselves what they do in which context. History is one
// of the bot's commands.
func MainTools() []string {
	return []string{
		"Bash(ollim-bot tasks *)", "Bash(ollim-bot cal *)", "Bash(ollim-bot reminder *)", "Bash(ollim-bot gmail *)",
		"Bash(ollim-bot help)", "Bash(ollim-bot history *)", "Bash(ollim-bot routine *)",
		"Bash(ls)", "Bash(ls *)", // names only: routines are found by listing their folder
		"Read(./**.md)", "Write(./**.md)", "Edit(./**.md)", "Glob(./**.md)", "Grep(./**.md)",
		// Files that the user sends, files of skills, and long results that the engine saved to
		// disk.
		"Read(./downloads/**)", "Read(./skills/**)", "Read(~/.claude/projects/*/*/tool-results/*)",
		"WebFetch", "WebSearch",
		toolset.Prefix + "discord_embed", toolset.Prefix + "ping_user", toolset.Prefix + "send_file",
		toolset.Prefix + "follow_up_chain", toolset.Prefix + "save_context", toolset.Prefix + "report_updates",
		toolset.Prefix + "enter_fork", toolset.Prefix + "exit_fork", toolset.Prefix + updateNames,
		toolset.Prefix + "add_reminder", toolset.Prefix + "list_reminders", toolset.Prefix + "cancel_reminder",
		toolset.Prefix + toolset.ProposeReminder,
		"mcp__docs__*", "Agent", "Skill",
	}
}

// BackgroundTools returns the patterns that every background run may use: help, the task list,
// reading the user's notes, reminders. The run itself adds the tools that reach the user or report.
func BackgroundTools() []string {
	return []string{
		"Bash(ollim-bot help)", "Bash(ollim-bot tasks *)",
		"Read(./**.md)", "Glob(./**.md)", "Grep(./**.md)",
		toolset.Prefix + "add_reminder", toolset.Prefix + "list_reminders", toolset.Prefix + "cancel_reminder",
	}
}

// updateNames is the only tool of the bot that a background run has only if a list names it.
const updateNames = "update_names"

// Strip removes the patterns that no list may contain: those that package routines reports as
// errors, such as Bash(*) or a write that could reach state/.
func Strip(patterns []string) []string {
	return slices.DeleteFunc(slices.Clone(patterns), func(p string) bool {
		severity, _ := routines.CheckTool(p)
		return severity == routines.Error
	})
}

// Merge joins lists. Each pattern appears once, in the order of its first occurrence. Empty
// patterns are left out.
func Merge(lists ...[]string) []string {
	out, seen := []string{}, map[string]bool{}
	for _, p := range slices.Concat(lists...) {
		if p = strings.TrimSpace(p); p != "" && !seen[p] {
			seen[p] = true
			out = append(out, p)
		}
	}
	return out
}

// opens reports whether a pattern of the list names the place before its first wildcard, and allows
// this call to read in it.
func (s *Set) opens(x call, c closed.Place) bool {
	return slices.ContainsFunc(s.allowed, func(p pattern) bool {
		return p.globs != nil && c.Holds(p.fixed(s.tree)) && p.allows(x, s.tree)
	})
}

// fixed returns the elements of a file pattern before its first wildcard.
func (p pattern) fixed(t tree) (names []string, within bool) {
	fixed := strings.TrimPrefix(p.arg, "/") // "//srv" is the path /srv
	if i := strings.IndexAny(fixed, "*?"); i >= 0 {
		fixed = fixed[:strings.LastIndexByte(fixed[:i], '/')+1]
	}
	return t.elements(t.absolute(fixed))
}
