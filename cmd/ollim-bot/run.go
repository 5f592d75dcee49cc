package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/cmd/internal/console"
	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/base/fault"
	"ollimbot/core/command"
	"ollimbot/core/safety/control"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/logs"
	"ollimbot/core/storage/store"
	"ollimbot/core/transcribe"
	"ollimbot/discord"
	"ollimbot/tui/attach"
	"ollimbot/tui/picture"
)

type runCmd struct {
	uiFlags

	Engine string  `enum:"auto,claude,messages,script" default:"auto" placeholder:"NAME" help:"Who answers: claude, messages, or script; auto finds out."`
	Pace   float64 `default:"1" placeholder:"N" help:"How long the offline engine thinks: 1 as a quick model, 0 not at all."`
}

// Run starts the bot on the data directory and returns when it has stopped.
func (c *runCmd) Run(p *process, at console.DataDir) error {
	if c.Pace < 0 || c.Pace > 100 {
		return console.Usagef("--pace must be between 0 and 100, not %v", c.Pace)
	}
	if err := c.check(p); err != nil {
		return err
	}
	if attached, err := p.beside(at, c.uiFlags); attached {
		return err
	}
	m, err := models{&p.Process, at}.choose(c.Engine, c.Pace)
	if err != nil {
		return err
	}
	ctx, stop := p.Context()
	if c.Headless {
		stop()
		ctx, stop = p.HeadlessContext()
	}
	defer stop()
	return p.serve(ctx, at, serving{uiMode: uiMode{uiFlags: c.uiFlags, fresh: unset(at), dir: at.Dir.Root()}, model: m, discord: true})
}

// serving is how a bot runs.
type serving struct {
	uiMode
	model    model
	discord  bool        // connect if a token is set
	restarts func() bool // whether a new start follows the end
	// beside runs and ends with the bot: the demo's driver. Nil for none.
	beside func(ctx context.Context, bot *core.Bot, log *slog.Logger) error
	at     console.DataDir
	// painted is closed after the first frame; may be nil.
	painted <-chan struct{}
}

// serve runs the bot with or without a dashboard until ctx ends, the user
// quits, or one of them fails.
func (p *process) serve(ctx context.Context, at console.DataDir, s serving) error {
	defer s.model.box.Close()
	log, book := p.openLog(at, s.Headless)
	s.model.box.LogTo(log)
	warnOfLeftOvers(at, p.Getenv, log)
	asked := ctx // ends when the user or the system stops the program, which cancels a restart too
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var next atomic.Pointer[[]string]
	s.restarts = func() bool { return next.Load() != nil && asked.Err() == nil }
	s.again = func(args ...string) {
		next.Store(&args)
		stop()
	}
	s.at = at
	var bot *core.Bot
	server := control.New(control.Options{Dir: at.Dir.Path(store.StateDir), Log: log})
	options := core.Options{
		Dir: at.Dir, Env: at.Env, Engine: s.model.engine(log, server), EngineName: s.model.name, Demo: s.demo,
		Log: log, Book: book, Version: version, Program: p.program(), Idle: tidyMemory,
		Commands: p.commands(at), Control: server,
		UserCommands: func(ctx context.Context, args []string) (agent.CommandResult, command.Value) {
			return p.carryOut(ctx, at, bot, args)
		},
		Sandbox:   s.model.box,
		Providers: s.model.providers,
		Lookup:    p.Getenv,
		UserFiles: p.UserFiles,
		Restart:   func() { s.again(os.Args[1:]...) },
	}
	if !s.demo {
		options.MachineZone = func() string { return config.MachineZone(p.Getenv) }
	}
	if !s.Headless && !s.Plain && s.beside == nil {
		shown := make(chan struct{})
		options.Shown, s.painted, s.shown = shown, shown, sync.OnceFunc(func() { close(shown) })
	}
	s.model.providers.HideFrom(book.Hide)
	var err error
	if s.discord {
		hear := p.transcribes(at, s.model, func() *core.Bot { return bot })
		if options.Remote, options.NoRemote, err = directMessages(at, log, hear, func() *core.Bot { return bot }); err != nil {
			return errors.Join(err, book.Close())
		}
	}
	bot, err = core.New(options)
	if err != nil {
		return errors.Join(err, book.Close())
	}
	s.model.live(bot)
	s.tellEngine(log)
	if err := errors.Join(p.together(ctx, bot, log, s), book.Close()); err != nil || !s.restarts() {
		return err
	}
	return &restartError{*next.Load()}
}

// tellEngine logs what is to be known about the engine, where no dashboard says it.
func (s serving) tellEngine(log *slog.Logger) {
	if s.Headless && s.model.notice != "" {
		log.Info("engine", "note", s.model.notice)
	}
}

// transcribes creates the transcriber of voice messages. bot returns the running bot.
func (p *process) transcribes(at console.DataDir, m model, bot func() *core.Bot) *transcribe.Service {
	return transcribe.New(transcribe.Options{
		Find: m.providers.Transcriber, Sandbox: m.box.CommandIn, Dir: at.Dir.Root(), Env: p.EngineEnviron(at),
		Language: func() string { return bot().Runtime().VoiceLanguage },
		Longest:  func() time.Duration { return bot().Runtime().VoiceLimit },
		Begin:    func() (end func()) { return bot().Transcribing() },
		Charge:   func(c agent.Charge) { bot().Transcribed(c) },
	})
}

// directMessages makes the surface of the user's direct messages, if a token is set.
// Without one, it returns how to get one. It does not use the network yet. bot returns the running bot, or nil.
func directMessages(at console.DataDir, log *slog.Logger, hear *transcribe.Service, bot func() *core.Bot) (remote core.Remote, without string, err error) {
	if at.Env.DiscordToken == "" {
		return nil, textNoDiscord, nil
	}
	o := discord.Options{
		Log: log, Transcribe: hear.Words,
		LoginPending: func() bool { return bot() != nil && bot().Snapshot().Engine.LoginURL != "" },
		StatusLine:   func() bool { return bot() != nil && bot().Runtime().StatusLine },
		Draw: func(ctx context.Context, name string) ([]byte, string, error) {
			viewer := bot().Viewer(true)
			defer viewer.Close()
			p, err := picture.Of(ctx, name, viewer)
			return p.PNG, p.Alt, err
		},
	}
	o.Token, o.API, o.OwnerID, o.Version = at.Env.DiscordToken, at.Env.DiscordAPI, at.Env.OwnerID, version
	o.UserName, o.BotName, o.Dir, o.Zone = at.Env.UserName, at.Env.BotName, at.Dir, at.Env.Zone
	d, err := discord.New(o)
	if err != nil {
		return nil, "", err
	}
	return d, "", nil
}

// restartError asks for a new process with these arguments. It is returned as an error,
// so that every caller cleans up first.
type restartError struct{ args []string }

func (*restartError) Error() string { return "the program restarts" }

// restart replaces this process with a new one. Call it after everything has stopped, so
// that the two share nothing.
func restart(executable string, args []string) error {
	if err := syscall.Exec(executable, append(os.Args[:1:1], args...), os.Environ()); err != nil {
		return fmt.Errorf("restart %s: %w", executable, err)
	}
	return nil
}

// together runs the bot, the dashboard and the services next to them. The first to end
// ends the others; all have ended when it returns.
func (p *process) together(ctx context.Context, bot *core.Bot, log *slog.Logger, s serving) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var g errgroup.Group
	g.Go(fault.Guard("the bot", func() error {
		defer stop()
		return bot.Run(ctx)
	}))
	if !started(ctx, bot) {
		return g.Wait()
	}
	g.Go(fault.Guard("the viewers", func() error {
		core.Yield(ctx, s.painted) // others can wait for the screen of this terminal
		return p.viewers(s.at, bot, attach.ServerOptions{Log: log, Tidy: tidyMemory}).Run(ctx)
	}))
	g.Go(fault.Guard("the memory", func() error { return leanMemory(ctx) }))
	if s.beside != nil {
		g.Go(fault.Guard("the demo's driver", func() error { return s.beside(ctx, bot, log) }))
	}
	if s.Headless {
		defer inTime(ctx, log)()
		g.Go(fault.Guard("the supervisor", func() error { return p.tend(ctx, bot, log, s.at, s.restarts) }))
	} else {
		g.Go(fault.Guard("the dashboard", func() error {
			defer stop()
			return p.show(ctx, bot, s)
		}))
	}
	err := g.Wait()
	if fault.Stack(err) != "" { // the user gets the message, the log the stack
		log.Error("the program broke", "error", err)
	}
	return err
}

// started waits until the bot has the lock and runs, so that a refusal is one line
// instead of a dashboard that flashes. It returns false if the bot has ended instead.
func started(ctx context.Context, bot *core.Bot) bool {
	v := bot.Viewer(true)
	defer v.Close()
	for !core.Started(bot) {
		select {
		case <-ctx.Done():
			return false
		case <-v.Changed():
		}
	}
	return ctx.Err() == nil
}

// openLog opens the bot's log: the ring, the file, and standard output if there is no
// dashboard. Secrets of the environment are redacted in all of them.
func (p *process) openLog(at console.DataDir, headless bool) (*slog.Logger, *logs.Sink) {
	var stdout io.Writer
	if headless {
		stdout = p.Out
	}
	log, book := logs.New(logs.Options{Dir: at.Dir, Level: slog.LevelInfo, Stdout: stdout, Zone: at.Env.Zone})
	for _, secret := range at.Env.Secrets(p.Environ()) {
		book.Hide(secret)
	}
	return log, book
}
