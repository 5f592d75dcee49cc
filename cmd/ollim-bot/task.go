package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/cmd/internal/console"
	"ollimbot/core"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/git"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/leeway"
	"ollimbot/routines/schedule"
	"ollimbot/routines/when"
)

// taskFlags are the flags that routine add and reminder add share.
type taskFlags struct {
	Message     string `short:"m" required:"" help:"The prompt."`
	Description string `short:"d" help:"A few words for lists and the schedule."`
	Model       string `placeholder:"MODEL" complete:"model" help:"Model for this task: opus, sonnet, haiku, or provider/model."`
	NoThinking  bool   `name:"no-thinking" help:"Run without thinking."`
	Isolated    bool   `help:"Run without the main session's history."`
	Mode        string `name:"update-main-session" enum:"${modes}" default:"on_ping" placeholder:"MODE" help:"When the run reports to the main session: ${modes}."`
	NoPing      bool   `name:"no-ping" help:"The run may not ping."`

	AllowedTools    []string `name:"allowed-tools" sep:"none" xor:"tools" placeholder:"TOOL" help:"A tool pattern to allow beside the default ones. Repeatable."`
	DisallowedTools []string `name:"disallowed-tools" sep:"none" xor:"tools" placeholder:"TOOL" help:"A tool pattern to deny; not with --allowed-tools."`
	Skills          []string `sep:"," placeholder:"NAME" help:"Skills to load. Repeatable."`
	Window          string   `placeholder:"FROM-TO" help:"Let the bot choose the minute in this part of the day, such as 9:00-11:00."`
	Jitter          string   `placeholder:"TIME" help:"Fire up to this much later, a different time each day, such as 10m."`
	Critical        bool     `help:"Run even when a spending cap is reached."`
	Essential       bool     `help:"Ping outside of the budget, and without a model where none answers: for medicine and appointments."`
	TrustInput      bool     `name:"trust-input" help:"Keep all tools after the run has read text written by others."`
}

// task makes the common part of the file.
func (f *taskFlags) task(kind routines.Kind, background bool) (routines.Task, error) {
	body := strings.TrimSpace(clean.Text(f.Message))
	if body == "" {
		return routines.Task{}, console.Usagef("--message is empty: say what the bot should do")
	}
	if f.Model != "" && !routines.ValidModel(f.Model) {
		return routines.Task{}, console.Usagef(textBadModel, clean.Line(f.Model))
	}
	for _, tool := range slices.Concat(f.AllowedTools, f.DisallowedTools) {
		if severity, why := routines.CheckTool(tool); severity == routines.Error {
			return routines.Task{}, console.Usagef("tool pattern %q: %s", clean.Line(tool), why)
		}
	}
	open, err := f.leeway()
	if err != nil {
		return routines.Task{}, err
	}
	return routines.Task{
		Leeway: open,
		Kind:   kind, Description: clean.Line(f.Description), Body: body, Background: background,
		Model: f.Model, Thinking: !f.NoThinking, Isolated: f.Isolated,
		Mode: routines.Mode(f.Mode), AllowPing: !f.NoPing,
		Allowed: f.AllowedTools, Disallowed: f.DisallowedTools, Skills: f.Skills, Critical: f.Critical, Essential: f.Essential, TrustInput: f.TrustInput,
	}, nil
}

// leeway reads the window and jitter.
func (f *taskFlags) leeway() (r leeway.Rule, err error) {
	if f.Window != "" {
		if r.Window, err = leeway.ParseWindow(f.Window); err != nil {
			return r, console.Usagef("--window %q %v", clean.Line(f.Window), err)
		}
	}
	if f.Jitter != "" {
		if r.Jitter, err = leeway.ParseJitter(f.Jitter); err != nil {
			return r, console.Usagef("--jitter %q %v", clean.Line(f.Jitter), err)
		}
	}
	return r, nil
}

type routineCmds struct {
	Add      routineAddCmd      `cmd:""`
	List     routineListCmd     `cmd:""`
	Cancel   routineCancelCmd   `cmd:""`
	Starters routineStartersCmd `cmd:""`
}

type routineAddCmd struct {
	taskFlags
	Cron       string `required:"" aliases:"when" placeholder:"EXPR" help:"Words such as \"weekdays at 9\", or five fields: minute hour day month weekday."`
	Background bool   `help:"Run in the background, in a fork of the main session."`
	Missed     string `enum:"note,run" default:"note" placeholder:"note|run" help:"A fire missed while the bot was off: note it, or run it up to 12 hours late."`
	Late       string `placeholder:"LENGTH" help:"How late it may still run, instead of 12 hours."`
}

// Run writes the file; a running bot loads it at once.
func (c *routineAddCmd) Run(p *process) error {
	task, err := c.task(routines.KindRoutine, c.Background)
	if err != nil {
		return err
	}
	at, err := p.Open()
	if err != nil {
		return err
	}
	schedule, err := at.Times().Schedule(c.Cron)
	if err != nil {
		return cronError(c.Cron, err)
	}
	if schedule.Never() {
		return console.Usagef("%q never fires: no month has such a day", clean.Line(c.Cron))
	}
	if ended := schedule.EndWords(at.Now); ended != "" {
		return console.Usagef("%q has %s; choose a later end", clean.Line(c.Cron), ended)
	}
	var late time.Duration
	if c.Late != "" {
		if late, err = routines.ReadLate(c.Late); err != nil {
			return console.Usagef("--late %q: %v", clean.Line(c.Late), err)
		}
	}
	if err := at.Dir.Prepare(); err != nil {
		return err
	}
	files := taskFiles{p, at}
	routine := routines.Routine{Task: task, Cron: schedule.Cron.String(), Schedule: schedule, RunMissed: c.Missed == "run", Late: late}
	r, err := routines.AddRoutine(at.Dir, routine, files.before()...)
	if err != nil {
		return err
	}
	return files.added(r.Task, routineTimes(&r))
}

type routineListCmd struct{}

func (routineListCmd) Run(p *process, at console.DataDir, bot *core.Bot) error {
	files, held := taskFiles{p, at}, heldMarks(bot, at.Now)
	set := files.read()
	files.warn(set.Problems, "routines/")
	return p.Lines(console.OrNone(console.Each(set.Routines, func(r *routines.Routine) string {
		line := fmt.Sprintf("  %s  %-24s  %s%s%s", r.ID, routineTimes(r), r.Title(), waitsMark(r.Task), held[r.Path])
		if ended := r.Schedule.EndWords(at.Now); ended != "" {
			line += "  (" + ended + ")"
		}
		return line
	}), "no routines")...)
}

type cancelCmd struct {
	Task []string `arg:"" complete:"task" help:"A routine or reminder: its id, four characters of it, or words of its title."`
}

// Run removes the file of a task of either kind.
func (c *cancelCmd) Run(p *process, at console.DataDir) error {
	return taskFiles{p, at}.cancel("", strings.Join(c.Task, " "))
}

// heldMarks marks the tasks that do not fire now, by file: paused, snoozed, or held for money. Approval has a mark of its own.
func heldMarks(bot *core.Bot, now time.Time) map[string]string {
	marks := map[string]string{}
	for _, t := range bot.Schedule().View(now).Tasks {
		if t.Held != "" && t.Waits == "" {
			marks[t.Path] = "  (" + t.Held + ")"
		}
	}
	return marks
}

type routineCancelCmd struct {
	Task []string `arg:"" name:"id" complete:"routine" help:"The routine: its id, four characters of it, or words of its title."`
}

func (c *routineCancelCmd) Run(p *process, at console.DataDir) error {
	return taskFiles{p, at}.cancel(routines.KindRoutine, strings.Join(c.Task, " "))
}

type routineStartersCmd struct {
	Install bool `help:"Copy those that are not installed yet to routines/."`
}

// Run lists the starter routines, or installs them.
func (c *routineStartersCmd) Run(p *process, at console.DataDir) error {
	if c.Install {
		return installStarters(p)
	}
	starters, err := routines.Starters()
	if err != nil {
		return err
	}
	set, last := taskFiles{p, at}.read(), textStartersThere
	lines := console.Each(starters, func(r routines.Routine) string {
		mark := textInstalled
		if _, installed := set.Find(r.ID); !installed {
			mark, last = "", textInstallStarters
		}
		return fmt.Sprintf("  %s  %-24s  %s%s", r.ID, routineTimes(&r), r.Title(), mark)
	})
	return p.Lines(append(lines, last)...)
}

func installStarters(p *process) error {
	at, err := p.Writable()
	if err != nil {
		return err
	}
	files := taskFiles{p, at}
	added, err := routines.AddStarters(at.Dir, files.read())
	for _, r := range added {
		if err := files.added(r.Task, routineTimes(&r)); err != nil {
			return err
		}
	}
	if err == nil && len(added) == 0 {
		return p.Lines(textStartersThere)
	}
	return err
}

type reminderCmds struct {
	Add      reminderAddCmd      `cmd:""`
	List     reminderListCmd     `cmd:""`
	Cancel   reminderCancelCmd   `cmd:""`
	Done     reminderDoneCmd     `cmd:""`
	Later    reminderLaterCmd    `cmd:""`
	NotToday reminderNotTodayCmd `cmd:"" name:"not-today"`
}

type reminderAddCmd struct {
	taskFlags
	Delay       string `required:"" placeholder:"TIME" help:"When: minutes from now, 90m, 18:30, tonight, \"next monday 9am\" or \"in 2 days at 9\"."`
	Foreground  bool   `help:"Run in the main session instead of the background."`
	Background  bool   `help:"The default; accepted and without effect."`
	MaxChain    int    `name:"max-chain" placeholder:"N" help:"Up to N follow-ups, so N+1 checks."`
	Until       string `enum:",done" default:"" placeholder:"done" help:"done: it comes back until you say that it is."`
	Again       int    `placeholder:"MINUTES" help:"After how long it comes back, with --until done (30)."`
	Ahead       string `placeholder:"LENGTHS" help:"What it says before: \"1 day: The dentist is tomorrow; 1 hour\"."`
	ChainDepth  int    `name:"chain-depth" hidden:"" help:"Which check of a chain this is, from 0."`
	ChainParent string `name:"chain-parent" hidden:"" placeholder:"ID" help:"The first reminder of the chain."`
}

// reminderLimit is a year: a longer delay is a typing error.
const reminderLimit = 366 * 24 * time.Hour

// delay reads --delay: a number in minutes, or a time as snooze takes it.
func (p *process) delay(text string, read when.Reader) (until time.Time, err error) {
	if minutes, bad := strconv.Atoi(text); bad == nil && minutes >= 0 && minutes <= int(reminderLimit/time.Minute) {
		until = read.Now.Add(time.Duration(minutes) * time.Minute)
	} else if until, err = p.readWhen(text, read); err != nil {
		return until, err
	}
	if until.Sub(read.Now) > reminderLimit {
		return until, console.Usagef(textFarDelay, clean.Line(text))
	}
	return until.Truncate(time.Second), nil
}

// Run writes the file; a running bot loads it at once.
func (c *reminderAddCmd) Run(p *process) error {
	if c.Foreground && c.Background {
		return console.Usagef("a reminder is --foreground or --background, not both")
	}
	if c.MaxChain < 0 || c.ChainDepth < 0 {
		return console.Usagef("--max-chain and --chain-depth take numbers from 0")
	}
	if err := c.untilDone(); err != nil {
		return err
	}
	task, err := c.task(routines.KindReminder, !c.Foreground)
	if err != nil {
		return err
	}
	at, err := p.Open()
	if err != nil {
		return err
	}
	runAt, err := p.delay(c.Delay, at.Times())
	if err != nil {
		return err
	}
	if runAt, err = opening(task.Leeway, runAt, at.Now); err != nil {
		return err
	}
	ahead, err := c.ahead()
	if err != nil {
		return err
	}
	if err := at.Dir.Prepare(); err != nil {
		return err
	}
	files := taskFiles{p, at}
	r, err := routines.AddReminder(at.Dir, routines.Reminder{
		Task: task, RunAt: runAt,
		MaxChain: c.MaxChain, ChainDepth: c.ChainDepth, ChainParent: c.ChainParent,
		UntilDone: c.Until != "", Again: c.Again, Ahead: ahead,
	}, files.before()...)
	if err != nil {
		return err
	}
	return files.added(r.Task, reminderTimes(&r, at.Env.Zone))
}

// ahead reads --ahead.
func (c *reminderAddCmd) ahead() ([]when.Ahead, error) {
	if c.Ahead == "" {
		return nil, nil
	}
	list, err := when.ReadAhead(c.Ahead)
	if err != nil {
		return nil, console.Usagef("--ahead %q: %v", clean.Line(c.Ahead), err)
	}
	if c.NoPing {
		return nil, console.Usagef("--ahead sends pings: leave out --no-ping")
	}
	return list, nil
}

// opening is when the window of a reminder opens on the day of its time.
func opening(r leeway.Rule, at, now time.Time) (time.Time, error) {
	if r.Window.IsZero() {
		return at, nil
	}
	start := r.Window.Start(at)
	if r.End(start).Before(now) {
		return at, console.Usagef(textWindowOver, r.Window)
	}
	return start, nil
}

// untilDone refuses flags that exclude --until done.
func (c *reminderAddCmd) untilDone() error {
	switch {
	case c.Until == "" && c.Again != 0:
		return console.Usagef("--again belongs to --until done: add that, or leave it out")
	case c.Again < 0 || c.Again > routines.MaxAgain:
		return console.Usagef("--again takes minutes from 1 to %d", routines.MaxAgain)
	case c.Until != "" && c.Foreground:
		return console.Usagef("--until done works in the background: leave out --foreground")
	case c.Until != "" && c.NoPing:
		return console.Usagef("--until done needs pings: leave out --no-ping")
	}
	return nil
}

type reminderListCmd struct{}

func (reminderListCmd) Run(p *process, at console.DataDir, bot *core.Bot) error {
	files, held := taskFiles{p, at}, heldMarks(bot, at.Now)
	set := files.read()
	files.warn(set.Problems, "reminders/")
	return p.Lines(console.OrNone(console.Each(set.RemindersByTime(), func(r *routines.Reminder) string {
		return fmt.Sprintf("  %s  %-24s  %s%s%s", r.ID, reminderTimes(r, at.Env.Zone), r.Title(), waitsMark(r.Task), held[r.Path])
	}), "no pending reminders")...)
}

type reminderCancelCmd struct {
	Task []string `arg:"" name:"id" complete:"reminder" help:"The reminder: its id, four characters of it, or words of its title."`
}

func (c *reminderCancelCmd) Run(p *process, at console.DataDir) error {
	return taskFiles{p, at}.cancel(routines.KindReminder, strings.Join(c.Task, " "))
}

// routineTimes formats a routine's schedule for a list.
func routineTimes(r *routines.Routine) string {
	return times(r.Task, "cron '"+r.Schedule.String()+"'") + leewayMark(r.Leeway)
}

// leewayMark formats a schedule's window and jitter for a list.
func leewayMark(r leeway.Rule) string {
	if r == (leeway.Rule{}) {
		return ""
	}
	return "  (" + r.String() + ")"
}

// reminderTimes formats a reminder's schedule for a list.
func reminderTimes(r *routines.Reminder, zone *time.Location) string {
	s := times(r.Task, "at "+cron.Format(r.RunAt.In(zone), "2006-01-02T15:04"))
	s += leewayMark(r.Leeway)
	if len(r.Ahead) > 0 {
		s += "  (" + when.AheadWords(r.Ahead) + ")"
	}
	switch {
	case r.UntilDone:
		s += "  (until done)"
	case r.MaxChain > 0:
		s += fmt.Sprintf("  (chain %d/%d)", r.ChainDepth, r.MaxChain)
	}
	return s
}

func times(t routines.Task, when string) string {
	switch {
	case t.Background && t.Isolated:
		when = "[bg,isolated] " + when
	case t.Background:
		when = "[bg] " + when
	}
	if t.Model != "" {
		when += "  (model: " + t.Model + ")"
	}
	if !t.Thinking {
		when += "  (no-thinking)"
	}
	return when
}

// taskFiles are the files of routines and reminders in a data directory, as a command
// sees them that runs without a bot.
type taskFiles struct {
	p  *process
	at console.DataDir
}

// added records a new task in the audit log and the history, and prints it.
func (f taskFiles) added(t routines.Task, times string) error {
	f.p.record(f.at, audit.Entry{Action: audit.TaskAdded, Subject: t.ID, Detail: times + " " + described(t)})
	f.commit(t.Path, fmt.Sprintf("add %s %s", t.Kind, t.ID))
	return f.p.Lines(fmt.Sprintf("scheduled %s: %s -- %s", t.ID, times, described(t)))
}

// described returns the description, or the whole message on one line.
func described(t routines.Task) string {
	if t.Description != "" {
		return t.Description
	}
	return clean.Line(t.Body)
}

// read reads the files, and which tasks are on hold. Making a whole bot would take longer
// than the rest of a list.
func (f taskFiles) read() *routines.Set {
	guard := f.guard()
	if _, err := guard.Provenance().Load(); err != nil {
		console.Tell(f.p.Err, "warning: %v", err)
	}
	index := routines.NewIndex(f.at.Dir, f.at.Env.Zone)
	index.JudgeBy(guard.TaskWaits)
	index.KeepBy(guard.Provenance().Before)
	s := schedule.New(schedule.Options{Dir: f.at.Dir, Index: index, Zone: f.at.Env.Zone})
	index.Scan()
	return s.Set()
}

// guard creates the guard with the authors of tasks.
func (f taskFiles) guard() *policy.Guard {
	file := policy.NewFile(f.at.Dir)
	return policy.New(policy.Options{Dir: f.at.Dir, Zone: f.at.Env.Zone, Log: f.p.Log(), Base: func() []string {
		tools, _ := file.Load()
		return policy.Strip(tools.Background())
	}})
}

// waitsMark marks a task that needs approval, or has a pending edit.
func waitsMark(t routines.Task) string {
	tag := schedule.TagWaits
	switch {
	case t.Proposed.Version != "":
		tag = schedule.TagProposed
	case t.Waits == "":
		return ""
	}
	return "  (" + tag + ": ollim-bot allow " + console.Word(t.ID) + ")"
}

// warn prints a warning if files of a folder have errors and are missing in the list.
func (f taskFiles) warn(problems []routines.Problem, folder string) {
	bad := 0
	for _, pr := range problems {
		if pr.Severity == routines.Error && strings.HasPrefix(pr.File, folder) {
			bad++
		}
	}
	if bad > 0 {
		console.Tell(f.p.Err, "warning: %s in %s: run `ollim-bot check` to see where and how to fix it", words.Count(bad, "problem"), folder)
	}
}

// named returns the ID of the task of a kind, or of either, that a text names, and the task. A text that can be an ID and
// names none is returned as it is: it may be that of a file with a mistake.
func (f taskFiles) named(kind routines.Kind, text string) (id string, inForce routines.Task, err error) {
	set := f.read()
	var things []command.Thing
	for _, t := range set.Tasks() {
		if kind == "" || t.Kind == kind {
			things = append(things, command.Thing{ID: t.ID, Title: t.Title()})
		}
	}
	pick := command.PickOne
	if routines.ValidID(text) && !strings.Contains(text, " ") {
		pick = command.PickOrText
	}
	found, err := pick(string(cmp.Or(kind, "task")), things, text, false)
	inForce, _ = set.Find(found.ID)
	return found.ID, inForce, err
}

// cancel removes the file of a task of a kind, or of either.
func (f taskFiles) cancel(kind routines.Kind, text string) error {
	id, inForce, err := f.named(kind, text)
	if err != nil {
		return err
	}
	kind = cmp.Or(kind, inForce.Kind, routines.KindReminder)
	rel, found, err := routines.RemoveTask(f.at.Dir, kind, id, inForce)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("%s %s not found; run `ollim-bot %s list` to see the IDs", kind, clean.Line(id), kind)
	}
	f.p.record(f.at, audit.Entry{Action: audit.TaskRemoved, Subject: id, Detail: rel})
	f.commit(rel, fmt.Sprintf("remove %s %s", kind, id))
	return f.p.Lines("cancelled " + clean.Line(id))
}

// before records the author of a task that the agent is about to write.
func (f taskFiles) before() []routines.Before {
	if f.p.Served == nil {
		return nil
	}
	return []routines.Before{f.p.Served.By.Written}
}

// commit commits a changed file if the data directory is a git repository. A failed
// commit is only a warning, because the file itself is written.
func (f taskFiles) commit(rel, message string) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	recorder := git.New(f.at.Dir, f.p.Log())
	box := f.p.Sandbox(f.at)
	defer box.Close()
	recorder.Sandbox = box.Git
	if err := recorder.Commit(ctx, rel, message); err != nil {
		console.Tell(f.p.Err, "warning: %v", err)
	}
}
