package policy

import (
	"fmt"
	"path"
	"strings"

	"ollimbot/core/agent"
	"ollimbot/core/clean"
	"ollimbot/routines"
)

// contents judges what a call would write, by the bytes of the file as it would
// be. unsure means that those cannot be told.
func (s *Session) contents(u agent.ToolUse) (reason string, unsure bool) {
	x := s.g.tree.use(u)
	if !writes(x.tool) {
		return "", false
	}
	rel, data, ok := s.g.proposed(u)
	switch folder := judgedIn(rel); {
	case folder == "":
		return "", false
	case !ok:
		return fmt.Sprintf(answerUnsure, clean.Cut(clean.Line(rel), 80)), true
	case folder == "skills":
		return s.skill(rel, data), false
	default:
		if problems := s.g.invalid(rel, data); problems != "" {
			return validatorPrefix + problems, false
		}
	}
	return "", false
}

// invalid is what is wrong with a routine or reminder file, or "" for every
// other file and for valid ones. Only what would keep the file out of
// the schedule counts.
func (g *Guard) invalid(rel string, data []byte) string {
	folder, name := path.Split(rel)
	if !routines.IsTaskFile(name) {
		return "" // the index leaves it alone
	}
	var problems []routines.Problem
	switch fold(strings.TrimSuffix(folder, "/")) {
	case "routines":
		_, problems = routines.ParseRoutine(rel, data)
	case "reminders":
		_, problems = routines.ParseReminder(rel, data, g.zone)
	}
	var out []string
	for _, p := range problems {
		if p.Severity == routines.Error {
			out = append(out, place(p))
		}
	}
	return strings.Join(out, validatorBetween)
}

func place(p routines.Problem) string {
	if p.Line == 0 {
		return clean.Line(p.Message)
	}
	return fmt.Sprintf(validatorLine, p.Line, clean.Line(p.Message))
}
