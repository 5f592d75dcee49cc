package dispatch

import (
	"fmt"
	"strings"

	"ollimbot/core/base/clean"
	"ollimbot/core/brief/toolset"
	"ollimbot/routines"
)

// Around is what tasks may need of the program around them. All fields are required.
type Around struct {
	// Model returns why a model cannot be asked; nil if it can, or nobody knows.
	Model func(name string) error
	// Skill reports whether there is a skill of that name, Server whether there is an MCP server
	// that is not turned off. One that is starting or has failed counts: it may be there in time.
	Skill, Server func(name string) bool
}

// Lacks says what a task needs and does not have, before it fires: such a run would only cost
// something. It must not name what may be there in time.
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

// serverOf is the MCP server of a tool pattern, "" for tools of the program.
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
