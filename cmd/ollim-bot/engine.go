package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"strings"
	"time"

	"ollimbot/cmd/internal/console"
	"ollimbot/cmd/internal/google"
	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/agent/choice"
	"ollimbot/core/agent/claude"
	claudeproc "ollimbot/core/agent/claude/process"
	messagesapi "ollimbot/core/agent/messages"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/agent/script"
	"ollimbot/core/safety/control"
	"ollimbot/core/safety/sandbox"
	"ollimbot/core/storage/config"
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
func (p *process) chooseEngine(at console.DataDir, name string, pace float64) (model, error) {
	if name == choice.Script {
		return p.offline(at, script.Options{Pace: pace, Offline: textHowToConnect}, textOffline), nil
	}
	path, err := claudeproc.Find(p.EngineEnv(at))
	if err == nil && name == choice.Claude {
		err = tryClaude(path, p.EngineEnviron(at))
	}
	if err != nil && name == choice.Claude {
		return model{}, err
	}
	providers := p.Providers(at)
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

// tryClaude is why the command cannot be used, before anything is written. One that is
// only slow to answer can: the engine asks it again.
func tryClaude(path string, env []string) error {
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
	defer stop()
	version, err := claudeproc.Version(ctx, path, env)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	return claudeproc.CheckVersion(version)
}

func (p *process) offline(at console.DataDir, o script.Options, notice string) model {
	o.Dir = at.Dir
	return model{
		name: choice.Script, box: p.Sandbox(at), notice: notice, live: func(*core.Bot) {},
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
func (p *process) several(at console.DataDir, path, name string, pace float64, providers *provider.Registry) model {
	var bot *core.Bot
	box := p.Sandbox(at)
	settings := func() config.Runtime {
		if bot == nil {
			r, _, _ := config.LoadRuntime(at.Dir)
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
				Dir: at.Dir, Log: log,
				Members: []choice.Member{
					{Name: choice.Claude, Engine: p.claude(at, claude.Options{
						Path: path, Log: log, Control: server, Sandbox: box.Engine,
						MemoryLimit: func() int64 { return settings().ClaudeMemoryLimit },
					})},
					{Name: choice.Messages, Engine: messagesapi.New(messagesapi.Options{
						Dir: at.Dir, Env: p.EngineEnviron(at), Control: server,
						Sandbox: box.CommandIn, Sight: box.Sight, Log: log, Providers: providers,
						Others: func() bool { return len(fallback()) > 0 },
					})},
					{Name: choice.Script, Engine: script.New(script.Options{Pace: pace, Dir: at.Dir, Offline: textHowToConnect})},
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
func (p *process) claude(at console.DataDir, o claude.Options) agent.Engine {
	env := p.ClaudeEnv(at)
	// One mark for each directory, so that what an earlier program left behind is
	// known; the directory's lock sees to it that only one program uses it.
	mark := sha256.Sum256([]byte(at.Dir.Root()))
	env.Mark = hex.EncodeToString(mark[:8])
	o.Env, o.Process = p.Environment(at), env
	return claude.New(o)
}

// discord makes the surface of the user's direct messages, where a token is set.
// Without one it says how to get there; nothing is asked of the network yet.
func (p *process) discord(at console.DataDir, log *slog.Logger, pending func() bool) (remote core.Remote, without string, err error) {
	if at.Env.DiscordToken == "" {
		return nil, textNoDiscord, nil
	}
	d, err := discord.New(discord.Options{
		Token: at.Env.DiscordToken, API: at.Env.DiscordAPI, OwnerID: at.Env.OwnerID, Log: log, Version: version,
		UserName: at.Env.UserName, BotName: at.Env.BotName, Dir: at.Dir, Zone: at.Env.Zone,
		LoginPending: pending,
	})
	if err != nil {
		return nil, "", err
	}
	return d, "", nil
}

type authCmds struct {
	Login  authLoginCmd    `cmd:""`
	Status authStatusCmd   `cmd:""`
	Logout authLogoutCmd   `cmd:""`
	Google google.LoginCmd `cmd:""`
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
	at, err := p.Open()
	if err != nil {
		return err
	}
	path, err := claudeproc.Find(p.EngineEnv(at))
	if err != nil {
		return err
	}
	c := exec.Command(path, append([]string{"auth"}, args...)...)
	c.Env = p.EngineEnviron(at)
	c.Stdin, c.Stdout, c.Stderr = p.In, p.Out, p.Err
	err = c.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return console.ErrSilent // it has said why itself
	}
	if err != nil {
		return fmt.Errorf("run claude auth: %w", err)
	}
	return nil
}
