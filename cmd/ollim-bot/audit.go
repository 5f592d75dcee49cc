package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"ollimbot/cmd/internal/console"
	"ollimbot/core"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/procgroup"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/routines"
	"ollimbot/tui/widget/query"
)

type auditCmd struct {
	N int `name:"number" short:"n" default:"50" placeholder:"N" help:"How many to show at most, 1 to 100000 (${default})."`
	ofFilter
	console.AsJSON
}

// Run shows the newest decisions, the newest last.
func (c *auditCmd) Run(p *process, at console.DataDir) error {
	if c.N < 1 || c.N > 100_000 {
		return console.Usagef("-n must be between 1 and 100000, not %d", c.N)
	}
	list, damaged, err := audit.New(audit.Options{Dir: at.Dir}).Read(c.N)
	if err != nil {
		return err
	}
	if damaged > 0 {
		console.Tell(p.Err, "warning: %s of %s cannot be read", words.Count(damaged, "line"), audit.File)
	}
	list = kept(c.ofFilter, list, func(e audit.Entry) query.Facts {
		return query.Facts{Text: decisionLine(at, e), At: e.At.In(at.Env.Zone), Now: at.Now}
	})
	lines := console.Each(list, func(e audit.Entry) string { return decisionLine(at, e) })
	return p.Answer(c.JSON, list, console.OrNone(lines, c.none("no decisions yet")))
}

// decisionLine formats one decision. Further lines of its detail are indented.
func decisionLine(at console.DataDir, e audit.Entry) string {
	who := e.Actor
	if e.From != "" {
		who += " (" + e.From + ")"
	}
	line := fmt.Sprintf("%s  %-17s  %s", e.At.In(at.Env.Zone).Format(console.MomentLayout), e.Action, who)
	if e.Subject != "" {
		line += "  " + e.Subject
	}
	if e.Detail != "" {
		line += "  " + strings.ReplaceAll(e.Detail, "\n", "\n    ")
	}
	return line
}

// asking adds who runs this command: the agent if its Bash tool does, else the user.
func (p *process) asking(ctx context.Context) context.Context {
	if p.Live != nil {
		if o := audit.OriginOf(p.Live.Context); o.From != "" { // a line of a dashboard or of plain mode
			return audit.With(ctx, o.Actor, o.From)
		}
	}
	actor := audit.User
	if p.Getenv("CLAUDECODE") != "" { // set by claude for its commands
		actor = audit.Agent
	}
	return audit.With(ctx, actor, "command line")
}

// record writes a decision of this command to the audit log.
func (p *process) record(at console.DataDir, e audit.Entry) {
	from := audit.OriginOf(p.asking(context.Background()))
	e.Actor, e.From = from.Actor, from.From
	audit.New(audit.Options{Dir: at.Dir, Log: p.Log()}).Record(at.Now, e)
}

type allowCmd struct {
	ID string `arg:"" optional:"" complete:"waiting" help:"The id of a task or webhook, or the path of its file."`
	// Refuse is not a separate command, so that all user-only actions are under one word.
	Refuse bool `hidden:"" now:"deny ID" xor:"do"`
	Undo   bool `xor:"do" help:"Withdraw the approval."`
	confirmation
}

// Run approves a file, or refuses an edit. It is not a subcommand of routine or reminder, which the agent may
// run: a reader of its tool patterns must see that it may not run this one.
func (c *allowCmd) Run(p *process, at console.DataDir, bot *core.Bot) error {
	if p.Getenv(procgroup.MarkName) != "" {
		return errors.New("only the user may approve a task that has more rights than its author: explain to them what it is for")
	}
	if c.ID == "" {
		return p.Lines(console.OrNone(waitingLines(bot), "nothing is waiting for approval")...)
	}
	var do command.Value = command.AllowTask{ID: c.ID, Withdraw: true}
	switch {
	case c.Refuse:
		do = command.RefuseEdit{ID: c.ID}
	case !c.Undo:
		version, err := c.seen(p, bot)
		if err != nil {
			return err
		}
		do = command.AllowTask{ID: c.ID, Version: version}
	}
	o, err := p.do(bot, do)
	if err != nil {
		return err
	}
	if t, ok := bot.Review().Task(c.ID); ok && c.Refuse {
		taskFiles{p, at}.commit(t.Path, fmt.Sprintf("restore %s %s", t.Kind, t.ID))
	}
	return p.Lines(o.Message)
}

type denyCmd struct {
	ID string `arg:"" complete:"waiting" help:"The id of a task or webhook, or the path of its file."`
}

// Run refuses the agent's edit of a file.
func (c *denyCmd) Run(p *process, at console.DataDir, bot *core.Bot) error {
	return (&allowCmd{ID: c.ID, Refuse: true}).Run(p, at, bot)
}

// seen shows what would be approved and returns its version, once the user has confirmed it.
func (c *allowCmd) seen(p *process, bot *core.Bot) (version string, err error) {
	what, picture, err := bot.Review().Look(c.ID)
	if err != nil || !what.Waits {
		return what.Version, err // AllowTask says what is wrong
	}
	return what.Version, c.of(p, "allow "+clean.Line(c.ID), what.Version, what.File+"  "+what.Message+"\n\n"+picture)
}

const (
	// leastDigest is how many characters of a version's digest name it.
	leastDigest = 16
	// shortDigest is how many of them a user at a terminal types.
	shortDigest = 4
)

// confirmation binds an approval to what was shown.
type confirmation struct {
	// Digest is that of what was shown. Without it the user is asked, on a terminal.
	Digest string `placeholder:"DIGEST" help:"Allow only this version, as shown by a call without it."`
}

// of shows a version, under a line that names it, and returns nil once the user has confirmed it.
func (c confirmation) of(p *process, command, version, picture string) error {
	short := version[:min(len(version), leastDigest)]
	head, rest, _ := strings.Cut(picture, "\n")
	lines := append([]string{head, ""}, indented(strings.TrimLeft(rest, "\n"))...)
	if err := p.Lines(append(lines, "", "digest "+short)...); err != nil {
		return err
	}
	switch {
	case len(c.Digest) >= leastDigest && strings.HasPrefix(version, c.Digest):
		return nil
	case c.Digest != "":
		return errors.New(textOtherDigest)
	case !p.Terminal():
		return fmt.Errorf(textNeedsDigest, command, short)
	}
	// Not "y": what was typed before the question appeared cannot answer it.
	if err := p.Lines(fmt.Sprintf(textAllowThis, short[:shortDigest])); err != nil {
		return err
	}
	answer, err := bufio.NewReader(p.In).ReadString('\n')
	if err != nil || strings.TrimSpace(answer) != short[:shortDigest] {
		return errors.New(textNotAllowed)
	}
	return nil
}

const (
	textOtherDigest = "this is not the version with that digest: look again before you decide; nothing was allowed"
	textNeedsDigest = "nothing was allowed yet. If you want what is shown above: ollim-bot %s --digest %s"
	textAllowThis   = "To allow this, type the beginning of its digest (%s) and enter."
	textNotAllowed  = "nothing was allowed"
)

// waitingLines lists the files that need approval, each edit with what it changes.
func waitingLines(bot *core.Bot) []string {
	return console.Each(bot.Review().Waiting(), func(w routines.Problem) string {
		line := "  " + w.File + "  " + w.Message
		if diff := w.Proposed.Diff; diff != "" {
			line += "\n\n    " + strings.ReplaceAll(diff, "\n", "\n    ") + "\n"
		}
		return line
	})
}

type restoreCmd struct {
	Task []string `arg:"" optional:"" name:"id" complete:"removed" help:"The task: its id, or words of its title; without it, the removed tasks are listed."`
}

// Run restores a task that was removed within the last day, or lists such tasks.
func (c *restoreCmd) Run(p *process, at console.DataDir) error {
	removed, id := routines.RemovedTasks(at.Dir, at.Now), strings.Join(c.Task, " ")
	if id == "" {
		return p.Lines(console.OrNone(console.Each(removed, func(r routines.Removed) string {
			return fmt.Sprintf("  %s  %-8s  %-14s  %s", r.ID, r.Kind, words.Ago(at.Now.Sub(r.At)), r.Title())
		}), "nothing was removed within the last day")...)
	}
	things := console.Each(removed, func(r routines.Removed) command.Thing { return command.Thing{ID: r.ID, Title: r.Title()} })
	one, err := command.PickOrText("removed task", things, id, true)
	if err != nil {
		return err
	}
	t, err := routines.RestoreTask(at.Dir, at.Now, one.ID)
	if errors.Is(err, routines.ErrNotRemoved) {
		return fmt.Errorf("%s: %w; run `ollim-bot restore` to list the removed tasks", clean.Line(one.ID), err)
	}
	if err != nil {
		return err
	}
	taskFiles{p, at}.commit(t.Path, fmt.Sprintf("restore %s %s", t.Kind, t.ID))
	return p.Lines(fmt.Sprintf("restored %s: %s -- %s", t.ID, clean.Line(t.Path), described(t)))
}
