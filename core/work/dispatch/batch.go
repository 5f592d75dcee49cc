package dispatch

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/choice"
	"ollimbot/core/agent/messages/batch"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/brief/skill"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/notice"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/money"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

// RequestOptions configure Requests. All but Providers are required.
type RequestOptions struct {
	Dir       *store.Dir
	Zone      *time.Location
	Log       *slog.Logger
	Providers *provider.Registry // nil disables batches
	Index     *routines.Index
	Runs      Runs
	Purse     *money.Purse
	Prompts   *Prompts
	Notices   *notice.Board
	// Engine is the name of the answering engine, Model the default model of tasks.
	Engine, Model, SystemPrompt func() string
}

// Requests are the runs that may wait, submitted as batches.
type Requests struct {
	o       RequestOptions
	batches *batch.Batches // nil if no provider accepts batches
}

// NewRequests returns the requests, including those of earlier days.
func NewRequests(o RequestOptions) *Requests {
	q := &Requests{o: o}
	if o.Providers != nil {
		q.batches = batch.New(batch.Options{Dir: o.Dir, Log: o.Log, Providers: o.Providers, Wanted: q.wanted, Done: q.answered})
	}
	return q
}

func (q *Requests) now() time.Time { return time.Now().In(q.o.Zone) }

// Run collects answers until ctx ends.
func (q *Requests) Run(ctx context.Context) error {
	if q.batches == nil {
		return nil
	}
	for _, r := range q.batches.Waiting() {
		if !r.Dropped {
			q.show(r)
		}
	}
	return q.batches.Run(ctx)
}

// takes reports whether a run of the task can be submitted as a batch: its file and its
// model's provider must allow that.
func (q *Requests) takes(t routines.Task) bool {
	model := q.modelOf(t)
	api := strings.Contains(model, "/") || q.o.Engine() == choice.Messages
	return t.MayWait && q.batches != nil && api && q.batches.Takes(model)
}

// modelOf returns the model for a task's run.
func (q *Requests) modelOf(t routines.Task) string {
	return cmp.Or(t.Model, q.o.Model())
}

// handIn submits the request of a run, including what its check found. The answer arrives
// as a report within a day.
func (q *Requests) handIn(ctx context.Context, d schedule.Due, skills []skill.Skill, v verdict) error {
	task := d.Task()
	r := batch.Request{
		ID: store.NewID(), Task: task.ID, Title: task.Title(), Model: q.modelOf(task), At: q.now(), Label: q.o.Prompts.labelOf(task, v),
		System: q.o.SystemPrompt(), Prompt: q.o.Prompts.ofTask(ctx, d, q.o.Prompts.present(), skills, v) + promptMayWait,
	}
	if err := q.batches.Submit(r); err != nil {
		return err
	}
	q.show(r)
	return nil
}

func (q *Requests) view(r batch.Request) fork.View {
	return fork.View{
		ID: r.ID, Kind: routines.KindRoutine, TaskID: r.Task, Title: r.Title, Model: r.Model,
		State: fork.Waiting, Queued: r.At, Activity: textAsBatch, Label: r.Label,
	}
}

func (q *Requests) show(r batch.Request) {
	if err := q.o.Runs.Put(q.view(r)); err != nil {
		q.o.Log.Error("a run that waits cannot be shown", "run", r.ID, "error", err)
	}
}

// wanted reports whether the task of a request still exists and may wait.
func (q *Requests) wanted(r batch.Request) bool {
	t, ok := q.o.Index.Set().RoutineByID(r.Task)
	if ok && t.MayWait {
		return true
	}
	q.end(r, fork.Stopped, textTaskGone)
	return false
}

// stop withdraws a request for the user. It returns false if there is none with that id.
func (q *Requests) stop(id string) bool {
	if q.batches == nil {
		return false
	}
	r, ok := q.batches.Drop(id)
	if ok {
		q.end(r, fork.Stopped, "")
	}
	return ok
}

func (q *Requests) end(r batch.Request, s fork.State, why string) {
	v := q.view(r)
	v.State, v.Started, v.Ended, v.Error, v.Activity = s, r.At, q.now(), why, ""
	if err := q.o.Runs.Put(v); err != nil {
		q.o.Log.Error("the end of a run that waited was not written", "run", r.ID, "error", err)
	}
}

// answered turns the answer to a request into its run's report, once.
func (q *Requests) answered(r batch.Request, o batch.Outcome, taken func()) {
	v := q.view(r)
	v.State, v.Started, v.Ended, v.Usage, v.Activity = fork.Done, r.At, q.now(), o.Usage, ""
	t, known := q.o.Index.Set().RoutineByID(r.Task)
	done := func() {
		taken()
		on := money.Account{For: money.OfRun, Task: money.Task{Kind: routines.KindRoutine, ID: r.Task}, Run: r.ID}
		if err := q.o.Purse.Book(q.now(), on, agent.Charge{Model: r.Model, Used: o.Usage}); err != nil {
			q.o.Log.Error("what a run has used could not be written down", "run", r.ID, "error", err)
		}
		if err := q.o.Runs.Put(v); err != nil {
			q.o.Log.Error("the end of a run that waited was not written", "run", r.ID, "error", err)
		}
	}
	switch {
	case o.Failure != "":
		v.State, v.Error = fork.Failed, o.Failure
		done()
		q.o.Notices.Add(notice.Alert, fmt.Sprintf(textBatchFailed, r.Title, o.Failure))
	case known && t.Mode == routines.Blocked:
		done()
	default:
		v.Reports = 1
		report := fmt.Sprintf(updateFromBatch, r.Title, r.At.In(q.o.Zone).Format("Mon 15:04"), o.Text)
		if err := q.o.Prompts.Updates.AppendOnce(q.now(), report, r.Label.Via(labelBatch), done); err != nil {
			q.o.Log.Error("the answer of a run that waited could not be kept; it is asked for again", "run", r.ID, "error", err)
		}
	}
}
