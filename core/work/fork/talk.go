package fork

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/fault"
	"ollimbot/core/base/tail"
	"ollimbot/core/base/words"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/money"
	"ollimbot/routines"
)

// reopen are the pauses before retrying to open a session after a timeout.
var reopen = []time.Duration{5 * time.Second, 15 * time.Second}

// errInterrupted means that the turn was interrupted, by the bot or the engine.
var errInterrupted = errors.New("the turn was interrupted")

// talk is a run's session with the engine, and what it costs.
type talk struct {
	o      *Options
	job    Job
	status *status
	// started is called when the session's id is known.
	started func()

	mu sync.Mutex
	s  agent.Session // nil until it is open
}

// converse opens the session, sends the prompt and reads the answer. A panic in the
// engine ends only this run.
func (t *talk) converse(ctx context.Context, o agent.SessionOptions) (err error) {
	defer fault.Rescue("a background run", func(f *fault.Error) {
		err = f
		t.o.Log.Error("background run panicked", "run", t.status.id, "error", err)
	})
	defer t.close()
	prompt := t.job.Prompt(ctx)
	if err := context.Cause(ctx); err != nil { // ended while it was being built
		return err
	}
	s, err := t.open(ctx, o)
	if err != nil {
		return err
	}
	t.mu.Lock()
	t.s = s
	t.mu.Unlock()
	if err := context.Cause(ctx); err != nil { // ended while it was opening
		return err
	}
	defer t.status.lines.flush()
	ended := false
	if err := t.begin(ctx); err != nil {
		return err
	}
	for ev, err := range s.Send(ctx, agent.Message{Text: prompt}) {
		if err != nil {
			return err
		}
		if t.status.noteSession(s.ID()) {
			t.started()
		}
		t.status.event(ev)
		res, ok := ev.(agent.Result)
		if !ok {
			continue
		}
		ended = true
		t.status.update(func(v *View) { v.Session = cmp.Or(res.SessionID, v.Session) })
		if res.IsError || res.Interrupted || res.Stopped != "" {
			return resultError(res)
		}
	}
	if !ended {
		return errors.New(textNoResult)
	}
	return nil
}

// begin returns when the start of a run for a delivery is in the ledger, so that no restart
// repeats it. While that cannot be written, the run waits.
func (t *talk) begin(ctx context.Context) error {
	if t.job.Delivery == "" {
		return nil
	}
	for {
		v := t.status.snapshot()
		v.Delivery = t.job.Delivery
		err := appendStart(t.o.Dir, v)
		if err == nil {
			t.status.update(func(v *View) { v.Delivery = t.job.Delivery })
			return nil
		}
		t.o.Log.Warn("ledger line was not written", "run", t.status.id, "error", err)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(tryAgain):
		}
	}
}

func resultError(res agent.Result) error {
	if res.Interrupted {
		return errInterrupted
	}
	return errors.New(cmp.Or(res.Stopped, clean.Cut(clean.Line(res.Text), 300), textNoReason))
}

// open opens the session, and retries after a timeout. If the engine does not know the
// main session, the run starts without its history.
func (t *talk) open(ctx context.Context, o agent.SessionOptions) (agent.Session, error) {
	for try := 0; ; try++ {
		s, err := t.o.Engine.Open(ctx, o)
		switch {
		case err == nil:
			t.status.update(func(v *View) { v.Parent = o.Resume })
			return s, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, agent.ErrNoSession) && o.Resume != "":
			t.status.line(tail.Note, textNoHistory)
			t.o.warn(fmt.Sprintf(tellNoHistory, t.status.snapshot().Title))
			o.Resume, o.Fork = "", false
			continue
		case !openTimedOut(err) || try >= len(reopen):
			return nil, fmt.Errorf("open a session: %w", err)
		}
		t.status.line(tail.Note, fmt.Sprintf(textReopen, reopen[try]))
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(reopen[try]):
		}
	}
}

// openTimedOut recognises the only error worth a retry: the engine's process did not
// answer its initialisation in time.
func openTimedOut(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "Control request timeout")
}

// session returns the open session, or nil.
func (t *talk) session() agent.Session {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.s
}

func (t *talk) close() {
	s := t.session()
	if s == nil {
		return
	}
	if err := s.Close(); err != nil {
		t.o.Log.Warn("background session did not close cleanly", "run", t.status.id, "error", err)
	}
}

// afford ends a run that has reached the cost limit of a turn, or a spending cap.
func (t *talk) afford(limit float64) func(context.Context, agent.Spending) (float64, string) {
	return func(_ context.Context, s agent.Spending) (float64, string) {
		if purse := t.o.Money; purse != nil {
			s.Used, _ = purse.Prices().Priced(cmp.Or(t.status.snapshot().Model, s.Model), s.Used)
			if why := purse.Stop(t.o.now(), t.job.Ticket); why != "" {
				return s.Allowed, fmt.Sprintf(textCapReached, why)
			}
		}
		if limit <= 0 || s.Used.CostUSD < limit {
			return s.Allowed, ""
		}
		return s.Allowed, fmt.Sprintf(textTurnCap, words.Dollars(s.Used.CostUSD), words.Dollars(limit))
	}
}

// book books a request of the run. What the run shows is what the ledger has.
func (t *talk) book(c agent.Charge) {
	v := t.status.snapshot()
	used := v.Usage.Add(c.Used)
	if purse := t.o.Money; purse != nil {
		c.Model = cmp.Or(c.Model, v.Model)
		if err := purse.Book(t.o.now(), t.account(), c); err != nil {
			t.o.Log.Error("a request of a run could not be saved", "run", t.status.id, "error", err)
		}
		used = purse.Run(t.status.id).Used()
	}
	t.status.update(func(v *View) { v.Usage = used })
}

// account is what the run's requests are booked on.
func (t *talk) account() money.Account {
	task := t.job.Task
	return money.Account{For: money.OfRun, Task: money.Task{Kind: task.Kind, ID: task.ID}, Run: t.status.id, Ticket: t.job.Ticket}
}

// plain sends the text of the task's file, which needs no model.
func (t *tools) plain(ctx context.Context, why string) {
	words := cmp.Or(t.job.Task.Description, t.title)
	m := outgoing{
		kind: kindPing, own: true, shown: words, done: toolset.TextSent,
		post: post.Post{Text: fmt.Sprintf(textPlain, words, clean.Cut(clean.Line(why), 200))},
	}
	t.status.line(tail.Note, fmt.Sprintf(textSendsPlain, clean.Line(why)))
	if a := t.send(ctx, m); a.IsError {
		t.o.Log.Error("an essential reminder was not sent", "run", t.status.id, "error", a.Text)
		t.o.warn(fmt.Sprintf(tellNotSent, t.title, words))
	}
}

// say sends what the check of a task has printed under the rules of any ping, and leaves an update
// as a model would have to. A message that cannot be sent is only in the update.
func (t *tools) say(ctx context.Context, s Said) error {
	switch {
	case s.Failed != "":
		return errors.New(s.Failed)
	case s.Early:
		return t.sayEarly(ctx, s.Text)
	}
	t.Ping(ctx, s.Text, false, false)
	leave, refusal := t.enter(ctx)
	if refusal != "" {
		return context.Cause(ctx)
	}
	sent, why, err := t.pings > 0, t.refused, t.unsent
	leave()
	update := fmt.Sprintf(updateSaid, s.Text)
	switch mode := t.job.Task.Mode; {
	case mode == routines.Blocked, sent && mode == routines.Freely:
		return err
	case err != nil:
		update = fmt.Sprintf(updateUnsaid, err, s.Text)
	case !sent:
		update = fmt.Sprintf(updateUnsaid, why, s.Text)
	}
	t.Report(ctx, update)
	return err
}

// sayEarly sends a ping. One that the rules refuse is no error.
func (t *tools) sayEarly(ctx context.Context, text string) error {
	m := outgoing{kind: kindPing, own: true, shown: text, done: toolset.TextSent, post: post.Post{Text: text}}
	if a := t.send(ctx, m); a.IsError && t.status.snapshot().Refused == 0 {
		return errors.New(a.Text)
	}
	return nil
}

// lastRefusal returns why the last ping of the run was refused, or "".
func (t *tools) lastRefusal() string {
	t.gate <- struct{}{}
	defer func() { <-t.gate }()
	if t.refused == "" {
		return ""
	}
	return fmt.Sprintf(textWasRefused, t.refused)
}
