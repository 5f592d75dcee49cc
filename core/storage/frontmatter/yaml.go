package frontmatter

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/fault"
)

// Limits of the library's input. A webhook's schema is nested about six levels deep; the library's
// time grows with the square of the number of lines.
const (
	maxDepth = 50
	maxLines = 2000
)

// yamlError is the interface of the library's errors.
type yamlError interface {
	error
	GetToken() *token.Token
	GetMessage() string
}

// parse reads the keys, or finds the mistake. inner normalizes the keys inside of values. The
// library may panic on garbage.
func parse(f fences, inner func(string) string) (fields []Field, err error) {
	defer fault.Rescue("the front matter", func(_ *fault.Error) {
		fields, err = nil, &SyntaxError{Line: f.firstLine, Column: 1, Message: msgUnreadable}
	})
	for _, check := range []func(fences) error{checkText, checkSize, slip} {
		if err := check(f); err != nil {
			return nil, err
		}
	}
	file, err := parser.ParseBytes([]byte(clearBlank(f)), 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, f.translate(err)
	}
	c := converter{f: f, inner: inner}
	switch len(file.Docs) {
	case 0:
		return []Field{}, nil
	case 1:
		return c.fields(file.Docs[0].Body, 0)
	}
	line, col := f.firstLine, 1
	if d := file.Docs[1]; d.Body != nil {
		line, _ = f.position(d.Body.GetToken())
	}
	return nil, &SyntaxError{Line: line, Column: col, Message: msgTwoDocs}
}

// clearBlank empties the lines with only white space: the library takes a tab in one for
// indentation.
func clearBlank(f fences) string {
	if !strings.Contains(f.yaml, "\t") {
		return f.yaml
	}
	lines := slices.Clone(f.lines)
	for i, l := range lines {
		if blank(l) {
			lines[i] = ""
		}
	}
	return strings.Join(lines, "\n")
}

// checkSize refuses input that would exhaust the library: it counts lines, brackets and the steps
// of `- - -` and `? ? ?` on a line, quoted or not.
func checkSize(f fences) error {
	depth, line := 0, f.firstLine
	for i := 0; i < len(f.yaml); i++ {
		switch f.yaml[i] {
		case '\n':
			line++
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(0, depth-1)
		}
		if depth > maxDepth {
			return &SyntaxError{Line: line, Column: 1, Message: msgTooDeep}
		}
	}
	if len(f.lines) > maxLines {
		return &SyntaxError{Line: f.firstLine + maxLines, Column: 1, Message: msgTooLong}
	}
	for no, l := range f.lines {
		if strings.Count(l, "- -") > maxDepth || strings.Count(l, "? ?") > maxDepth ||
			len(l)-len(strings.TrimLeft(l, " ")) > 20*maxDepth {
			return &SyntaxError{Line: f.firstLine + no, Column: 1, Message: msgTooDeep}
		}
	}
	return nil
}

// position returns a token's position in the file.
func (f fences) position(t *token.Token) (line, col int) {
	if t == nil || t.Position == nil {
		return f.firstLine, 1
	}
	return f.firstLine + max(1, t.Position.Line) - 1, max(1, t.Position.Column)
}

// textPosition returns the position of a plain scalar. The library counts the spaces behind it.
func (f fences) textPosition(t *token.Token) (line, col int) {
	line, col = f.position(t)
	if i := line - f.firstLine; i < len(f.lines) {
		before := []rune(f.lines[i])
		for at := min(col-1, len(before)); at >= 0; at-- {
			if strings.HasPrefix(string(before[at:]), t.Value) {
				return line, at + 1
			}
		}
	}
	return line, col
}

// translate converts the library's error to this package's messages and line numbers.
func (f fences) translate(err error) error {
	out := &SyntaxError{Line: f.firstLine, Column: 1, Message: msgUnreadable}
	var y yamlError
	if !errors.As(err, &y) {
		return out
	}
	out.Line, out.Column = f.position(y.GetToken())
	message := y.GetMessage()
	for _, h := range hints {
		if strings.Contains(message, h.has) {
			out.Message = h.message
			return out
		}
	}
	out.Message = fmt.Sprintf(msgYAML, clean.Cut(clean.Line(message), 100))
	return out
}

// converter converts the library's tree to fields.
type converter struct {
	f     fences
	inner func(string) string // normalizes the keys inside of values
}

func (c converter) fields(n ast.Node, depth int) ([]Field, error) {
	var pairs []*ast.MappingValueNode
	what := "not a list of keys"
	switch n := n.(type) {
	case nil, *ast.CommentGroupNode:
		return []Field{}, nil
	case *ast.NullNode:
		if implicit(n) {
			return []Field{}, nil
		}
		what = "a single value"
	case *ast.MappingNode:
		pairs = n.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{n}
	case *ast.SequenceNode:
		what = "a list"
	case *ast.StringNode, *ast.LiteralNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		what = "a single value"
	}
	if pairs == nil {
		line, col := c.f.position(n.GetToken())
		return nil, &SyntaxError{Line: line, Column: col, Message: fmt.Sprintf(msgNotMap, what)}
	}
	out := make([]Field, 0, len(pairs))
	for _, p := range pairs {
		f, err := c.field(p, depth)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, checkDuplicates(out)
}

func (c converter) field(p *ast.MappingValueNode, depth int) (Field, error) {
	var f Field
	spell := kebab
	if depth > 0 {
		spell = c.inner
	}
	f.Line, f.Column = c.f.position(p.Key.GetToken())
	switch k := p.Key.(type) {
	case *ast.StringNode:
		f.Key = spell(k.Value)
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode, *ast.MergeKeyNode:
		f.Key = spell(strings.TrimSpace(p.Key.GetToken().Value))
	default:
		return f, &SyntaxError{Line: f.Line, Column: f.Column, Message: msgComplexKey}
	}
	v, err := c.value(p.Value, depth)
	if v.Kind == Null && implicit(p.Value) {
		v.Line, v.Column = f.Line, f.Column
	}
	f.Value = v
	return f, err
}

// implicit reports whether a null is written as no text at all.
func implicit(n ast.Node) bool {
	null, ok := n.(*ast.NullNode)
	return n == nil || ok && null.Token.Type == token.ImplicitNullType
}

// value converts a node. Scalars keep the text in the file.
func (c converter) value(n ast.Node, depth int) (Value, error) {
	if n == nil {
		return Value{}, nil
	}
	var v Value
	v.Line, v.Column = c.f.position(n.GetToken())
	if depth > maxDepth {
		return v, &SyntaxError{Line: v.Line, Column: v.Column, Message: msgTooDeep}
	}
	switch n := n.(type) {
	case *ast.NullNode:
		v.Line, v.Column = c.f.textPosition(n.Token)
	case *ast.StringNode:
		v.Kind, v.Text = Scalar, n.Value
		v.Quoted = n.Token.Type == token.SingleQuoteType || n.Token.Type == token.DoubleQuoteType
		if !v.Quoted {
			v.Line, v.Column = c.f.textPosition(n.Token)
		}
	case *ast.LiteralNode:
		v.Kind, v.Text = Scalar, n.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		v.Kind, v.Text = Scalar, strings.TrimSpace(n.GetToken().Value)
		v.Line, v.Column = c.f.textPosition(n.GetToken())
	case *ast.SequenceNode:
		v.Kind = List
		for _, item := range n.Values {
			i, err := c.value(item, depth+1)
			if err != nil {
				return v, err
			}
			v.Items = append(v.Items, i)
		}
	case *ast.MappingNode, *ast.MappingValueNode:
		v.Kind = Map
		var err error
		v.Fields, err = c.fields(n, depth+1)
		return v, err
	case *ast.TagNode:
		return c.value(n.Value, depth+1)
	case *ast.AnchorNode, *ast.AliasNode:
		return v, &SyntaxError{Line: v.Line, Column: v.Column, Message: msgAlias}
	default:
		return v, &SyntaxError{Line: v.Line, Column: v.Column, Message: msgUnreadable}
	}
	return v, nil
}
