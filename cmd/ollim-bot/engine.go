package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"ollimbot/cmd/internal/console"
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
)

// model is the engine of a bot about to start.
type model struct {
	name   string
	notice string // the first line of the dashboard, or empty
	// engine makes the engine without starting anything. Its shells reach the bot over the socket.
	engine func(*slog.Logger, *control.Server) agent.Engine
	// box is the sandbox of the engine and of the commands in skills.
	box *sandbox.Box
	// providers are the servers that speak the Messages API. With the offline engine, they only transcribe.
	providers *provider.Registry
	// live is called with the bot before it runs, because the engine follows its settings.
	live func(*core.Bot)
}

// models makes the engine of a bot on a data directory. It starts nothing.
type models struct {
	*console.Process
	at console.DataDir
}

// choose makes the engine with a name. pace is the offline engine's.
func (m models) choose(name string, pace float64) (model, error) {
	if name == choice.Script {
		return m.offline(script.Options{Pace: pace, Offline: textHowToConnect + textWithoutFlag}, textOffline), nil
	}
	path, err := claudeproc.Find(m.EngineEnv(m.at))
	if err == nil && name == choice.Claude {
		err = tryClaude(path, m.EngineEnviron(m.at))
	}
	if err != nil && name == choice.Claude {
		return model{}, err
	}
	providers := m.Providers(m.at)
	if name == choice.Messages {
		if err := providers.Ready(); err != nil {
			return model{}, err
		}
	}
	made := m.several(path, name, pace, providers)
	if made.name == choice.Script {
		made.notice = textOffline
		if err != nil {
			made.notice = fmt.Sprintf(textNoClaude, err)
		}
	}
	return made, nil
}

// tryClaude returns why the command cannot be used, before anything is written. A slow
// answer is no reason: the engine asks again.
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

// offline makes the engine that plays scripts.
func (m models) offline(o script.Options, notice string) model {
	o.Dir = m.at.Dir
	return model{
		name: choice.Script, box: m.Sandbox(m.at), notice: notice, providers: m.Providers(m.at), live: func(*core.Bot) {},
		engine: func(*slog.Logger, *control.Server) agent.Engine {
			return script.New(o)
		},
	}
}

// several makes all engines. The settings choose among them while the bot runs.
func (m models) several(path, name string, pace float64, providers *provider.Registry) model {
	var bot *core.Bot
	box := m.Sandbox(m.at)
	settings := func() config.Runtime {
		if bot == nil {
			r, _, _ := config.LoadRuntime(m.at.Dir)
			return r
		}
		return bot.Runtime()
	}
	fallback := func() []string { return strings.FieldsFunc(settings().Fallback, func(r rune) bool { return r == ',' }) }
	pick := func() string { return console.EngineName(name, settings().Engine, path != "", providers) }
	return model{
		name: pick(), box: box, providers: providers, live: func(b *core.Bot) { bot = b },
		engine: func(log *slog.Logger, server *control.Server) agent.Engine {
			return choice.New(choice.Options{
				Dir: m.at.Dir, Log: log,
				Members: []choice.Member{
					{Name: choice.Claude, Engine: m.claude(claude.Options{
						Path: path, Log: log, Control: server, Sandbox: box.Engine,
						MemoryLimit: func() int64 { return settings().ClaudeMemoryLimit },
						Price:       providers.Prices().Cost,
					})},
					{Name: choice.Messages, Engine: messagesapi.New(messagesapi.Options{
						Dir: m.at.Dir, Env: m.EngineEnviron(m.at), Control: server,
						Sandbox: box.CommandIn, Sight: box.Sight, Log: log, Providers: providers,
						Others: func() bool { return len(fallback()) > 0 },
					})},
					{Name: choice.Script, Engine: script.New(script.Options{Pace: pace, Dir: m.at.Dir, Offline: textHowToConnect})},
				},
				Chosen:   func() (string, string) { return pick(), settings().ModelMain },
				Fallback: fallback,
				Server: func(model string) string {
					found, _, _ := providers.Find(model)
					return found.Name
				},
				Main:   func() string { return bot.MainSession() },
				Recent: func() string { return bot.Recent() },
				Tell:   func(text string) { bot.Tell(text) },
			})
		},
	}
}

// claude makes the engine over the claude command.
func (m models) claude(o claude.Options) agent.Engine {
	env := m.ClaudeEnv(m.at)
	// The mark identifies processes that an earlier bot on this directory left behind.
	// The directory's lock ensures that no other bot uses it.
	mark := sha256.Sum256([]byte(m.at.Dir.Root()))
	env.Mark = hex.EncodeToString(mark[:8])
	o.Env, o.Process = m.Environment(m.at), env
	return claude.New(o)
}
