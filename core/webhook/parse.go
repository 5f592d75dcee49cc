package webhook

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"ollimbot/core/clean"
	"ollimbot/core/prompt"
	"ollimbot/core/store"
	"ollimbot/routines"
)

// Parse reads a spec file. rel is its path relative to the data
// directory. All problems come back in the file's order; while
// routines.HasErrors of them, the spec must not be used.
func Parse(rel string, data []byte) (Spec, []routines.Problem) {
	p := &reader{rel: rel}
	doc, err := store.ParseFrontMatter(data)
	if err != nil {
		line, column, message := 1, 1, err.Error()
		var syntax *store.SyntaxError
		if errors.As(err, &syntax) {
			line, column, message = syntax.Line, syntax.Column, syntax.Message
		}
		p.add(routines.Error, place{line, column}, message)
		return Spec{Task: routines.Task{Kind: routines.KindWebhook, Path: rel}}, p.problems
	}
	p.doc = doc
	s := Spec{Task: p.task()}
	s.Fields = p.fields()
	p.checkTemplate(s)
	p.unknownKeys()
	slices.SortStableFunc(p.problems, func(a, b routines.Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return s, p.problems
}

// reader collects what one file says and what is wrong with it.
type reader struct {
	rel      string
	doc      store.Document
	problems []routines.Problem
}

func (p *reader) add(s routines.Severity, at place, message string) {
	p.problems = append(p.problems, routines.Problem{
		File: clean.Line(p.rel), Line: max(1, at.line), Column: max(1, at.column),
		Severity: s, Message: clean.Line(message),
	})
}

func (p *reader) task() routines.Task {
	t := routines.Task{
		Kind: routines.KindWebhook, Path: p.rel, Background: true,
		ID:          p.id(),
		Description: p.line("description"),
		Body:        strings.TrimSpace(clean.Text(p.doc.Body)),
		Model:       p.choice("model", "", models),
		Thinking:    p.flag("thinking", true),
		Isolated:    p.flag("isolated", false),
		Mode:        routines.Mode(p.choice("update-main-session", string(routines.OnPing), modes)),
		AllowPing:   p.flag("allow-ping", true),
		Allowed:     p.list("allowed-tools"),
		Disallowed:  p.list("disallowed-tools"),
		Skills:      p.list("skills"),
		Subagent:    p.line("subagent"),
		TrustInput:  p.flag("trust-input", false),
	}
	if t.Allowed != nil && t.Disallowed != nil {
		f, _ := p.doc.Get("disallowed-tools")
		p.add(routines.Error, place{f.Line, f.Column}, msgBothLists)
		t.Disallowed = nil
	}
	f, _ := p.doc.Get("allowed-tools")
	for _, item := range f.Value.Items {
		if severity, message := routines.CheckTool(item.Text); severity != "" && item.Kind == store.Scalar {
			p.add(severity, place{item.Line, item.Column}, message)
		}
	}
	if t.Body == "" {
		p.add(routines.Error, place{p.doc.BodyLine, 1}, msgNoBody)
	}
	return t
}

// fields reads the schema, which is required.
func (p *reader) fields() Fields {
	f, ok := p.doc.Get("fields")
	switch {
	case !ok || f.Value.Kind == store.Null:
		p.add(routines.Error, place{f.Line, f.Column}, msgNoFields)
		return Fields{}
	case f.Value.Kind != store.Map:
		p.add(routines.Error, valuePlace(f), msgFieldsMapping)
		return Fields{}
	}
	m, err := readMapping(f)
	var fields Fields
	if err == nil {
		fields, err = compile(m)
	}
	var wrong *fieldError
	if errors.As(err, &wrong) {
		p.add(routines.Error, wrong.at, wrong.message)
		return Fields{}
	}
	switch n := len(fields.Declared); {
	case n > maxProperties:
		p.add(routines.Warning, m.at("/properties"), tooManyDeclared(n))
	case n == 0:
		p.add(routines.Warning, m.start, msgNothingDeclared)
	}
	return fields
}

// checkTemplate warns of placeholders that no declared field fills, and refuses
// a template that could make a prompt of any size.
func (p *reader) checkTemplate(s Spec) {
	list := prompt.Placeholders(s.Body)
	if len(list) > maxPlaceholders {
		p.add(routines.Error, place{p.doc.BodyLine, 1}, tooManyPlaceholders(len(list)))
		return
	}
	lines := strings.Split(s.Body, "\n")
	for _, h := range list {
		if len(s.Fields.Declared) == 0 || slices.Contains(s.Fields.Declared, h.Name) {
			continue
		}
		column := utf8.RuneCountInString(lines[h.Line-1][:h.Column]) + 1
		p.add(routines.Warning, place{p.doc.BodyLine + h.Line - 1, column}, unfilled(h.Name))
	}
}
