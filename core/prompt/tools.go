package prompt

import "strings"

// botTools begins the names of the bot's own tools on the wire.
const botTools = "mcp__discord__"

// DefaultTools are the patterns that every background run may use (decisions,
// B4): reading the user's notes, the task list, reminders. Tools that reach
// the user or report are opened by the run's own settings.
func DefaultTools() []string {
	return []string{
		"Read(./**.md)", "Glob(./**.md)", "Grep(./**.md)",
		"Bash(ollim-bot tasks *)",
		botTools + "add_reminder", botTools + "list_reminders", botTools + "cancel_reminder",
	}
}

// MergeTools joins the lists (decisions, B3), each pattern once, in the order
// in which it is first seen. Empty patterns are left out.
func MergeTools(base, declared, skills []string) []string {
	out := make([]string, 0, len(base)+len(declared)+len(skills))
	seen := make(map[string]bool, cap(out))
	for _, list := range [][]string{base, declared, skills} {
		for _, p := range list {
			if p = strings.TrimSpace(p); p != "" && !seen[p] {
				seen[p] = true
				out = append(out, p)
			}
		}
	}
	return out
}
