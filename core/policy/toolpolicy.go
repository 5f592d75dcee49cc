package policy

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"ollimbot/core/clean"
	"ollimbot/core/fault"
	"ollimbot/core/store"
	"ollimbot/routines"
)

// fileName is the user's own tool policy, in the data directory.
const fileName = "tool-policy.yaml"

// ToolPolicy is what tool-policy.yaml says. The zero value changes nothing.
type ToolPolicy struct {
	MainAdditional       []string // main_session.additional_allowed
	BackgroundAdditional []string // bg_forks.additional_allowed
	// Override replaces the background defaults when it is not nil, also when
	// it is empty: bg_forks.override.
	Override []string
}

// Main is the list of the main session and of interactive forks.
func (p ToolPolicy) Main() []string { return Merge(MainTools(), p.MainAdditional) }

// Background is the list that every background run begins with.
func (p ToolPolicy) Background() []string {
	base := BackgroundTools()
	if p.Override != nil {
		base = p.Override
	}
	return Merge(base, p.BackgroundAdditional)
}

// File reads tool-policy.yaml and keeps what it read until the file changes.
// It is safe for concurrent use.
type File struct {
	dir *store.Dir

	loaded *store.Cached[loaded]
	// good is the last policy that was understood.
	good atomic.Pointer[ToolPolicy]
}

// loaded is what the file says, and what is wrong with it.
type loaded struct {
	policy   ToolPolicy
	problems []routines.Problem
}

// NewFile names the file of a data directory. It reads nothing yet.
func NewFile(d *store.Dir) *File { return &File{dir: d, loaded: store.NewCached[loaded](d, fileName)} }

// Load returns the policy in force and what is wrong with the file, each problem
// with its line and cure. Patterns with errors are left out. A file that cannot
// be understood leaves the last good policy in force. Callers must not change
// what the slices hold.
func (f *File) Load() (ToolPolicy, []routines.Problem) {
	l, err := f.loaded.Load(f.read)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l = loaded{}
	case err != nil:
		l.problems = []routines.Problem{problem(0, 0, routines.Error, fmt.Sprintf(yamlUnreadable, err))}
		if good := f.good.Load(); good != nil {
			l.policy = *good
		}
	}
	f.good.Store(&l.policy)
	return l.policy, slices.Clone(l.problems)
}

func (f *File) read() (loaded, error) {
	data, err := f.dir.Read(fileName)
	if err != nil {
		return loaded{}, err
	}
	policy, problems, ok := parsePolicy(data)
	if good := f.good.Load(); !ok && good != nil {
		policy = *good
	}
	return loaded{policy, problems}, nil
}

func problem(line, column int, s routines.Severity, message string) routines.Problem {
	return routines.Problem{File: fileName, Line: line, Column: column, Severity: s, Message: clean.Line(message)}
}

// What is given to the library: its time grows faster than the text.
const (
	maxFile  = store.MaxFrontMatter
	maxLines = 2000
	maxDepth = 50
)

// yamlError is what the library's errors can do.
type yamlError interface {
	error
	GetToken() *token.Token
	GetMessage() string
}

// reader collects what the file says and what is wrong with it.
type reader struct {
	policy   ToolPolicy
	problems []routines.Problem
}

// parsePolicy reads the file's text. Not ok means that it could not be
// understood at all. The library may panic on garbage.
func parsePolicy(data []byte) (policy ToolPolicy, problems []routines.Problem, ok bool) {
	whole := func(line, column int, message string) (ToolPolicy, []routines.Problem, bool) {
		return ToolPolicy{}, []routines.Problem{problem(line, column, routines.Error, message)}, false
	}
	defer fault.Rescue("the tool policy", func(_ *fault.Error) {
		policy, problems, ok = whole(1, 1, fmt.Sprintf(yamlSyntax, "the reader gave up"))
	})
	if len(data) > maxFile {
		return whole(0, 0, fmt.Sprintf(yamlTooLarge, maxFile>>10))
	}
	text := strings.TrimPrefix(strings.ReplaceAll(string(data), "\r\n", "\n"), "\ufeff")
	if line := tooDeep(text); line > 0 {
		return whole(line, 1, yamlTooDeep)
	}
	file, err := parser.ParseBytes([]byte(text), 0)
	if y, ok := errors.AsType[yamlError](err); ok {
		line, column := position(y.GetToken())
		return whole(line, column, fmt.Sprintf(yamlSyntax, clean.Cut(clean.Line(y.GetMessage()), 100)))
	}
	if err != nil {
		return whole(1, 1, fmt.Sprintf(yamlSyntax, clean.Cut(clean.Line(err.Error()), 100)))
	}
	r := &reader{}
	r.file(file)
	slices.SortStableFunc(r.problems, func(a, b routines.Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return r.policy, r.problems, true
}

// tooDeep is the line where nesting goes beyond what any list of tools needs, or 0.
func tooDeep(text string) int {
	depth := 0
	for i, line := range strings.Split(text, "\n") {
		depth = max(0, depth+strings.Count(line, "[")+strings.Count(line, "{"))
		if i >= maxLines || depth > maxDepth || strings.Count(line, "- -") > maxDepth ||
			strings.Count(line, "? ?") > maxDepth || len(line)-len(strings.TrimLeft(line, " ")) > 20*maxDepth {
			return i + 1
		}
		depth = max(0, depth-strings.Count(line, "]")-strings.Count(line, "}"))
	}
	return 0
}

func position(t *token.Token) (line, column int) {
	if t == nil || t.Position == nil {
		return 1, 1
	}
	return max(1, t.Position.Line), max(1, t.Position.Column)
}

func (r *reader) add(n ast.Node, s routines.Severity, message string) {
	line, column := position(n.GetToken())
	r.problems = append(r.problems, problem(line, column, s, message))
}

func (r *reader) file(f *ast.File) {
	if len(f.Docs) == 0 || f.Docs[0].Body == nil {
		return
	}
	if len(f.Docs) > 1 && f.Docs[1].Body != nil {
		r.add(f.Docs[1].Body, routines.Warning, yamlTwoDocs)
	}
	sections, ok := pairs(f.Docs[0].Body)
	if !ok {
		if !empty(f.Docs[0].Body) {
			r.add(f.Docs[0].Body, routines.Warning, yamlNotMap)
		}
		return
	}
	for _, s := range sections {
		switch key(s) {
		case "main_session":
			r.section(s, map[string]*[]string{"additional_allowed": &r.policy.MainAdditional})
		case "bg_forks":
			r.section(s, map[string]*[]string{
				"additional_allowed": &r.policy.BackgroundAdditional, "override": &r.policy.Override,
			})
		default:
			r.add(s.Key, routines.Warning, fmt.Sprintf(yamlUnknown, show(s), "main_session or bg_forks"))
		}
	}
}

// section reads the lists of main_session or bg_forks.
func (r *reader) section(s *ast.MappingValueNode, lists map[string]*[]string) {
	names := make([]string, 0, len(lists))
	for _, name := range []string{"additional_allowed", "override"} {
		if lists[name] != nil {
			names = append(names, name)
		}
	}
	known := strings.Join(names, " or ")
	if empty(s.Value) {
		return
	}
	fields, ok := pairs(s.Value)
	if !ok {
		r.add(s.Value, routines.Error, fmt.Sprintf(yamlSection, key(s), known))
		return
	}
	for _, f := range fields {
		list := lists[key(f)]
		switch {
		case list == nil:
			r.add(f.Key, routines.Warning, fmt.Sprintf(yamlUnknown, show(f), known))
		case !empty(f.Value):
			r.list(f, list)
		}
	}
}

// list reads patterns; those with errors are left out.
func (r *reader) list(f *ast.MappingValueNode, out *[]string) {
	seq, ok := f.Value.(*ast.SequenceNode)
	if !ok {
		r.add(f.Value, routines.Error, fmt.Sprintf(yamlNotList, key(f)))
		return
	}
	*out = []string{}
	for _, item := range seq.Values {
		text, ok := scalar(item)
		if !ok {
			r.add(item, routines.Error, fmt.Sprintf(yamlNotText, key(f)))
			continue
		}
		severity, message := routines.CheckTool(text)
		if severity != "" {
			r.add(item, severity, message)
		}
		if severity != routines.Error {
			*out = append(*out, strings.TrimSpace(text))
		}
	}
}

// pairs are the keys of a mapping; the library has two shapes for one.
func pairs(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	return nil, false
}

func scalar(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	}
	return "", false
}

// empty is a key without a value, or a file of nothing but comments.
func empty(n ast.Node) bool {
	switch n.(type) {
	case nil, *ast.NullNode, *ast.CommentGroupNode:
		return true
	}
	return false
}

// key is a key in the file's spelling; dashes are forgiven.
func key(p *ast.MappingValueNode) string {
	if t := p.Key.GetToken(); t != nil {
		return strings.ReplaceAll(strings.TrimSpace(t.Value), "-", "_")
	}
	return ""
}

func show(p *ast.MappingValueNode) string { return `"` + clean.Cut(clean.Line(key(p)), 60) + `"` }
