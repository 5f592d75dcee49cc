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
	"ollimbot/core/fault"
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
	defer fault.Rescue("the settings", func(_ *fault.Error) {
		out = nil
		r.add(text{}, textSyntax, "the reader gave up")
	})
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
	case "clock":
		d.Clock = r.choice(v, Clocks)
	case "charts":
		d.Charts = r.choice(v, Pens)
	case "bell":
		if older, ok := map[string]string{"true": "bell", "false": "off"}[v.word]; ok {
			v.word = older
		}
		d.Bell = cmp.Or(r.choice(v, Bells), d.Bell)
	case "title":
		d.Title = r.yes(v, d.Title)
	case "motion":
		d.Motion = r.yes(v, d.Motion)
	case "welcomed":
		// Older files have it. The first words are shown until something is set up.
	default:
		if _, ok := sizeOf(name, layouts); !ok {
			r.add(f.name, textUnknown, shown(f.name))
		}
	}
}

// moved is what a field of sizes is about. An empty layout is the one that the
// file names: older files have no other.
type moved struct {
	pane   action.Pane // empty for the columns
	right  bool        // the third column
	layout string
}

// sizeOf reads the name of a size: columns-chat, rows-updates-chat, or without
// the layout.
func sizeOf(name string, layouts []string) (m moved, ok bool) {
	what, rest, _ := strings.Cut(name, "-")
	switch what {
	case "columns", "right":
		m.layout, m.right = rest, what == "right"
	case "rows":
		pane, layout, _ := strings.Cut(rest, "-")
		m = moved{pane: action.Pane(pane), layout: layout}
		if !slices.Contains(action.Panes, m.pane) {
			return m, false
		}
	default:
		return m, false
	}
	return m, m.layout == "" && !strings.HasSuffix(name, "-") || slices.Contains(layouts, m.layout)
}

// size takes one field of dashboard.yaml, if it is a size.
func (r *reader) size(d *Dashboard, f field, layouts []string) {
	m, ok := sizeOf(f.name.word, layouts)
	if !ok || len(f.values) != 1 || f.list {
		return
	}
	if m.layout == "" {
		m.layout = cmp.Or(d.Layout, layouts[0])
	}
	if d.Sizes == nil {
		d.Sizes = map[string]Size{}
	}
	size := d.Sizes[m.layout]
	switch {
	case m.right:
		size.Right = r.number(f.values[0], maxColumns)
	case m.pane == "":
		size.Columns = r.number(f.values[0], maxColumns)
	default:
		if size.Rows == nil {
			size.Rows = map[action.Pane]int{}
		}
		size.Rows[m.pane] = r.number(f.values[0], maxRows)
	}
	d.Sizes[m.layout] = size
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

// Keys reads keys.yaml: names of actions with a key or a list of keys each.
// "forks/tail.wrap" means the action of one pane, "tail.wrap" those of all panes.
// What is wrong keeps the keys of the table.
func Keys(dir string) (action.Keys, []Problem) {
	source, problems := read(dir, KeysFile)
	r := reader{file: KeysFile, problems: problems}
	var changes []action.Change
	var places []field
	for _, f := range r.fields(source) {
		c, ok := r.change(f)
		if ok {
			changes, places = append(changes, c), append(places, f)
		}
	}
	keys, refused := action.Keys{}.Change(changes)
	for _, why := range refused {
		f := places[why.Index]
		switch {
		case why.Unknown:
			r.add(f.name, textNoAction, shown(f.name))
		case why.Fixed:
			r.add(f.name, textFixed, shown(f.name))
		default:
			r.add(at(f, changes[why.Index].Keys, why.Key), textTaken, why.Key, f.name.word, why.Other.ID, where(why.Other.Pane))
		}
	}
	return keys, inOrder(r.problems)
}

// change reads one field.
func (r *reader) change(f field) (action.Change, bool) {
	c := action.Change{ID: action.ID(f.name.word)}
	if pane, id, ok := strings.Cut(f.name.word, "/"); ok {
		c.Pane, c.ID = action.Pane(pane), action.ID(id)
	}
	if len(f.values) == 0 && !f.list {
		r.add(f.name, textNoKeys, shown(f.name))
		return c, false
	}
	for _, v := range f.values {
		key, better, ok := action.Spell(v.word)
		switch {
		case !ok && better != "":
			r.add(v, textWrite, shown(v), better)
		case !ok:
			r.add(v, textNoKey, shown(v))
		}
		if !ok {
			return c, false
		}
		c.Keys = append(c.Keys, key)
	}
	return c, true
}

// at is where in a field a key stands.
func at(f field, keys []string, key string) text {
	for i, k := range keys {
		if k == key && i < len(f.values) {
			return f.values[i]
		}
	}
	return f.name
}

func where(p action.Pane) string {
	if p == action.Everywhere {
		return "everywhere"
	}
	return "in the pane " + string(p)
}
