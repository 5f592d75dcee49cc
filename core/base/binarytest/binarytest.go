// Package binarytest handles a test binary that is started again as a helper process: it
// plays the requested part, or exits at once. A binary that ran its tests instead would
// start itself once more in each of them. It knows none of the parts; only tests import
// it.
package binarytest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Hidden maps the subcommands that a test binary supports to functions. Each gets the
// arguments after the name and returns the exit status.
type Hidden map[string]func(args []string) int

// wrongUsage is the exit status of a binary started with an unknown subcommand.
const wrongUsage = 2

const textNotTheProgram = "%s is a test binary and not ollim-bot: it does not know %q. " +
	"Give the sandbox the program, or name the subcommand in binarytest.Answer\n"

// guarded is set once Answer handles hidden subcommands.
var guarded bool

// Answer must be the first call in TestMain. It returns only to run tests: a binary
// started with a hidden subcommand carries it out, or reports that it is unknown, and
// exits.
func Answer(known Hidden) {
	guarded = true
	if len(os.Args) < 2 || !strings.HasPrefix(os.Args[1], "__") {
		return
	}
	if run, ok := known[os.Args[1]]; ok {
		os.Exit(run(os.Args[2:]))
	}
	fmt.Fprintf(os.Stderr, textNotTheProgram, filepath.Base(os.Args[0]), os.Args[1])
	os.Exit(wrongUsage)
}

// Path returns the path of this test binary, for starting it again. It panics if the
// package's TestMain does not begin with Answer.
func Path() string {
	if !guarded {
		panic("a test binary that is started again needs a TestMain that begins with binarytest.Answer")
	}
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return exe
}
