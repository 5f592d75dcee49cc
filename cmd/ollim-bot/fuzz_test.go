package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/base/testkit"
)

// fuzzTime is how long each target is fuzzed; the campaign asks for 20 s.
var fuzzTime = flag.Duration("fuzzall", 0, "how long each fuzz target of the tree is fuzzed; 0 only looks at them")

// TestEveryFuzzTargetIsWalked finds the fuzz targets of the whole tree, so that a new one is never forgotten. Each has inputs
// to begin with, which every test run uses, and is fuzzed for as long as -fuzzall says.
func TestEveryFuzzTargetIsWalked(t *testing.T) {
	fuzz := regexp.MustCompile(`(?ms)^func (Fuzz\w+)\(.*?^}`)
	packages, found := map[string][]string{}, 0
	testkit.Must(t, filepath.WalkDir(filepath.Join("..", ".."), func(path string, e fs.DirEntry, err error) error {
		if e.IsDir() && e.Name() == ".git" { // differs from clone to clone, so Go's test cache would not know the tree again
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		for _, target := range fuzz.FindAllStringSubmatch(stored(path), -1) {
			found++
			packages[filepath.Dir(path)] = append(packages[filepath.Dir(path)], target[1])
			if !strings.Contains(target[0], ".Add(") {
				t.Errorf("%s in %s has no inputs to begin with: give it some with f.Add", target[1], path)
			}
		}
		return nil
	}))
	if found < 10 {
		t.Fatalf("found only %d fuzz targets: the walk looks in the wrong place", found)
	}
	if *fuzzTime > 0 {
		fuzzAll(t, packages)
	}
}

// fuzzAll builds each package's tests once and fuzzes its targets one after the other, several packages at a time: a target
// has one worker, and two targets share a core, so that ten seconds each take about a minute on two cores.
func fuzzAll(t *testing.T, packages map[string][]string) {
	t.Helper()
	cache, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
	testkit.Must(t, err)
	built := t.TempDir()
	var group errgroup.Group
	group.SetLimit(2 * runtime.GOMAXPROCS(0))
	for dir, targets := range packages {
		name := strings.ReplaceAll(strings.TrimLeft(filepath.ToSlash(dir), "./"), "/", "-")
		group.Go(func() error {
			binary := filepath.Join(built, name+".test")
			build := exec.CommandContext(t.Context(), "go", "test", "-c", "-fuzz", ".", "-o", binary, ".")
			build.Dir = dir
			if out, err := build.CombinedOutput(); err != nil {
				return fmt.Errorf("build the tests of %s: %w\n%s", dir, err, out)
			}
			for _, target := range targets {
				fuzzOne(t, dir, target, binary, filepath.Join(strings.TrimSpace(string(cache)), "fuzz", "ollim-bot", name))
			}
			return nil
		})
	}
	testkit.Must(t, group.Wait())
}

// What the fuzzer says of its work at the end, and of an input that fails.
var (
	executions = regexp.MustCompile(`elapsed: \S+, execs: (\d+) \([^)]*\), new interesting: \d+ \(total: \d+\)`)
	corpusFile = regexp.MustCompile(`Failing input written to (\S+)`)
)

// fuzzOne runs one target. A failing input becomes a file of the package's testdata/fuzz, which every test run repeats; it is to be
// committed with the repair. An interrupt ends the run: with -test.fuzztime the fuzzer now and then reports its own deadline as a
// failure (go.dev/issue/75804).
func fuzzOne(t *testing.T, dir, target, binary, cache string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), *fuzzTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "-test.run", "^$", "-test.fuzz", "^"+target+"$",
		"-test.parallel", "1", "-test.fuzzminimizetime", "5s", "-test.fuzzcachedir", cache)
	cmd.Dir = dir
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	out, err := cmd.CombinedOutput()
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%s in %s: %v\n%s", target, dir, err, out)
		if file := corpusFile.FindSubmatch(out); file != nil {
			t.Errorf("commit this input with the repair: %s\n%s", filepath.Join(dir, string(file[1])), stored(dir, string(file[1])))
		}
		return
	}
	all := executions.FindAll(out, -1)
	if len(all) == 0 {
		t.Errorf("%s fuzzed nothing:\n%s", target, out)
		return
	}
	t.Logf("%s: %s", target, all[len(all)-1])
}
