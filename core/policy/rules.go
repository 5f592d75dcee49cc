package policy

import (
	"fmt"
	"strings"

	"ollimbot/core/agent"
	"ollimbot/core/clean"
	"ollimbot/routines"
)

// Rules are tool patterns: what a session may use, and what is taken from it.
type Rules struct{ Allowed, Disallowed []string }

// Set is Rules made ready for matching. It is safe for concurrent use.
type Set struct {
	tree                tree
	allowed, disallowed []pattern
}

// Compile makes rules ready; file patterns count from root, the data directory.
// It costs a few microseconds for each pattern.
func Compile(root string, r Rules) *Set {
	s := &Set{tree: tree{root}}
	for _, p := range r.Allowed {
		s.allowed = append(s.allowed, parsePattern(s.tree, p))
	}
	for _, p := range r.Disallowed {
		s.disallowed = append(s.disallowed, parsePattern(s.tree, p))
	}
	return s
}

// Allows reports whether a pattern lets the call pass and none forbids it. It
// does not know the closed places: Session does.
func (s *Set) Allows(u agent.ToolUse) bool {
	x := s.tree.use(u)
	return !s.forbids(x) && s.allows(x)
}

// Forbids reports whether a pattern of Disallowed takes the call away.
func (s *Set) Forbids(u agent.ToolUse) bool { return s.forbids(s.tree.use(u)) }

func (s *Set) allows(x use) bool {
	for _, p := range s.allowed {
		if p.allows(x, s.tree) {
			return true
		}
	}
	return false
}

func (s *Set) forbids(x use) bool {
	for _, p := range s.disallowed {
		if p.forbids(x, s.tree) {
			return true
		}
	}
	return false
}

// wouldPass says which calls of the same tool the patterns let pass, or "".
func (s *Set) wouldPass(x use) string {
	var list []string
	for _, p := range s.allowed {
		if p.names(x.tool) && !p.bare {
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

// maxWouldPass is how much of a list a refusal names, in characters.
const maxWouldPass = 400

// Finding is what is wrong with a tool pattern.
type Finding struct {
	Source   string // who declares it: "main", "routine:1a2b3c4d", "skill:triage"
	Pattern  string // cleaned
	Severity routines.Severity
	Message  string // one line, says the cure
}

// Check judges the patterns of one source and returns all findings
// in the patterns' order.
func Check(source string, patterns []string) []Finding {
	var out []Finding
	for _, p := range patterns {
		if severity, message := routines.CheckTool(p); severity != "" {
			out = append(out, Finding{
				Source: clean.Line(source), Pattern: clean.Cut(clean.Line(p), 100), Severity: severity, Message: message,
			})
		}
	}
	return out
}

// Strip leaves out the patterns that no list may have: those that Check calls
// errors, such as Bash(*) or a write that could reach state/.
func Strip(patterns []string) []string {
	out := make([]string, 0, len(patterns))
	for _, p := range patterns {
		if severity, _ := routines.CheckTool(p); severity != routines.Error {
			out = append(out, p)
		}
	}
	return out
}

// Merge joins lists, each pattern once, in the order in which it is first seen. Empty patterns are left out.
func Merge(lists ...[]string) []string {
	n := 0
	for _, list := range lists {
		n += len(list)
	}
	out, seen := make([]string, 0, n), make(map[string]bool, n)
	for _, list := range lists {
		for _, p := range list {
			if p = strings.TrimSpace(p); p != "" && !seen[p] {
				seen[p] = true
				out = append(out, p)
			}
		}
	}
	return out
}
