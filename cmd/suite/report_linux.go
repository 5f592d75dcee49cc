package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// event is a line of `go test -json`.
type event struct {
	Action, Package, Test, Output string
}

// skip is a test that skipped itself, and why.
type skip struct{ test, reason string }

func (s skip) String() string { return s.test + ": " + s.reason }

// skippedMark is testkit.SkippedMark: the test has another pass.
const skippedMark = "starts programs, listens or uses a terminal: it has a pass of its own"

// report prints the events of `go test -json` as `go test` prints them, and collects how tests end.
type report struct {
	out        io.Writer
	skipped    []skip
	passed     int
	failures   []string // innermost failed tests, without their package
	unfinished []string // innermost tests that never ended
	names      []string // packages
	ran        []string // packages that Go's cache did not have
	cached     int

	lines  map[string]*strings.Builder // output by package and test, until it is known how they end
	failed map[string]*strings.Builder // output of failed tests by package
}

func newReport(out io.Writer) *report {
	return &report{out: out, lines: map[string]*strings.Builder{}, failed: map[string]*strings.Builder{}}
}

// read reads all events, and prints lines that are not events.
func (r *report) read(from io.Reader) error {
	in := bufio.NewReader(from)
	for {
		line, err := in.ReadString('\n')
		var e event
		if json.Unmarshal([]byte(line), &e) == nil {
			r.take(e)
		} else {
			_, _ = io.WriteString(r.out, line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func (r *report) take(e event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "build-output":
		_, _ = io.WriteString(r.out, e.Output)
	case "output":
		builder(r.lines, key).WriteString(e.Output)
	case "pass", "fail", "skip":
		said := builder(r.lines, key).String()
		delete(r.lines, key)
		if e.Test == "" {
			r.ended(e, said)
			return
		}
		switch e.Action {
		case "pass":
			r.passed++
		case "fail":
			builder(r.failed, e.Package).WriteString(said)
			r.failures = innermost(r.failures, e.Test)
		case "skip":
			r.skipped = append(r.skipped, skip{e.Package + "." + e.Test, reason(said)})
		}
	}
}

// innermost adds a test to a list, unless one of its subtests is in it. Subtests end before their test.
func innermost(list []string, test string) []string {
	if slices.ContainsFunc(list, func(other string) bool { return strings.HasPrefix(other, test+"/") }) {
		return list
	}
	return append(list, test)
}

// ended prints the line of a package, and its output if it failed.
func (r *report) ended(e event, said string) {
	r.names = append(r.names, e.Package)
	switch {
	case strings.Contains(said, "\t(cached)"):
		r.cached++
	case strings.Contains(said, "ok  \t"), e.Action == "fail":
		r.ran = append(r.ran, e.Package)
	}
	if e.Action != "fail" {
		for line := range strings.Lines(said) {
			if strings.HasPrefix(line, "ok ") || strings.HasPrefix(line, "? ") {
				_, _ = io.WriteString(r.out, line)
			}
		}
		return
	}
	_, _ = io.WriteString(r.out, builder(r.failed, e.Package).String())
	var open []string
	for key, unfinished := range r.lines { // a test that never ended, as in a panic
		if test, ok := strings.CutPrefix(key, e.Package+" "); ok {
			_, _ = io.WriteString(r.out, unfinished.String())
			delete(r.lines, key)
			open = append(open, test)
		}
	}
	slices.SortFunc(open, func(a, b string) int { return len(b) - len(a) })
	for _, test := range open {
		r.unfinished = innermost(r.unfinished, test)
	}
	_, _ = io.WriteString(r.out, said)
}

// refused returns an error that lists the forbidden skips. It also fails if no test ran, because a renamed test would
// no longer be selected.
func (r *report) refused(allowed *regexp.Regexp) error {
	var all []error
	if r.passed+len(r.failures)+len(r.skipped) == 0 {
		all = append(all, errors.New("no test has run"))
	}
	for _, s := range r.skipped {
		if s.reason != skippedMark && (allowed == nil || !allowed.MatchString(s.reason)) {
			all = append(all, fmt.Errorf("skipped, which is not allowed here: %s", s))
		}
	}
	return errors.Join(all...)
}

// place matches the source position in a line of a test's log.
var place = regexp.MustCompile(`^\s*[\w.-]+\.go:\d+: `)

// reason returns why a test skipped itself: its output without the runner's lines.
func reason(said string) string {
	var words []string
	for line := range strings.Lines(said) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- ") {
			words = append(words, place.ReplaceAllString(line, ""))
		}
	}
	return strings.Join(words, "; ")
}

func builder(all map[string]*strings.Builder, key string) *strings.Builder {
	if all[key] == nil {
		all[key] = &strings.Builder{}
	}
	return all[key]
}
