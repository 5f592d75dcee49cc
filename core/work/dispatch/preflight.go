package dispatch

import (
	"fmt"
	"slices"
	"strings"

	"ollimbot/core/base/clean"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/safety/policy"
	"ollimbot/core/work/google"
	"ollimbot/routines"
)

// Around answers what the program provides to tasks. All functions are required.
type Around struct {
	// Model returns why a model cannot be used; nil if it can, or if that is unknown.
	Model func(name string) error
	// Skill reports whether a skill exists, Server whether an MCP server exists and is not
	// turned off. A server that is starting or has failed counts, because it may be ready in
	// time.
	Skill, Server func(name string) bool
	// Google is the login at Google. A valid login counts even while Google is unreachable.
	Google google.State
}

// Lacks lists the missing requirements of a task before it fires: such a run would only
// cost money. It must not list things that may be ready in time.
func Lacks(t routines.Task, a Around) (list []routines.Problem) {
	say := func(short, format string, args ...any) {
		list = append(list, routines.Problem{
			File: t.Path, Severity: routines.Warning, Message: clean.Line(fmt.Sprintf(format, args...)), Lacks: short,
		})
	}
	if strings.Contains(t.Model, "/") {
		if err := a.Model(t.Model); err != nil {
			say(shortModel, lacksModel, t.Model, err)
		}
	}
	for _, name := range t.Skills {
		if !a.Skill(name) {
			say(shortSkill, lacksSkill, name)
		}
	}
	if !t.Background { // it has the tools of the conversation
		return list
	}
	told := map[string]bool{}
	for _, p := range t.Allowed {
		if server := serverOf(p); server != "" && !told[server] && !a.Server(server) {
			told[server] = true
			say(shortServer, lacksServer, server)
		}
	}
	for _, missing := range lacksGoogle(t.Allowed, a.Google) {
		say(shortLogin, lacksLogin, strings.Join(missing.names, ", "), missing.why)
	}
	return list
}

// withoutGoogle are parts of the user's account that cannot be used, for one reason.
type withoutGoogle struct {
	why   string
	names []string
}

// lacksGoogle are the parts of the account that tool patterns name and that cannot be used, by
// their reasons.
func lacksGoogle(allowed []string, login google.State) (list []withoutGoogle) {
	for _, p := range allowed {
		scope, needs := google.Commands[policy.NeedsGoogle(p)]
		if !needs || login.May(scope) {
			continue
		}
		why := login.Lacks(scope)
		i := slices.IndexFunc(list, func(w withoutGoogle) bool { return w.why == why })
		if i < 0 {
			i, list = len(list), append(list, withoutGoogle{why: why})
		}
		if !slices.Contains(list[i].names, scope.Name()) {
			list[i].names = append(list[i].names, scope.Name())
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
