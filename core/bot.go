// Package core is the bot: the one place where its parts meet. It decides what
// a scheduled fire, a message or a command does, keeps the main conversation
// and its lock, and shows everything to dashboards as Snapshot, Changed and
// Tail of a Viewer. It must not know any dashboard, any particular model, or Discord.
package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/agent"
	"ollimbot/core/agent/messages/batch"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/base/fault"
	"ollimbot/core/base/tail"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/control"
	"ollimbot/core/safety/policy"
	"ollimbot/core/safety/sandbox"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/git"
	"ollimbot/core/storage/logs"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/absence"
	"ollimbot/core/talk/attention"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/notes"
	"ollimbot/core/talk/notice"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/session"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/money"
	"ollimbot/core/work/tasks"
	"ollimbot/core/work/updates"
	"ollimbot/core/work/webhook"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

// LogTail is the id under which Tail gives the program's own log.
const LogTail = "log"

// chatEntries is how much of the conversation a dashboard can scroll back.
const chatEntries = 500

// Options are the parts that the bot is made of.
type Options struct {
	Dir    *store.Dir
	Env    config.Env
	Engine agent.Engine
	// EngineName is the engine's word for the top line: "script", "claude".
	EngineName string
	// Demo says that no model is expected.
	Demo bool
	// Providers are who speaks the Messages API; nil is nobody.
	Providers *provider.Registry
	Version   string // of the program, for /version
	// Idle is called when the last background run has ended and none waits; it may
	// take a while. Nil does nothing.
	Idle func()
	// Restart starts the program anew once Run has ended; nil where it cannot.
	Restart func()
	Log     *slog.Logger
	Book    *logs.Sink // nil where no log is shown
	// Commands runs the program's own commands for the agent, which calls them in
	// its shell; nil where it cannot.
	Commands policy.Runner
	// UserCommands runs the program's own commands for the user, beside whose shell the
	// bot runs; nil runs none.
	UserCommands func(ctx context.Context, args []string) agent.CommandResult
	// Control is the socket on which they reach the bot; nil is none.
	Control *control.Server
	// Remote reaches the user away from the dashboard; nil leaves the chat pane.
	Remote Remote
	// Sandbox is what the commands in skills' texts run in; nil is none.
	Sandbox *sandbox.Box
	// Still leaves out what reaches beyond the program while it runs, the watch on
	// files and git: for a bot that lives in a bubble of fake time.
	Still bool
	// Later leaves the reading of the tasks' files to Run, for a dashboard that shows its
	// first frame before.
	Later bool
	// NoRemote says, where there is none, why and how to get one.
	NoRemote string
}

// Bot is the whole bot. New makes one that can be looked at; Run brings it to
// life.
type Bot struct {
	o    Options
	dir  *store.Dir
	zone *time.Location
	log  *slog.Logger

	index     *routines.Index
	schedule  *schedule.Schedule
	budget    *budget.Bucket
	journal   *budget.Journal
	updates   *updates.Queue
	sessions  *session.Store
	forks     *fork.Manager
	pingFires pingFires
	book      *transcript.Chat
	git       *git.Recorder
	chat      *chat.Conversation
	guard     *policy.Guard
	policy    *policy.File
	replies   *session.ForkMessages
	muted     *schedule.Mute
	google    *account
	handlers  command.Handlers
	tasks     *tasks.Editor
	notes     *notes.Notes
	attention *attention.Attention
	// heldSkills are the skills that wait for the user.
	heldSkills atomic.Pointer[[]routines.Problem]
	purse      *money.Purse
	batches    *batch.Batches // nil where nobody takes any
	audit      *audit.Log
	present    *absence.Keeper
	library    []agent.Tool // the documentation, for every session
	// hooks are the webhooks' files, triggers the server that takes deliveries, nil
	// without one; hooksOff says why there is none although one was asked for.
	hooks    *webhook.Index
	triggers *webhook.Server
	hooksOff string

	// watchFiles and versions are the two services that reach outside of the
	// program (inotify, git); tests in bubbles of fake time do without them.
	watchFiles, versions func(context.Context) error

	runtime atomic.Pointer[config.Runtime]
	started atomic.Pointer[time.Time]
	notices *notice.Board
	viewers viewers
}

// New reads the data directory and returns a bot that can be asked for
// snapshots, previews and the budget. It starts nothing, locks nothing and
// writes nothing, so it may stand beside a running bot.
func New(o Options) (*Bot, error) {
	if o.Dir == nil || o.Engine == nil || o.Log == nil {
		return nil, errors.New("make the bot: a data directory, an engine and a log are needed")
	}
	zone := o.Env.Zone
	zone = cmp.Or(zone, time.UTC)
	b := &Bot{o: o, dir: o.Dir, zone: zone}
	b.notices = notice.NewBoard(zone, o.Book.Redact, b.notify)
	b.log = slog.New(slog.NewMultiHandler(o.Log.Handler(), b.notices.Errors()))
	b.o.Commands = b.audited(o.Commands)
	b.audit = audit.New(audit.Options{Dir: b.dir, Log: b.log, Hide: o.Book.Redact})
	b.present = absence.New(b.dir, b.log)
	b.index = routines.NewIndex(b.dir, zone)
	b.budget = budget.NewBucket(b.dir, zone, b.log)
	b.journal = budget.NewJournal(b.dir, zone, b.log)
	b.updates = updates.NewQueue(b.dir, zone, b.log)
	b.sessions = session.NewStore(b.dir, zone, b.log)
	b.git = git.New(b.dir, b.log)
	if o.Sandbox != nil {
		b.git.Sandbox = o.Sandbox.Git
	}
	b.replies = session.NewForkMessages(b.dir, b.log)
	b.policy = policy.NewFile(b.dir)
	b.makeGuard()
	b.guard.Approvals().OnChange(b.approvalChanged)
	b.watchFiles, b.versions = b.watch, b.runGit
	if o.Still {
		idle := func(ctx context.Context) error { <-ctx.Done(); return nil }
		b.watchFiles, b.versions = idle, idle
	}
	if err := b.openGoogle(); err != nil {
		return nil, err
	}
	b.reloadRuntime()
	b.muted = schedule.NewMute(b.dir, b.log)
	b.notes = &notes.Notes{Zone: b.zone, Log: b.log, Audit: b.audit, Notices: b.notices, Updates: b.updates, Changed: b.notify}
	b.attention = &attention.Attention{
		Zone: b.zone, Config: b.runtime.Load, Mute: b.muted, Talking: func() (bool, time.Time) { return b.chat.Busy() },
	}
	if err := b.makeParts(); err != nil {
		return nil, err
	}
	b.addHandlers()
	if !o.Later {
		b.index.Scan()
	}
	b.judgeSkills()
	return b, nil
}

// makeParts builds the parts that call back into the bot.
func (b *Bot) makeParts() error {
	b.book = transcript.New(transcript.Options{Dir: b.dir, Log: b.log, Limit: chatEntries, Zone: b.zone})
	b.book.OnChange(b.notify)
	if b.o.Book != nil {
		b.o.Book.Changed(b.notify)
	}
	b.library = library()
	b.makePurse()
	b.makeChat()
	if r, ok := b.o.Engine.(agent.Reporter); ok {
		r.OnChange(b.engineChanged(r))
	}
	forks, err := fork.NewManager(fork.Options{
		Dir: b.dir, Zone: b.zone, Log: b.log, Engine: b.o.Engine, Host: runHost{b},
		Budget: b.budget, Journal: b.journal, Updates: b.updates, Sessions: b.sessions, Guard: b.guard, Messages: b.replies, Money: b.purse,
		Commit: b.git.Add, Commands: b.o.Commands, Changed: b.notify, Idle: b.o.Idle, Tools: b.library,
	})
	if err != nil {
		return fmt.Errorf("read the fork ledger: %w", err)
	}
	b.forks = forks
	b.makeBatches()
	b.makeWebhooks()
	b.schedule = schedule.New(schedule.Options{
		Dir: b.dir, Index: b.index, Zone: b.zone, Log: b.log,
		Purse: schedulePurse{b}, Fire: b.fire, Note: b.notes.Add, Troubles: b.notes.Troubles, Changed: b.notify, Commits: b.git,
		Inherit: b.guard.Inherit,
	})
	b.tasks = tasks.New(tasks.Options{
		Dir: b.dir, Zone: b.zone, Log: b.log, Index: b.index, Schedule: b.schedule, Mute: b.muted, Journal: b.journal, Updates: b.updates,
		Audit: b.audit, Rights: b.guard, Retire: b.chat.Retire, Changed: b.notify,
	})
	return nil
}

// makeChat builds the conversation with the user.
func (b *Bot) makeChat() {
	o := chat.Options{
		Dir: b.dir, Zone: b.zone, Log: b.log, Engine: b.o.Engine,
		Records: chat.Records{Transcript: b.book, Updates: b.updates, Sessions: b.sessions, Runs: b.replies, Audit: b.audit},
		Notices: b.notices, Guard: b.guard, Policy: b.policy, UserName: b.o.Env.UserName, Library: b.library,
		Commands: b.o.Commands, Commit: b.git.Add, Host: chatHost{b}, Money: chatMoney{b}, Google: chatGoogle{b},
	}
	if b.o.Remote != nil {
		b.o.Remote.OnChange(b.notify)
		o.Remote, o.RemoteName = b.o.Remote, b.o.Remote.Status().Name
	}
	b.chat = chat.New(o)
}

// chatHost is the bot as the conversation sees it.
type chatHost struct{ b *Bot }

func (h chatHost) Config() *config.Runtime                        { return h.b.runtime.Load() }
func (h chatHost) SystemPrompt() string                           { return h.b.SystemPrompt() }
func (h chatHost) Reminders(w policy.Writer) toolset.ReminderBook { return h.b.tasks.Book(w) }
func (h chatHost) Hide(text string) string                        { return h.b.o.Book.Redact(text) }
func (h chatHost) Changed()                                       { h.b.notify() }

// chatMoney pays for the conversation.
type chatMoney struct{ b *Bot }

func (m chatMoney) MayTalk(ctx context.Context) error { return m.b.mayTalk(ctx) }
func (m chatMoney) Spent(model string, u agent.Usage) { m.b.spent(model, u) }

// chatGoogle is the user's account at Google in the conversation.
type chatGoogle struct{ b *Bot }

func (g chatGoogle) Redirected(ctx context.Context, text string) bool {
	return g.b.redirected(ctx, text)
}

func (g chatGoogle) Click(ctx context.Context, action, data string) (string, error) {
	return g.b.clickGoogle(ctx, action, data)
}

// recover takes up what an earlier run of the bot has left half done.
func (b *Bot) recover(ctx context.Context) {
	if err := b.purse.Recover(); err != nil {
		b.log.Error("what an earlier run of the bot had set aside could not be settled", "error", err)
	}
	b.chat.Recover(ctx)
	if b.triggers != nil { // before any turn can take what is told
		b.triggers.Recover()
	}
}

// Run brings the bot to life and blocks until ctx ends and everything has
// stopped: what takes work and the work itself are told at once, runs under way
// are interrupted and killed after four seconds; engine, git, files and the lock follow. A second bot on the same directory is refused with
// *store.RunningError before anything is touched.
func (b *Bot) Run(ctx context.Context) (err error) {
	if err := b.dir.Prepare(); err != nil {
		return err
	}
	unlock, err := b.dir.Lock()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	now := b.now()
	b.started.Store(&now)
	b.notify()
	b.tellConcerns()
	if err := config.Move(b.dir); err != nil {
		b.log.Warn("settings of ours could not be moved into a file of their own", "error", err)
	}
	b.install()
	b.index.Scan()
	b.loadProvenance()
	b.recover(ctx)
	b.log.Info("bot started", "version", b.o.Version, "dir", b.dir.Display(), "zone", b.zone.String(), "engine", b.o.EngineName)

	gitCtx, stopGit := context.WithCancel(context.WithoutCancel(ctx))
	defer stopGit()
	var tidy errgroup.Group
	tidy.Go(fault.Guard("version control", func() error { return b.versions(gitCtx) }))

	controlCtx, stopControl := context.WithCancel(context.WithoutCancel(ctx))
	defer stopControl()
	tidy.Go(fault.Guard("the control socket", b.openControl(controlCtx)))

	engineCtx, stopEngine := context.WithCancel(context.WithoutCancel(ctx))
	defer stopEngine()
	tidy.Go(fault.Guard("the engine", func() error { return b.runEngine(engineCtx) }))
	tidy.Go(fault.Guard("the sandbox", b.tellSandbox))

	g, gctx := errgroup.WithContext(ctx)
	g.Go(fault.Guard("the remote surface", func() error { return b.runRemote(gctx) }))
	g.Go(fault.Guard("the webhooks", func() error { return b.runWebhooks(gctx) }))
	g.Go(fault.Guard("background runs", func() error { return b.forks.Run(gctx) }))
	g.Go(fault.Guard("requests that wait", func() error { return b.runBatches(gctx) }))
	g.Go(fault.Guard("the schedule", func() error { return b.schedule.Run(gctx) }))
	g.Go(fault.Guard("the watch on files", func() error { return b.watchFiles(gctx) }))
	g.Go(fault.Guard("the login at Google", func() error { return b.runGoogle(gctx) }))
	g.Go(fault.Guard("the data directory", func() error { return b.keepDirectory(gctx) }))
	g.Go(fault.Guard("the conversation", func() error { return b.chat.Run(gctx) }))
	b.notify()
	err = g.Wait()
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = nil
	}
	b.farewell(ctx)
	stopEngine()
	stopControl()
	stopGit()
	err = errors.Join(err, tidy.Wait(), b.book.Close())
	b.log.Info("bot stopped")
	b.notify()
	return err
}

// runGit makes the data directory a repository and commits what is queued. A
// machine without git is no error.
func (b *Bot) runGit(ctx context.Context) error {
	if err := b.git.Init(ctx); err != nil {
		b.log.Warn("data directory is not under version control", "error", err)
	}
	agents := func(data []byte) bool {
		_, known := b.guard.Provenance().Find(routines.Digest(data))
		return known
	}
	for _, folder := range []string{"routines", "reminders", "skills", "webhooks"} {
		if err := b.git.CatchUp(ctx, folder, agents); err != nil && ctx.Err() == nil {
			b.log.Warn("what a crash kept from the history is still missing", "error", err)
		}
	}
	return b.git.Run(ctx)
}

// Tail reads a run's tail, or with LogTail the program's log, from a cursor.
// An unknown id gives an empty page.
func (b *Bot) Tail(id string, from tail.Cursor) tail.Page {
	if id == LogTail {
		if b.o.Book == nil {
			return tail.Page{Next: from}
		}
		return b.o.Book.Tail(from)
	}
	page, ok := b.forks.Tail(id, from)
	if !ok {
		return tail.Page{Next: from}
	}
	return page
}

// Index is the bot's view of routine and reminder files.
func (b *Bot) Index() *routines.Index { return b.index }

// Schedule is when they fire.
func (b *Bot) Schedule() *schedule.Schedule { return b.schedule }

// now is the present in the configured zone.
func (b *Bot) now() time.Time { return time.Now().In(b.zone) }

// Busy is busy, for a surface that shows it.
func (b *Bot) Busy() (busy bool, muted time.Time) { return b.attention.Busy() }

// LastReceived is the key of the newest message that was taken from a surface
// (Receive.Key), or empty.
func (b *Bot) LastReceived(from string) string { return b.chat.LastReceived(from) }

// runHost is the bot as background runs see it.
type runHost struct{ *Bot }

var _ fork.Host = runHost{}

// Post sends to the user.
func (h runHost) Post(ctx context.Context, p post.Post) (post.MessageID, error) {
	return h.chat.Post(ctx, p)
}

// Limits are read whenever a run starts.
func (h runHost) Limits() fork.Limits {
	r := h.runtime.Load()
	return fork.Limits{MaxRunning: r.MaxBackgroundForks, Timeout: r.BgForkTimeout, Model: r.ModelMain}
}

// Busy is when a ping cannot go.
func (h runHost) Busy() (bool, time.Time) { return h.attention.Busy() }

// Reminders is the book that a run's tools write in.
func (h runHost) Reminders(w policy.Writer) toolset.ReminderBook { return h.tasks.Book(w) }
