package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"ollimbot/cmd/internal/console"
	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/base/fault"
	"ollimbot/core/safety/control"
	"ollimbot/core/storage/logs"
	"ollimbot/core/storage/store"
	"ollimbot/tui/attach"
)

type runCmd struct {
	uiFlags

	Engine string  `enum:"auto,claude,messages,script" default:"auto" placeholder:"NAME" help:"Who answers: claude, messages, or script; auto finds out."`
	Pace   float64 `default:"1" placeholder:"N" help:"How long the offline engine thinks: 1 as a quick model, 0 not at all."`
}

// Run starts the bot on the data directory and stays until it is ended.
func (c *runCmd) Run(p *process, at console.DataDir) error {
	if c.Pace < 0 || c.Pace > 100 {
		return console.Usagef("--pace %v is not possible: give 0 to 100", c.Pace)
	}
	if err := c.check(p); err != nil {
		return err
	}
	if attached, err := p.beside(at, c.uiFlags); attached {
		return err
	}
	m, err := p.chooseEngine(at, c.Engine, c.Pace)
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

// serving says how a bot is run.
type serving struct {
	uiMode
	model    model
	discord  bool        // connect where a token is set
	restarts func() bool // the end that has come is followed by a fresh start
	// beside runs with the bot and ends with it: the demo's driver. Nil for none.
	beside func(ctx context.Context, bot *core.Bot, log *slog.Logger) error
	at     console.DataDir // where
}

// serve runs the bot with or without a dashboard until ctx ends, the user
// quits, or one of them fails.
func (p *process) serve(ctx context.Context, at console.DataDir, s serving) error {
	if err := at.Dir.Prepare(); err != nil {
		return err
	}
	defer s.model.box.Close()
	log, book := p.openLog(at, s.Headless)
	asked := ctx // has ended where the user or the system wants the end, of a fresh start too
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
		Log: log, Book: book, Version: version, Idle: tidyMemory,
		Commands: p.commands(at), Control: server,
		UserCommands: func(ctx context.Context, args []string) agent.CommandResult { return p.carryOut(ctx, at, bot, args) },
		Sandbox:      s.model.box,
		Restart:      func() { s.again(os.Args[1:]...) },
		Later:        !s.Headless && !s.Plain && s.beside == nil,
	}
	if list := s.model.providers; list != nil {
		list.HideFrom(book.Hide)
		options.Providers = list
	}
	var err error
	if s.discord {
		pending := func() bool { return bot != nil && bot.Snapshot().Engine.LoginURL != "" }
		if options.Remote, options.NoRemote, err = p.discord(at, log, pending); err != nil {
			return errors.Join(err, book.Close())
		}
	}
	bot, err = core.New(options)
	if err != nil {
		return errors.Join(err, book.Close())
	}
	s.model.live(bot)
	if s.Headless && s.model.notice != "" {
		log.Info("engine", "note", s.model.notice)
	}
	if err := errors.Join(p.together(ctx, bot, log, s), book.Close()); err != nil || !s.restarts() {
		return err
	}
	return &anew{*next.Load()}
}

// anew asks for a fresh process with these arguments. It goes up as an error, so
// that whoever made something for this one puts it away first.
type anew struct{ args []string }

func (*anew) Error() string { return "the program begins anew" }

// restart replaces this process by a fresh one with these arguments: after
// everything has stopped, so that nothing is shared by the two.
func restart(executable string, args []string) error {
	if err := syscall.Exec(executable, append(os.Args[:1:1], args...), os.Environ()); err != nil {
		return fmt.Errorf("restart %s: %w", executable, err)
	}
	return nil
}

// together runs the bot, the dashboard and what stands beside them. The first
// one to end ends the others, and all have ended when it returns.
func (p *process) together(ctx context.Context, bot *core.Bot, log *slog.Logger, s serving) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var g errgroup.Group
	g.Go(fault.Guard("the bot", func() error {
		defer stop()
		return bot.Run(ctx)
	}))
	if !begun(ctx, bot) {
		return g.Wait()
	}
	g.Go(fault.Guard("the viewers", func() error { return p.viewers(s.at, bot, attach.Options{Log: log, Tidy: tidyMemory}).Run(ctx) }))
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
			return p.show(ctx, bot, s.uiMode, s.model.notice)
		}))
	}
	err := g.Wait()
	if fault.Stack(err) != "" { // the user gets the sentence, the log the place
		log.Error("the program broke", "error", err)
	}
	return err
}

// begun waits until the bot has the lock and is under way, so that a refusal is
// one plain line and not a dashboard that flashes. It is false when the bot has
// ended instead.
func begun(ctx context.Context, bot *core.Bot) bool {
	v := bot.Viewer(true)
	defer v.Close()
	for bot.Snapshot().Started.IsZero() {
		select {
		case <-ctx.Done():
			return false
		case <-v.Changed():
		}
	}
	return ctx.Err() == nil
}

// openLog opens the bot's log: always the ring and the file, and without a
// dashboard lines on standard output too. No secret of the environment reaches any.
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

// The bot does a little each minute and waits: memory is dearer than time.

// leanMemory lets the garbage collector come early. Measured on two cores with
// 1,000 lines a second into a dashboard of 200×60 and a tail of 100,000 lines: 36
// MB and 5.7 % of a core, where the usual 100 % takes 47 MB and 4.2 %. After two minutes
// without a collection the runtime makes one, which brings in pages of the program's
// file: ours comes before that, and gives them back.
func leanMemory(ctx context.Context) error {
	for wait := time.Second; ; wait = 100 * time.Second { // a second: all that a start reads has been read
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
			debug.SetGCPercent(25)
			tidyMemory()
		}
	}
}

// unmapProgram tells the system that the pages of the program's own file that the
// start has brought in are done with: what is needed again comes back, 64 kB at a
// time, from the system's cache. A bot without a dashboard has 23 MB resident without
// this. That is Linux; elsewhere there is no list of mappings, and nothing happens.
func unmapProgram() {
	exe, err := os.Executable()
	maps, _ := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	var from, to uintptr
	for line := range strings.Lines(string(maps)) {
		field := strings.Fields(line)
		switch {
		case len(field) == 6 && field[5] == exe && strings.HasPrefix(field[1], "r-"):
			if n, err := fmt.Sscanf(field[0], "%x-%x", &from, &to); n != 2 || err != nil {
				return
			}
		case len(field) != 3: // another mapping, or flags
			to = 0
		case field[0] == "Anonymous:" && field[1] == "0" && to != 0: // no page of it is ours alone
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED)
		}
	}
}

// tidyMemory gives back at once what a burst has left behind: reading every file
// at the start, or background runs. Else it would stay until the next collection,
// which in a quiet program is the one that comes every two minutes.
func tidyMemory() {
	debug.FreeOSMemory()
	unmapProgram()
}
