package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ollimbot/core"
	claudeproc "ollimbot/core/agent/claude/process"
	"ollimbot/core/audit"
	"ollimbot/core/clean"
	"ollimbot/core/command"
	"ollimbot/core/words"
	"ollimbot/routines"
)

type auditCmd struct {
	N    int  `name:"number" short:"n" default:"50" placeholder:"N" help:"How many to show at most, 1 to 100000 (${default})."`
	JSON bool `name:"json" help:"Answer as JSON."`
}

// Run shows the newest decisions, the newest last.
func (c *auditCmd) Run(p *process, at dataDir) error {
	if c.N < 1 || c.N > 100_000 {
		return usagef("-n %d is not possible: give 1 to 100000", c.N)
	}
	list, damaged, err := audit.New(audit.Options{Dir: at.dir}).Read(c.N)
	if err != nil {
		return err
	}
	if damaged > 0 {
		tell(p.err, "warning: %s of %s cannot be read", words.Count(damaged, "line"), audit.File)
	}
	lines := each(list, func(e audit.Entry) string { return decisionLine(at, e) })
	return p.answer(c.JSON, append([]audit.Entry{}, list...), orNone(lines, "no decisions yet"))
}

// decisionLine is one decision on a line of its own; what it says in more lines
// stands indented below.
func decisionLine(at dataDir, e audit.Entry) string {
	who := e.Actor
	if e.From != "" {
		who += " (" + e.From + ")"
	}
	line := fmt.Sprintf("%s  %-17s  %s", e.At.In(at.env.Zone).Format(momentLayout), e.Action, who)
	if e.Subject != "" {
		line += "  " + e.Subject
	}
	if e.Detail != "" {
		line += "  " + strings.ReplaceAll(e.Detail, "\n", "\n    ")
	}
	return line
}

// asking notes who gives a command: the agent, where its own Bash runs this
// program, else the user.
func (p *process) asking(ctx context.Context) context.Context {
	actor := audit.User
	if p.getenv("CLAUDECODE") != "" { // set by the claude command for what it runs
		actor = audit.Agent
	}
	return audit.With(ctx, actor, "command line")
}

// record writes a decision of this command into the audit log.
func (p *process) record(at dataDir, e audit.Entry) {
	from := audit.OriginOf(p.asking(context.Background()))
	e.Actor, e.From = from.Actor, from.From
	audit.New(audit.Options{Dir: at.dir, Log: p.log()}).Record(at.now, e)
}

type allowCmd struct {
	ID   string `arg:"" optional:"" help:"The id of a task or webhook, or the path of its file."`
	Undo bool   `help:"Take the word back: it waits again."`
}

// Run gives the user's word. It is no subcommand of routine or reminder, because
// those are on the agent's list, and whoever reads a list of patterns must see that
// this one is not.
func (c *allowCmd) Run(p *process, at dataDir, bot *core.Bot) error {
	if p.getenv(claudeproc.MarkName) != "" {
		return errors.New("only the user lets a task have more rights than its writer: tell them what it is for")
	}
	if c.ID == "" {
		return p.lines(orNone(waitingLines(bot), "nothing waits for you")...)
	}
	o, err := bot.Do(p.asking(context.Background()), command.AllowTask{ID: c.ID, Withdraw: c.Undo})
	if err != nil {
		return err
	}
	return p.lines(o.Message)
}

// waitingLines are the files that do nothing until the user says so.
func waitingLines(bot *core.Bot) []string {
	return each(bot.Waiting(), func(w routines.Problem) string { return "  " + w.File + "  " + w.Message })
}

type restoreCmd struct {
	ID string `arg:"" optional:"" help:"The task's id; without one, what can be put back is listed."`
}

// Run puts back the file of a task that was removed within the last day, or
// lists such tasks.
func (c *restoreCmd) Run(p *process, at dataDir) error {
	if c.ID == "" {
		return p.lines(orNone(each(routines.RemovedTasks(at.dir, at.now), func(r routines.Removed) string {
			return fmt.Sprintf("  %s  %-8s  %-14s  %s", r.ID, r.Kind, words.Ago(at.now.Sub(r.At)), r.Title())
		}), "nothing was removed within the last day")...)
	}
	t, err := routines.RestoreTask(at.dir, at.now, c.ID)
	if errors.Is(err, routines.ErrNotRemoved) {
		return fmt.Errorf("%s: %w: ollim-bot restore lists what can be put back", clean.Line(c.ID), err)
	}
	if err != nil {
		return err
	}
	p.commit(at, t.Path, fmt.Sprintf("restore %s %s", t.Kind, t.ID))
	return p.printf("restored %s: %s -- %s\n", t.ID, clean.Line(t.Path), described(t))
}
