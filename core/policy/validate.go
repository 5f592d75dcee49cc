package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"ollimbot/core/agent"
	"ollimbot/core/clean"
	"ollimbot/routines"
)

// change is what Write, Edit and MultiEdit want to do to a file.
type change struct {
	Content *string `json:"content"`
	replacement
	Edits []replacement `json:"edits"`
}

type replacement struct {
	Old string `json:"old_string"`
	New string `json:"new_string"`
	All bool   `json:"replace_all"`
}

// invalid is what is wrong with a routine or reminder file as it would be after
// the call, or "" for every other call and for valid files (spec 06.3). Only
// what would keep the file out of the schedule counts.
func (g *Guard) invalid(u agent.ToolUse) string {
	x := readUse(u)
	if !writes(x.tool) {
		return ""
	}
	rel, kind, ok := g.taskFile(x.path)
	if !ok {
		return ""
	}
	data, ok := g.proposed(x.tool, rel, u.Input)
	if !ok {
		return ""
	}
	var problems []routines.Problem
	if kind == routines.KindRoutine {
		_, problems = routines.ParseRoutine(rel, []byte(data), g.zone)
	} else {
		_, problems = routines.ParseReminder(rel, []byte(data), g.zone)
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

// taskFile reports whether a path is a file that the schedule is made of, by
// its name or where its links lead.
func (g *Guard) taskFile(file string) (rel string, kind routines.Kind, ok bool) {
	places, ok := g.tree.places(file)
	if !ok {
		return "", "", false
	}
	for _, full := range append([]string{g.tree.absolute(file)}, places...) {
		rel, ok := g.tree.within(full)
		if !ok {
			continue
		}
		folder, name := path.Split(rel)
		if path.Ext(name) != ".md" || len(name) == len(".md") || strings.ContainsAny(name[:1], ".#~") {
			continue // files that the index leaves alone
		}
		switch folder {
		case "routines/":
			return rel, routines.KindRoutine, true
		case "reminders/":
			return rel, routines.KindReminder, true
		}
	}
	return "", "", false
}

// proposed is the file's text after the call; not ok where the call would not
// get that far (its old text is not there), so that the tool itself says so.
func (g *Guard) proposed(tool, rel string, input json.RawMessage) (text string, ok bool) {
	var c change
	if json.Unmarshal(input, &c) != nil {
		return "", false
	}
	if tool == "Write" {
		if c.Content == nil {
			return "", false
		}
		return *c.Content, true
	}
	edits := c.Edits
	if tool == "Edit" {
		edits = []replacement{c.replacement}
	}
	data, err := g.dir.Read(rel)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", false
	}
	text = string(data)
	for _, e := range edits {
		if text, ok = e.apply(text); !ok {
			return "", false
		}
	}
	return text, len(edits) > 0
}

// apply replaces one text. An empty old text makes a new file; one that stands
// there several times is replaced only where all of them are meant.
func (r replacement) apply(text string) (string, bool) {
	if r.Old == "" {
		return r.New, text == ""
	}
	switch n := strings.Count(text, r.Old); {
	case n == 0, n > 1 && !r.All:
		return "", false
	}
	return strings.ReplaceAll(text, r.Old, r.New), true
}
