package policy

import (
	"path/filepath"
	"slices"
	"strings"

	"ollimbot/core/agent"
)

// The files of the data directory that are the user's alone. What stands in
// secret may not be read by the agent: a token that was read is in the
// conversation for good. What stands in settings configures the program that
// the agent runs in: hooks, permissions and servers of its own making would
// reach past everything that is decided here.
var (
	secretFiles   = []string{".env"}
	settingsFiles = []string{".env", ".mcp.json", ".claude/settings.json", ".claude/settings.local.json"}
)

// ownFiles refuses calls that touch the user's own files; ok means that the
// call is none of its business. A search through a whole folder skips hidden
// files and is not meant.
func (g *Guard) ownFiles(u agent.ToolUse) (d agent.Decision, ok bool) {
	x := readUse(u)
	switch {
	case x.path == "" || !touchesFiles(x.tool):
		return agent.Decision{}, true
	case writes(x.tool) && g.tree.isOne(x.path, settingsFiles):
		return agent.Decision{Reason: answerSettings}, false
	case g.tree.isOne(x.path, secretFiles):
		return agent.Decision{Reason: answerSecret}, false
	}
	return agent.Decision{}, true
}

// isOne reports whether a path is one of the named files of the data directory,
// as it is written or where its links lead, whatever the case of its letters. A
// name with wildcards counts when it could match.
func (t tree) isOne(path string, names []string) bool {
	all := []string{t.absolute(path)}
	if places, ok := t.places(path); ok {
		all = append(all, places...)
	}
	for _, place := range all {
		rel, inside := t.within(place)
		if !inside {
			continue
		}
		rel = strings.ToLower(rel)
		if slices.ContainsFunc(names, func(name string) bool {
			hit, err := filepath.Match(rel, name)
			return rel == name || err == nil && hit && strings.ContainsAny(rel, ".")
		}) {
			return true
		}
	}
	return false
}
