package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/command"
	"ollimbot/core/mcp"
	"ollimbot/core/mcp/login"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/control"
	"ollimbot/core/safety/policy"
	"ollimbot/core/safety/review"
	"ollimbot/core/safety/sandbox"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/git"
	"ollimbot/core/storage/live"
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
	"ollimbot/core/work/dispatch"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/google"
	"ollimbot/core/work/money"
	"ollimbot/core/work/proposals"
	"ollimbot/core/work/spending"
	"ollimbot/core/work/tasks"
	"ollimbot/core/work/updates"
	"ollimbot/core/work/webhook"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/routines/watch"
	"ollimbot/routines/when"
)

// LogTail is the id of the program's own log in Tail.
const LogTail = "log"

// chatEntries is the number of chat entries a dashboard can scroll back.
const chatEntries = 500

// Options are the parts of the bot.
type Options struct {
	Dir    *store.Dir
	Env    config.Env
	Engine agent.Engine
	// EngineName is the engine's name in the top line: "script", "claude".
	EngineName string
	// Demo means that no model is expected.
	Demo bool
	// Providers are the providers of the Messages API. Nil reads those of the data directory.
	Providers *provider.Registry
	Version   string // of the program, for /version
	Program   command.Program
	// Idle is called when the last background run has ended and none is queued. It may block
	// for a while. May be nil.
	Idle func()
	// MachineZone returns the name of the zone that the machine is in. Nil means that the bot does not look.
	MachineZone func() string
	// Restart restarts the program after Run has ended; nil if that is impossible.
	Restart func()
	Log     *slog.Logger
	Book    *logs.Sink // nil if no log is shown
	// Commands runs the program's own commands for the agent, which calls them in its shell;
	// nil if unavailable.
	Commands policy.Runner
	// UserCommands runs the program's own commands for the user while the bot is running: for the user's shell, and for
	// lines of plain mode and of the palette. Nil runs none.
	UserCommands command.Shell
	// Control is the socket on which those commands reach the bot; may be nil.
	Control *control.Server
	// Remote reaches the user away from the dashboard; nil leaves only the chat pane.
	Remote Remote
	// Sandbox confines MCP servers and the commands in skills' texts; nil means no sandbox.
	Sandbox *sandbox.Box
	// Lookup looks up an environment variable for .mcp.json and providers.yaml. Nil finds only those in .env.
	Lookup func(name string) string
	// UserFiles returns the problems of the user's own files outside of the data directory, such as the dashboard's
	// settings. It may read them. May be nil.
	UserFiles func() []routines.Problem
	// Still disables everything that reaches outside the program at run time, that is the
	// file watcher and git, for a bot in a synctest bubble.
	Still bool
	// Shown is closed once the dashboard has painted its first frame. Run, which also reads
	// the task files then, yields the processor until that happens, for a second at most,
	// and again until the dashboard has taken what was read.
	// Nil means no dashboard: New reads the files, and Run starts at once.
	Shown <-chan struct{}
	// NoRemote says why there is no remote surface and how to set one up.
	NoRemote string
}

// Bot is the whole bot. New creates one that can be inspected; Run starts it.
type Bot struct {
	o        Options
	zone     *time.Location
	log      *slog.Logger
	handlers command.Handlers
	viewers  viewers
	started  atomic.Pointer[time.Time]
	looked   atomic.Bool     // Run has read the files
	seen     <-chan struct{} // closed once a viewer has taken what Run has read
	taken    func()          // closes it

	records
	safety
	work
	talk
	place
}

// records are the files that several parts read and write.
type records struct {
	dir      *store.Dir
	index    *routines.Index
	budget   *budget.Bucket
	tally    *budget.Tally
	journal  *budget.Journal
	updates  *updates.Queue
	sessions *session.Store
	replies  *session.ForkMessages
	book     *transcript.Chat
	audit    *audit.Log
	muted    *schedule.Mute
	purse    *money.Purse
	offers   *proposals.Store
}

// safety decides what the agent may do.
type safety struct {
	guard   *policy.Guard
	policy  *policy.File
	review  *review.Desk
	auditor auditor
}

// work runs things in the background.
type work struct {
	preflight preflight
	problems  problems
	schedule  *schedule.Schedule
	dispatch  *dispatch.Dispatcher
	prompts   *dispatch.Prompts
	forks     *fork.Manager
	tasks     *tasks.Editor
	money     *spending.Desk
	google    *google.Account
	webhooks  *webhooks
	forecast  *forecast
	// asks are the questions that the bot asks the user on its own initiative.
	asks   *proposals.Desk
	travel *traveller
}

// talk communicates with the user.
type talk struct {
	chat      *chat.Conversation
	surface   surface
	notices   *notice.Board
	notes     *notes.Notes
	attention *attention.Attention
	present   *absence.Keeper
	host      *host // shared by all sessions
	servers   *mcp.Host
	edits     *mcp.Edits          // the agent's edits of the servers' file
	library   func() []agent.Tool // tools of all sessions besides the bot's own
	engine    *engine
}

// place is the bot's environment.
type place struct {
	settings  *live.Settings
	directory *live.Directory
	git       *git.Recorder
	manual    *manual
	door      door
	// watchFiles and versions are the two services that reach outside the program (inotify,
	// git). Tests in synctest bubbles run without them.
	watchFiles, versions func(context.Context) error
}

// New reads the data directory and returns a bot that can answer snapshots, previews and
// budget queries. It starts, locks and writes nothing, so it can be used while another
// bot runs on the directory.
func New(o Options) (*Bot, error) {
	if o.Dir == nil || o.Engine == nil || o.Log == nil {
		return nil, errors.New("make the bot: a data directory, an engine and a log are needed")
	}
	if o.Providers == nil {
		find := lookup(o)
		o.Providers = provider.New(provider.Options{Dir: o.Dir, Getenv: func(name string) string { v, _ := find(name); return v }})
	}
	b := &Bot{o: o, zone: cmp.Or(o.Env.Zone, time.UTC)}
	b.problems.wake, b.problems.stale = make(chan struct{}, 1), make(chan struct{}, 1)
	b.notices = notice.NewBoard(b.zone, o.Book.Redact, b.viewers.notify)
	b.log = slog.New(slog.NewMultiHandler(o.Log.Handler(), b.notices.Errors()))
	b.openRecords()
	b.makePlace()
	b.makeSafety()
	b.makeMoney()
	if err := b.makeGoogle(); err != nil {
		return nil, err
	}
	b.makeTalk()
	if err := b.makeWork(); err != nil {
		return nil, err
	}
	b.directory = b.newDirectory()
	b.watchFiles, b.versions = b.directory.Watch, b.runGit
	if o.Still {
		idle := func(ctx context.Context) error { <-ctx.Done(); return nil }
		b.watchFiles, b.versions = idle, idle
	}
	b.addHandlers()
	seen := make(chan struct{})
	b.seen, b.taken = seen, sync.OnceFunc(func() { close(seen) })
	if o.Shown == nil {
		b.index.Scan()
	}
	return b, nil
}

// openRecords opens the files that need only the directory.
func (b *Bot) openRecords() {
	dir, zone, log := b.o.Dir, b.zone, b.log
	b.records = records{
		dir: dir, index: routines.NewIndex(dir, zone),
		budget: budget.NewBucket(dir, zone, log), tally: budget.NewTally(dir, zone, log), journal: budget.NewJournal(dir, zone, log),
		updates: updates.NewQueue(dir, zone, log), sessions: session.NewStore(dir, zone, log), replies: session.NewForkMessages(dir, log),
		book:  transcript.New(transcript.Options{Dir: dir, Log: log, Limit: chatEntries, Zone: zone}),
		audit: audit.New(audit.Options{Dir: dir, Log: log, Hide: b.o.Book.Redact}), muted: schedule.NewMute(dir, log),
		offers: proposals.NewStore(dir, zone, log),
	}
	b.book.OnChange(b.viewers.notify)
	if b.o.Book != nil {
		b.o.Book.Changed(b.viewers.notify)
	}
}

// makePlace creates the bot's environment, except the file watcher.
func (b *Bot) makePlace() {
	b.travel = &traveller{b: b, wake: make(chan struct{}, 1)}
	if b.o.Env.ZoneKept {
		b.travel.machine = b.o.MachineZone
	}
	b.settings = live.NewSettings(b.dir, func() {
		b.moneyChanged()
		b.travel.signal()
	})
	b.git = git.New(b.dir, b.log)
	if b.o.Sandbox != nil {
		b.git.Sandbox = b.o.Sandbox.Git
	}
	b.door = door{dir: b.dir, log: b.log, server: b.o.Control, user: userDoor(b.o.UserCommands)}
}

// makeSafety creates the parts that decide on tools, files and approvals, except the desk
// that reviews files.
func (b *Bot) makeSafety() {
	b.auditor = auditor{audit: b.audit, zone: b.zone}
	b.surface = surface{remote: b.o.Remote, none: b.o.NoRemote, log: b.log}
	b.o.Commands = b.auditor.audited(b.o.Commands)
	b.policy = policy.NewFile(b.dir)
	b.edits = mcp.NewEdits(b.dir, b.o.Book.Redact)
	b.guard = policy.New(policy.Options{
		Dir: b.dir, Zone: b.zone, Log: b.log, Waits: func(w policy.Writer, rel, why string) { b.review.FileWaits(w, rel, why) }, Ended: b.auditor.ended,
		Propose: func(w policy.Writer, text []byte) string {
			answer, waits := b.edits.Propose(text)
			if waits {
				b.review.ServersEdited(w)
			}
			return answer
		},
		Confined: func() bool { return b.o.Sandbox != nil && b.o.Sandbox.State().Inner },
		Network:  func() bool { return networked(b.o.Sandbox, b.Runtime()) },
		Trusted:  func(server string) bool { return b.servers.Trusted(server) },
		Google:   func() bool { return b.google.State().On() },
		Reading:  command.ReadOnly(),
		Base: func() []string {
			tools, _ := b.policy.Load() // its problems are shown with those of the files
			return policy.Strip(tools.Background())
		},
	})
	b.index.JudgeBy(b.guard.TaskWaits)
	b.index.KeepBy(b.guard.Provenance().Before)
	if _, err := b.guard.Provenance().Load(); err != nil {
		b.log.Error("cannot tell which tasks the agent wrote", "error", err)
	}
	b.guard.Approvals().OnChange(func(a policy.Approval) {
		b.auditor.approval(a)
		b.viewers.notify()
		b.surface.approval(a)
	})
}

// networked reports whether commands can reach the network, or some hosts. Their output
// is then untrusted.
func networked(box *sandbox.Box, r config.Runtime) bool {
	return box == nil || !box.State().Inner || r.SandboxNetwork != ""
}

// makeMoney opens the purse and creates the desk that spends from it.
func (b *Bot) makeMoney() {
	b.purse = money.New(money.Options{
		Dir: b.dir, Zone: b.zone, Log: b.log, Prices: b.o.Providers.Prices(),
		Caps: func() money.Caps {
			r := b.settings.Load()
			return money.Caps{Day: r.DailyCap, Month: r.MonthlyCap}
		},
		Notice: b.warn, Changed: b.moneyChanged,
	})
	b.money = spending.New(spending.Options{
		Dir: b.dir, Zone: b.zone, Log: b.log, Purse: b.purse, Audit: b.audit, Config: b.settings.Load, Ask: b.guard.Approvals().Ask,
		Day:      func(now time.Time) []schedule.Entry { return b.schedule.View(now).Day },
		Routines: func() []*routines.Routine { return b.index.Set().Routines },
	})
}

// Transcribing notes that the transcription of a voice message is under way, until end is called.
func (b *Bot) Transcribing() (end func()) { return b.money.Begin(money.Transcribing) }

// Transcribed books the transcription of a voice message.
func (b *Bot) Transcribed(c agent.Charge) { b.money.Book(money.Transcribing, c) }

// moneyChanged tells the schedule and the viewers that the available money may have
// changed.
func (b *Bot) moneyChanged() {
	if b.schedule != nil {
		b.schedule.MoneyChanged()
	}
	b.viewers.notify()
}

// warn adds a notice.
func (b *Bot) warn(text string) { b.notices.Add(notice.Warn, text) }

// makeGoogle creates the Google account and the tools that read from it.
func (b *Bot) makeGoogle() error {
	client, err := google.New(google.Options{Dir: b.dir, API: b.o.Env.GoogleAPI})
	if err != nil {
		return err
	}
	b.webhooks = &webhooks{index: webhook.NewIndex(b.dir), log: b.log}
	b.manual = &manual{dir: b.dir, log: b.log, env: b.o.Env, webhooks: b.webhooks, settings: b.settings}
	b.google = google.NewAccount(google.AccountOptions{
		Client: client, Zone: b.zone, Log: b.log, Config: b.settings.Load, Audit: b.audit, Updates: b.updates, Notices: b.notices,
		Say: func(text string) { b.chat.Say(text) }, Allowed: b.manual.install, Changed: b.viewers.notify,
	})
	b.manual.google = b.google
	return nil
}

// makeTalk creates the conversation and the other ways to reach the user.
func (b *Bot) makeTalk() {
	b.present = absence.New(b.dir, b.log)
	b.notes = &notes.Notes{Zone: b.zone, Log: b.log, Audit: b.audit, Notices: b.notices, Updates: b.updates, Changed: b.viewers.notify}
	b.host = &host{settings: b.settings, manual: b.manual}
	b.servers = newServers(mcp.Options{
		Log: b.log, Notice: b.warn, Changed: b.viewers.notify, Offered: func() { b.review.JudgeServers() }, Say: func(text string) { b.chat.Say(text) },
	}, b.o)
	b.library = allTools(b.servers)
	o := chat.Options{
		Dir: b.dir, Zone: b.zone, Log: b.log, Engine: b.o.Engine,
		Records: chat.Records{Transcript: b.book, Updates: b.updates, Sessions: b.sessions, Runs: b.replies, Audit: b.audit},
		Notices: b.notices, Guard: b.guard, Policy: b.policy, UserName: b.o.Env.UserName, Library: b.library, Renew: b.servers.Renew,
		Commands: b.o.Commands, Commit: b.git.Add, Host: newChatHost(b), Money: b.money, Google: logins{b.google, b.servers},
		Rings: func(k post.Kind, cause string) bool { return b.attention.Rings(k, cause) },
	}
	if b.o.Remote != nil {
		b.o.Remote.OnChange(b.viewers.notify)
		o.Remote, o.RemoteName = b.o.Remote, b.o.Remote.Status().Name
	}
	b.chat = chat.New(o)
	b.attention = &attention.Attention{Zone: b.zone, Config: b.settings.Load, Mute: b.muted, Talking: b.chat.Busy}
	b.engine = &engine{
		of: b.o.Engine, name: b.o.EngineName, demo: b.o.Demo, log: b.log, zone: b.zone, settings: b.settings, purse: b.purse, notices: b.notices,
		chat: b.chat,
	}
	if r, ok := b.o.Engine.(agent.Reporter); ok {
		r.OnChange(b.engine.changed(r, b.viewers.notify))
	}
}

// makeWork creates the runs, the schedule and the parts that connect them.
func (b *Bot) makeWork() (err error) {
	b.forks, err = fork.NewManager(fork.Options{
		Dir: b.dir, Zone: b.zone, Log: b.log, Engine: b.o.Engine, Host: runHost{b.host, b.chat, b.attention},
		Budget: b.budget, Tally: b.tally, Journal: b.journal, Updates: b.updates, Sessions: b.sessions, Guard: b.guard, Messages: b.replies, Money: b.purse,
		Commit: b.git.Add, Commands: b.o.Commands, Changed: b.viewers.notify, Idle: b.o.Idle, Tools: b.library, Audit: b.audit, Warn: b.warn,
	})
	if err != nil {
		return fmt.Errorf("read the fork ledger: %w", err)
	}
	b.webhooks.index.JudgeBy(b.guard.TaskWaits)
	b.webhooks.index.KeepBy(b.guard.Provenance().Before)
	b.webhooks.index.Scan()
	b.schedule = schedule.New(schedule.Options{
		Dir: b.dir, Index: b.index, Zone: b.zone, Log: b.log, Purse: b.money, Facts: newUserFacts(b).between,
		Fire: func(ctx context.Context, d schedule.Due) error { return b.dispatch.Fire(ctx, d) },
		Failing: func(ctx context.Context, t routines.Task, why string, paused bool) {
			tellFailing(ctx, b, t, why, paused)
		},
		Ended: b.forks.UsedUp, Note: b.notes.Add, Troubles: b.notes.Troubles, Changed: b.viewers.notify, Commits: b.git, Inherit: b.guard.Inherit,
	})
	b.makeDispatch()
	screener := &dispatch.Screener{
		Dir: b.dir, Log: b.log, Engine: b.o.Engine,
		Begin:  func() func() { return b.money.Begin(money.Screening) },
		Charge: func(c agent.Charge) { b.money.Book(money.Screening, c) },
	}
	b.webhooks.open(b.o.Env.WebhookPort, webhook.Options{
		Dir: b.dir, Index: b.webhooks.index, Secret: b.o.Env.WebhookSecret, Zone: b.zone, Log: b.log,
		Addr:     net.JoinHostPort("127.0.0.1", strconv.Itoa(b.o.Env.WebhookPort)),
		Variable: variable(b.o), Hosts: func() string { return b.settings.Load().WebhookHosts },
		Screen: screener.Screen, Afford: b.money.Afford, Settle: b.money.Settle, Run: b.dispatch.FireWebhook, Note: b.notes.Leave, Changed: b.viewers.notify,
		Begun: func() (map[string]string, error) { return dispatch.Deliveries(b.dir) }, Notice: b.warn,
	})
	b.review = review.New(review.Options{
		Dir: b.dir, Log: b.log, Guard: b.guard, Files: b.guard.Provenance(), Index: b.index, Hooks: b.webhooks.index, Schedule: b.schedule,
		Servers: b.edits, Tools: b.servers, Note: b.notes.Add, Tell: b.notes.Tell, Changed: b.viewers.notify,
		Post: b.chat.Post, Retire: b.chat.Settle,
		Ended: b.auditor.ended,
	})
	b.tasks = tasks.New(tasks.Options{
		Dir: b.dir, Zone: b.zone, Log: b.log, Index: b.index, Schedule: b.schedule, Mute: b.muted, Journal: b.journal, Updates: b.updates,
		Audit: b.audit, Rights: b.guard, Retire: b.chat.Retire, PutOff: b.chat.PutOff, Changed: b.viewers.notify,
		Kept:    func(at time.Time, id string) { kept(b, at, id) },
		Day:     func() when.Day { return b.settings.Load().Day() },
		Lacking: func() []routines.Problem { return Lacking(b, b.now()) }, Notice: b.warn,
	})
	b.host.tasks = b.tasks
	b.asks = newProposals(b)
	b.forecast = &forecast{
		budget: b.budget, tally: b.tally, journal: b.journal, settings: b.settings, muted: b.muted, attention: b.attention, runs: b.forks,
		schedule: b.schedule, index: b.index, tasks: b.tasks, zone: b.zone,
	}
	return nil
}

// makeDispatch creates the part that handles a due task.
func (b *Bot) makeDispatch() {
	skills := &dispatch.Skills{
		Dir: b.dir, Log: b.log, Guard: b.guard, ZoneName: b.o.Env.ZoneName, Control: b.o.Control, Commands: b.o.Commands, Sandbox: b.o.Sandbox,
		Servers: b.servers,
	}
	b.prompts = &dispatch.Prompts{
		Zone: b.zone, Attention: b.attention, Budget: b.budget, Tally: b.tally, Journal: b.journal, Updates: b.updates, Guard: b.guard, Google: b.google,
		Skills: skills, Schedule: b.schedule,
	}
	b.dispatch = dispatch.New(dispatch.Options{
		Zone: b.zone, Log: b.log, Index: b.index, Hooks: b.webhooks.index, Schedule: b.schedule, Runs: b.forks,
		Chat: b.chat, Money: b.money, Guard: b.guard, Prompts: b.prompts, Notes: b.notes, Notices: b.notices, Audit: b.audit,
		Held: func(rel string) { b.review.ScriptWaits(rel) },
	})
}

// newDirectory creates the file watcher, with the reload to do for each saved file.
func (b *Bot) newDirectory() *live.Directory {
	return live.NewDirectory(live.Options{
		Dir: b.dir, Log: b.log, Settings: b.settings, Notice: b.warn, Changed: b.viewers.notify,
		Shown: []string{
			"ping_budget.json", "ping_tally.json", "pending_updates.json", "pings.jsonl", policy.FileName, money.PricesFile, provider.File, config.EnvFile,
		},
		Readers: []live.Reader{
			{Files: []string{path.Base(policy.ChecksFile)}, Reload: func(watch.Batch) { b.schedule.Judge(); b.review.Settle() }},
			{Files: []string{path.Base(policy.ProvenanceFile)}, Reload: func(watch.Batch) { b.review.Reload() }},
			{Files: []string{mcp.File, path.Base(mcp.RecordFile), path.Base(login.File)}, Reload: func(watch.Batch) { b.servers.Reload() }},
			{Files: []string{mcp.File, path.Base(mcp.EditFile), path.Base(mcp.RecordFile)}, Reload: func(watch.Batch) { b.review.JudgeServers() }},
			{Files: google.Files, Reload: func(watch.Batch) { b.google.Refresh() }},
			{Reload: func(changed watch.Batch) { b.webhooks.index.Apply(changed) }},
			{Reload: b.schedule.Apply},
			{Reload: func(watch.Batch) { b.review.Settle() }},
			{Reload: func(changed watch.Batch) { lookAgain(b, changed) }},
		},
	})
}
