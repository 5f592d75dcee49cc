package routines

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// fileNames are the user's files that are not one of many.
var fileNames = map[string]string{
	".env": "the bot's environment", ".mcp.json": "the list of MCP servers", "config.json": "the settings", "settings.json": "the settings",
	"dashboard.yaml": "the settings of the dashboard", "keys.yaml": "the list of keys", "prices.yaml": "the price list",
	"providers.yaml": "the list of model servers", "tool-policy.yaml": "the tool rules",
}

// fileKinds are those with a file for each thing, by their folder.
var fileKinds = map[string]string{
	RoutineFolder: "the routine", ReminderFolder: "the reminder", "webhooks": "the webhook", "skills": "the skill", ".claude/agents": "the subagent",
}

// Named returns what a file is to its user, such as: the routine "tea".
func Named(file string) string {
	folder, name := path.Split(strings.TrimSuffix(filepath.ToSlash(file), "/SKILL.md"))
	if kind := fileKinds[path.Clean(folder)]; kind != "" {
		return fmt.Sprintf("%s %q", kind, strings.TrimSuffix(name, ".md"))
	}
	return cmp.Or(fileNames[name], name)
}

// Place returns where the problem is, as Named: the routine "tea", line 3.
func (p Problem) Place() string {
	if p.Line > 0 {
		return fmt.Sprintf("%s, line %d", Named(p.File), p.Line)
	}
	return Named(p.File)
}
