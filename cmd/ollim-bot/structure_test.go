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
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"ollimbot/core/base/testkit"
)

// unknotted are the packages in which no file calls up into a file that calls it, so that
// they can be read from the top down.
var unknotted = []string{
	"ollimbot/core",
	"ollimbot/core/talk/chat",
	"ollimbot/tui",
	"ollimbot/tui/view",
	"ollimbot/routines/schedule",
	"ollimbot/core/work/fork",
	"ollimbot/discord",
	"ollimbot/core/agent/callback",
	"ollimbot/core/agent/choice",
	"ollimbot/core/agent/claude",
	"ollimbot/core/agent/claude/process",
	"ollimbot/core/agent/claude/wire",
	"ollimbot/core/agent/edit",
	"ollimbot/core/agent/messages",
	"ollimbot/core/agent/messages/batch",
	"ollimbot/core/agent/messages/history",
	"ollimbot/core/agent/messages/provider",
	"ollimbot/core/agent/messages/tools",
	"ollimbot/core/brief/prompt",
	"ollimbot/core/brief/toolset",
	"ollimbot/core/safety/control",
	"ollimbot/tui/plain",
	"ollimbot/tui/widget",
}

func TestNoFileCallsUp(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	for _, path := range unknotted {
		for _, files := range knots(typed(t, path).calls()) {
			t.Errorf("%s: these files call each other; move what both need below them:\n%s", path, files)
		}
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

// file is the name of the file in which something was declared.
func (c *checked) file(pos token.Pos) string { return filepath.Base(c.fset.Position(pos).Filename) }

// calls are the files whose functions each file's functions use.
func (c *checked) calls() map[string][]string {
	graph := map[string][]string{}
	for _, f := range c.files {
		from := c.file(f.Pos())
		ast.Inspect(f, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			if fn, ok := c.info.Uses[id].(*types.Func); ok && fn.Pkg() == c.pkg && fn.Pos().IsValid() && !abstract(fn) {
				if to := c.file(fn.Pos()); to != from && !slices.Contains(graph[from], to) {
					graph[from] = append(graph[from], to)
				}
			}
			return true
		})
	}
	return graph
}

// abstract reports whether a method is one of an interface, which decides nothing.
func abstract(fn *types.Func) bool {
	recv := fn.Signature().Recv()
	return recv != nil && types.IsInterface(recv.Type())
}

// knots are the groups of nodes that can reach each other, each as its sorted names.
func knots(graph map[string][]string) (groups []string) {
	reach := map[string]map[string]bool{}
	for _, from := range slices.Collect(maps.Keys(graph)) {
		seen := map[string]bool{}
		for queue := slices.Clone(graph[from]); len(queue) > 0; queue = queue[1:] {
			if !seen[queue[0]] {
				seen[queue[0]] = true
				queue = append(queue, graph[queue[0]]...)
			}
		}
		reach[from] = seen
	}
	for _, from := range slices.Sorted(maps.Keys(graph)) {
		var group []string
		for to := range reach[from] {
			if reach[to][from] {
				group = append(group, to)
			}
		}
		slices.Sort(group)
		if name := strings.Join(group, " "); len(group) > 1 && !slices.Contains(groups, name) {
			groups = append(groups, name)
		}
	}
	return groups
}

// maxMethods is how many methods a type may have before it must be more than one thing;
// a fake, which stands for a whole program, may have more.
const maxMethods, maxFakeMethods = 40, 60

// oversized are the types that have more. Their numbers may only fall.
var oversized = map[string]int{}

func TestNoTypeOwnsEverything(t *testing.T) {
	counts := map[string]int{}
	for _, path := range goFiles(t) {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		check(t, err)
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
				counts[strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../../")+"."+receiver(fn.Recv.List[0].Type)]++
			}
		}
	}
	for name, n := range counts {
		limit := maxMethods
		if strings.Contains(name, "test.") {
			limit = maxFakeMethods
		}
		if n > max(limit, oversized[name]) {
			t.Errorf("%s has %d methods, more than %d: find the seam in which methods touch which fields", name, n, max(limit, oversized[name]))
		}
		if known := oversized[name]; known > max(n, limit) {
			t.Errorf("%s has %d methods now: lower its number in the list, or take it off", name, n)
		}
	}
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

// goFiles are the production files of the tree.
func goFiles(t *testing.T) (list []string) {
	t.Helper()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			list = append(list, path)
		}
		return nil
	})
	check(t, err)
	return list
}
