package settings

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"ollimbot/core/clean"
	"ollimbot/tui/action"
)

// reader collects what is wrong with a file.
type reader struct {
	file     string
	problems []Problem
}

// field is a name with its values, each with its place.
type field struct {
	name   text
	values []text
	list   bool
}

// text is a word of the file and where it stands.
type text struct {
	word         string
	line, column int
}

func (r *reader) add(at text, format string, args ...any) {
	r.problems = append(r.problems, Problem{r.file, at.line, at.column, fmt.Sprintf(format, args...)})
}

// yamlError is what the library's errors can do.
type yamlError interface {
	error
	GetToken() *token.Token
	GetMessage() string
}

// fields reads a file of names with one value or a list of them each. The
// library may panic on garbage.
func (r *reader) fields(source string) (out []field) {
	defer func() {
		if p := recover(); p != nil {
			out = nil
			r.add(text{}, textSyntax, "the reader gave up")
		}
	}()
	source = strings.TrimPrefix(strings.ReplaceAll(source, "\r\n", "\n"), "\ufeff")
	file, err := parser.ParseBytes([]byte(source), 0)
	if err != nil {
		at, message := text{line: 1, column: 1}, err.Error()
		var y yamlError
		if errors.As(err, &y) {
			at, message = place(y.GetToken()), y.GetMessage()
		}
		r.add(at, textSyntax, clean.Cut(clean.Line(message), 100))
		return nil
	}
	if len(file.Docs) == 0 {
		return nil
	}
	var nodes []*ast.MappingValueNode
	switch n := file.Docs[0].Body.(type) {
	case nil, *ast.NullNode, *ast.CommentGroupNode:
	case *ast.MappingNode:
		nodes = n.Values
	case *ast.MappingValueNode:
		nodes = []*ast.MappingValueNode{n}
	default:
		r.add(place(n.GetToken()), textNoMap)
	}
	for _, n := range nodes {
		if f, ok := r.field(n); ok {
			if slices.ContainsFunc(out, func(o field) bool { return o.name.word == f.name.word }) {
				r.add(f.name, textTwice, shown(f.name))
				continue
			}
			out = append(out, f)
		}
	}
	return out
}

func (r *reader) field(n *ast.MappingValueNode) (field, bool) {
	f := field{name: word(n.Key)}
	switch v := n.Value.(type) {
	case nil, *ast.NullNode:
		return f, true
	case *ast.SequenceNode:
		f.list = true
		for _, item := range v.Values {
			if !plain(item) {
				r.add(word(item), textNoWord, shown(f.name))
				return f, false
			}
			f.values = append(f.values, word(item))
		}
	default:
		if !plain(v) {
			r.add(word(v), textNoWord, shown(f.name))
			return f, false
		}
		f.values = []text{word(v)}
	}
	return f, true
}

// plain reports whether a node is one word: "5" and "true" are words too.
func plain(n ast.Node) bool {
	switch n.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return true
	}
	return false
}

func word(n ast.Node) text {
	t := place(n.GetToken())
	if tok := n.GetToken(); tok != nil {
		t.word = strings.TrimSpace(tok.Value)
	}
	return t
}

func place(t *token.Token) text {
	if t == nil || t.Position == nil {
		return text{line: 1, column: 1}
	}
	return text{line: max(1, t.Position.Line), column: max(1, t.Position.Column)}
}

// dashboard takes one field of dashboard.yaml.
func (r *reader) dashboard(d *Dashboard, f field, layouts []string) {
	if len(f.values) != 1 || f.list {
		r.add(f.name, textOneValue, shown(f.name))
		return
	}
	v := f.values[0]
	switch name := f.name.word; name {
	case "theme":
		d.Theme = r.choice(v, Themes)
	case "layout":
		d.Layout = r.choice(v, layouts)
	case "columns":
		d.Columns = r.number(v, MaxColumns)
	case "bell":
		d.Bell = r.yes(v, d.Bell)
	case "title":
		d.Title = r.yes(v, d.Title)
	case "motion":
		d.Motion = r.yes(v, d.Motion)
	case "welcomed":
		d.Welcomed = r.yes(v, d.Welcomed)
	default:
		pane, ok := strings.CutPrefix(name, "rows-")
		if !ok || !slices.Contains(action.Panes, action.Pane(pane)) {
			r.add(f.name, textUnknown, shown(f.name))
			return
		}
		if d.Rows == nil {
			d.Rows = map[action.Pane]int{}
		}
		d.Rows[action.Pane(pane)] = r.number(v, MaxRows)
	}
}

func (r *reader) choice(v text, from []string) string {
	if slices.Contains(from, v.word) {
		return v.word
	}
	r.add(v, textChoice, shown(v), strings.Join(from, ", "))
	return ""
}

func (r *reader) number(v text, most int) int {
	n, err := strconv.Atoi(v.word)
	if err != nil || n < -most || n > most {
		r.add(v, textNumber, shown(v), -most, most)
		return 0
	}
	return n
}

func (r *reader) yes(v text, otherwise bool) bool {
	switch v.word {
	case "true":
		return true
	case "false":
		return false
	}
	r.add(v, textChoice, shown(v), "true, false")
	return otherwise
}

func shown(t text) string { return `"` + clean.Cut(clean.Line(t.word), 40) + `"` }

// inOrder sorts by place.
func inOrder(list []Problem) []Problem {
	slices.SortStableFunc(list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return list
}
