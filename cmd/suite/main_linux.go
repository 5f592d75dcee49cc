// Command suite runs the tests for .ci/run and .ci/campaign, and fails where `go test` would not: when a test is
// skipped, when none has run, and when the tests leave a file in the temporary directory or a process behind.
//
//	go run ./cmd/suite [flags] go test ARGS…
//	go run ./cmd/suite lay DIR
//	go run ./cmd/suite mutants [flags] PACKAGE…
//
// With -pass unmarked, tests marked with testkit.Alone are left out. With -pass programs only those run, one package
// after another; a test that fails is run once more alone, and counts as passed but FLAKY if it then passes.
//
// lay gives all files of a tree modification times that depend on nothing but their contents: Go's test cache takes
// a file with the same size and time for the same file.
//
// mutants changes a package in one place after another (a condition, a bound, a number, a word, an error, a statement), runs its
// own tests with each change, and prints which lived, and by which test the others were killed. With -unique it also lists the tests
// that reach no block and kill no mutant of their own.
//
// It prints what `go test` prints without -v. It runs only on Linux and is independent of the bot.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sync/errgroup"
)

// suite is one call of this command.
type suite struct {
	out     io.Writer
	allowed *regexp.Regexp // reasons of skips; nil allows none
	temp    string         // the tests' temporary directory, or "" for a new one
	env     []string       // in addition to this process's
	tally   tally
}

// tally counts tests by how they ended, and packages by whether they ran.
type tally struct {
	passed, failed int
	flaky          []string // tests that passed the second time
	ran            []string // packages whose results were not in Go's cache
	cached         int
}

const (
	passUnmarked = "unmarked"
	passPrograms = "programs"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "mutants" {
		if err := mutate(os.Args[2:], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	s, args, files, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "suite:", err)
		os.Exit(2)
	}
	if args[0] == "lay" {
		err = lay(args[1])
	} else {
		err = errors.Join(s.run(args, files.pass), s.tally.write(files))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// outputs are the pass that runs and the files to which its tally is appended.
type outputs struct{ pass, counts, flaky string }

var errUsage = errors.New("usage: suite [-skips PATTERN] [-temp DIR] [-pass unmarked|programs] [-counts FILE] [-flaky FILE] go test ARGS…, " +
	"suite lay DIR, or suite mutants PACKAGE…")

func parse(line []string) (s *suite, args []string, files outputs, err error) {
	s = &suite{out: os.Stdout}
	flags := flag.NewFlagSet("suite", flag.ContinueOnError)
	skips := flags.String("skips", "", "a `pattern`: a test may skip itself for a reason that matches")
	flags.StringVar(&s.temp, "temp", "", "the tests' temporary `directory`, which has to be empty")
	flags.StringVar(&files.pass, "pass", "", "unmarked or programs")
	flags.StringVar(&files.counts, "counts", "", "append the numbers of passed and failed tests to a `file`")
	flags.StringVar(&files.flaky, "flaky", "", "append the names of flaky tests to a `file`")
	if err := flags.Parse(line); err != nil {
		return nil, nil, files, errUsage
	}
	args = flags.Args()
	if len(args) == 2 && args[0] == "lay" {
		return s, args, files, nil
	}
	if *skips != "" {
		if s.allowed, err = regexp.Compile(*skips); err != nil {
			return nil, nil, files, errors.Join(errUsage, err)
		}
	}
	known := slices.Contains([]string{"", passUnmarked, passPrograms}, files.pass)
	if !known || len(args) < 2 || args[0] != "go" || args[1] != "test" {
		return nil, nil, files, errUsage
	}
	return s, args, files, nil
}

func (s *suite) run(args []string, pass string) error {
	if err := adoptOrphans(); err != nil {
		return err
	}
	runtime.LockOSThread() // Pdeathsig is sent when the thread that started the command ends
	defer runtime.UnlockOSThread()
	switch pass {
	case passPrograms:
		return s.programs(args)
	case passUnmarked:
		s.env = append(s.env, "OLLIM_TEST_PASS="+passUnmarked)
	}
	r, err := s.test(args)
	s.tally.add(r)
	return errors.Join(err, r.refused(s.allowed))
}

// test runs go test once. Its error names every fault that the tests' own output does not show.
func (s *suite) test(args []string) (r *report, err error) {
	r = newReport(s.out)
	temp := s.temp
	if temp == "" {
		if temp, err = os.MkdirTemp("", "t"); err != nil {
			return r, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	}
	cmd := exec.Command(args[0], slices.Insert(slices.Clone(args[1:]), 1, "-json")...)
	cmd.Env = append(append(os.Environ(), s.env...), "TMPDIR="+temp)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	// The output ends with go test, even while a process that it left behind has the pipe open.
	events, end, err := os.Pipe()
	if err != nil {
		return r, err
	}
	cmd.Stdout = end
	if err := errors.Join(cmd.Start(), end.Close()); err != nil {
		return r, err
	}
	var reading errgroup.Group
	reading.Go(func() error { return r.read(events) })
	status, err := waitFor(cmd.Process.Pid)
	running := descendants(patience)
	err = errors.Join(err, endAll(running), reading.Wait())
	if s.allowed != nil {
		for _, k := range r.skipped {
			if k.reason != skippedMark {
				_, _ = fmt.Fprintf(s.out, "skipped: %s\n", k)
			}
		}
	}
	if status != 0 {
		err = errors.Join(err, fmt.Errorf("go test ended with status %d", status))
	}
	return r, errors.Join(err, left(temp), stillRunning(running))
}

func (t *tally) add(r *report) {
	t.passed += r.passed
	t.failed += len(r.failures)
	t.ran = append(t.ran, r.ran...)
	t.cached += r.cached
}

// write prints what was taken from Go's cache and appends the rest to files, if there are any.
func (t *tally) write(to outputs) error {
	if to.pass != "" {
		_, _ = fmt.Fprintf(os.Stdout, "%d packages from the cache, %d not: %s\n", t.cached, len(t.ran), strings.Join(t.ran, " "))
	}
	var lines strings.Builder
	for _, name := range t.flaky {
		_, _ = fmt.Fprintln(&lines, name)
	}
	return errors.Join(
		appendTo(to.counts, fmt.Sprintf("%d %d\n", t.passed, t.failed)),
		appendTo(to.flaky, lines.String()))
}

// appendTo appends text to a file, unless its name is empty.
func appendTo(path, text string) error {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
