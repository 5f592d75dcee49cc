package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"

	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/agent/choice"
	"ollimbot/core/agent/claude"
	claudeproc "ollimbot/core/agent/claude/process"
	messagesapi "ollimbot/core/agent/messages"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/agent/script"
	"ollimbot/core/config"
	"ollimbot/core/control"
	"ollimbot/core/sandbox"
	"ollimbot/discord"
)

// engineAuto is the engine of the settings, where --engine names no other.
const engineAuto = "auto"

// model is the engine of a bot that is about to run.
type model struct {
	name   string
	notice string // what the dashboard says first, or empty
	// engine makes it; nothing is started. Its shells reach the bot by the socket.
	engine func(*slog.Logger, *control.Server) agent.Engine
	// box is the sandbox of the engine and of skills' commands.
	box *sandbox.Box
	// providers are who speaks the Messages API; nil where nobody is asked.
	providers *provider.Registry
	// live hands the bot over before it runs: the engine follows its configuration.
	live func(*core.Bot)
}

// chooseEngine makes the engine that was asked for. Nothing is started.
func (p *process) chooseEngine(at dataDir, name string, pace float64) (model, error) {
	if name == choice.Script {
		return p.offline(at, script.Options{Pace: pace}, textOffline), nil
	}
	path, err := claudeproc.Find(p.engineEnv(at))
	if err != nil && name == choice.Claude {
		return model{}, err
	}
	providers := p.providers(at)
	if name == choice.Messages {
		if err := providers.Ready(); err != nil {
			return model{}, err
		}
	}
	m := p.several(at, path, name, pace, providers)
	if m.name == choice.Script {
		m.notice = textOffline
		if err != nil {
			m.notice = fmt.Sprintf(textNoClaude, err)
		}
	}
	return m, nil
}

func (p *process) offline(at dataDir, o script.Options, notice string) model {
	o.Dir = at.dir
	return model{
		name: choice.Script, box: p.sandbox(at), notice: notice, live: func(*core.Bot) {},
		engine: func(*slog.Logger, *control.Server) agent.Engine {
			return script.New(o)
		},
	}
}

// chosen is the engine that a name and the settings mean. Where both leave it open it
// is the first that is there.
func chosen(name, setting string, claudeFound bool, providers *provider.Registry) string {
	if name != engineAuto {
		return name
	}
	switch {
	case setting != "":
		return setting
	case claudeFound:
		return choice.Claude
	case providers.Ready() == nil:
		return choice.Messages
	}
	return choice.Script
}

// several are the engines that there are, among which the settings choose.
func (p *process) several(at dataDir, path, name string, pace float64, providers *provider.Registry) model {
	var bot *core.Bot
	box := p.sandbox(at)
	settings := func() config.Runtime {
		if bot == nil {
			r, _, _ := config.LoadRuntime(at.dir)
			return r
		}
		return bot.Runtime()
	}
	fallback := func() []string { return strings.FieldsFunc(settings().Fallback, func(r rune) bool { return r == ',' }) }
	pick := func() string { return chosen(name, settings().Engine, path != "", providers) }
	return model{
		name: pick(), box: box, providers: providers, live: func(b *core.Bot) { bot = b },
		engine: func(log *slog.Logger, server *control.Server) agent.Engine {
			return choice.New(choice.Options{
				Dir: at.dir, Log: log,
				Members: []choice.Member{
					{Name: choice.Claude, Engine: p.claude(at, claude.Options{
						Path: path, Log: log, Control: server, Sandbox: box.Engine,
						MemoryLimit: func() int64 { return settings().ClaudeMemoryLimit },
					})},
					{Name: choice.Messages, Engine: messagesapi.New(messagesapi.Options{
						Dir: at.dir, Env: claudeproc.Environment(p.environment(at), p.claudeEnv(at)), Control: server,
						Sandbox: box.CommandIn, Sight: box.Sight, Log: log, Providers: providers,
						Others: func() bool { return len(fallback()) > 0 },
					})},
					{Name: choice.Script, Engine: script.New(script.Options{Pace: pace, Dir: at.dir})},
				},
				Chosen:   func() (string, string) { return pick(), settings().ModelMain },
				Fallback: fallback,
				Server: func(model string) string {
					p, _, _ := providers.Find(model)
					return p.Name
				},
				Main:   func() string { return bot.MainSession() },
				Recent: func() string { return bot.Recent() },
				Tell:   func(text string) { bot.Tell(text) },
			})
		},
	}
}

// claude is the engine over the command, with the environment of a data directory.
func (p *process) claude(at dataDir, o claude.Options) agent.Engine {
	env := p.claudeEnv(at)
	// One mark for each directory, so that what an earlier program left behind is
	// known; the directory's lock sees to it that only one program uses it.
	mark := sha256.Sum256([]byte(at.dir.Root()))
	env.Mark = hex.EncodeToString(mark[:8])
	o.Env, o.Process = p.environment(at), env
	return claude.New(o)
}

// providers are who speaks the Messages API. No key that they read gets into a log.
func (p *process) providers(at dataDir) *provider.Registry {
	return provider.New(provider.Options{Dir: at.dir, Hide: p.secrets.Hide, Getenv: func(name string) string {
		return cmp.Or(p.getenv(name), at.env.Variable(name).Reveal())
	}})
}

// sandbox is the fence around what runs commands for a model. It looks at nothing
// before something is to be started in it.
func (p *process) sandbox(at dataDir) *sandbox.Box {
	return sandbox.New(sandbox.Options{
		Dir: at.dir.Root(), Home: p.getenv("HOME"), ConfigDir: p.engineEnv(at)("CLAUDE_CONFIG_DIR"), Executable: p.claudeEnv(at).Executable,
		Search: p.getenv("PATH"),
		Settings: func() sandbox.Settings {
			// Read anew each time, so that a change counts for the next process; what is
			// wrong in the file is told by whoever reads it for the user.
			r, _, _ := config.LoadRuntime(at.dir)
			return sandbox.Settings{Off: r.Sandbox == "off", Network: r.SandboxNetwork, Visible: visible(r.SandboxVisible)}
		},
	})
}

// visible reads the setting of that name.
func visible(list string) []sandbox.Visible {
	var out []sandbox.Visible
	for item := range strings.SplitSeq(list, ",") {
		if path, write := strings.CutSuffix(item, ":rw"); path != "" {
			out = append(out, sandbox.Visible{Path: path, Write: write})
		}
	}
	return out
}

// environment is this program's, with what .env holds for the engine's command
// where the real one has nothing.
func (p *process) environment(at dataDir) []string {
	env := p.environ()
	for _, v := range at.env.Engine {
		name, _, _ := strings.Cut(v.Reveal(), "=")
		if p.getenv(name) == "" {
			env = append(env, v.Reveal())
		}
	}
	return env
}

// engineEnv looks a variable up in environment.
func (p *process) engineEnv(at dataDir) func(string) string {
	return func(name string) string {
		if v := p.getenv(name); v != "" {
			return v
		}
		for _, v := range at.env.Engine {
			if rest, ok := strings.CutPrefix(v.Reveal(), name+"="); ok {
				return rest
			}
		}
		return ""
	}
}

// claudeEnv is what the environment of the command carries of ours.
func (p *process) claudeEnv(at dataDir) claudeproc.Env {
	exe, err := os.Executable()
	if err != nil {
		exe = ""
	}
	return claudeproc.Env{DataDir: at.dir.Root(), Timezone: at.env.ZoneName, Executable: exe}
}

// discord makes the surface of the user's direct messages, where a token is set.
// Without one it says how to get there; nothing is asked of the network yet.
func (p *process) discord(at dataDir, log *slog.Logger, pending func() bool) (remote core.Remote, without string, err error) {
	if at.env.DiscordToken == "" {
		return nil, textNoDiscord, nil
	}
	d, err := discord.New(discord.Options{
		Token: at.env.DiscordToken, API: at.env.DiscordAPI, OwnerID: at.env.OwnerID, Log: log, Version: version,
		UserName: at.env.UserName, BotName: at.env.BotName, Dir: at.dir, Zone: at.env.Zone,
		LoginPending: pending,
	})
	if err != nil {
		return nil, "", err
	}
	return d, "", nil
}

type authCmds struct {
	Login  authLoginCmd  `cmd:""`
	Status authStatusCmd `cmd:""`
	Logout authLogoutCmd `cmd:""`
	Google authGoogleCmd `cmd:""`
}

type (
	authLoginCmd  struct{}
	authStatusCmd struct{}
	authLogoutCmd struct{}
)

func (authLoginCmd) Run(p *process) error  { return p.auth("login") }
func (authStatusCmd) Run(p *process) error { return p.auth("status", "--text") }
func (authLogoutCmd) Run(p *process) error { return p.auth("logout") }

// auth hands the terminal to the claude command, with the environment that the
// bot's own sessions have, so that a login here is a login there.
func (p *process) auth(args ...string) error {
	at, err := p.open()
	if err != nil {
		return err
	}
	path, err := claudeproc.Find(p.engineEnv(at))
	if err != nil {
		return err
	}
	c := exec.Command(path, append([]string{"auth"}, args...)...)
	c.Env = claudeproc.Environment(p.environment(at), p.claudeEnv(at))
	c.Stdin, c.Stdout, c.Stderr = p.in, p.out, p.err
	err = c.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return errSilent // it has said why itself
	}
	if err != nil {
		return fmt.Errorf("run claude auth: %w", err)
	}
	return nil
}
