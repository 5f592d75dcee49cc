// Command suite runs the tests for .ci/run and fails where `go test` would not: when a test is
// skipped, when none has run, and when the suite leaves a file in the temporary directory or a process behind.
//
//	go run ./cmd/suite [-skips REASONS] go test ARGS…
//
// It prints what `go test` prints without -v. It runs only on Linux and is independent of the bot.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sync/errgroup"
)

func main() {
	flags := flag.NewFlagSet("suite", flag.ContinueOnError)
	skips := flags.String("skips", "", "a `pattern`: a test may skip itself for a reason that matches")
	if err := flags.Parse(os.Args[1:]); err != nil {
		os.Exit(2)
	}
	allowed, err := regexp.Compile(*skips)
	args := flags.Args()
	if err != nil || len(args) < 2 || !strings.HasPrefix(strings.Join(args, " ")+" ", "go test ") {
		fmt.Fprintln(os.Stderr, "suite: usage: suite [-skips PATTERN] go test ARGS…", errors.Join(err))
		os.Exit(2)
	}
	if *skips == "" {
		allowed = nil
	}
	if err := run(args, allowed); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run runs the tests. Its error names every fault that their own output does not show.
func run(args []string, allowed *regexp.Regexp) (err error) {
	temp, err := os.MkdirTemp("", "t") // short, because paths of sockets are
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	if err := adoptOrphans(); err != nil {
		return err
	}
	runtime.LockOSThread() // Pdeathsig is sent when the thread that started the command ends
	defer runtime.UnlockOSThread()
	cmd := exec.Command(args[0], slices.Insert(slices.Clone(args[1:]), 1, "-json")...)
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	// The output ends with go test, even while a process that it left behind has the pipe open.
	events, end, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd.Stdout = end
	if err := errors.Join(cmd.Start(), end.Close()); err != nil {
		return err
	}
	r := report{out: os.Stdout}
	var reading errgroup.Group
	reading.Go(func() error { return r.read(events) })
	status, err := waitFor(cmd.Process.Pid)
	running := descendants(patience)
	err = errors.Join(err, endAll(running), reading.Wait())

	if allowed != nil {
		for _, s := range r.skipped {
			_, _ = fmt.Fprintf(os.Stdout, "skipped: %s\n", s)
		}
	}
	if status != 0 {
		err = errors.Join(err, fmt.Errorf("go test ended with status %d", status))
	}
	return errors.Join(err, r.refused(allowed), left(temp), stillRunning(running))
}
