package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"ollimbot/core/clean"
	"ollimbot/core/skill"
)

// skill is what stands against a file of a skill as it would be, or "". What a
// skill's text makes the bot and the engine do by themselves needs no permission
// whenever a task names it, so only the user may put it there: an agent that was
// talked into it by a stranger's words must not.
func (s *Session) skill(rel string, data []byte) string {
	if _, f, ok := decode(data); !ok || f.utf16 {
		return answerSkillText
	}
	var known skill.Inspection
	if before, err := s.g.dir.Read(rel); err == nil {
		known = skill.Inspect(before)
	}
	now := skill.Inspect(data)
	for _, c := range now.Commands {
		if !slices.Contains(known.Commands, c) {
			return fmt.Sprintf(answerSkillCommand, clean.Cut(clean.Line(c), 80))
		}
	}
	for _, file := range now.Mentions {
		if !slices.Contains(known.Mentions, file) && !s.mayRead(file) {
			return fmt.Sprintf(answerMention, clean.Cut(clean.Line(file), 80))
		}
	}
	if strings.EqualFold(path.Base(rel), skill.File) && now.Problem != "" && (now.Head == "" || now.Head != known.Head) {
		return now.Problem
	}
	return ""
}

// mayRead reports whether the session's list lets the file be read.
func (s *Session) mayRead(file string) bool {
	x := use{tool: "Read", arg: file, path: file}
	return s.closedTo(x, file, false) == "" && s.inForce().allows(x) && !s.inForce().forbids(x)
}

// commandsTakeWords reports whether a skill, or a command of the engine's, puts
// what it is called with into a command: "$1", "$ARGUMENTS" or a name of its own.
func (g *Guard) commandsTakeWords(name string) bool {
	name = path.Base(strings.ReplaceAll(strings.Trim(name, "/ "), ":", "/"))
	files := []string{".claude/commands/" + name + ".md"}
	for _, e := range g.entries(skill.Folder) {
		s, ok := skill.Read(g.dir, e.Name())
		if strings.EqualFold(e.Name(), name) || ok && strings.EqualFold(s.Name, name) {
			files = append(files, path.Join(skill.Folder, e.Name(), skill.File))
		}
	}
	return slices.ContainsFunc(files, func(file string) bool {
		data, err := g.dir.Read(file)
		return err == nil && slices.ContainsFunc(skill.Inspect(data).Commands, func(c string) bool {
			return strings.Contains(c, "$") || strings.HasPrefix(c, "```") || strings.HasPrefix(c, "~~~")
		})
	})
}
