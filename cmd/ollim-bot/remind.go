package main

import (
	"errors"
	"strings"

	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/proposals"
	"ollimbot/core/work/tasks"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
)

type reminderDoneCmd struct {
	Task []string `arg:"" name:"id" complete:"reminder" help:"The reminder: its id, four characters of it, or words of its title."`
}

func (c *reminderDoneCmd) Run(p *process) error {
	return p.remind(c.Task, command.Remind{Word: command.Done})
}

type reminderNotTodayCmd struct {
	Task []string `arg:"" name:"id" complete:"reminder" help:"The reminder: its id, four characters of it, or words of its title."`
}

func (c *reminderNotTodayCmd) Run(p *process) error {
	return p.remind(c.Task, command.Remind{Word: command.NotToday})
}

type reminderLaterCmd struct {
	Task  []string `arg:"" name:"id" complete:"reminder" help:"The reminder: its id, four characters of it, or words of its title."`
	Delay string   `placeholder:"TIME" help:"Until when: minutes from now, 90m, 18:30, tonight, \"tomorrow 9:00\"; one hour if not given."`
}

func (c *reminderLaterCmd) Run(p *process) error {
	r := command.Remind{Word: command.Later}
	if c.Delay != "" {
		at, err := p.Open()
		if err == nil {
			r.Until, err = p.delay(c.Delay, at.Times())
		}
		if err != nil {
			return err
		}
	}
	return p.remind(c.Task, r)
}

// remind answers a reminder by changing its file; a running bot loads it at once.
func (p *process) remind(task []string, c command.Remind) error {
	at, err := p.Writable()
	if err != nil {
		return err
	}
	rel := ""
	files := taskFiles{p, at}
	var inForce routines.Task
	if c.ID, inForce, err = files.named(routines.KindReminder, strings.Join(task, " ")); err != nil {
		return err
	}
	guard := files.guard()
	if _, err := guard.Provenance().Load(); err != nil {
		return err // otherwise a task written by the agent would count as the user's
	}
	mover := routines.Mover{Dir: at.Dir, Zone: at.Env.Zone, Inherit: guard.Inherit}
	k := tasks.Reminders{
		Move: func(id string, next func(routines.Reminder) (routines.Move, error)) (routines.Reminder, error) {
			r, err := mover.Move(at.Now, id, inForce, next)
			rel = r.Path
			return r, err
		},
		Journal: budget.NewJournal(at.Dir, at.Env.Zone, p.Log()),
		Updates: updates.NewQueue(at.Dir, at.Env.Zone, p.Log()), Who: textTheUser,
	}
	if p.Served != nil {
		k.Who = textARun
		if p.Served.By.Scope().Kind == policy.Main { // the main session knows already
			k.Updates = nil
		}
	}
	out, err := k.Answer(c, at.Now)
	if out.Message == "" {
		return err
	}
	action, what := audit.TaskMoved, "move reminder "
	if c.Word == command.Done {
		action, what = audit.TaskRemoved, "remove reminder "
		err = errors.Join(err, proposals.NewStore(at.Dir, at.Env.Zone, p.Log()).Keep(at.Now, c.ID))
	}
	p.record(at, audit.Entry{Action: action, Subject: c.ID, Detail: out.Message})
	files.commit(rel, what+c.ID)
	return errors.Join(p.Lines(out.Message), err)
}
