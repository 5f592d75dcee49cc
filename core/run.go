package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/fault"
	"ollimbot/core/base/words"
	"ollimbot/core/storage/store"
	"ollimbot/routines"
)

// recover finishes what an earlier run of the bot left half done.
func (b *Bot) recover(ctx context.Context) {
	if err := b.purse.Recover(b.now()); err != nil {
		b.log.Error("what an earlier run of the bot had set aside could not be settled", "error", err)
	}
	b.chat.Recover(ctx)
	b.webhooks.recover() // before a turn can take the updates it leaves
}

// yieldFor bounds the wait for a terminal that accepts no output.
const yieldFor = time.Second

// Started reports whether the bot runs. It is cheaper than a snapshot.
func Started(b *Bot) bool { return b.started.Load() != nil }

// Yield waits for the dashboard's first frame, if there is one.
func Yield(ctx context.Context, shown <-chan struct{}) {
	if shown == nil {
		return
	}
	select {
	case <-shown:
	case <-time.After(yieldFor):
	case <-ctx.Done():
	}
}

// watchMoments starts the background checks for tasks: the calendar, the user's habits,
// and problems in files.
func watchMoments(ctx context.Context, b *Bot, g *errgroup.Group) {
	g.Go(fault.Guard("the calendar", func() error { return watchCalendar(ctx, b) }))
	g.Go(fault.Guard("the calendars that tasks skip", func() error { return watchSkipped(ctx, b) }))
	g.Go(fault.Guard("the user's habits", func() error { return watchHabits(ctx, b) }))
	g.Go(fault.Guard("the time zone", func() error { return b.travel.run(ctx) }))
	g.Go(fault.Guard("the problems of files", func() error { return watchProblems(ctx, b) }))
	g.Go(fault.Guard("the files that no index holds", func() error { return watchSlow(ctx, b) }))
}

// look takes in the files as they are at the start, and what an earlier bot left undone. brought are the commands of
// claude's settings that were there before this program.
func (b *Bot) look(ctx context.Context, brought string) {
	b.directory.Concerns()
	if brought != "" {
		b.log.Warn("the settings of claude were here before this program and run commands", "file", claudeSettings, "commands", brought)
		b.warn(fmt.Sprintf(textBrought, claudeSettings, brought))
	}
	b.manual.install()
	b.index.Scan()
	b.review.Recover()
	b.recover(ctx)
}

// paintFor is about how long a dashboard takes to paint what it has taken.
const paintFor = 50 * time.Millisecond

// yieldToFrame lets the dashboard of this terminal, if there is one, show what look has read before the rest of the bot
// starts, which reads the same files again to judge and keep them.
func (b *Bot) yieldToFrame(ctx context.Context) {
	b.looked.Store(true)
	if b.o.Shown == nil {
		return
	}
	b.viewers.notify()
	Yield(ctx, b.seen)
	select {
	case <-ctx.Done():
	case <-time.After(paintFor):
	}
}

// Run starts the bot and blocks until ctx ends and everything has stopped: first the
// intake of work and the runs, which are interrupted and killed after four seconds, then
// engine, git, files and the lock. A second bot on the same directory gets
// *store.RunningError before anything is touched.
func (b *Bot) Run(ctx context.Context) (err error) {
	brought := broughtCommands(b.dir)
	if err := b.dir.Prepare(); err != nil {
		return err
	}
	unlock, err := b.dir.Lock()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	b.door.forget()
	now := b.now()
	b.started.Store(&now)
	b.viewers.notify()
	Yield(ctx, b.o.Shown)
	b.look(ctx, brought)
	b.yieldToFrame(ctx)
	b.log.Info("bot started", "version", b.o.Version, "dir", b.dir.Display(), "zone", b.zone.String(), "engine", b.o.EngineName)

	gitCtx, stopGit := context.WithCancel(context.WithoutCancel(ctx))
	defer stopGit()
	var tidy errgroup.Group
	tidy.Go(fault.Guard("version control", func() error { return b.versions(gitCtx) }))

	controlCtx, stopControl := context.WithCancel(context.WithoutCancel(ctx))
	defer stopControl()
	tidy.Go(fault.Guard("the doors for commands", b.door.open(controlCtx)))

	engineCtx, stopEngine := context.WithCancel(context.WithoutCancel(ctx))
	defer stopEngine()
	tidy.Go(fault.Guard("the engine", func() error { return b.engine.run(engineCtx) }))
	tidy.Go(fault.Guard("the MCP servers", func() error { return b.servers.Run(engineCtx) }))
	tidy.Go(fault.Guard("the sandbox", func() error { return b.engine.reportSandbox(b.o.Sandbox) }))

	g, gctx := errgroup.WithContext(ctx)
	g.Go(fault.Guard("the remote surface", func() error { return b.surface.run(gctx, b) }))
	g.Go(fault.Guard("the webhooks", func() error { return b.webhooks.run(gctx) }))
	g.Go(fault.Guard("background runs", func() error { return b.forks.Run(gctx) }))
	g.Go(fault.Guard("the schedule", func() error { return b.schedule.Run(gctx) }))
	g.Go(fault.Guard("edits that wait", func() error { return b.review.Run(gctx) }))
	g.Go(fault.Guard("proposals", func() error { return b.asks.Run(gctx) }))
	g.Go(fault.Guard("the watch on files", func() error { return b.watchFiles(gctx) }))
	g.Go(fault.Guard("the login at Google", func() error { return b.google.Run(gctx) }))
	watchMoments(gctx, b, g)
	g.Go(fault.Guard("the data directory", func() error { return b.directory.Keep(gctx) }))
	g.Go(fault.Guard("the conversation", func() error { return b.chat.Run(gctx) }))
	b.viewers.notify()
	err = g.Wait()
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = nil
	}
	b.surface.farewell(ctx)
	stopEngine()
	stopControl()
	stopGit()
	err = errors.Join(err, tidy.Wait(), b.book.Close())
	b.log.Info("bot stopped")
	b.viewers.notify()
	return err
}

// runGit makes the data directory a repository and commits queued changes. A machine
// without git is not an error.
func (b *Bot) runGit(ctx context.Context) error {
	if err := b.git.Init(ctx); err != nil {
		b.log.Warn("data directory is not under version control", "error", err)
	}
	agents := func(data []byte) bool {
		return b.guard.Provenance().Known(routines.Digest(data))
	}
	for _, folder := range []string{"routines", "reminders", "skills", "webhooks"} {
		if err := b.git.CatchUp(ctx, folder, agents); err != nil && ctx.Err() == nil {
			b.log.Warn("what a crash kept from the history is still missing", "error", err)
		}
	}
	return b.git.Run(ctx)
}

// claudeSettings are read by claude as they are.
const claudeSettings = ".claude/settings.json"

// broughtCommands returns the commands of claude's hooks in a directory that this program has not run in, because somebody
// else may have written them; empty if there are none.
func broughtCommands(d *store.Dir) string {
	if _, err := os.Lstat(d.Path(store.StateDir)); err == nil {
		return ""
	}
	var settings struct {
		Hooks map[string][]struct {
			Hooks []struct{ Command string }
		}
		Helper string                   `json:"apiKeyHelper"`
		Status struct{ Command string } `json:"statusLine"`
	}
	data, err := d.Read(claudeSettings)
	if err != nil || json.Unmarshal(data, &settings) != nil {
		return ""
	}
	commands := []string{settings.Helper, settings.Status.Command}
	for _, event := range slices.Sorted(maps.Keys(settings.Hooks)) {
		for _, group := range settings.Hooks[event] {
			for _, hook := range group.Hooks {
				commands = append(commands, hook.Command)
			}
		}
	}
	return clean.Cut(clean.Line(words.Joined(commands...)), 300)
}
