package main

import (
	"bytes"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// fuzzTime is how long each target is fuzzed; `task fuzz` asks for 20 s.
var fuzzTime = flag.Duration("fuzzall", 0, "how long each fuzz target of the tree is fuzzed; 0 only looks at them")

// fuzzTarget is one function FuzzX of a package.
type fuzzTarget struct {
	dir, name string
	seeded    bool // it adds inputs of its own
}

// TestEveryFuzzTargetIsWalked finds the fuzz targets of the whole tree, so that
// a new one is never forgotten, and fuzzes each for as long as -fuzzall says.
// Without the flag it sees to it that each has inputs to begin with, which
// every test run goes through.
func TestEveryFuzzTargetIsWalked(t *testing.T) {
	targets := fuzzTargets(t, filepath.Join("..", ".."))
	if len(targets) < 10 {
		t.Fatalf("found only %d fuzz targets: the walk looks in the wrong place", len(targets))
	}
	for _, f := range targets {
		if !f.seeded {
			t.Errorf("%s in %s has no inputs to begin with: give it some with f.Add", f.name, f.dir)
		}
	}
	if *fuzzTime == 0 {
		return
	}
	for _, f := range targets { // one after the other: each takes all cores
		t.Run(strings.TrimLeft(filepath.ToSlash(f.dir), "./")+"/"+f.name, func(t *testing.T) { f.fuzz(t, *fuzzTime) })
	}
}

// fuzzTargets reads the test files below root.
func fuzzTargets(t *testing.T, root string) (list []fuzzTarget) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (e.Name() == "testdata" || strings.HasPrefix(e.Name(), ".") && len(e.Name()) > 2) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Fuzz") {
				list = append(list, fuzzTarget{filepath.Dir(path), f.Name.Name, adds(f)})
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// adds reports whether a function calls Add.
func adds(f *ast.FuncDecl) (found bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.SelectorExpr)
		found = found || ok && call.Sel.Name == "Add"
		return !found
	})
	return found
}

// executions is what the fuzzer says of its work at the end.
var executions = regexp.MustCompile(`elapsed: \S+, execs: (\d+) \([^)]*\), new interesting: \d+ \(total: \d+\)`)

// fuzz runs one target. What it finds stays in the package's testdata/fuzz,
// where every test run repeats it.
func (f fuzzTarget) fuzz(t *testing.T, d time.Duration) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "test", "-run", "^$", "-fuzz", "^"+f.name+"$", "-fuzztime", d.String(), ".")
	cmd.Dir = f.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s", f.name, err, out)
		return
	}
	all := executions.FindAll(out, -1)
	if len(all) == 0 {
		t.Errorf("%s fuzzed nothing:\n%s", f.name, out)
		return
	}
	t.Logf("%s", bytes.TrimSpace(all[len(all)-1]))
}
