// Package dispatch handles a due task or a triggered webhook: it puts a reminder off,
// writes the prompt, and runs the task in the conversation or in the background. It must
// not know when tasks are due.
package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"ollimbot/core/base/words"
	"ollimbot/core/brief/prompt"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/label"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/notes"
	"ollimbot/core/talk/notice"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/money"
	"ollimbot/core/work/updates"
	"ollimbot/core/work/webhook"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/schedule"
)

// Runs are the background runs.
type Runs interface {
	// Do queues a job and blocks until its run has ended.
	Do(context.Context, fork.Job) (fork.View, error)
	// Put lists a run that the caller manages itself.
	Put(fork.View) error
	Stop(run string) error
	// Place returns the queue position of the next job; 0 if it would start at once.
	Place() int
}

// Conversation runs tasks in the foreground.
type Conversation interface {
	// RunTask waits for its turn and blocks until that has ended. If the user cut it off, it
	// returns command.ErrInterrupted.
	RunTask(context.Context, chat.Prompt, schedule.Due) error
	// Retire removes the buttons from a message and replaces them with a reason.
	Retire(ctx context.Context, message post.MessageID, why string)
}

// Money reserves the amount of a run and releases it.
type Money interface {
	// Afford waits until there is money. It returns false if ctx ends first.
	Afford(ctx context.Context, t routines.Task) (ticket string, ok bool)
	Settle(ticket string)
}

// Options configure a Dispatcher; all are required.
type Options struct {
	Zone     *time.Location
	Log      *slog.Logger
	Index    *routines.Index
	Hooks    *webhook.Index
	Schedule *schedule.Schedule
	Runs     Runs
	Chat     Conversation
	Money    Money
	Guard    *policy.Guard
	Prompts  *Prompts
	Notes    *notes.Notes
	Notices  *notice.Board
	Audit    *audit.Log
	// Held is told the file of a routine whose run is held because its check waits for the user.
	Held func(rel string)
}

// Dispatcher fires tasks. Its methods are safe for concurrent use.
type Dispatcher struct{ o Options }

// New returns a Dispatcher.
func New(o Options) *Dispatcher { return &Dispatcher{o} }

// Handlers returns the handlers for the Dispatcher's commands.
func (d *Dispatcher) Handlers() []command.Handler {
	return []command.Handler{
		command.On(command.Running, d.fireNow),
		command.On(command.Running, d.stop),
	}
}

func (d *Dispatcher) now() time.Time { return time.Now().In(d.o.Zone) }

// Fire runs a due task to its end: in the background as a fork, or in the foreground as a
// turn of the main session. The schedule calls it in its own goroutine.
func (d *Dispatcher) Fire(ctx context.Context, due schedule.Due) error {
	task := due.Task()
	defer d.o.Money.Settle(due.Ticket)
	if due.Early != nil {
		return d.early(ctx, due)
	}
	if due.Reminder != nil && !due.ByHand {
		if due.Reminder.LastWord {
			d.stopped(due.Reminder)
			return nil
		}
		if why, until := d.notNow(due.Reminder); !until.IsZero() {
			return d.putOff(due.Reminder, why, until)
		}
	}
	d.o.Log.Info("task fires", "kind", string(due.Kind), "id", task.ID, "title", task.Title(), "late", due.Late)
	if !task.Background {
		return d.inConversation(ctx, task, due)
	}
	checked, err := d.check(ctx, due)
	if err != nil {
		return err
	}
	due.Late = due.Late || checked.held
	v, err := d.o.Runs.Do(ctx, d.job(due, checked))
	if err == nil && v.State == fork.Stopped { // by the user, and not for want of money
		return routines.ErrCutOff
	}
	var broke *fork.NoMoneyError
	if errors.As(err, &broke) { // a cap was reached before its turn came
		return &schedule.PutOffError{Why: broke.Why, Until: broke.Until, Broke: true}
	}
	return err
}

// job returns the background run of a due task.
func (d *Dispatcher) job(due schedule.Due, checked verdict) fork.Job {
	task := due.Task()
	job := fork.Job{
		Task: task, Reminder: due.Reminder, At: due.At, Late: due.Late, Ticket: money.Ticket(due.Ticket),
		Label: d.o.Prompts.labelOf(task, checked), Trusted: d.o.Guard.Trusted(task), Note: noteOf(task, checked),
		Plain: d.plain(due), Fire: due.Fire(),
	}
	if task.Says {
		job.Said = d.said(due, checked)
		return job
	}
	skills := d.o.Prompts.Skills.Load(task)
	rights := d.o.Guard.Bound(task, skills)
	job.Allowed, job.Disallowed = rights.Allowed, rights.Disallowed
	job.Prompt = func(ctx context.Context) string {
		return d.o.Prompts.ofTask(ctx, due, d.o.Prompts.present(), skills, checked)
	}
	return job
}

// plain returns why an essential task sends its own text without asking a model, or "".
func (d *Dispatcher) plain(due schedule.Due) string {
	if due.Broke.IsZero() {
		return ""
	}
	return fmt.Sprintf(textBroke, cron.DayClock(due.Broke.In(d.o.Zone), d.now()))
}

// inConversation runs a task as a turn of the main session and queues for it like any
// message. The commands of its skills run first, so that they do not block the
// conversation.
func (d *Dispatcher) inConversation(ctx context.Context, task routines.Task, due schedule.Due) error {
	skills := d.o.Prompts.Skills.Expand(ctx, d.o.Prompts.Skills.Load(task))
	build := func(now time.Time, u []updates.Update) string {
		p := d.o.Prompts.foreground(task, due, now, u)
		p.Skills = skills
		return prompt.ForegroundPrompt(p)
	}
	err := d.o.Chat.RunTask(ctx, build, due)
	cut := errors.Is(err, command.ErrInterrupted)
	if cut {
		err = routines.ErrCutOff
	}
	if (err == nil || cut) && due.Finish != nil {
		due.Finish()
	}
	if detail := task.Title(); err == nil || ctx.Err() == nil {
		if err != nil {
			detail += ": " + err.Error()
		}
		d.o.Audit.Record(d.now(), audit.Entry{Actor: audit.Bot, Action: audit.RunInFront, Subject: task.ID, Detail: detail})
	}
	if err != nil {
		if ctx.Err() == nil && !cut {
			d.o.Notices.Add(notice.Alert, fmt.Sprintf(textForegroundFailed, task.Title(), err))
		}
		if store.Full(err) {
			err = fmt.Errorf("%w: %w", routines.ErrUnrecorded, err)
		}
		return err
	}
	return nil
}

// FireWebhook runs a delivery to its end in the background.
func (d *Dispatcher) FireWebhook(ctx context.Context, j webhook.Job) error {
	task := j.Spec.Task
	defer func() { d.o.Money.Settle(j.Ticket) }()
	d.o.Log.Info("webhook fires", "id", task.ID, "delivery", j.Delivery.ID)
	if why := d.o.Guard.TaskWaits(&task); why != "" { // the webhook was changed while the delivery was queued
		return &webhook.WaitsError{Why: why}
	}
	skills := d.o.Prompts.Skills.Load(task)
	rights := d.o.Guard.Bound(task, skills)
	trusted := d.o.Guard.Trusted(task)
	job := fork.Job{
		Task: task, At: j.Delivery.At, Allowed: rights.Allowed, Disallowed: rights.Disallowed,
		Label: label.From(string(task.Kind) + " " + task.ID), Trusted: trusted, Ticket: money.Ticket(j.Ticket),
		Delivery: j.Delivery.Run(),
		Prompt:   func(ctx context.Context) string { return d.o.Prompts.ofDelivery(ctx, j, d.o.Prompts.present(), skills) },
	}
	v, err := d.o.Runs.Do(ctx, job)
	for broke := new(*fork.NoMoneyError); errors.As(err, broke); v, err = d.o.Runs.Do(ctx, job) {
		d.o.Money.Settle(j.Ticket)
		var ok bool
		if j.Ticket, ok = d.o.Money.Afford(ctx, task); !ok {
			return webhook.ErrNotBegun // the program ends
		}
		job.Ticket = money.Ticket(j.Ticket)
	}
	if errors.Is(err, fork.ErrStopping) {
		if v.Delivery == "" {
			return webhook.ErrNotBegun
		}
		return webhook.ErrCutOff
	}
	return err
}

// Deliveries returns the outcome of each run for a delivery that has begun, by
// webhook.Delivery.Run, from the ledger of runs.
func Deliveries(dir *store.Dir) (map[string]string, error) {
	runs, err := fork.Deliveries(dir)
	if err != nil {
		return nil, err
	}
	outcomes := make(map[string]string, len(runs))
	for run, state := range runs {
		switch state {
		case fork.Running, fork.Interrupted:
			outcomes[run] = webhook.Interrupted
		case fork.Failed:
			outcomes[run] = webhook.Failed
		default: // it may have been stopped or out of time, which the user knows
			outcomes[run] = webhook.Done
		}
	}
	return outcomes, nil
}

// fireNow runs a task in addition to its schedule.
func (d *Dispatcher) fireNow(_ context.Context, c command.FireNow) (command.Outcome, error) {
	task, ok := d.o.Index.Set().Find(c.ID)
	if !ok {
		return command.Outcome{}, fmt.Errorf(command.TextNoTask, c.ID)
	}
	fire := d.o.Schedule.FireNow
	if c.Stays {
		fire = d.o.Schedule.FireBeside
	}
	message := d.starts(task) // before the run takes a place in the queue
	if err := fire(c.ID); err != nil {
		return command.Outcome{}, err
	}
	out := command.Outcome{
		Message:  message + d.pingless(task),
		Decision: audit.Entry{Action: audit.TaskFired, Subject: c.ID, Detail: task.Title()},
	}
	if r, is := d.o.Index.Set().ReminderByID(c.ID); is && !r.UntilDone && !c.Stays {
		out.Undo = command.RestoreTask{ID: c.ID}
	}
	return out, nil
}

// starts describes whether the task's run starts at once or has to queue.
func (d *Dispatcher) starts(task routines.Task) string {
	if place := d.o.Runs.Place(); task.Background && place > 0 {
		return fmt.Sprintf(textFiredWaits, task.Title(), words.Nth(place))
	}
	return fmt.Sprintf(textFired, task.Title())
}

// pingless describes from when on the task's run can ping, to follow starts; empty if it
// can at once or never does.
func (d *Dispatcher) pingless(task routines.Task) string {
	if !task.Background || !task.AllowPing || task.Essential {
		return ""
	}
	now := d.now()
	state, _ := d.o.Prompts.Budget.State(now)
	from := d.o.Prompts.Attention.QuietUntil(now)
	switch {
	case state.Capacity == 0:
		return textFiredMuted
	case from.IsZero() && state.Whole() < 1:
		from = state.NextAt(now)
	}
	if from.IsZero() {
		return ""
	}
	return fmt.Sprintf(textFiredQuietly, cron.DayClock(from.In(d.o.Zone), now))
}

// stop stops a run.
func (d *Dispatcher) stop(_ context.Context, c command.StopFork) (command.Outcome, error) {
	return command.Outcome{Message: "stopping", Decision: audit.Entry{Action: audit.RunStopped, Subject: c.Run}}, d.o.Runs.Stop(c.Run)
}
