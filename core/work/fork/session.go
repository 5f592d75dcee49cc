package fork

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/fault"
	"ollimbot/core/base/tail"
	"ollimbot/core/brief/toolset"
)

// reopen are the pauses before another try to open a session that timed out.
var reopen = []time.Duration{5 * time.Second, 15 * time.Second}

// converse opens the session, sends the prompt and drains what comes back. A
// panic of the engine ends this run and nothing else.
func (r *run) converse(ctx context.Context, l Limits) (err error) {
	defer fault.Rescue("a background run", func(f *fault.Error) {
		err = f
		r.m.log.Error("background run panicked", "run", r.id, "error", err)
	})
	defer r.closeSession()
	prompt := r.job.Prompt(ctx)
	if err := context.Cause(ctx); err != nil { // ended while it was built
		return err
	}
	s, err := r.open(ctx, l)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.session = s
	r.mu.Unlock()
	if err := context.Cause(ctx); err != nil { // ended while it opened
		return err
	}
	defer r.lines.flush()
	ended := false
	r.sending()
	for ev, err := range s.Send(ctx, agent.Message{Text: prompt}) {
		if err != nil {
			return err
		}
		if r.noteSession(s); r.event(ev) {
			ended = true
		}
		if res, ok := ev.(agent.Result); ok && (res.IsError || res.Interrupted) {
			return resultError(res)
		}
	}
	if !ended {
		return errors.New(textNoResult)
	}
	return nil
}

// errInterrupted is a turn that was interrupted, by us or by the engine.
var errInterrupted = errors.New("the turn was interrupted")

func resultError(res agent.Result) error {
	if res.Interrupted {
		return errInterrupted
	}
	text := clean.Cut(clean.Line(res.Text), 300)
	text = cmp.Or(text, textNoReason)
	return errors.New(text)
}

// open opens the session, again only where opening timed out. A main session
// that the engine does not know is no reason to fail: the run starts without
// its history.
func (r *run) open(ctx context.Context, l Limits) (agent.Session, error) {
	o := r.options(l)
	for try := 0; ; try++ {
		s, err := r.m.o.Engine.Open(ctx, o)
		switch {
		case err == nil:
			r.update(func(v *View) { v.Parent = o.Resume })
			return s, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, agent.ErrNoSession) && o.Resume != "":
			r.line(tail.Note, textNoHistory)
			o.Resume, o.Fork = "", false
			continue
		case !openTimedOut(err) || try >= len(reopen):
			return nil, fmt.Errorf("open a session: %w", err)
		}
		r.line(tail.Note, fmt.Sprintf(textReopen, reopen[try]))
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(reopen[try]):
		}
	}
}

// openTimedOut knows the one fault that is worth another try: the engine's
// process did not answer its initialisation in time.
func openTimedOut(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "Control request timeout")
}

func (r *run) options(l Limits) agent.SessionOptions {
	t := r.job.Task
	o := agent.SessionOptions{
		Dir: r.m.o.Dir.Root(), SystemPrompt: r.m.o.Host.SystemPrompt(),
		Settings: agent.Settings{Model: l.Model, Thinking: "off", Mode: "default"},
	}
	if main := r.m.o.Sessions.Main(); main != "" && !t.Isolated {
		o.Resume, o.Fork = main, true
	}
	o.Hooks = r.guard.Hooks(r.m.o.Commit)
	o.Hooks.Stop = r.stopRule
	o.Permission = r.guard.Permission
	o.Command = r.guard.Command(r.m.o.Commands)
	o.Tools = append(toolset.Tools(r), r.m.o.Tools...)
	o.Allowed, o.Disallowed = slices.Clone(r.job.Allowed), slices.Clone(r.job.Disallowed)
	o.Settings.Model = cmp.Or(t.Model, o.Settings.Model)
	if t.Thinking {
		o.Settings.Thinking = "adaptive"
	}
	return o
}

func (r *run) noteSession(s agent.Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if id := s.ID(); id != "" { // compaction may change it: the newest is the one to go on with
		r.view.Session = id
	}
}

func (r *run) closeSession() {
	r.mu.Lock()
	s := r.session
	r.mu.Unlock()
	if s == nil {
		return
	}
	if err := s.Close(); err != nil {
		r.m.log.Warn("background session did not close cleanly", "run", r.id, "error", err)
	}
}

// spent counts what a turn has used, and gives it with its price.
func (r *run) spent(u agent.Usage) agent.Usage {
	purse := r.m.o.Money
	if purse == nil {
		return u
	}
	u = purse.Prices().Priced(r.snapshot().Model, u)
	if err := purse.Add(r.m.now(), r.job.Ticket, u); err != nil {
		r.m.log.Error("what a turn has used could not be written down", "run", r.id, "error", err)
	}
	return u
}

// sending notes that from now on the run may have cost something, whatever becomes
// of it.
func (r *run) sending() {
	if r.m.o.Money == nil {
		return
	}
	if err := r.m.o.Money.Begin(r.job.Ticket); err != nil {
		r.m.log.Error("that a run may cost something could not be written down", "run", r.id, "error", err)
	}
}
