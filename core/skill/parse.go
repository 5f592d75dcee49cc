package skill

import (
	"strings"

	"ollimbot/core/clean"
	"ollimbot/core/store"
	"ollimbot/routines"
)

// Parse reads the bytes of a SKILL.md as they would count in the folder of that
// name; false for a file that cannot be used.
func Parse(folder string, data []byte) (Skill, bool) {
	s, _, ok := parse(folder, data)
	return s, ok
}

// parse reads the file of the skill in that folder. It is not ok where the
// front matter cannot be read or lacks the name or the description.
func parse(folder string, data []byte) (Skill, []routines.Problem, bool) {
	path := Folder + "/" + folder + "/" + File
	p, ok := routines.Open("skill", path, data)
	if !ok {
		return Skill{}, p.Problems(), false
	}
	s := Skill{
		Path: path, Digest: routines.Digest(data), Body: strings.TrimSpace(clean.Text(p.Doc.Body)),
		Name: required(p, "name", textNoName(folder)), Description: required(p, "description", textNoDescription),
	}
	if routines.HasErrors(p.Problems()) {
		return Skill{}, p.Problems(), false
	}
	// A task finds the skill by the folder's name.
	switch f := p.Field("name"); {
	case s.Name != folder:
		p.AddAt(routines.Warning, f, textOtherName(s.Name, folder))
	case strings.Trim(s.Name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
		p.AddAt(routines.Warning, f, textNameLetters)
	}
	s.Tools = tools(p)
	if s.Body == "" {
		p.Add(routines.Warning, p.Doc.BodyLine, 1, textNoBody)
	}
	return s, p.Problems(), true
}

// required is a key's text in one line; without one it is an error.
func required(p *routines.File, key, missing string) string {
	f := p.Field(key)
	text := clean.Line(f.Value.Text)
	switch {
	case f.Value.Kind == store.List || f.Value.Kind == store.Map:
		p.Add(routines.Error, f.Line, f.Column, textNotText(key))
	case text == "":
		p.Add(routines.Error, f.Line, f.Column, missing)
	}
	return text
}

// tools is the list of patterns. What is no pattern is left out with a warning;
// so will be those that Tools refuses, which is told here where it has a place.
func tools(p *routines.File) []string {
	f := p.Field("allowed-tools")
	switch f.Value.Kind {
	case store.Null:
		return nil
	case store.List:
	default:
		p.AddAt(routines.Warning, f, textNotAList)
		return nil
	}
	var tools []string
	for _, item := range f.Value.Items {
		pattern := clean.Line(item.Text)
		if item.Kind != store.Scalar || pattern == "" {
			p.Add(routines.Warning, item.Line, item.Column, textNotAPattern)
			continue
		}
		switch severity, message := routines.CheckTool(pattern); severity {
		case routines.Error:
			p.Add(routines.Warning, item.Line, item.Column, message+textLeftOut)
		case routines.Warning:
			p.Add(routines.Warning, item.Line, item.Column, message)
		}
		tools = append(tools, pattern)
	}
	return tools
}

// unreadable is an error that means all of a file.
func unreadable(file string, err error) []routines.Problem {
	return fileProblem(file, textUnreadable(bare(err)))
}

func fileProblem(file, message string) []routines.Problem {
	return []routines.Problem{{File: file, Severity: routines.Error, Message: clean.Line(message)}}
}
