package policy

import (
	"fmt"
	"regexp"
	"strings"

	"ollimbot/core/agent"
	"ollimbot/core/clean"
)

// skillCommand is how a skill's text asks for a command's output (spec 08.2).
var skillCommand = regexp.MustCompile("!`[^`]+`")

// smuggles is the first command that a call would write into a skill and that
// is not there yet, or "". Commands of a skill run without permission whenever
// a task names it, so only the user may put one there: an agent that was talked
// into it by a stranger's words must not.
func (g *Guard) smuggles(u agent.ToolUse) string {
	x := readUse(u)
	if !writes(x.tool) {
		return ""
	}
	rel, ok := g.skillFile(x.path)
	if !ok {
		return ""
	}
	text, ok := g.proposed(x.tool, rel, u.Input)
	if !ok {
		return ""
	}
	known := map[string]bool{}
	if data, err := g.dir.Read(rel); err == nil {
		for _, c := range skillCommand.FindAllString(string(data), -1) {
			known[c] = true
		}
	}
	for _, c := range skillCommand.FindAllString(text, -1) {
		if !known[c] {
			return fmt.Sprintf(answerSkillCommand, clean.Cut(clean.Line(c), 80))
		}
	}
	return ""
}

// skillFile reports whether a path lies in skills/, by its name or where its
// links lead. Letter case counts as a file system might not count it.
func (g *Guard) skillFile(file string) (rel string, ok bool) {
	places, ok := g.tree.places(file)
	if !ok {
		return "", false
	}
	for _, full := range append([]string{g.tree.absolute(file)}, places...) {
		if rel, ok := g.tree.within(full); ok && strings.HasPrefix(strings.ToLower(rel), "skills/") {
			return rel, true
		}
	}
	return "", false
}
