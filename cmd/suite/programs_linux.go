package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// most is how many tests of a package may fail and be run once more: more than that is no chance.
const most = 3

// marked matches a test that is marked with testkit.Alone, which has to be its first statement.
var marked = regexp.MustCompile(`(?m)^func (Test\w+)\(\w+ \*testing\.T\) \{\n\ttestkit\.Alone\(`)

// programs runs the marked tests, package by package. Flags of go test are given as -flag=value.
func (s *suite) programs(args []string) error {
	var flags, patterns []string
	for _, a := range args[2:] {
		if strings.HasPrefix(a, "-") {
			flags = append(flags, a)
		} else {
			patterns = append(patterns, a)
		}
	}
	list := exec.Command("go", append([]string{"list", "-f", "{{.ImportPath}}\t{{.Dir}}"}, patterns...)...)
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("list the packages: %w", err)
	}
	var all []error
	tests := 0
	for line := range strings.Lines(string(out)) {
		path, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		names, err := markedIn(dir)
		if err != nil {
			return err
		}
		if len(names) == 0 {
			continue
		}
		tests += len(names)
		command := slices.Concat(args[:2], flags, []string{"-run=^(" + strings.Join(names, "|") + ")$", path})
		if err := s.patiently(command); err != nil {
			all = append(all, fmt.Errorf("%s: %w", path, err))
		}
	}
	if tests == 0 {
		all = append(all, errors.New("no test is marked"))
	}
	return errors.Join(all...)
}

// markedIn returns the names of the marked tests in a directory.
func markedIn(dir string) (names []string, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		for _, m := range marked.FindAllSubmatch(text, -1) {
			names = append(names, string(m[1]))
		}
	}
	slices.Sort(names)
	return names, nil
}

// patiently runs tests, and those that fail once more alone.
func (s *suite) patiently(command []string) error {
	r, err := s.test(command)
	if err == nil || len(r.failures)+len(r.unfinished) == 0 || len(r.failures) > most {
		s.tally.add(r)
		return errors.Join(err, r.refused(s.allowed))
	}
	again := [][]string{}
	for _, name := range r.failures {
		again = append(again, slices.Replace(slices.Clone(command), len(command)-2, len(command)-1, "-run="+exactly(name)))
	}
	if len(r.unfinished) > 0 { // what comes after a test that never ended has not run
		again = [][]string{command}
	}
	for _, c := range again {
		_, _ = fmt.Fprintf(s.out, "once more: %s\n", strings.Join(c, " "))
		second, failed := s.test(c)
		if failed != nil {
			s.tally.add(r)
			return errors.Join(err, failed)
		}
		r.passed += second.passed
	}
	for _, name := range slices.Concat(r.failures, r.unfinished) {
		s.tally.flaky = append(s.tally.flaky, r.names[len(r.names)-1]+"."+name)
	}
	r.failures = nil
	s.tally.add(r)
	return r.refused(s.allowed)
}

// exactly is a pattern that matches one test or subtest.
func exactly(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}
