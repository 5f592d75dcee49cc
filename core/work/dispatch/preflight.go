package dispatch

import (
	"fmt"
	"strings"

	"ollimbot/core/base/clean"
	"ollimbot/core/brief/toolset"
	"ollimbot/routines"
)

// Around answers what the program provides to tasks. All fields are required.
type Around struct {
	// Model returns why a model cannot be used; nil if it can, or if that is unknown.
	Model func(name string) error
	// Skill reports whether a skill exists, Server whether an MCP server exists and is not
	// turned off. A server that is starting or has failed counts, because it may be ready in
	// time.
	Skill, Server func(name string) bool
}

// Lacks lists the missing requirements of a task before it fires: such a run would only
// cost money. It must not list things that may be ready in time.
func Lacks(t routines.Task, a Around) (list []routines.Problem) {
	say := func(format string, args ...any) {
		list = append(list, routines.Problem{
			File: t.Path, Severity: routines.Warning, Message: clean.Line(fmt.Sprintf(format, args...)),
		})
	}
	if strings.Contains(t.Model, "/") {
		if err := a.Model(t.Model); err != nil {
			say(lacksModel, t.Model, err)
		}
	}
	for _, name := range t.Skills {
		if !a.Skill(name) {
			say(lacksSkill, name, name)
		}
	}
	if !t.Background { // it has the tools of the conversation
		return list
	}
	told := map[string]bool{}
	for _, p := range t.Allowed {
		if server := serverOf(p); server != "" && !told[server] && !a.Server(server) {
			told[server] = true
			say(lacksServer, server)
		}
	}
	return list
}

// serverOf returns the MCP server of a tool pattern, or "" for the program's own tools.
func serverOf(pattern string) string {
	rest, is := strings.CutPrefix(pattern, "mcp__")
	if !is || strings.HasPrefix(pattern, toolset.Prefix) || strings.HasPrefix(pattern, "mcp__docs__") {
		return ""
	}
	name, _, _ := strings.Cut(rest, "__")
	if strings.Contains(name, "*") {
		return ""
	}
	return name
}
