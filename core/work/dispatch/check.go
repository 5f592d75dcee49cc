package dispatch

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/brief/skill"
	"ollimbot/core/safety/label"
	"ollimbot/core/storage/store"
	"ollimbot/core/work/fork"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

// check runs a routine's check to see whether there is a reason to run. A fire by hand
// skips it: the user wants it now.
func (d *Dispatcher) check(ctx context.Context, due schedule.Due) (verdict, error) {
	task := due.Task()
	if task.Check == "" || due.ByHand {
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
	if v.Failed != "" {
		d.o.Log.Warn("a check failed, so its routine runs", "id", task.ID, "error", v.Failed)
	}
	if !v.Skip {
		return v, nil
	}
	d.o.Log.Info("a check found nothing new", "id", task.ID)
	now := d.now()
	err = d.o.Runs.Put(fork.View{
		ID: store.NewID(), Kind: task.Kind, TaskID: task.ID, Title: task.Title(), State: fork.NothingNew, Late: due.Late, Queued: now, Ended: now,
	})
	if err != nil {
		d.o.Log.Error("a check that found nothing new was not written", "id", task.ID, "error", err)
	}
	return v, routines.ErrNothingNew
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
	return fmt.Sprintf(promptFound, from, "> "+strings.ReplaceAll(v.Found, "\n", "\n> "))
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

const (
	// serverTime is the time limit for a server's answer to a check; the server may have to
	// be started.
	serverTime = time.Minute
	// mostAnswer is the maximum length used of its answer, in characters.
	mostAnswer = 2000
)

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
	v.Skip, v.Found, v.trusted = text == "", clean.Cut(clean.Text(text), mostAnswer), s.Servers.Trusted(v.server)
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

// noteOf returns the first line of the tail of a run whose check failed, or "".
func noteOf(v verdict) string {
	if v.Failed == "" {
		return ""
	}
	return fmt.Sprintf(textCheckFailed, v.Failed)
}
