// Package binarytest is what a test binary does when it is started again: it plays the
// part that it was started for, or ends at once. A binary that ran its tests instead
// would start itself once more in each of them. It knows no part; only tests import it.
package binarytest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Hidden are the subcommands of the program that a test binary answers to, by name; each
// gets the arguments after its name and returns the exit status.
type Hidden map[string]func(args []string) int

// wrongUsage is the exit status of a binary that was started for something it is not.
const wrongUsage = 2

const textNotTheProgram = "%s is a test binary and not ollim-bot: it does not know %q. " +
	"Give the sandbox the program, or name the subcommand in testbinary.Answer\n"

// guarded is set where a start for a hidden subcommand has an answer.
var guarded bool

// Answer is the first line of a TestMain. It returns only where tests are to be run: a
// binary that was started for a hidden subcommand carries that out, or says that it does
// not know it, and exits.
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

// Path is this test binary, to be started again. It panics where the package's TestMain
// does not begin with Answer.
func Path() string {
	if !guarded {
		panic("a test binary that is started again needs a TestMain that begins with testbinary.Answer")
	}
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return exe
}
