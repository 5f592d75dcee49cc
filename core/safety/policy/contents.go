package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"ollimbot/core/agent/edit"
	"ollimbot/core/base/clean"
	"ollimbot/core/brief/skill"
	"ollimbot/core/safety/closed"
	"ollimbot/routines"
)

// contents judges the bytes that a call would write to a file. unsure means that those cannot be
// predicted.
func (s *Session) contents(x call) (reason string, unsure bool) {
	if !writes(x.tool) {
		return "", false
	}
	rel, data, ok := s.g.proposed(x)
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

// invalid returns the error in a routine or reminder file, or "" for valid and all other files.
// Only errors that would keep the file out of the schedule count.
func (g *Guard) invalid(rel string, data []byte) string {
	kind, ok := kindOf(rel)
	if !ok || kind == routines.KindWebhook {
		return "" // the index ignores it
	}
	_, problems := routines.Parse(kind, rel, data, g.o.Zone)
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

// skill returns the objection to the new contents of a skill's file, or "". Commands and files in a
// skill's text are run and read without permission whenever a task names the skill. So only the
// user may add them; an agent may have been talked into it by a stranger's text.
func (s *Session) skill(rel string, data []byte) string {
	if _, f, ok := edit.Decode(data); !ok || f.UTF16 {
		return answerSkillText
	}
	var known skill.Inspection
	if before, err := s.g.o.Dir.Read(rel); err == nil {
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

// mayRead reports whether the session's list allows reading the file.
func (s *Session) mayRead(file string) bool {
	x := call{tool: "Read", arg: file, path: file}
	return s.closedTo(x, file, false) == "" && s.inForce().allows(x) && !s.inForce().forbids(x)
}

// commandsTakeWords reports whether a skill, or a command of the engine's, inserts its arguments
// into a shell command: "$1", "$ARGUMENTS" or a named argument.
func (g *Guard) commandsTakeWords(name string) bool {
	name = path.Base(strings.ReplaceAll(strings.Trim(name, "/ "), ":", "/"))
	files := []string{".claude/commands/" + name + ".md"}
	for _, e := range g.reach.entries(skill.Folder) {
		s, ok := skill.Read(g.o.Dir, e.Name())
		if strings.EqualFold(e.Name(), name) || ok && strings.EqualFold(s.Name, name) {
			files = append(files, path.Join(skill.Folder, e.Name(), skill.File))
		}
	}
	return slices.ContainsFunc(files, func(file string) bool {
		data, err := g.o.Dir.Read(file)
		return err == nil && slices.ContainsFunc(skill.Inspect(data).Commands, func(c string) bool {
			return strings.Contains(c, "$") || strings.HasPrefix(c, "```") || strings.HasPrefix(c, "~~~")
		})
	})
}

// change is what Write, Edit and MultiEdit want to do to a file.
type change struct {
	Content *string `json:"content"`
	edit.Change
	Edits []edit.Change `json:"edits"`
}

// proposed returns the file of the data directory that a call would write, and all of its bytes
// after the call. rel is "" for a call that writes no such file. If a path has several spellings,
// rel is the one in the most important folder. ok is false if only the engine can know the bytes:
// it finds an old text in more ways than one, and in files of several encodings.
func (g *Guard) proposed(x call) (rel string, data []byte, ok bool) {
	if !writes(x.tool) || x.path == "" {
		return "", nil, false
	}
	rels := g.rels(x.path)
	if len(rels) == 0 {
		return "", nil, false
	}
	rel = rels[0]
	before, err := g.o.Dir.Read(rel)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return rel, nil, false
	}
	var c change
	if json.Unmarshal(x.Input, &c) != nil {
		return rel, nil, false
	}
	switch x.tool {
	case "Write":
		if c.Content == nil {
			return rel, nil, false
		}
		// Some versions keep a file's encoding and its byte order mark. The bot ignores the mark.
		_, f, _ := edit.Decode(before)
		return rel, []byte(*c.Content), !f.UTF16
	case "Edit":
		c.Edits = []edit.Change{c.Change}
	case "MultiEdit":
	default:
		return rel, nil, false
	}
	data, ok = edit.Apply(before, err == nil, rel, c.Edits)
	return rel, data, ok
}

// judged are the folders whose files are checked by their contents. If a file has several
// spellings, the first of these folders counts.
var judged = []string{"skills", "routines", "reminders", "webhooks"}

// judgedIn returns the folder of judged that contains a path, or "".
func judgedIn(rel string) string {
	folder, _, _ := strings.Cut(rel, "/")
	if folder = closed.Fold(folder); slices.Contains(judged, folder) {
		return folder
	}
	return ""
}

// rels returns the names of a path within the data directory, those in judged folders first. A path
// that cannot be followed has none: it is closed.
func (g *Guard) rels(file string) []string {
	spots, ok := g.tree.spots(file)
	if !ok {
		return nil
	}
	var out []string
	for _, spot := range spots {
		if rel, inside := g.tree.within(spot); inside && !slices.Contains(out, rel) {
			out = append(out, rel)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return rank(a) - rank(b) })
	return out
}

func rank(rel string) int {
	if i := slices.Index(judged, judgedIn(rel)); i >= 0 {
		return i
	}
	return len(judged)
}
