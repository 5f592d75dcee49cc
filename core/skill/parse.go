package skill

import (
	"errors"
	"strings"

	"ollimbot/core/clean"
	"ollimbot/core/store"
	"ollimbot/routines"
)

// parser collects what one SKILL.md says and what is wrong with it.
type parser struct {
	file     string
	doc      store.Document
	problems []routines.Problem
}

// Parse reads the bytes of a SKILL.md as they would count in the folder of that
// name; false for a file that cannot be used.
func Parse(folder string, data []byte) (Skill, bool) {
	s, _, ok := parse(folder, data)
	return s, ok
}

// parse reads the file of the skill in that folder. It is not ok where the
// front matter cannot be read or lacks the name or the description; problems
// come in the order of the fields.
func parse(folder string, data []byte) (Skill, []routines.Problem, bool) {
	p := &parser{file: Folder + "/" + folder + "/" + File}
	doc, err := store.ParseFrontMatter(data)
	if err != nil {
		line, column, message := 1, 1, err.Error()
		var syntax *store.SyntaxError
		if errors.As(err, &syntax) {
			line, column, message = syntax.Line, syntax.Column, syntax.Message
		}
		p.add(routines.Error, line, column, message)
		return Skill{}, p.problems, false
	}
	p.doc = doc
	s := Skill{Path: p.file, Digest: routines.Digest(data), Body: strings.TrimSpace(clean.Text(doc.Body))}
	s.Name = p.required("name", textNoName(folder))
	s.Description = p.required("description", textNoDescription)
	if routines.HasErrors(p.problems) {
		return Skill{}, p.problems, false
	}
	p.checkName(s.Name, folder)
	s.Tools = p.tools()
	if s.Body == "" {
		p.add(routines.Warning, doc.BodyLine, 1, textNoBody)
	}
	return s, p.problems, true
}

// required is a key's text in one line; without one it is an error.
func (p *parser) required(key, missing string) string {
	f, ok := p.doc.Get(key)
	if ok && f.Value.Kind == store.Scalar {
		if text := clean.Line(f.Value.Text); text != "" {
			return text
		}
	}
	if ok && (f.Value.Kind == store.List || f.Value.Kind == store.Map) {
		missing = textNotText(key)
	}
	p.add(routines.Error, max(f.Line, 1), max(f.Column, 1), missing)
	return ""
}

// checkName warns of a name that is not the folder's, by which tasks find the
// skill, and of a folder that breaks the rule for names.
func (p *parser) checkName(name, folder string) {
	f, _ := p.doc.Get("name")
	switch {
	case name != folder:
		p.add(routines.Warning, f.Value.Line, f.Value.Column, textOtherName(name, folder))
	case strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
		p.add(routines.Warning, f.Value.Line, f.Value.Column, textNameLetters)
	}
}

// tools is the list of patterns. What is no pattern is left out with a warning;
// so will be those that Tools refuses, which is told here where it has a place.
func (p *parser) tools() []string {
	f, ok := p.doc.Get("allowed-tools")
	if !ok || f.Value.Kind == store.Null {
		return nil
	}
	if f.Value.Kind != store.List {
		p.add(routines.Warning, max(f.Value.Line, f.Line), max(f.Value.Column, 1), textNotAList)
		return nil
	}
	var tools []string
	for _, item := range f.Value.Items {
		pattern := clean.Line(item.Text)
		if item.Kind != store.Scalar || pattern == "" {
			p.add(routines.Warning, item.Line, item.Column, textNotAPattern)
			continue
		}
		switch severity, message := routines.CheckTool(pattern); severity {
		case routines.Error:
			p.add(routines.Warning, item.Line, item.Column, message+textLeftOut)
		case routines.Warning:
			p.add(routines.Warning, item.Line, item.Column, message)
		}
		tools = append(tools, pattern)
	}
	return tools
}

func (p *parser) add(s routines.Severity, line, column int, message string) {
	p.problems = append(p.problems, routines.Problem{
		File: p.file, Line: line, Column: column, Severity: s, Message: clean.Line(message),
	})
}

// whole is an error that means all of a file.
func whole(file, message string) routines.Problem {
	return routines.Problem{File: file, Severity: routines.Error, Message: clean.Line(message)}
}

func unreadable(file string, err error) routines.Problem {
	return whole(file, textUnreadable(bare(err)))
}
