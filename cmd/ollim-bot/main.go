// Package main is the command line of ollim-bot: the tree of commands, the
// wiring of the parts, and the only code that speaks to a terminal in plain
// lines. A command reads the data directory through core and its rooms; no rule
// of the bot is decided here.
//
// Exit status: 0 done, 1 failed, 2 wrong usage. What was asked for goes to
// standard output; errors go to standard error and say what to do.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	_ "time/tzdata" // zones work on machines without a zone database

	"github.com/alecthomas/kong"

	"ollimbot/core/sandbox"
)

// The exit statuses.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == sandbox.HelperArg {
		os.Exit(sandbox.Helper(os.Args[2:]))
	}
	os.Exit(run(os.Args[1:], &process{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		getenv: os.Getenv, environ: os.Environ, now: time.Now,
	}))
}

// run parses the arguments, runs the command and gives the exit status.
func run(args []string, p *process) int {
	var tree cli
	parser, err := newParser(&tree, p)
	if err != nil {
		return fail(p.err, fmt.Errorf("build the command tree: %w", err))
	}
	ctx, err := parser.Parse(args)
	if p.helped { // --help has said what was asked for
		return exitDone
	}
	if err != nil {
		tell(p.err, "%v\n%s", err, textSeeHelp)
		return exitUsage
	}
	p.flags = tree.globals
	p.parser = parser
	return fail(p.err, ctx.Run(p))
}

// newParser builds the tree. The parser would leave the process after --help;
// here it only notes that help was given.
func newParser(tree *cli, p *process) (*kong.Kong, error) {
	return kong.New(
		tree,
		kong.Name("ollim-bot"),
		kong.Description(textDescription),
		kong.Writers(p.out, p.err),
		kong.Exit(func(int) { p.helped = true }),
		kong.WithHyphenPrefixedParameters(true), // a negative number is a value
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, WrapUpperBound: 100}),
		kong.Vars{"modes": "always,on_ping,freely,blocked", "models": "opus,sonnet,haiku"},
	)
}

// fail prints an error for people and gives its exit status.
func fail(w io.Writer, err error) int {
	var usage *usageError
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errSilent):
		return exitFailed
	case errors.As(err, &usage):
		tell(w, "%v\n%s", err, textSeeHelp)
		return exitUsage
	default:
		tell(w, "%v", err)
		return exitFailed
	}
}

// tell writes a line on standard error. Where even that fails, nobody is left
// to be told.
func tell(w io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(w, "ollim-bot: "+format+"\n", args...)
}
