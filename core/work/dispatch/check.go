package dispatch

import (
	"context"
	"fmt"

	"ollimbot/core/brief/skill"
	"ollimbot/core/safety/label"
	"ollimbot/core/storage/store"
	"ollimbot/core/work/fork"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

// check asks a routine's check whether there is anything to run for. A fire by hand runs
// without asking: the user wants it now.
func (d *Dispatcher) check(ctx context.Context, due schedule.Due) (skill.Verdict, error) {
	task := due.Task()
	if task.Check == "" || due.ByHand {
		return skill.Verdict{}, nil
	}
	v := d.o.Prompts.Skills.check(ctx, task.Check)
	if err := ctx.Err(); err != nil { // the program ends: that is no verdict
		return v, fmt.Errorf("check whether to run: %w", err)
	}
	if v.Failed != "" {
		d.o.Log.Warn("a check failed, so its routine runs", "id", task.ID, "error", v.Failed)
	}
	if !v.Skip {
		return v, nil
	}
	d.o.Log.Info("a check found nothing new", "id", task.ID)
	now := d.now()
	err := d.o.Runs.Put(fork.View{
		ID: store.NewID(), Kind: task.Kind, TaskID: task.ID, Title: task.Title(), State: fork.NothingNew, Late: due.Late, Queued: now, Ended: now,
	})
	if err != nil {
		d.o.Log.Error("a check that found nothing new was not written", "id", task.ID, "error", err)
	}
	return v, routines.ErrNothingNew
}

// check runs a check's command. Where the data directory is not trusted nothing runs.
func (s *Skills) check(ctx context.Context, line string) skill.Verdict {
	if err := s.Dir.Trusted(); err != nil {
		return skill.Verdict{Failed: err.Error()}
	}
	how, revoke := s.how()
	defer revoke()
	return skill.Check(ctx, s.Dir, how, line)
}

// labelOf is the label that a run of the task starts with. What a check printed may come from
// anywhere, so a run that gets it counts as one that has read untrusted text.
func (p *Prompts) labelOf(t routines.Task, found string) label.Label {
	if l := p.Guard.TaskLabel(t); l != "" || found == "" {
		return l.Via(string(t.Kind) + " " + t.ID)
	}
	return label.From("check of routine " + t.ID)
}

// noteOf is the first line of the tail of a run whose check could not decide, "" for others.
func noteOf(v skill.Verdict) string {
	if v.Failed == "" {
		return ""
	}
	return fmt.Sprintf(textCheckFailed, v.Failed)
}
