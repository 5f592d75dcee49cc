package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"ollimbot/core/base/testkit"
)

// ARCHITECTURE.md lists journeys as the functions that they pass. Each line is
//
//	1. `core/work/fork.Manager.Start`: what it does
//
// and each function must use the next one: call it, pass it on, or call a method of that
// name through an interface. A line that ends with "(waits)" or "(by field)" hands over
// through a queue, a channel, a table or a callback, which cannot be followed. Its table "Where is …" names functions, too.

var (
	journeyHead = regexp.MustCompile("^### (.+)$")
	journeyStop = regexp.MustCompile("^\\d+\\. `([^`]+)`.*?(\\((?:waits|by field)\\))?$")
)

// stop is one function of a journey.
type stop struct {
	name  string // core/work/fork.Manager.Start
	loose bool   // the next function is not used by this one
}

// journeys reads the lists of ARCHITECTURE.md by their headings.
func journeys(t *testing.T) map[string][]stop {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	lists, head := map[string][]stop{}, ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if m := journeyHead.FindStringSubmatch(line); m != nil {
			head = m[1]
		} else if m := journeyStop.FindStringSubmatch(line); m != nil && head != "" {
			lists[head] = append(lists[head], stop{m[1], m[2] != ""})
		} else if strings.HasPrefix(line, "## ") {
			head = ""
		}
	}
	return lists
}

func TestTheJourneysAreAsDescribed(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	lists := journeys(t)
	packages := map[string]*checked{}
	if len(lists) < 5 {
		t.Errorf("ARCHITECTURE.md describes %d journeys", len(lists))
	}
	for name, stops := range lists {
		if len(stops) < 5 {
			t.Errorf("ARCHITECTURE.md describes %q in %d functions", name, len(stops))
		}
		for i, s := range stops {
			body, err := declared(t, packages, s.name)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if i+1 < len(stops) && !s.loose && !body.uses(stops[i+1].name) {
				t.Errorf("%s: %s does not use %s", name, s.name, stops[i+1].name)
			}
		}
	}
}

// placeRow is a row of the table "Where is …", and placeName a function in it.
var (
	placeRow  = regexp.MustCompile("(?m)^\\| [^|]+ \\| (.*`.*) \\|$")
	placeName = regexp.MustCompile("`([a-z/]+\\.[A-Za-z.]+)`")
)

func TestWhatTheArchitecturePointsToIsThere(t *testing.T) {
	testkit.Alone(t)
	data, err := os.ReadFile(filepath.Join("..", "..", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(data), "## Where is …")
	table, _, _ = strings.Cut(table, "\n## ")
	rows := placeRow.FindAllStringSubmatch(table, -1)
	if len(rows) < 5 {
		t.Fatalf("%d rows", len(rows))
	}
	packages := map[string]*checked{}
	for _, row := range rows {
		names := placeName.FindAllStringSubmatch(row[1], -1)
		if len(names) == 0 {
			t.Errorf("no function in %s", row[1])
		}
		for _, name := range names {
			if _, err := declared(t, packages, name[1]); err != nil {
				t.Error(err)
			}
		}
	}
}

// function is a declared function with the package that it is in.
type function struct {
	pkg  *checked
	decl *ast.FuncDecl
}

// declared finds a function by its name: "core/work/fork.Manager.Start" or "tui.Run".
func declared(t *testing.T, packages map[string]*checked, name string) (function, error) {
	t.Helper()
	slash := strings.LastIndex(name, "/")
	path, rest, ok := strings.Cut(name[slash+1:], ".")
	if !ok {
		return function{}, fmt.Errorf("%q is not PACKAGE.FUNCTION", name)
	}
	path = "ollimbot/" + name[:slash+1] + path
	if packages[path] == nil {
		packages[path] = typed(t, path)
	}
	for _, f := range packages[path].files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && nameIn(fn) == rest {
				return function{packages[path], fn}, nil
			}
		}
	}
	return function{}, fmt.Errorf("%s does not exist", name)
}

// nameIn is the name of a function in its package: "Manager.Start" or "New".
func nameIn(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	return receiver(fn.Recv.List[0].Type) + "." + fn.Name.Name
}

// uses reports whether a function mentions another one, or an interface's method of its name.
func (f function) uses(name string) bool {
	words := strings.FieldsFunc(name[strings.LastIndex(name, "/")+1:], func(r rune) bool { return r == '.' })
	last := words[len(words)-1]
	found := false
	ast.Inspect(f.decl, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || id.Name != last {
			return true
		}
		fn, ok := f.pkg.info.Uses[id].(*types.Func)
		if !ok { // a field or variable that holds a function of this name
			_, isVar := f.pkg.info.Uses[id].(*types.Var)
			found = found || isVar
			return true
		}
		found = found || abstract(fn) || strings.HasSuffix(fullName(fn), "/"+strings.TrimPrefix(name, "/")) || fullName(fn) == "ollimbot/"+name
		return true
	})
	return found
}

// fullName is "ollimbot/core/work/fork.Manager.Start".
func fullName(fn *types.Func) string {
	if fn.Pkg() == nil {
		return fn.Name()
	}
	name := fn.Name()
	if recv := fn.Signature().Recv(); recv != nil {
		of := recv.Type()
		if p, ok := of.(*types.Pointer); ok {
			of = p.Elem()
		}
		if named, ok := of.(*types.Named); ok {
			name = named.Obj().Name() + "." + name
		}
	}
	return fn.Pkg().Path() + "." + name
}

func TestTheCheckOfJourneysSeesWhatIsMissing(t *testing.T) {
	packages := map[string]*checked{}
	push, err := declared(t, packages, "core/base/queue.Queue.Push")
	if err != nil {
		t.Fatal(err)
	}
	if !push.uses("core/base/queue.Queue.signal") || push.uses("core/base/queue.Queue.take") {
		t.Error("Push uses signal and not take")
	}
	if _, err := declared(t, packages, "core/base/queue.Queue.Nothing"); err == nil {
		t.Error("a method that does not exist was found")
	}
}

// checked is one package with its types.
type checked struct {
	fset  *token.FileSet
	files []*ast.File
	info  *types.Info
	pkg   *types.Package
}

// goPackage is what go list says of a package.
type goPackage struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// goPackages are all packages of the tree and what they import, by import path.
var goPackages = sync.OnceValues(func() (map[string]goPackage, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", "ollimbot/...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	packages := map[string]goPackage{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		packages[p.ImportPath] = p
	}
})

// typed parses and type-checks a package; what it imports comes from export data.
func typed(t *testing.T, path string) *checked {
	t.Helper()
	packages, err := goPackages()
	if err != nil {
		t.Fatal(err)
	}
	if packages[path].Dir == "" {
		t.Fatalf("there is no package %s", path)
	}
	c := &checked{fset: token.NewFileSet(), info: &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}}
	for _, name := range packages[path].GoFiles {
		f, err := parser.ParseFile(c.fset, filepath.Join(packages[path].Dir, name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		c.files = append(c.files, f)
	}
	conf := types.Config{Importer: importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(packages[path].Export)
	})}
	if c.pkg, err = conf.Check(path, c.fset, c.files, c.info); err != nil {
		t.Fatal(err)
	}
	return c
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return fmt.Sprintf("%T", e)
}

// abstract reports whether a method is one of an interface, which decides nothing.
func abstract(fn *types.Func) bool {
	recv := fn.Signature().Recv()
	return recv != nil && types.IsInterface(recv.Type())
}
