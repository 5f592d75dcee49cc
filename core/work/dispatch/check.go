package dispatch

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/brief/skill"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/safety/label"
	"ollimbot/core/storage/store"
	"ollimbot/core/work/fork"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/schedule"
)

// check runs a routine's check to see whether there is a reason to run. A fire by hand
// skips it, because the user wants it now, unless the check prints the message.
func (d *Dispatcher) check(ctx context.Context, due schedule.Due) (verdict, error) {
	task := due.Task()
	if task.Check == "" || due.ByHand && !task.Says {
		return verdict{}, nil
	}
	held, err := d.untilAllowed(ctx, task)
	if err != nil {
		return verdict{}, err
	}
	v := d.o.Prompts.Skills.check(ctx, task.Check)
	v.held = held
	if err := ctx.Err(); err != nil { // the program is ending, which is not a verdict
		return v, fmt.Errorf("check whether to run: %w", err)
	}
	nothing, why := error(nil), ""
	switch {
	case v.Failed != "":
		d.o.Log.Warn("a check failed", "id", task.ID, "error", v.Failed)
	case v.Skip:
		nothing = routines.ErrNothingNew
	case task.Says && toolset.Blank(v.Found):
		nothing, why = routines.ErrNothingSaid, routines.ErrNothingSaid.Error()
	}
	if nothing == nil {
		return v, nil
	}
	d.o.Log.Info("a fire needs no run", "id", task.ID, "why", nothing)
	now := d.now()
	err = d.o.Runs.Put(fork.View{
		ID: store.NewID(), Kind: task.Kind, TaskID: task.ID, Title: task.Title(), State: fork.NothingNew, Late: due.Late, Queued: now, Ended: now,
		Error: why, NoModel: task.Says,
	})
	if err != nil {
		d.o.Log.Error("a check that found nothing new was not written", "id", task.ID, "error", err)
	}
	return v, nothing
}

// said returns the message of a task whose check prints it, with remarks about what the text does
// not show.
func (d *Dispatcher) said(due schedule.Due, v verdict) *fork.Said {
	if v.Failed != "" {
		return &fork.Said{Failed: v.Failed}
	}
	late := fmt.Sprintf(textSaidLate, cron.DayClock(due.At.In(d.o.Zone), d.now()))
	text, cut := toolset.Fit(v.Found, len(textSaidCut)+len(textSaidOdd)+len(late))
	if cut || v.Cut {
		text += textSaidCut
	}
	if v.Odd {
		text += textSaidOdd
	}
	if due.Late {
		text += late
	}
	return &fork.Said{Text: text}
}

// allowedEvery is how often a held run looks whether the user has allowed its check.
const allowedEvery = 5 * time.Second

// untilAllowed holds a run while the script of its check waits for the user. A run of a routine
// that is gone or another one by then is put off.
func (d *Dispatcher) untilAllowed(ctx context.Context, task routines.Task) (held bool, err error) {
	for {
		why := d.o.Guard.TaskWaits(&task)
		if task.Script == "" {
			return held, nil
		}
		if now, ok := d.o.Index.Set().Find(task.ID); !ok || now.Digest != task.Digest {
			return held, &schedule.PutOffError{Why: why}
		}
		if !held {
			d.o.Held(task.Path)
		}
		held = true
		select {
		case <-time.After(allowedEvery):
		case <-ctx.Done():
			return held, fmt.Errorf("wait until the check is allowed: %w", ctx.Err())
		}
	}
}

// verdict is the result of a check. server is the MCP server that was asked, or "" for a
// command.
type verdict struct {
	skill.Verdict
	server  string
	trusted bool // the server's output counts as the user's
	held    bool // it has waited for the user
}

// found returns what the check found, worded for the prompt, or "".
func (v verdict) found() string {
	if v.Found == "" {
		return ""
	}
	from := textOfCommand
	if v.server != "" {
		from = fmt.Sprintf(textOfServer, v.server)
	}
	text := v.Found
	if v.Cut {
		text += skill.CutMark
	}
	return fmt.Sprintf(promptFound, from, "> "+strings.ReplaceAll(text, "\n", "\n> "))
}

// labels reports whether the finding is untrusted text. A command's output may come from
// anywhere.
func (v verdict) labels() bool { return v.Found != "" && !v.trusted }

// check runs a check. In an untrusted data directory nothing runs.
func (s *Skills) check(ctx context.Context, line string) verdict {
	if err := s.Dir.Trusted(); err != nil {
		return verdict{Verdict: skill.Verdict{Failed: err.Error()}}
	}
	if tool, args, ok := routines.CheckCall(line); ok {
		return s.ask(ctx, tool, args)
	}
	how, revoke := s.how()
	defer revoke()
	return verdict{Verdict: skill.Check(ctx, s.Dir, how, line)}
}

// serverTime is the time limit for a server's answer to a check; the server may have to be
// started.
const serverTime = time.Minute

// ask runs a check on an MCP server: an empty answer skips the run, an error does not.
func (s *Skills) ask(ctx context.Context, tool string, args json.RawMessage) verdict {
	v := verdict{server: strings.Split(tool, "__")[1]}
	if s.Servers == nil {
		v.Failed = textNoServers
		return v
	}
	ctx, cancel := context.WithTimeoutCause(ctx, serverTime, fmt.Errorf(textNoAnswer, v.server, serverTime))
	defer cancel()
	text, err := s.Servers.Ask(ctx, tool, args)
	if err != nil {
		v.Failed = clean.Line(err.Error())
		return v
	}
	v.Found, v.Cut = skill.Limit(text)
	v.Skip, v.trusted = text == "", s.Servers.Trusted(v.server)
	return v
}

// labelOf returns the initial label of a run of the task: a run that gets untrusted text
// from its check counts as having read it.
func (p *Prompts) labelOf(t routines.Task, v verdict) label.Label {
	if l := p.Guard.TaskLabel(t); l != "" || !v.labels() {
		return l.Via(string(t.Kind) + " " + t.ID)
	}
	if v.server != "" {
		return label.From("MCP server " + v.server).Via("check of routine " + t.ID)
	}
	return label.From("check of routine " + t.ID)
}

// noteOf returns the first line of the tail of a run that goes ahead although its check failed, or "".
func noteOf(t routines.Task, v verdict) string {
	if v.Failed == "" || t.Says {
		return ""
	}
	return fmt.Sprintf(textCheckFailed, v.Failed)
}
