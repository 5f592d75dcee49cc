package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
)

// A site is a place in a package: the beginning of a block, or an expression or statement that can be changed while the
// program runs. All sites of a package are in one binary, and a variable chooses the one that is changed: compiling takes
// much longer than most tests.
type site struct {
	at      token.Position
	what    string // the change; empty at the beginning of a block
	name    string // the change of its line, whatever the line's number; empty like what
	dropped bool   // it does not compile
	edits   []edit
}

// place is the file, line and column of a site.
func (s site) place() string {
	return fmt.Sprintf("%s:%d:%d", filepath.Base(s.at.Filename), s.at.Line, s.at.Column)
}

// edit replaces source between two offsets of a file. Where several begin at the same offset, rank orders them.
type edit struct {
	from, until, rank int
	text              string
}

// mutator finds the sites of a package.
type mutator struct {
	fset  *token.FileSet
	info  *types.Info
	own   *types.Package
	sites []site
	ranks int
}

// file adds the sites of a file.
func (m *mutator) file(f *ast.File) {
	ast.PreorderStack(f, nil, func(n ast.Node, above []ast.Node) bool {
		if len(above) == 0 {
			return true
		}
		parent := above[len(above)-1]
		switch n := n.(type) {
		case *ast.GenDecl:
			return n.Tok == token.VAR
		case *ast.FieldList, *ast.FuncType, *ast.ArrayType, *ast.MapType, *ast.StructType, *ast.InterfaceType:
			return false
		case *ast.BlockStmt:
			if !slices.ContainsFunc(n.List, isClause) {
				m.block(n.Lbrace)
			}
		case *ast.CaseClause:
			m.block(n.Colon)
		case *ast.CommClause:
			m.block(n.Colon)
		case *ast.ReturnStmt:
			m.returned(n)
		case *ast.CallExpr:
			if m.callee(n) == "log/slog" {
				return false
			}
		}
		if s, ok := n.(ast.Stmt); ok {
			m.statement(s, parent)
		}
		if e, ok := n.(ast.Expr); ok {
			m.expression(f, e, above)
		}
		return true
	})
}

func isClause(s ast.Stmt) bool {
	switch s.(type) {
	case *ast.CaseClause, *ast.CommClause:
		return true
	}
	return false
}

// block adds a site that only notes that it is reached, behind a brace or colon.
func (m *mutator) block(pos token.Pos) {
	m.add(pos, "", edit{from: m.offset(pos) + 1, text: " mutantAt(%d);"})
}

// statement adds a site that leaves out a statement of a list.
func (m *mutator) statement(s ast.Stmt, parent ast.Node) {
	switch p := parent.(type) {
	case *ast.BlockStmt, *ast.CaseClause:
	case *ast.CommClause:
		if p.Comm == s {
			return
		}
	default:
		return
	}
	switch s := s.(type) {
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		if !ok || m.callee(call) == "log/slog" || m.callee(call) == "panic" {
			return
		}
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE || !slices.ContainsFunc(s.Lhs, func(e ast.Expr) bool { return !isName(e, "_") }) {
			return
		}
	case *ast.IncDecStmt:
	default:
		return
	}
	m.wrap(s, "statement left out", "if !mutantAt(%d) { ", " }")
}

func (m *mutator) returned(r *ast.ReturnStmt) {
	if len(r.Results) == 0 {
		return
	}
	last := r.Results[len(r.Results)-1]
	if !isName(last, "nil") && types.Identical(m.info.TypeOf(last), types.Universe.Lookup("error").Type()) {
		m.wrap(last, "error dropped", "mutantError(%d, ", ")")
	}
}

var (
	compared = map[token.Token]string{token.LSS: "mutantLess", token.LEQ: "mutantLeast", token.GTR: "mutantMore", token.GEQ: "mutantMost"}
	computed = map[token.Token]string{token.ADD: "mutantAdd", token.SUB: "mutantSub", token.MUL: "mutantMul", token.QUO: "mutantQuo"}
)

// expression adds what can be changed about an expression: that it holds, its bound, its operator or its constant.
func (m *mutator) expression(f *ast.File, e ast.Expr, above []ast.Node) {
	tv := m.info.Types[e]
	if !tv.IsValue() {
		return
	}
	parent := above[len(above)-1]
	if tv.Value != nil {
		m.constant(f, e, tv, above)
		return
	}
	b, binary := e.(*ast.BinaryExpr)
	logic := binary && (b.Op == token.LAND || b.Op == token.LOR)
	if p, ok := parent.(*ast.BinaryExpr); ok && (!logic || b.Op != p.Op) {
		switch p.Op {
		case token.LAND:
			m.wrap(e, "condition left out", "(", " || mutantAt(%d))")
			return
		case token.LOR:
			m.wrap(e, "condition left out", "(", " && !mutantAt(%d))")
			return
		}
	}
	if (isCondition(parent, e) && !logic) || (binary && (b.Op == token.EQL || b.Op == token.NEQ)) {
		m.wrap(e, "condition negated", "(mutantAt(%d) != (", "))")
	}
	if !binary || m.shifts(b.X) || m.shifts(b.Y) {
		return
	}
	if name := compared[b.Op]; name != "" {
		m.call(b, "bound moved", name)
	}
	basic, _ := tv.Type.Underlying().(*types.Basic)
	if name := computed[b.Op]; name != "" && basic != nil && basic.Info()&(types.IsInteger|types.IsFloat) != 0 {
		m.call(b, "other operator", name)
	}
}

func isCondition(parent ast.Node, e ast.Expr) bool {
	switch p := parent.(type) {
	case *ast.IfStmt:
		return p.Cond == e
	case *ast.ForStmt:
		return p.Cond == e
	}
	return false
}

// shifts reports whether an operand takes its type from the other one in a way that a function would change.
func (m *mutator) shifts(e ast.Expr) bool {
	b, ok := ast.Unparen(e).(*ast.BinaryExpr)
	return ok && (b.Op == token.SHL || b.Op == token.SHR)
}

// constant adds a site for the outermost constant expression.
func (m *mutator) constant(f *ast.File, e ast.Expr, tv types.TypeAndValue, above []ast.Node) {
	switch p := above[len(above)-1].(type) {
	case ast.Expr:
		if m.info.Types[p].Value != nil {
			return
		}
		switch p := p.(type) {
		case *ast.CallExpr:
			if c := m.callee(p); c == "make" || c == "errors" || c == "fmt.Errorf" {
				return
			}
		case *ast.KeyValueExpr:
			if _, isMap := m.info.TypeOf(above[len(above)-2].(ast.Expr)).Underlying().(*types.Map); p.Key == e && !isMap {
				return
			}
		case *ast.BinaryExpr: // == "" and << 3
			if p.Op == token.SHL || p.Op == token.SHR || tv.Value.Kind() == constant.String && constant.StringVal(tv.Value) == "" {
				return
			}
		case *ast.SelectorExpr:
			return
		}
	case *ast.ReturnStmt: // return 0, err
		if last := p.Results[len(p.Results)-1]; last != e && !isName(last, "nil") && zero(tv.Value) {
			return
		}
	}
	basic, ok := tv.Type.Underlying().(*types.Basic)
	if _, param := tv.Type.(*types.TypeParam); param || !ok || basic.Info()&types.IsUntyped != 0 {
		return
	}
	name := types.TypeString(tv.Type, func(p *types.Package) string {
		if p == m.own {
			return ""
		}
		return p.Name() // if the file does not import it, the site is dropped
	})
	switch {
	case basic.Info()&types.IsBoolean != 0:
		m.wrap(e, "constant negated", "(mutantAt(%d) != ", ")")
	case basic.Info()&(types.IsInteger|types.IsFloat) != 0:
		m.wrap(e, "other number", "mutantNumber["+name+"](%d, ", ")")
	case basic.Info()&types.IsString != 0:
		m.wrap(e, "other word", "mutantWord["+name+"](%d, ", ")")
	}
}

func zero(v constant.Value) bool {
	switch v.Kind() {
	case constant.Bool:
		return !constant.BoolVal(v)
	case constant.String:
		return constant.StringVal(v) == ""
	case constant.Int, constant.Float:
		return constant.Sign(v) == 0
	}
	return false
}

func isName(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// callee identifies functions whose arguments are not changed: a builtin, fmt.Errorf, or the package errors or log/slog.
func (m *mutator) callee(call *ast.CallExpr) string {
	var id *ast.Ident
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	default:
		return ""
	}
	switch o := m.info.Uses[id].(type) {
	case *types.Builtin:
		return o.Name()
	case *types.Func:
		if o.Pkg() == nil {
			return ""
		}
		if path := o.Pkg().Path(); path != "fmt" {
			return path
		}
		return "fmt." + o.Name()
	}
	return ""
}

func (m *mutator) offset(p token.Pos) int { return m.fset.PositionFor(p, false).Offset }

// wrap puts text before and behind a node.
func (m *mutator) wrap(n ast.Node, what, open, closing string) {
	m.ranks++
	m.add(n.Pos(), what,
		edit{from: m.offset(n.Pos()), rank: m.ranks, text: open},
		edit{from: m.offset(n.End()), rank: -m.ranks, text: closing})
}

// call replaces an operator with a function.
func (m *mutator) call(b *ast.BinaryExpr, what, name string) {
	m.wrap(b, what+": "+b.Op.String(), name+"(%d, ", ")")
	s := &m.sites[len(m.sites)-1]
	op := m.offset(b.OpPos)
	s.at = m.fset.PositionFor(b.OpPos, false)
	s.edits = append(s.edits, edit{from: op, until: op + len(b.Op.String()), text: ","})
}

// add adds a site. The first edit with a verb gets its number.
func (m *mutator) add(pos token.Pos, what string, edits ...edit) {
	for i := range edits {
		if strings.Contains(edits[i].text, "%d") {
			edits[i].text = fmt.Sprintf(edits[i].text, len(m.sites))
		}
	}
	m.sites = append(m.sites, site{at: m.fset.PositionFor(pos, false), what: what, edits: edits})
}

// changed returns the source of a file with all its sites. No line gets another number.
func changed(name string, source []byte, sites []site) []byte {
	var edits []edit
	for _, s := range sites {
		if s.at.Filename == name && !s.dropped {
			edits = append(edits, s.edits...)
		}
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.rank, b.rank)) })
	var out []byte
	done := 0
	for _, e := range edits {
		out = append(out, source[done:e.from]...)
		out = append(out, e.text...)
		done = max(e.from, e.until)
	}
	return append(out, source[done:]...)
}

// switches is the file that joins the package: %[1]s is its name, %[2]d the number of sites.
const switches = `package %[1]s

import (
	mutantcmp "cmp"
	mutantos "os"
	mutantstrconv "strconv"
	mutantatomic "sync/atomic"
)

var (
	mutantNow, _ = mutantstrconv.Atoi(mutantos.Getenv("SUITE_MUTANT"))
	mutantLog, _ = mutantos.OpenFile(mutantos.Getenv("SUITE_REACHED"), mutantos.O_APPEND|mutantos.O_WRONLY, 0)
	mutantSeen [%[2]d]mutantatomic.Bool
)

func mutantAt(n int) bool {
	if mutantLog != nil && !mutantSeen[n].Swap(true) {
		_, _ = mutantLog.WriteString(mutantstrconv.Itoa(n) + "\n")
	}
	return n == mutantNow
}

func mutantError(n int, err error) error { if mutantAt(n) { return nil }; return err }

func mutantLess[T mutantcmp.Ordered](n int, a, b T) bool  { if mutantAt(n) { return a <= b }; return a < b }
func mutantLeast[T mutantcmp.Ordered](n int, a, b T) bool { if mutantAt(n) { return a < b }; return a <= b }
func mutantMore[T mutantcmp.Ordered](n int, a, b T) bool  { if mutantAt(n) { return a >= b }; return a > b }
func mutantMost[T mutantcmp.Ordered](n int, a, b T) bool  { if mutantAt(n) { return a > b }; return a >= b }

type mutantNumeric interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr | ~float32 | ~float64
}

func mutantAdd[T mutantNumeric](n int, a, b T) T { if mutantAt(n) { return a - b }; return a + b }
func mutantSub[T mutantNumeric](n int, a, b T) T { if mutantAt(n) { return a + b }; return a - b }
func mutantMul[T mutantNumeric](n int, a, b T) T { if mutantAt(n) { return a / b }; return a * b }
func mutantQuo[T mutantNumeric](n int, a, b T) T { if mutantAt(n) { return a * b }; return a / b }

func mutantNumber[T mutantNumeric](n int, v T) T {
	switch {
	case !mutantAt(n): return v
	case v > 99: return v + v // a nanosecond more would be no difference
	}
	return v + 1
}

func mutantWord[T ~string](n int, v T) T { if mutantAt(n) { return v + "~" }; return v }

var _, _, _, _, _ = mutantError, mutantLess[int], mutantLeast[int], mutantMore[int], mutantMost[int]
var _, _, _, _, _, _ = mutantAdd[int], mutantSub[int], mutantMul[int], mutantQuo[int], mutantNumber[int], mutantWord[string]
`
