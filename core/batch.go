package core

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"ollimbot/core/agent/choice"
	"ollimbot/core/agent/messages/batch"
	"ollimbot/core/brief/skill"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/notice"
	"ollimbot/core/work/fork"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

// makeBatches opens what was handed in by runs that may wait.
func (b *Bot) makeBatches() {
	if b.o.Providers == nil {
		return
	}
	b.batches = batch.New(batch.Options{
		Dir: b.dir, Log: b.log, Providers: b.o.Providers, Wanted: b.stillWanted, Done: b.answered,
	})
}

func (b *Bot) runBatches(ctx context.Context) error {
	if b.batches == nil {
		return nil
	}
	for _, r := range b.batches.Waiting() {
		if !r.Dropped {
			b.showWaiting(r)
		}
	}
	return b.batches.Run(ctx)
}

// mayWait reports whether a run of the task is handed in as a batch: its file says
// that it may wait, and who answers it takes batches.
func (b *Bot) mayWait(t routines.Task) bool {
	model := b.modelOf(t)
	api := strings.Contains(model, "/") || b.engineStatus().Name == choice.Messages
	return t.MayWait && b.batches != nil && api && b.batches.Takes(model)
}

func (b *Bot) modelOf(t routines.Task) string {
	return cmp.Or(t.Model, b.runtime.Load().ModelMain)
}

// handIn keeps the run's request; its answer comes as a report within a day.
func (b *Bot) handIn(ctx context.Context, d schedule.Due, skills []skill.Skill) error {
	task := d.Task()
	r := batch.Request{
		ID: store.NewID(), Task: task.ID, Title: task.Title(), Model: b.modelOf(task), At: b.now(),
		System: b.SystemPrompt(), Prompt: b.backgroundPrompt(ctx, d, b.moment(), skills) + promptMayWait,
	}
	if err := b.batches.Submit(r); err != nil {
		return err
	}
	b.showWaiting(r)
	return nil
}

func (b *Bot) waitingView(r batch.Request) fork.View {
	return fork.View{
		ID: r.ID, Kind: routines.KindRoutine, TaskID: r.Task, Title: r.Title, Model: r.Model,
		State: fork.Waiting, Queued: r.At, Activity: textAsBatch,
	}
}

func (b *Bot) showWaiting(r batch.Request) {
	if err := b.forks.Put(b.waitingView(r)); err != nil {
		b.log.Error("a run that waits cannot be shown", "run", r.ID, "error", err)
	}
}

// stillWanted reports whether the task of a request is there and may wait.
func (b *Bot) stillWanted(r batch.Request) bool {
	t, ok := b.index.Set().RoutineByID(r.Task)
	if ok && t.MayWait {
		return true
	}
	b.endWaiting(r, fork.Stopped, textTaskGone)
	return false
}

// stopWaiting gives a request up that the user does not want any more; false where
// none has that id.
func (b *Bot) stopWaiting(id string) bool {
	if b.batches == nil {
		return false
	}
	r, ok := b.batches.Drop(id)
	if ok {
		b.endWaiting(r, fork.Stopped, "")
	}
	return ok
}

func (b *Bot) endWaiting(r batch.Request, s fork.State, why string) {
	v := b.waitingView(r)
	v.State, v.Started, v.Ended, v.Error, v.Activity = s, r.At, b.now(), why, ""
	if err := b.forks.Put(v); err != nil {
		b.log.Error("the end of a run that waited was not written", "run", r.ID, "error", err)
	}
}

// answered makes the answer of a request its run's report, once.
func (b *Bot) answered(r batch.Request, o batch.Outcome, taken func()) {
	v := b.waitingView(r)
	v.State, v.Started, v.Ended, v.Usage, v.Activity = fork.Done, r.At, b.now(), o.Usage, ""
	t, known := b.index.Set().RoutineByID(r.Task)
	end := func() {
		taken()
		if err := b.purse.Add(b.now(), "", o.Usage); err != nil {
			b.log.Error("what a run has used could not be written down", "run", r.ID, "error", err)
		}
		if err := b.forks.Put(v); err != nil {
			b.log.Error("the end of a run that waited was not written", "run", r.ID, "error", err)
		}
	}
	switch {
	case o.Failure != "":
		v.State, v.Error = fork.Failed, o.Failure
		end()
		b.notices.Add(notice.Alert, fmt.Sprintf(textBatchFailed, r.Title, o.Failure))
	case known && t.Mode == routines.Blocked:
		end()
	default:
		v.Reports = 1
		report := fmt.Sprintf(updateFromBatch, r.Title, r.At.In(b.zone).Format("Mon 15:04"), o.Text)
		if err := b.updates.AppendOnce(b.now(), report, end); err != nil {
			b.log.Error("the answer of a run that waited could not be kept; it is asked for again", "run", r.ID, "error", err)
		}
	}
}
