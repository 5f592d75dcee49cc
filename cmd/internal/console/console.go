// Package console is the context of a command: its streams and environment, the data
// directory, the bot that runs there, and output as lines or JSON. It must not know the
// commands.
package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"

	"ollimbot/core"
	"ollimbot/core/agent/choice"
	claudeproc "ollimbot/core/agent/claude/process"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/agent/script"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/hosts"
	"ollimbot/core/base/procgroup"
	"ollimbot/core/command"
	"ollimbot/core/safety/label"
	"ollimbot/core/safety/policy"
	"ollimbot/core/safety/sandbox"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/logs"
	"ollimbot/core/storage/store"
	"ollimbot/routines"
	"ollimbot/routines/when"
	"ollimbot/tui/settings"
)

// Process is a command's access to the outside. Commands take it as an argument, so that
// there are no globals.
type Process struct {
	In       io.Reader
	Out, Err io.Writer
	Getenv   func(string) string
	Environ  func() []string
	Now      func() time.Time
	Version  string // of this program
	// Executable is this program's file; empty if it must not start itself.
	Executable string

	Flags Globals
	// Mends means that the command shows what is wrong with the user's files, so it does not need them to be right.
	Mends bool
	// Secrets are redacted in errors.
	Secrets logs.Secrets
	Served  *Served
	// Live is the running bot if the user's shell has handed this command to it, else nil.
	Live *Live

	unwritten error // the first error of printing
}

// Globals are the flags of every command.
type Globals struct {
	DataDir  string `name:"data-dir" filled:"" placeholder:"DIR" help:"The data directory (else OLLIM_DATA_DIR, else ~/.ollim-bot)."`
	Timezone string `name:"timezone" filled:"" complete:"zone" placeholder:"ZONE" help:"A zone such as Europe/Berlin (else OLLIM_TIMEZONE, else the system's)."`
}

// Live is the running bot and its directory.
type Live struct {
	Bot *core.Bot
	At  DataDir
	// Context ends when the command line is no longer wanted, and says where it comes from.
	Context context.Context //nolint:containedctx // a Process belongs to one command line
	// Undo receives the inverse of what the command does.
	Undo command.Value
}

// Served is the origin of a command that the agent runs through the bot; nil for a
// command of the user.
type Served struct {
	By *policy.Session // the session that runs it
	At DataDir         // the bot's own
}

// Reads records that the agent reads text with a label, if it runs this command.
func (p *Process) Reads(l label.Label) {
	if p.Served != nil {
		p.Served.By.Reads(l)
	}
}

// DataDir is where the commands work: the environment and its data directory.
type DataDir struct {
	Env config.Env
	Dir *store.Dir
	Now time.Time // in the configured zone, taken once
}

// Open reads the environment. It touches nothing in the data directory;
// warnings go to standard error.
func (p *Process) Open() (DataDir, error) {
	var at DataDir
	switch {
	case p.Served != nil:
		at = p.Served.At
	case p.Live != nil:
		at = p.Live.At
	default:
		if err := p.usable(); err != nil {
			return at, err
		}
		env, warnings, err := config.LoadEnv(p.Getenv, config.Flags{DataDir: p.Flags.DataDir, Timezone: p.Flags.Timezone})
		if errors.As(err, new(config.FlagError)) {
			return at, Usagef("%v", err)
		}
		if err == nil && !p.Mends {
			err = env.Broken()
		}
		if err != nil {
			return at, err
		}
		for _, secret := range env.Secrets(p.Environ()) {
			p.Secrets.Hide(secret)
		}
		for _, w := range warnings {
			Tell(p.Err, "warning: %s", w)
		}
		dir, err := store.At(env.DataDir)
		if err != nil {
			return at, err
		}
		at = DataDir{Env: env, Dir: dir}
	}
	at.Now = p.Now().In(at.Env.Zone)
	return at, nil
}

// usable refuses a place that cannot be a data directory before anything is read there.
// If a flag names it, that is a usage error.
func (p *Process) usable() error {
	dir, err := config.Place(p.Getenv, p.Flags.DataDir)
	if err == nil {
		err = dir.Usable()
	}
	if err != nil && p.Flags.DataDir != "" {
		return Usagef("%v", err)
	}
	return err
}

// Writable is Open for commands that write: it also creates the directory.
func (p *Process) Writable() (DataDir, error) {
	at, err := p.Open()
	if err != nil {
		return at, err
	}
	return at, at.Dir.Prepare()
}

// EngineAuto picks the engine of the settings, or the first one that is available.
const EngineAuto = "auto"

// EngineName returns the engine that a name and the settings ask for. If both leave it open,
// it is the first one available.
func EngineName(name, setting string, claudeFound bool, providers *provider.Registry) string {
	switch {
	case name != EngineAuto:
		return name
	case setting != "":
		return setting
	case claudeFound:
		return choice.Claude
	case providers.Ready() == nil:
		return choice.Messages
	}
	return choice.Script
}

// Bot makes a bot to read from, which never runs. It has the name of the engine that is set up, but not the engine.
func (p *Process) Bot(at DataDir) (*core.Bot, error) {
	if p.Live != nil {
		return p.Live.Bot, nil
	}
	r, _, _ := config.LoadRuntime(at.Dir) // its problems are reported elsewhere; use the defaults
	_, err := claudeproc.Find(p.EngineEnv(at))
	providers := p.Providers(at)
	return core.New(core.Options{
		Dir: at.Dir, Env: at.Env, Log: p.Log(),
		Engine: script.New(script.Options{}), EngineName: EngineName(EngineAuto, r.Engine, err == nil, providers),
		Lookup: p.Getenv, Providers: providers, UserFiles: p.UserFiles,
	})
}

// UserFiles returns the problems in the user's files of dashboard settings.
func (p *Process) UserFiles() []routines.Problem { return settings.Problems(settings.Dir(p.Environ())) }

// Running describes whether a bot is running there.
func (at DataDir) Running() string {
	switch pid, running := at.Dir.Running(); {
	case running && pid != 0:
		return fmt.Sprintf("running (pid %d)", pid)
	case running:
		return "running"
	}
	return "not running"
}

// Moment reads the value of --at and --from, which may be in the past. Empty means now.
func (at DataDir) Moment(flag, value string) (time.Time, error) {
	if value == "" {
		return at.Now, nil
	}
	read := at.Times()
	read.Past = true
	t, err := read.Moment(value)
	if err != nil {
		return time.Time{}, Usagef("%s %q: %v", flag, clean.Cut(clean.Line(value), 40), err)
	}
	return t, nil
}

// Times reads times as the user says them. Errors in the settings are reported elsewhere.
func (at DataDir) Times() when.Reader {
	r, _, _ := config.LoadRuntime(at.Dir)
	return when.Reader{Now: at.Now, Day: r.Day()}
}

// UsersOnly refuses a command that a model's shell must not run.
func (p *Process) UsersOnly() error {
	if p.Getenv(procgroup.MarkName) != "" {
		return errors.New(textUsersOnly)
	}
	return nil
}

// Environment is the environment of this program, completed with the variables in .env
// that are meant for the engine's command.
func (p *Process) Environment(at DataDir) []string {
	env := p.Environ()
	for _, v := range at.Env.Engine {
		name, _, _ := strings.Cut(v.Reveal(), "=")
		if p.Getenv(name) == "" {
			env = append(env, v.Reveal())
		}
	}
	return env
}

// EngineEnv looks up a variable in Environment.
func (p *Process) EngineEnv(at DataDir) func(string) string {
	return func(name string) string {
		if v := p.Getenv(name); v != "" {
			return v
		}
		for _, v := range at.Env.Engine {
			if rest, ok := strings.CutPrefix(v.Reveal(), name+"="); ok {
				return rest
			}
		}
		return ""
	}
}

// Variables finds variables of the environment and of .env.
func (p *Process) Variables(at DataDir) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v := p.Getenv(name)
		if v == "" {
			v = at.Env.Variable(name).Reveal()
		}
		return v, v != ""
	}
}

// ClaudeEnv is this program's part of the environment of the claude command.
func (p *Process) ClaudeEnv(at DataDir) claudeproc.Env {
	return claudeproc.Env{DataDir: at.Dir.Root(), Timezone: at.Env.ZoneName, Executable: p.Executable}
}

// EngineEnviron is the whole environment of the claude command.
func (p *Process) EngineEnviron(at DataDir) []string {
	return claudeproc.Environment(p.Environment(at), p.ClaudeEnv(at))
}

// Providers are the servers that speak the Messages API. Their keys never reach a log.
func (p *Process) Providers(at DataDir) *provider.Registry {
	return provider.New(provider.Options{Dir: at.Dir, Hide: p.Secrets.Hide, Getenv: func(name string) string {
		if v := p.Getenv(name); v != "" {
			return v
		}
		return at.Env.Variable(name).Reveal()
	}})
}

// Sandbox is the sandbox for everything that runs commands for a model. It inspects
// nothing before something starts in it.
func (p *Process) Sandbox(at DataDir) *sandbox.Box {
	return sandbox.New(sandbox.Options{
		Dir: at.Dir.Root(), Home: p.Getenv("HOME"), ConfigDir: p.EngineEnv(at)("CLAUDE_CONFIG_DIR"), Executable: p.ClaudeEnv(at).Executable,
		Search: p.Getenv("PATH"), Runtime: p.Getenv("XDG_RUNTIME_DIR"),
		Settings: func() sandbox.Settings {
			// Read each time, so that a change applies to the next process. Errors in the
			// file are reported elsewhere.
			r, _, _ := config.LoadRuntime(at.Dir)
			s := sandbox.Settings{Off: r.Sandbox == "off", Network: r.SandboxNetwork == "on", Visible: visible(r.SandboxVisible)}
			if r.SandboxNetwork != "" && !s.Network {
				s.Hosts, _ = hosts.Parse(r.SandboxNetwork) // config has checked it
			}
			return s
		},
	})
}

// visible parses the setting sandbox_visible.
func visible(list string) []sandbox.Visible {
	var out []sandbox.Visible
	for item := range strings.SplitSeq(list, ",") {
		if path, write := strings.CutSuffix(item, ":rw"); path != "" {
			out = append(out, sandbox.Visible{Path: path, Write: write})
		}
	}
	return out
}

// Terminal reports whether both ends of the process are a terminal.
func (p *Process) Terminal() bool { return p.Typed() && isTerminal(p.Out) }

// Typed reports whether a person types the input.
func (p *Process) Typed() bool { return isTerminal(p.In) }

func isTerminal(end any) bool {
	f, ok := end.(*os.File)
	return ok && term.IsTerminal(f.Fd())
}

// Context ends when the user or the system wants the program to end. A lost
// terminal (SIGHUP) and SIGQUIT are treated alike, so that everything is put
// away: the runtime's own answer to SIGQUIT would leave the terminal raw.
func (p *Process) Context() (context.Context, context.CancelFunc) {
	if p.Live != nil {
		return context.WithCancel(p.Live.Context)
	}
	return signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
}

// HeadlessContext is Context for a bot without a terminal that could be lost: SIGHUP
// has it read its settings again, and SIGQUIT ends it in order as well.
func (p *Process) HeadlessContext() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT)
}
