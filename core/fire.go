package core

import (
	"context"
	"fmt"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/brief/docs"
	"ollimbot/core/brief/guide"
	"ollimbot/core/brief/prompt"
	"ollimbot/core/brief/skill"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/notice"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/google"
	"ollimbot/core/work/money"
	"ollimbot/core/work/updates"
	pages "ollimbot/docs"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

// fire runs one due task to its end: in the background as a fork, in the
// foreground as a turn of the main session. The loop calls it in a goroutine
// of its own.
func (b *Bot) fire(ctx context.Context, d schedule.Due) error {
	task := d.Task()
	defer b.settle(d.Ticket)
	if d.Reminder != nil && !d.ByHand {
		if d.Reminder.LastWord {
			b.stopped(d.Reminder)
			return nil
		}
		if until := b.notNow(d.Reminder); !until.IsZero() {
			return b.putOff(d.Reminder, until)
		}
	}
	b.log.Info("task fires", "kind", string(d.Kind), "id", task.ID, "title", task.Title(), "late", d.Late)
	if !task.Background {
		return b.fireForeground(ctx, task, d)
	}
	skills := b.loadSkills(task)
	if b.mayWait(task) {
		return b.handIn(ctx, d, skills)
	}
	rights := b.guard.Bound(task, skills)
	job := fork.Job{
		Task: task, Reminder: d.Reminder, At: d.At, Late: d.Late,
		Allowed: rights.Allowed, Disallowed: rights.Disallowed, Trusted: b.guard.Trusted(task), Ticket: money.Ticket(d.Ticket),
		Prompt: func(ctx context.Context) string { return b.backgroundPrompt(ctx, d, b.moment(), skills) },
	}
	_, err := b.forks.Do(ctx, job)
	return err
}

// fireForeground waits for its turn, like any message. The commands of
// its skills run before that: they must not keep the conversation waiting.
func (b *Bot) fireForeground(ctx context.Context, task routines.Task, d schedule.Due) error {
	skills := b.expandSkills(ctx, b.loadSkills(task))
	build := func(now time.Time, u []updates.Update) string {
		p := b.foreground(task, d, now, u)
		p.Skills = skills
		return prompt.ForegroundPrompt(p)
	}
	err := b.chat.RunTask(ctx, build, d)
	if detail := task.Title(); ctx.Err() == nil {
		if err != nil {
			detail += ": " + err.Error()
		}
		b.audit.Record(b.now(), audit.Entry{Actor: audit.Bot, Action: audit.RunInFront, Subject: task.ID, Detail: detail})
	}
	if err != nil {
		if ctx.Err() == nil {
			b.notices.Add(notice.Alert, fmt.Sprintf(textForegroundFailed, task.Title(), err))
		}
		if store.Full(err) {
			err = fmt.Errorf("%w: %w", routines.ErrUnrecorded, err)
		}
		return err
	}
	return nil
}

func (b *Bot) foreground(task routines.Task, d schedule.Due, now time.Time, u []updates.Update) prompt.Foreground {
	return prompt.Foreground{Now: now, Task: task, Late: lateSince(d), Chain: b.chainOf(d.Reminder), Updates: u}
}

// promptMoment is the state that a preamble tells: read when the run starts.
type promptMoment struct {
	now   time.Time
	busy  bool
	quiet time.Time
}

func (b *Bot) moment() promptMoment {
	busy, quiet := b.attention.Busy()
	return promptMoment{b.now(), busy, quiet}
}

// backgroundPrompt is the exact text that a background run is sent. It blocks
// while the commands of the skills run.
func (b *Bot) backgroundPrompt(ctx context.Context, d schedule.Due, m promptMoment, skills []skill.Skill) string {
	task := d.Task()
	p := b.background(ctx, task, m, skills)
	p.Late, p.Chain = lateSince(d), b.chainOf(d.Reminder)
	return prompt.BackgroundPrompt(p)
}

// background is what every background run is told, whatever has started it. It
// blocks while the commands of the skills run.
func (b *Bot) background(ctx context.Context, task routines.Task, m promptMoment, skills []skill.Skill) prompt.Background {
	texts := b.expandSkills(ctx, skills)
	state, _ := b.budget.State(m.now)
	rights := b.guard.Bound(task, skills)
	p := prompt.Background{
		Now: m.now, Task: task, Busy: m.busy, QuietUntil: m.quiet,
		Budget: state, Forward: b.schedule.Forward(m.now, task.ID), Google: b.about().Google, GoogleTrouble: b.googleTrouble(),
		Allowed: rights.Allowed, Disallowed: rights.Disallowed, Skills: texts,
	}
	if !task.Isolated {
		p.Updates = b.updates.Peek()
	}
	return p
}

func lateSince(d schedule.Due) time.Time {
	if d.Late {
		return d.At
	}
	return time.Time{}
}

// previewMoment is the moment that a preview is for.
func (b *Bot) previewMoment(at time.Time) time.Time {
	if at.IsZero() {
		return b.now()
	}
	return at.In(b.zone)
}

// Preview is the exact prompt that a task would be sent at a moment; it spends
// and changes nothing itself, but runs the commands in the texts of the task's
// skills, as a fire would, for as long as ctx allows. A zero time means now.
func (b *Bot) Preview(ctx context.Context, id string, at time.Time, busy bool) (string, error) {
	now := b.previewMoment(at)
	d, ok := b.schedule.DueAt(id, now)
	if !ok {
		return "", fmt.Errorf(command.TextNoTask, id)
	}
	task := d.Task()
	skills := b.loadSkills(task)
	if task.Background {
		return b.backgroundPrompt(ctx, d, promptMoment{now, busy, b.attention.QuietUntil(now)}, skills), nil
	}
	p := b.foreground(task, d, now, b.updates.Peek())
	p.Skills = b.expandSkills(ctx, skills)
	return prompt.ForegroundPrompt(p), nil
}

// loadSkills reads the skills that a task names. What cannot be used is left
// out, as the task may well do without, and so is what waits for the
// user's word; the log knows of it.
func (b *Bot) loadSkills(t routines.Task) []skill.Skill {
	skills := b.guard.Usable(t, skill.Load(b.dir, t.Skills))
	if len(skills) < len(t.Skills) {
		b.log.Debug("a task names skills that are missing, unusable or named twice", "id", t.ID, "named", len(t.Skills), "loaded", len(skills))
	}
	return skills
}

// expandSkills runs the commands in the texts of the skills and gives what
// stands in the prompt. It blocks for at most skill.TotalTime.
func (b *Bot) expandSkills(ctx context.Context, skills []skill.Skill) []prompt.Skill {
	if len(skills) == 0 {
		return nil
	}
	if ctx.Value(inert{}) != nil {
		return plainSkills(skills)
	}
	if err := b.dir.Trusted(); err != nil {
		b.log.Error("commands of skills do not run", "error", err)
		return plainSkills(skills)
	}
	ctx, cancel := context.WithTimeout(ctx, skill.TotalTime)
	defer cancel()
	// What the user has put into a skill may ask the bot whatever the agent may.
	token := b.o.Control.Issue(b.guard.Session(policy.Scope{
		Kind: policy.Background, Session: "skill", Rules: policy.Rules{Allowed: []string{"Bash(ollim-bot *)"}},
	}).Command(b.o.Commands))
	defer token.Revoke()
	how := skill.How{Zone: b.o.Env.ZoneName, Env: token.Env()}
	if b.o.Sandbox != nil {
		how.Sandbox = b.o.Sandbox.Command
	}
	out := make([]prompt.Skill, 0, len(skills))
	for _, s := range skills {
		out = append(out, prompt.Skill{Name: s.Name, Body: skill.Expand(ctx, b.dir, how, s.Body)})
	}
	return out
}

// plainSkills are the texts with their commands as they are written.
func plainSkills(skills []skill.Skill) []prompt.Skill {
	out := make([]prompt.Skill, 0, len(skills))
	for _, s := range skills {
		out = append(out, prompt.Skill{Name: s.Name, Body: s.Body})
	}
	return out
}

// library is the documentation that the agent reads, as tools. It is made once:
// every session lists the same.
func library() []agent.Tool {
	tools := docs.New(pages.FS).Tools()
	for i := range tools {
		tools[i].Server = docs.Server
	}
	return tools
}

// about is what the agent's files and its system prompt say of this machine.
func (b *Bot) about() guide.Options {
	s := b.google.state.Load()
	return guide.Options{
		UserName: b.o.Env.GivenName(), BotName: b.o.Env.BotName, Zone: b.o.Env.ZoneName, Webhooks: b.triggers != nil,
		Google: s.On(), NoMail: !s.May(google.Mail),
	}
}

// install puts the files that the agent reads into the data directory. What
// cannot be written is told, and made up for at the next start.
func (b *Bot) install() {
	notes, err := guide.Install(b.dir, b.about())
	if err != nil {
		b.log.Warn("files for the agent were not installed", "error", err)
	}
	changed := 0
	for _, n := range notes {
		if n.Warning {
			b.log.Warn("file for the agent", "file", n.File, "note", n.Text)
			continue
		}
		changed++
		b.log.Debug("file for the agent", "file", n.File, "note", n.Text)
	}
	if changed > 0 {
		b.log.Info("files for the agent are in place", "changed", changed)
	}
}

// SystemPrompt is what every session is told beside the engine's own prompt: the
// profile, the skills, how to work here. It is read anew for each session, and
// the same to the byte while nothing changes, so that a prompt cache holds.
func (b *Bot) SystemPrompt() string { return guide.SystemPrompt(b.dir, b.about()) }
