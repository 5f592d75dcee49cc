package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"ollimbot/cmd/internal/console"
	"ollimbot/cmd/internal/google"
	"ollimbot/core/command"
	"ollimbot/core/safety/control"
	"ollimbot/core/safety/sandbox"
)

// The exit statuses, beside command.UsageStatus.
const (
	exitDone   = 0
	exitFailed = 1
)

// process is the context of the commands in this package.
type process struct {
	console.Process

	parser *kong.Kong
	helped bool   // --help has printed
	asked  string // the command that runs: "budget set"
	// notices say what replaces the removed flags of the command line.
	notices []string
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == sandbox.HelperArg {
		os.Exit(sandbox.Helper(os.Args[2:]))
	}
	exe, _ := os.Executable() // without it, the model cannot run this program and Landlock is not used
	p := &process{Process: console.Process{
		Executable: exe, In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Environ: os.Environ, Now: time.Now,
	}}
	if socket, session := p.Getenv(control.SocketVar), p.Getenv(control.SessionVar); socket != "" && session != "" {
		os.Exit(p.ask(socket, session, os.Args[1:]))
	}
	debug.SetGCPercent(400) // the garbage of a short command is not worth collecting; a bot changes this (leanMemory)
	os.Exit(run(os.Args[1:], p))
}

// negatives puts "--" before an argument such as -3 or -2h, so that the parser does not
// take it for a flag. Flags after it are moved in front.
func negatives(args []string) []string {
	at := slices.IndexFunc(args, func(a string) bool { return len(a) > 1 && a[0] == '-' && strings.IndexByte("0123456789.$", a[1]) >= 0 })
	if at < 1 || strings.HasPrefix(args[at-1], "-") { // the value of a flag, or already after "--"
		return args
	}
	flags := slices.IndexFunc(args[at:], func(a string) bool { return strings.HasPrefix(a, "--") })
	if flags < 0 {
		flags = len(args) - at
	}
	return slices.Concat(args[:at], args[at+flags:], []string{"--"}, args[at:at+flags])
}

// run parses the arguments, runs the command and returns the exit status.
func run(args []string, p *process) int {
	var tree cli
	if len(args) == 0 {
		args = []string{"run"}
	}
	if err := asksForRemoved(args); err != nil {
		return p.fail(err)
	}
	parser, err := newParser(&tree, p, args[0])
	if err != nil {
		return p.fail(fmt.Errorf("build the command tree: %w", err))
	}
	args, p.notices = withoutRemoved(args)
	for _, notice := range p.notices {
		console.Tell(p.Err, "%s", notice)
	}
	args = negatives(args)
	ctx, err := parser.Parse(args)
	if p.helped { // --help has printed everything
		return exitDone
	}
	if err != nil {
		return p.fail(mistake(err))
	}
	p.Flags, p.Version = tree.Globals, version
	p.parser, p.asked = parser, nameOf(ctx.Selected())
	p.Mends = slices.Contains([]string{"check", "doctor"}, p.asked)
	if err := p.commandAsDirectory(parser, args); err != nil {
		return p.fail(err)
	}
	if err := p.mayServe(&tree); err != nil {
		return p.fail(err)
	}
	if exit, handed := p.handOver(args); handed {
		return exit
	}
	if c, ok := command.Find(command.InShell, p.asked); ok && (c.Make != nil || c.Plain) {
		return p.fail(p.act(c, ctx.Selected()))
	}
	// Arguments of Run are made only for the commands that take them.
	if err := errors.Join(ctx.BindSingletonProvider(p.Open), ctx.BindToProvider(p.Bot), ctx.BindSingletonProvider(google.Open)); err != nil {
		return p.fail(err)
	}
	return p.fail(ctx.Run(p, &p.Process))
}

// commandAsDirectory refuses "--data-dir status", which would start a bot in a directory named status. A directory that exists is
// meant.
func (p *process) commandAsDirectory(parser *kong.Kong, args []string) error {
	dir := p.Flags.DataDir
	if p.asked != "run" || slices.Contains(args, "run") {
		return nil
	}
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if !slices.ContainsFunc(parser.Model.Children, func(n *kong.Node) bool { return n.Name == dir }) {
		return nil
	}
	return console.Usagef(textCommandAsDir, dir, dir)
}

// newParser builds the command tree, or the branch that the first argument names. The
// parser would exit the process after --help; here it only sets helped.
func newParser(tree *cli, p *process, first string) (*kong.Kong, error) {
	parser, err := kong.New(
		tree, append(tree.branches(first),
			kong.Name("ollim-bot"),
			kong.Description(textDescription),
			kong.Writers(p.Out, p.Err),
			kong.Exit(func(int) { p.helped = true }),
			kong.WithHyphenPrefixedParameters(true), // a negative number is a value
			kong.KindMapper(reflect.String, kong.MapperFunc(textValue)),
			kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, WrapUpperBound: 100}),
			kong.Vars{"version": versionLine(), "modes": "always,on_ping,freely,blocked"},
		)...,
	)
	if err == nil {
		arrange(parser.Model.Node, "")
	}
	return parser, err
}

// fail prints an error without secrets and returns its exit status.
func (p *process) fail(err error) int {
	var usage *console.UsageError
	var again *restartError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &again):
		return p.fail(restart(p.Executable, again.args))
	case errors.Is(err, console.ErrSilent):
		return exitFailed
	case errors.As(err, &usage):
		console.Tell(p.Err, "%s\n"+textSeeHelp, p.Secrets.Redact(err.Error()), strings.TrimSpace("ollim-bot help "+cmp.Or(usage.Help, p.asked)))
		return command.UsageStatus
	default:
		console.Tell(p.Err, "%s", p.Secrets.Redact(err.Error()))
		return exitFailed
	}
}

// cli is the whole command line.
type cli struct {
	console.Globals
	ShowVersion kong.VersionFlag `name:"version" help:"Show the version and exit."`
	commands    `kong:"-"`
}

// version is the newest release in CHANGELOG.md. It is a variable so that the linker can
// set it: -ldflags "-X main.version=0.2.0". Nothing else writes it.
var version = "0.1.0"

// builtBy is the tool that built a release. It is a variable so that the linker can set it, as .goreleaser.yaml does.
var builtBy string

type versionCmd struct{}

func (versionCmd) Run(p *process) error {
	return p.Lines(versionLine())
}

func versionLine() string {
	return fmt.Sprintf("ollim-bot %s%s %s %s/%s", version, revision(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// revision is the commit that the binary was built from, if Go recorded it.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	begins := strings.LastIndex(info.Main.Version, "-") // v0.0.0-DATE-COMMIT+dirty
	if begins < 0 {
		return ""
	}
	return " " + strings.Replace(info.Main.Version[begins+1:], "+dirty", "+changes", 1)
}
