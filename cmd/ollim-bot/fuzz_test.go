package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/base/lazyregexp"
	"ollimbot/core/base/testkit"
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
	targets := fuzzTargets(t)
	if len(targets) < 10 {
		t.Fatalf("found only %d fuzz targets: the walk looks in the wrong place", len(targets))
	}
	for _, f := range targets {
		if !f.seeded {
			t.Errorf("%s in %s has no inputs to begin with: give it some with f.Add", f.name, f.dir)
		}
	}
	if *fuzzTime > 0 {
		fuzzAll(t, targets, *fuzzTime)
	}
}

// fuzzAll builds each package's tests once and fuzzes its targets one after the
// other, several packages at a time: a target has one worker, and two targets share
// a core, so that ten seconds each take about a minute on two cores.
func fuzzAll(t *testing.T, targets []fuzzTarget, d time.Duration) {
	t.Helper()
	cache, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
	testkit.Must(t, err)
	packages := map[string][]fuzzTarget{}
	for _, f := range targets {
		packages[f.dir] = append(packages[f.dir], f)
	}
	built := t.TempDir()
	var group errgroup.Group
	group.SetLimit(2 * runtime.GOMAXPROCS(0))
	for dir, list := range packages {
		name := strings.ReplaceAll(strings.TrimLeft(filepath.ToSlash(dir), "./"), "/", "-")
		group.Go(func() error {
			binary := filepath.Join(built, name+".test")
			build := exec.CommandContext(t.Context(), "go", "test", "-c", "-fuzz", ".", "-o", binary, ".")
			build.Dir = dir
			if out, err := build.CombinedOutput(); err != nil {
				return fmt.Errorf("build the tests of %s: %w\n%s", dir, err, out)
			}
			for _, f := range list {
				f.fuzz(t, binary, filepath.Join(strings.TrimSpace(string(cache)), "fuzz", "ollim-bot", name), d)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}

// fuzzTargets reads the test files of the tree.
func fuzzTargets(t *testing.T) (list []fuzzTarget) {
	t.Helper()
	testkit.Must(t, filepath.WalkDir(filepath.Join("..", ".."), func(path string, e fs.DirEntry, err error) error {
		if e.IsDir() && e.Name() == ".git" { // differs from clone to clone, so Go's test cache would not know the tree again
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		testkit.Must(t, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Fuzz") {
				list = append(list, fuzzTarget{filepath.Dir(path), f.Name.Name, adds(f)})
			}
		}
		return nil
	}))
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
var executions = lazyregexp.New(`elapsed: \S+, execs: (\d+) \([^)]*\), new interesting: \d+ \(total: \d+\)`)

// fuzz runs one target. A failing input becomes a file of the package's
// testdata/fuzz, which every test run repeats; the output names it.
//
// An interrupt ends the run. With -test.fuzztime the fuzzer now and then
// reports its own deadline as a failure (go.dev/issue/75804).
func (f fuzzTarget) fuzz(t *testing.T, binary, cache string, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "-test.run", "^$", "-test.fuzz", "^"+f.name+"$",
		"-test.parallel", "1", "-test.fuzzminimizetime", "5s", "-test.fuzzcachedir", cache)
	cmd.Dir = f.dir
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	out, err := cmd.CombinedOutput()
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%s in %s: %v\n%s%s", f.name, f.dir, err, out, f.found(out))
		return
	}
	all := executions().FindAll(out, -1)
	if len(all) == 0 {
		t.Errorf("%s fuzzed nothing:\n%s", f.name, out)
		return
	}
	t.Logf("%s: %s", f.name, bytes.TrimSpace(all[len(all)-1]))
}

// corpusFile is what the fuzzer says of an input that fails.
var corpusFile = lazyregexp.New(`Failing input written to (\S+)`)

// found returns the path and the text of the failing input, to be committed with
// the repair.
func (f fuzzTarget) found(out []byte) string {
	m := corpusFile().FindSubmatch(out)
	if m == nil {
		return ""
	}
	path := filepath.Join(f.dir, string(m[1]))
	input, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("commit this input with the repair: %s\n%s", path, input)
}
