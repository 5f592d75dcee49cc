package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ollimbot/core/base/fault"
	"ollimbot/core/brief/prompt"
	"ollimbot/core/brief/skill"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/talk/absence"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/fork"
)

// Do carries out a command. It may block on a file; commands that start a run
// return once it is queued. Errors are sentences for people, and the outcome beside one
// says nothing.
func (b *Bot) Do(ctx context.Context, c command.Value) (out command.Outcome, err error) {
	defer b.notify()
	defer func() {
		if fault.Stack(err) != "" {
			b.log.Error("a command broke", "error", err)
		}
	}()
	defer fault.Catch(fmt.Sprintf("%T", c), &err)
	if out, err = b.do(ctx, c); err != nil {
		return out, b.redacted(err)
	}
	b.recordCommand(ctx, out)
	return out, nil
}

// discreet is an error whose text is told without the secrets in it.
type discreet struct {
	error
	text string
}

func (e discreet) Error() string { return e.text }

// Unwrap is the error as it was.
func (e discreet) Unwrap() error { return e.error }

// redacted takes the known secrets out of an error's text.
func (b *Bot) redacted(err error) error {
	if text := b.o.Book.Redact(err.Error()); text != err.Error() {
		return discreet{err, text}
	}
	return err
}

func (b *Bot) do(ctx context.Context, c command.Value) (command.Outcome, error) {
	switch c := c.(type) {
	case command.SetBudget:
		return c.CarryOut(b.budget, b.now())
	case command.RestoreBudget:
		return c.CarryOut(b.budget, b.now())
	case command.DiscardUpdate:
		u, err := b.updates.Discard(c.Key)
		return command.Outcome{
			Message: "update discarded", Undo: command.RestoreUpdate{Update: u}, Decision: audit.Entry{Action: audit.UpdateDiscarded, Subject: c.Key},
		}, err
	case command.RestoreUpdate:
		done := audit.Entry{Action: audit.UpdateRestored, Subject: c.Update.Key}
		return command.Outcome{Message: "update restored", Decision: done}, b.updates.Restore(c.Update)
	case command.Preview:
		body, err := b.Preview(ctx, c.ID, c.At, c.Busy)
		return command.Outcome{Body: body}, err
	case command.Describe:
		return c.Of(command.Tasks{Dir: b.dir, Set: b.index.Set(), Holds: b.schedule.Holds(), SkillWaits: b.guard.SkillLeft}, b.now())
	case command.Costs:
		return b.costs(c)
	case command.Runs:
		p, err := fork.Past(b.dir, c.From, c.Most)
		return command.Outcome{Runs: &p}, err
	case command.Away:
		report, err := absence.Sum(b.dir, b.audit, b.present.Span(b.now()))
		return command.Outcome{Away: &report}, err
	case command.Past:
		return b.past(c)
	case command.AllowTask:
		return b.allowTask(c)
	case command.SetConfig:
		return c.CarryOut(ctx, b.slashHost())
	}
	if b.started.Load() == nil {
		return b.doAlone(c)
	}
	b.noteMove(c)
	return b.doRunning(ctx, c)
}

// doAlone carries out what can be done on files for the next start, where no bot runs.
func (b *Bot) doAlone(c command.Value) (command.Outcome, error) {
	if _, running := b.dir.Running(); !running {
		switch c.(type) {
		case command.Snooze, command.Pause, command.MuteUntil, command.LiftCaps:
			return b.holdBack(c)
		}
	}
	return command.Outcome{}, errors.New(textNotRunning)
}

// holdBack carries out the commands that say what may fire, ping and cost something,
// and until when.
func (b *Bot) holdBack(c command.Value) (command.Outcome, error) {
	switch c := c.(type) {
	case command.Snooze:
		return b.snooze(c)
	case command.Pause:
		return b.pause(c)
	case command.MuteUntil:
		return b.mute(c)
	case command.LiftCaps:
		return b.lift(c)
	}
	return command.Outcome{}, fmt.Errorf("unknown command %T", c)
}

// doRunning carries out the commands that need a running bot.
func (b *Bot) doRunning(ctx context.Context, c command.Value) (command.Outcome, error) {
	switch c := c.(type) {
	case command.FireNow:
		return b.fireNow(c)
	case command.DeliverNow:
		return b.deliver()
	case command.StopFork:
		var err error
		if !b.stopWaiting(c.Run) {
			err = b.forks.Stop(c.Run)
		}
		return command.Outcome{Message: "stopping", Decision: audit.Entry{Action: audit.RunStopped, Subject: c.Run}}, err
	case command.SetLook:
		return command.Outcome{
			Message:  fmt.Sprintf("%s: %s → %s", c.Name, c.Was, c.Value),
			Undo:     command.SetLook{Name: c.Name, Value: c.Was, Was: c.Value},
			Decision: audit.Entry{Action: audit.ConfigChanged, Subject: "dashboard " + c.Name, Detail: c.Was + " → " + c.Value},
		}, nil
	case command.Here:
		b.present.Here(b.now())
		return command.Outcome{}, nil
	case command.Looked:
		return command.Outcome{}, b.forks.Looked(c.Runs...)
	case command.Say:
		return b.say(ctx, c)
	case command.Receive:
		done, err := b.chat.Receive(ctx, c)
		return command.Outcome{Done: done}, err
	case command.Reword:
		return command.Outcome{}, b.chat.Reword(c.From, c.Key, c.Text, c.Gone)
	case command.Slash:
		reply, err := c.CarryOut(ctx, b.slashHost())
		return command.Outcome{Message: reply}, err
	case command.Click:
		return b.click(ctx, c)
	case command.Remind:
		return b.remind(ctx, c, "")
	case command.Interrupt:
		return command.Outcome{}, b.chat.Interrupt(ctx)
	case command.ExitFork:
		return command.Outcome{}, b.chat.ExitFork(c.How)
	case command.ResumeFork:
		return b.resumeFork(c.Run)
	case command.Answer:
		return command.Outcome{Message: string(c.Verdict)}, b.guard.Approvals().Answer(ctx, c.ID, c.Verdict)
	case command.Login:
		return b.login(ctx, c)
	}
	return b.changeTask(c)
}

// changeTask carries out the commands that write the file of a task.
func (b *Bot) changeTask(c command.Value) (command.Outcome, error) {
	switch c := c.(type) {
	case command.AddTask:
		return b.addTask(c)
	case command.AddStarters:
		return b.addStarters()
	case command.RemoveTask:
		return b.removeTask(c)
	case command.EditTask:
		return b.editTask(c)
	case command.RevertTask:
		return b.revertTask(c)
	case command.DeleteTask:
		return b.deleteTask(c)
	case command.RestoreTask:
		return b.restoreTask(c)
	}
	return b.holdBack(c)
}

func (b *Bot) fireNow(c command.FireNow) (command.Outcome, error) {
	task, ok := b.index.Set().Find(c.ID)
	if !ok {
		return command.Outcome{}, fmt.Errorf(command.TextNoTask, c.ID)
	}
	fire := b.schedule.FireNow
	if c.Stays {
		fire = b.schedule.FireBeside
	}
	if err := fire(c.ID); err != nil {
		return command.Outcome{}, err
	}
	out := command.Outcome{Message: fmt.Sprintf("%s starts now", task.Title()), Decision: audit.Entry{Action: audit.TaskFired, Subject: c.ID}}
	if b.mayWait(task) {
		out.Message = fmt.Sprintf(textFiredAsBatch, task.Title())
	}
	if r, is := b.index.Set().ReminderByID(c.ID); is && !r.UntilDone && !c.Stays {
		out.Undo = command.RestoreTask{ID: c.ID}
	}
	return out, nil
}

// say takes a line of the dashboard: a command, or words for the conversation.
func (b *Bot) say(ctx context.Context, c command.Say) (command.Outcome, error) {
	text := strings.TrimSpace(c.Text)
	if strings.HasPrefix(text, "/") {
		reply, err := command.Slash{Line: text}.CarryOut(ctx, b.slashHost())
		if err == nil && reply != "" {
			b.book.Add(transcript.Notice, reply)
		}
		return command.Outcome{Message: reply}, err
	}
	done, err := b.chat.Receive(ctx, command.Receive{Text: text, ReplyTo: c.ReplyTo})
	return command.Outcome{Done: done}, err
}

// slashHost is the bot as the commands of the conversation see it.
func (b *Bot) slashHost() command.Host {
	return command.Host{
		Chat: b.chat, Engine: b.o.Engine, Budget: b.budget, Sessions: b.sessions, Dir: b.dir, Version: b.o.Version, Now: b.now,
		Config: b.runtime.Load, SetConfig: b.setRuntime, Follows: b.capFollows, Record: b.record, Restart: b.o.Restart, Google: b.slashGoogle,
		CheckModel: b.checkModel,
		Lift: func(ctx context.Context, undo bool) (string, error) {
			out, err := b.Do(ctx, command.LiftCaps{Undo: undo})
			return out.Message, err
		},
		Follow: func(ctx context.Context, s skill.Skill) error {
			return b.chat.Ask(prompt.Instruction(b.expandSkills(ctx, []skill.Skill{s})[0].Body))
		},
	}
}

// deliver begins a turn that hands the main session its pending updates.
func (b *Bot) deliver() (command.Outcome, error) {
	n, done, err := b.chat.DeliverUpdates()
	switch {
	case err != nil:
		return command.Outcome{}, err
	case n == 0:
		return command.Outcome{Message: textNothingPending}, nil
	case n == 1:
		return command.Outcome{Message: "1 update goes to the main session", Done: done}, nil
	}
	return command.Outcome{Message: fmt.Sprintf("%d updates go to the main session", n), Done: done}, nil
}

// resumeFork goes on in a finished run's session, without branching from it.
func (b *Bot) resumeFork(run string) (command.Outcome, error) {
	runs := b.forks.Views()
	i := slices.IndexFunc(runs, func(v fork.View) bool { return v.ID == run })
	if i < 0 {
		v, ok, err := fork.Find(b.dir, run)
		if err != nil || !ok {
			return command.Outcome{}, cmp.Or(err, fmt.Errorf("no run has the id %q", run))
		}
		runs, i = []fork.View{v}, 0
	}
	v := runs[i]
	if v.Live() || v.Session == "" {
		return command.Outcome{}, fmt.Errorf("%q cannot be resumed: it has not ended, or never reached the engine", v.Title)
	}
	return command.Outcome{Message: "resuming " + v.Title}, b.chat.Resume(v.Session, v.Title, v.Ended)
}
