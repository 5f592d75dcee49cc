package policy

import (
	"strings"

	"ollimbot/core/toolset"
	"ollimbot/routines"
)

// MainTools are the patterns that the main session and interactive forks may
// use without asking; what the bot's own tools do in which context
// they decide themselves. History is a command of ours.
func MainTools() []string {
	return []string{
		"Bash(ollim-bot tasks *)", "Bash(ollim-bot cal *)", "Bash(ollim-bot reminder *)", "Bash(ollim-bot gmail *)",
		"Bash(ollim-bot help)", "Bash(ollim-bot history *)", "Bash(ollim-bot routine *)",
		"Bash(ls)", "Bash(ls *)", // names only: a routine is found by listing its folder
		"Read(./**.md)", "Write(./**.md)", "Edit(./**.md)", "Glob(./**.md)", "Grep(./**.md)",
		// What the user sends, what skills bring along, and what the engine put aside
		// because it was long.
		"Read(./downloads/**)", "Read(./skills/**)", "Read(~/.claude/projects/*/*/tool-results/*)",
		"WebFetch", "WebSearch",
		toolset.Prefix + "discord_embed", toolset.Prefix + "ping_user", toolset.Prefix + "send_file",
		toolset.Prefix + "follow_up_chain", toolset.Prefix + "save_context", toolset.Prefix + "report_updates",
		toolset.Prefix + "enter_fork", toolset.Prefix + "exit_fork", toolset.Prefix + updateNames,
		toolset.Prefix + "add_reminder", toolset.Prefix + "list_reminders", toolset.Prefix + "cancel_reminder",
		"mcp__docs__*", "Agent", "Skill",
	}
}

// BackgroundTools are the patterns that every background run may use: help, the task list, reading the user's notes,
// reminders. Tools that reach the user or report are opened by the run itself.
func BackgroundTools() []string {
	return []string{
		"Bash(ollim-bot help)", "Bash(ollim-bot tasks *)",
		"Read(./**.md)", "Glob(./**.md)", "Grep(./**.md)",
		toolset.Prefix + "add_reminder", toolset.Prefix + "list_reminders", toolset.Prefix + "cancel_reminder",
	}
}

// updateNames is the one tool of the bot that a background run has only where a
// list names it.
const updateNames = "update_names"

// Strip leaves out the patterns that no list may have: those that routines
// calls errors, such as Bash(*) or a write that could reach state/.
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
