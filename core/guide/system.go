package guide

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"ollimbot/core/clean"
	"ollimbot/core/prompt"
	"ollimbot/core/skill"
	"ollimbot/core/store"
	"ollimbot/routines"
)

// The profile. USER.md is made by nobody but the user.
const (
	identityFile = "IDENTITY.md"
	userFile     = "USER.md"
)

// SystemPrompt is the text that every session is opened with, of the profile
// and the skills as they are now. It reads files at every call, so that changes
// are in force for the next session; equal files give equal bytes.
func SystemPrompt(d *store.Dir, o Options) string {
	in := prompt.SystemInput{
		UserName: o.UserName, Zone: o.Zone, Google: o.Google, NoMail: o.NoMail, Webhooks: o.Webhooks,
		Identity: profile(d, identityFile), User: profile(d, userFile),
	}
	skills, _ := skill.List(d) // what is wrong with them is shown with the other files
	for _, s := range skills {
		folder := path.Base(path.Dir(s.Path))
		if !bundled(folder) {
			in.Skills = append(in.Skills, prompt.SkillLine{Name: folder, Description: s.Description})
		}
	}
	return prompt.System(in)
}

// profile is a file of the profile, or a line that says why it is not there.
func profile(d *store.Dir, name string) string {
	data, err := d.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		return fmt.Sprintf(textNoProfile, name)
	}
	return string(data)
}

// Subagent is a file in .claude/agents/ as far as the tools go; all text is
// cleaned.
type Subagent struct {
	Name  string // the file's name where it says none
	Model string // empty: the session's
	Tools []string
	Path  string // relative to the data directory
}

// Subagents reads the subagents of the data directory, ours and the user's own,
// in the order of their files, for whoever judges tool lists. One
// without tools has the session's. One without front matter is no subagent
// and is told as a warning, as are patterns that hand over too much.
func Subagents(d *store.Dir) ([]Subagent, []routines.Problem) {
	root, err := os.OpenRoot(d.Root())
	if err != nil {
		return nil, nil
	}
	defer root.Close()
	names, err := fs.Glob(root.FS(), agentsFolder+"/*.md")
	if err != nil {
		return nil, nil
	}
	slices.Sort(names)
	var list []Subagent
	var problems []routines.Problem
	for _, name := range names {
		there, err := inspect(root, d, name)
		if err != nil || there.is != ordinary {
			continue
		}
		s, found := parseSubagent(name, there.data)
		list, problems = append(list, s...), append(problems, found...)
	}
	return list, problems
}

// parseSubagent gives one subagent, or none with the reason.
func parseSubagent(file string, data []byte) ([]Subagent, []routines.Problem) {
	doc, err := store.ParseFrontMatter(data)
	if err != nil {
		line, column, message := 1, 1, err.Error()
		if syntax, ok := errors.AsType[*store.SyntaxError](err); ok {
			line, column, message = syntax.Line, syntax.Column, syntax.Message
		}
		return nil, []routines.Problem{warning(file, line, column, message)}
	}
	stem := strings.TrimSuffix(file[strings.LastIndexByte(file, '/')+1:], ".md")
	s := Subagent{Name: scalar(doc, "name"), Model: scalar(doc, "model"), Path: file}
	s.Name = cmp.Or(s.Name, clean.Line(stem))
	var problems []routines.Problem
	for _, v := range toolValues(doc) {
		s.Tools = append(s.Tools, v.Text)
		if severity, message := routines.CheckTool(v.Text); severity != "" {
			problems = append(problems, warning(file, v.Line, v.Column, message))
		}
	}
	return []Subagent{s}, problems
}

// toolValues are the patterns of a list, or of a text with commas.
func toolValues(doc store.Document) []store.Value {
	f, _ := doc.Get("tools")
	items := f.Value.Items
	if f.Value.Kind == store.Scalar {
		for part := range strings.SplitSeq(f.Value.Text, ",") {
			items = append(items, store.Value{Kind: store.Scalar, Text: part, Line: f.Value.Line, Column: f.Value.Column})
		}
	}
	var values []store.Value
	for _, v := range items {
		if v.Text = clean.Line(v.Text); v.Kind == store.Scalar && v.Text != "" {
			values = append(values, v)
		}
	}
	return values
}

func scalar(doc store.Document, key string) string {
	f, _ := doc.Get(key)
	return clean.Line(f.Value.Text)
}

func warning(file string, line, column int, message string) routines.Problem {
	return routines.Problem{File: clean.Line(file), Line: line, Column: column, Severity: routines.Warning, Message: clean.Line(message)}
}
