package dispatch

import (
	"context"
	"fmt"
	"path"
	"slices"
	"time"

	"ollimbot/core/brief/prompt"
	"ollimbot/core/brief/skill"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/attention"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/google"
	"ollimbot/core/work/updates"
	"ollimbot/core/work/webhook"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

// Prompts writes the prompts of tasks. All fields are required.
type Prompts struct {
	Zone      *time.Location
	Attention *attention.Attention
	Budget    *budget.Bucket
	Tally     *budget.Tally
	Journal   *budget.Journal
	Updates   *updates.Queue
	Guard     *policy.Guard
	Google    *google.Account
	Skills    *Skills
	Schedule  *schedule.Schedule // for the fires that a prompt lists
}

func (p *Prompts) now() time.Time { return time.Now().In(p.Zone) }

// foreground returns the text for a turn of the main session.
func (p *Prompts) foreground(task routines.Task, d schedule.Due, now time.Time, u []updates.Update) prompt.Foreground {
	return prompt.Foreground{Now: now, Task: task, Late: lateSince(d), Chain: p.chainOf(d.Reminder), Updates: u}
}

// moment is the state of the bot that a prompt describes.
type moment struct {
	now     time.Time
	busy    bool
	quiet   time.Time
	labeled bool // the run starts with untrusted text
}

func (p *Prompts) present() moment {
	busy, quiet := p.Attention.Busy()
	return moment{now: p.now(), busy: busy, quiet: quiet}
}

// imagined returns a moment with or without a conversation in progress.
func (p *Prompts) imagined(now time.Time, busy bool) moment {
	return moment{now: now, busy: busy, quiet: p.Attention.QuietUntil(now)}
}

// withheld replaces the text of labelled updates. A run that starts without a label may
// act, and would lose that right by reading them. The main conversation gets them in
// full.
func withheld(list []updates.Update) []updates.Update {
	out := slices.Clone(list)
	for i, u := range out {
		if u.Label != "" {
			out[i].Message = fmt.Sprintf(promptWithheld, u.Label.Origin())
		}
	}
	return out
}

// nameless removes the texts of labelled tasks from the forward schedule, as withheld
// does for updates: a session that had read untrusted text chose those names.
func (p *Prompts) nameless(f schedule.Forward) schedule.Forward {
	f.Entries = slices.Clone(f.Entries)
	for i := range f.Entries {
		e := &f.Entries[i]
		if l := p.Guard.FileLabel(e.FilePath); l != "" {
			e.Label = fmt.Sprintf(promptNameless, l.Origin())
			e.Title, e.Description, e.Prompt, e.FilePath = "", e.Label, "", path.Dir(e.FilePath)
		}
	}
	return f
}

// ofTask returns the exact prompt of a background run, including what its check found. It
// blocks while the commands of the skills run.
func (p *Prompts) ofTask(ctx context.Context, d schedule.Due, m moment, skills []skill.Skill, v verdict) string {
	task := d.Task()
	m.labeled = v.labels() || p.Guard.TaskLabel(task) != ""
	told := p.background(ctx, task, m, skills)
	told.Late, told.Chain = lateSince(d), p.chainOf(d.Reminder)
	if d.Reminder != nil && d.Reminder.ChainParent != "" {
		told.Sent = p.sent(m, task, task.ID, d.Reminder.ChainParent)
	}
	return prompt.BackgroundPrompt(told) + v.found()
}

// mostSent is how many of its last messages a task's prompt contains.
const mostSent = 3

// sent returns the last pings of a task. As with updates, a run that starts without a
// label does not see those made from untrusted text.
func (p *Prompts) sent(m moment, task routines.Task, ids ...string) []budget.Ping {
	list := budget.LastOf(p.Journal.Recent(), mostSent, ids...)
	if m.labeled || p.Guard.Trusted(task) {
		return list
	}
	for i := range list {
		if list[i].Label != "" {
			list[i].Text = ""
		}
	}
	return list
}

// background returns the common part of all background prompts. It blocks while the
// commands of the skills run. A run that starts with untrusted text is not told about
// tools it would be refused.
func (p *Prompts) background(ctx context.Context, task routines.Task, m moment, skills []skill.Skill) prompt.Background {
	texts := p.Skills.Expand(ctx, skills)
	state, _ := p.Budget.State(m.now)
	rights := p.Guard.Bound(task, skills)
	told := prompt.Background{
		Now: m.now, Task: task, Busy: m.busy, QuietUntil: m.quiet,
		Budget: state, Habits: p.habits(m.now), Forward: p.nameless(p.Schedule.Forward(m.now, task.ID)),
		Google: p.Google.State().On(), GoogleTrouble: p.Google.Trouble(),
		Allowed: rights.Allowed, Disallowed: rights.Disallowed, Skills: texts, Sent: p.sent(m, task, task.ID),
		QuietLeft: p.quietLeft(m.now, state),
	}
	if m.labeled && !p.Guard.Trusted(task) {
		told.Allowed, told.Disallowed = p.Guard.Quiet(told.Allowed, told.Disallowed)
	}
	if !task.Isolated {
		told.Updates = withheld(p.Updates.Peek())
	}
	return told
}

// habits describes when the user answers pings; it is empty if learning is turned off.
func (p *Prompts) habits(now time.Time) string {
	if !p.Attention.Config().Learning {
		return ""
	}
	return p.Journal.Habits(now).Words()
}

// quietLeft returns how many silent messages runs may still send today. During a mute or
// with a capacity of 0 it is none.
func (p *Prompts) quietLeft(now time.Time, state budget.State) int {
	if state.Capacity == 0 || !p.Attention.Mute.At(now).IsZero() {
		return 0
	}
	return max(0, p.Attention.Config().QuietMessages-p.Tally.At(now).Quiet)
}

func lateSince(d schedule.Due) time.Time {
	if d.Late {
		return d.At
	}
	return time.Time{}
}

// ofDelivery returns the exact prompt of a delivery's run.
func (p *Prompts) ofDelivery(ctx context.Context, j webhook.Job, m moment, skills []skill.Skill) string {
	m.labeled = true
	return prompt.WebhookPrompt(p.background(ctx, j.Spec.Task, m, skills), j.Payload.Data)
}

// chainOf returns the position of a firing reminder in its chain; nil outside of chains.
func (p *Prompts) chainOf(r *routines.Reminder) *prompt.Chain {
	if r == nil || r.MaxChain == 0 && !r.UntilDone {
		return nil
	}
	c := &prompt.Chain{Depth: r.ChainDepth, Max: r.MaxChain}
	if r.UntilDone {
		came := budget.CameOf(p.Journal.Recent(), r.ID)
		c.UntilDone = &prompt.UntilDone{ID: r.ID, Again: r.Again, Came: came.Times, Since: came.Since.In(p.Zone)}
	}
	return c
}
