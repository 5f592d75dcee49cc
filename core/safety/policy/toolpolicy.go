package policy

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/storage/frontmatter"
	"ollimbot/core/storage/store"
	"ollimbot/routines"
)

// FileName is the user's own tool policy, in the data directory.
const FileName = "tool-policy.yaml"

// ToolPolicy is the contents of tool-policy.yaml. The zero value changes nothing.
type ToolPolicy struct {
	MainAdditional       []string // main_session.additional_allowed
	BackgroundAdditional []string // bg_forks.additional_allowed
	// Override replaces the background defaults if it is not nil, even if it is empty:
	// bg_forks.override.
	Override []string
}

// Main returns the list of the main session and of interactive forks.
func (p ToolPolicy) Main() []string { return Merge(MainTools(), p.MainAdditional) }

// Background returns the list that every background run begins with.
func (p ToolPolicy) Background() []string {
	base := BackgroundTools()
	if p.Override != nil {
		base = p.Override
	}
	return Merge(base, p.BackgroundAdditional)
}

// File reads tool-policy.yaml and caches it until the file changes. It is safe for concurrent use.
type File struct {
	dir *store.Dir

	loaded *store.Cached[loaded]
	// good is the last policy that was understood; nil for none since the start.
	good atomic.Pointer[ToolPolicy]
}

// loaded is the file's contents and its problems. If the file is not understood, it may be meant to
// take rights away.
type loaded struct {
	policy     ToolPolicy
	problems   []routines.Problem
	understood bool
}

// NewFile returns the file of a data directory. It reads nothing yet.
func NewFile(d *store.Dir) *File { return &File{dir: d, loaded: store.NewCached[loaded](d, FileName)} }

// Load returns the policy in force and the problems of the file, each with its line and cure. Patterns with errors
// are left out. Of a file that is not understood, only those rights remain that its last valid version and the built-in
// list both grant. Callers must not modify the slices.
func (f *File) Load() (ToolPolicy, []routines.Problem) {
	l, err := f.loaded.Load(func() (loaded, error) {
		data, err := f.dir.Read(FileName)
		return parsePolicy(data), err
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l = loaded{understood: true}
	case err != nil:
		l = loaded{problems: []routines.Problem{problem(0, 0, routines.Error, fmt.Sprintf(yamlUnreadable, err))}}
	}
	if l.understood {
		f.good.Store(&l.policy)
		return l.policy, slices.Clone(l.problems)
	}
	good, at, meanwhile := f.lastValid()
	problems, granted := slices.Clone(l.problems), good.Background()
	i := slices.IndexFunc(problems, func(p routines.Problem) bool { return p.Severity == routines.Error })
	problems[i].Kept, problems[i].Message = at, problems[i].Message+meanwhile
	return ToolPolicy{Override: slices.DeleteFunc(BackgroundTools(), func(tool string) bool { return !slices.Contains(granted, tool) })}, problems
}

// Check returns the problems of the file's text.
func Check(data []byte) []routines.Problem { return parsePolicy(data).problems }

// lastValid returns the last version that was understood, when it was kept beside the state, and what applies meanwhile. Without
// a version, that is the file's absence.
func (f *File) lastValid() (good ToolPolicy, at time.Time, meanwhile string) {
	data, at, ok := f.dir.Valid(FileName)
	now := f.good.Load()
	switch {
	case ok && now == nil:
		good = parsePolicy(data).policy
		fallthrough
	case ok:
		meanwhile = fmt.Sprintf(yamlOnlyBothOf, at.Format(time.DateOnly))
	case now != nil:
		meanwhile = yamlOnlyBoth
	default:
		meanwhile = yamlBuiltIn
	}
	if now != nil {
		good = *now
	}
	return good, at, meanwhile
}

func problem(line, column int, s routines.Severity, message string) routines.Problem {
	return routines.Problem{File: FileName, Line: line, Column: column, Severity: s, Message: clean.Line(message)}
}

// reader collects the file's contents and problems.
type reader struct{ loaded }

// parsePolicy parses the file's text.
func parsePolicy(data []byte) loaded {
	sections, problems, ok := routines.Keys(FileName, data)
	r := &reader{loaded{problems: problems, understood: ok}}
	for _, s := range sections {
		switch s.Key {
		case "main-session":
			r.section(s, map[string]*[]string{"additional-allowed": &r.policy.MainAdditional})
		case "bg-forks":
			r.section(s, map[string]*[]string{
				"additional-allowed": &r.policy.BackgroundAdditional, "override": &r.policy.Override,
			})
		default:
			r.lost(s.Line, s.Column, fmt.Sprintf(yamlUnknown, show(s), "main_session or bg_forks"))
		}
	}
	slices.SortStableFunc(r.problems, func(a, b routines.Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return r.loaded
}

func (r *reader) add(line, column int, s routines.Severity, message string) {
	r.problems = append(r.problems, problem(line, column, s, message))
}

// lost adds an error that may hide what the file takes away.
func (r *reader) lost(line, column int, message string) {
	r.add(line, column, routines.Error, message)
	r.understood = false
}

// section parses the lists of main_session or bg_forks.
func (r *reader) section(s frontmatter.Field, lists map[string]*[]string) {
	known := "additional_allowed"
	if len(lists) > 1 {
		known += " or override"
	}
	switch s.Value.Kind {
	case frontmatter.Null:
		return
	case frontmatter.Map:
	default:
		r.lost(s.Value.Line, s.Value.Column, fmt.Sprintf(yamlSection, spelled(s), known))
		return
	}
	for _, f := range s.Value.Fields {
		list := lists[f.Key]
		switch {
		case list == nil:
			r.lost(f.Line, f.Column, fmt.Sprintf(yamlUnknown, show(f), known))
		case f.Value.Kind == frontmatter.Null:
			r.add(f.Line, f.Column, routines.Warning, fmt.Sprintf(yamlNothing, spelled(f)))
		default:
			*list = r.list(f)
		}
	}
}

// list parses patterns; those with errors are left out.
func (r *reader) list(f frontmatter.Field) []string {
	if f.Value.Kind != frontmatter.List {
		r.lost(f.Value.Line, f.Value.Column, fmt.Sprintf(yamlNotList, spelled(f)))
		return nil
	}
	out := []string{}
	for _, item := range f.Value.Items {
		if item.Kind != frontmatter.Scalar {
			r.add(item.Line, item.Column, routines.Error, fmt.Sprintf(yamlNotText, spelled(f)))
			continue
		}
		severity, message := routines.CheckTool(item.Text)
		if severity != "" {
			r.add(item.Line, item.Column, severity, message)
		}
		if severity != routines.Error {
			out = append(out, strings.TrimSpace(item.Text))
		}
	}
	return out
}

// spelled returns a key in the spelling of this file.
func spelled(f frontmatter.Field) string { return strings.ReplaceAll(f.Key, "-", "_") }

func show(f frontmatter.Field) string { return `"` + clean.Cut(clean.Line(spelled(f)), 60) + `"` }
