package fork

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/budget"
	"ollimbot/core/clean"
	"ollimbot/core/post"
	"ollimbot/core/tail"
	"ollimbot/core/toolset"
	"ollimbot/routines"
)

// The kinds of messages, as the journal has them.
const (
	kindPing  = "ping"
	kindEmbed = "embed"
	kindFile  = "file"
)

// message is a ping on its way.
type message struct {
	kind     string // as the journal has it
	post     post.Post
	critical bool
	problem  string // why it cannot be sent at all, or ""
	shown    string // what the tail shows of it
	done     string // the answer on success
}

// Ping sends a plain text, if the rules (mayPing) allow it now.
func (r *run) Ping(ctx context.Context, text string, critical bool) agent.ToolResult {
	p := r.fromHere(critical)
	p.Text = text
	return r.send(ctx, message{kind: kindPing, post: p, critical: critical, shown: text, done: toolset.TextSent})
}

// Embed sends a card under the same rules.
func (r *run) Embed(ctx context.Context, e post.Embed, critical bool) agent.ToolResult {
	p := r.fromHere(critical)
	e.Footer = "bg"
	p.Embed = &e
	return r.send(ctx, message{kind: kindEmbed, post: p, critical: critical, shown: e.Title, done: toolset.TextEmbedSent})
}

func (r *run) fromHere(critical bool) post.Post {
	return post.Post{Context: "bg", Source: r.snapshot().Title, Critical: critical}
}

// send checks and sends in one go: the gate is held over both, or two pings of
// one run could pass the check together.
func (r *run) send(ctx context.Context, m message) agent.ToolResult {
	leave, refusal := r.enter(ctx)
	if refusal != "" {
		return toolset.Refusal(refusal)
	}
	defer leave()
	if why := r.mayPing(m.critical); why != "" {
		return r.refuse(m.kind, why)
	}
	if m.problem != "" {
		return toolset.Refusal(m.problem)
	}
	if why := r.mayPay(m.critical); why != "" { // then no network is waited for
		return r.refuse(m.kind, why)
	}
	r.sent++
	m.post.Nonce = fmt.Sprintf("%s-%d", r.id, r.sent)
	var paid *budget.Reservation
	var why string
	m.post.Before = func() error {
		if paid, why = r.reserve(m.critical); why != "" {
			return errUnpaid
		}
		return nil
	}
	sent := false
	defer func() {
		if sent {
			paid.Spend()
		} else if err := paid.Release(r.m.now()); err != nil { // also when the surface panics
			r.uncounted(textNotRefunded, err)
		}
	}()
	id, err := r.m.o.Post(ctx, m.post)
	if why != "" {
		return r.refuse(m.kind, why)
	}
	if errors.Is(err, post.ErrUnknown) {
		sent = true
		return r.perhaps(m, err)
	}
	if err != nil {
		r.line(tail.Error, fmt.Sprintf(textSendFailed, m.kind, clean.Line(err.Error())))
		if errors.Is(err, post.ErrNoChannel) {
			return toolset.Refusal(toolset.TextNoChannel + r.elsewhere())
		}
		return toolset.Refusal(fmt.Sprintf(answerNotSent, err))
	}
	sent = true
	r.collect(id)
	r.unreported = true
	r.delivered(m)
	return toolset.Said(m.done)
}

// perhaps accounts for a message that got no answer: it counts as sent, for a
// second one would be one too many if it was.
func (r *run) perhaps(m message, err error) agent.ToolResult {
	r.m.log.Error("it is not known whether a ping arrived; it counts as sent", "run", r.id, "error", err)
	r.unreported = true
	r.line(tail.Error, fmt.Sprintf(textPerhaps, m.kind, clean.Line(err.Error())))
	r.delivered(m)
	return toolset.Refusal(fmt.Sprintf(answerPerhaps, err))
}

// enter takes the gate; leave gives it back. A run that has ended answers no
// more calls.
func (r *run) enter(ctx context.Context) (leave func(), refusal string) {
	select {
	case r.gate <- struct{}{}:
	case <-ctx.Done():
		return nil, answerCancelled
	}
	r.mu.Lock()
	ended := r.ended
	r.mu.Unlock()
	if ended || ctx.Err() != nil {
		<-r.gate
		return nil, answerCancelled
	}
	return func() { <-r.gate }, ""
}

// mayPing goes through the checks before the budget, in their order. A
// critical ping needs only the task's leave.
func (r *run) mayPing(critical bool) string {
	if !r.job.Task.AllowPing {
		return answerDisabled + r.elsewhere()
	}
	if critical {
		return ""
	}
	if r.snapshot().Pings > 0 {
		return answerLimit + r.elsewhere()
	}
	busy, quiet := r.m.o.Busy()
	if busy {
		return answerBusy + r.elsewhere() + answerOrCritical
	}
	if !quiet.IsZero() && quiet.After(r.m.now()) {
		return fmt.Sprintf(answerQuiet, quiet.In(r.m.zone).Format("3:04 PM")) + r.elsewhere() + answerOrCritical
	}
	return ""
}

// elsewhere says where findings can go instead, if anywhere.
func (r *run) elsewhere() string {
	if r.job.Task.Mode == routines.Blocked {
		return ""
	}
	return answerReport
}

// errUnpaid keeps a surface from sending what the budget does not allow.
var errUnpaid = errors.New("the ping budget does not allow it")

// mayPay looks whether a message can be paid for, and takes nothing.
func (r *run) mayPay(critical bool) string {
	if critical {
		return ""
	}
	now := r.m.now()
	state, _ := r.m.o.Budget.State(now)
	switch {
	case state.Capacity == 0:
		return answerMuted + r.elsewhere() + answerOrCritical
	case state.Whole() < 1:
		return r.exhausted(now) + r.elsewhere() + answerOrCritical
	}
	return ""
}

// reserve pays for a message in the moment before it is sent, so that a kill
// while a network is waited for costs nothing. A critical one is only counted,
// and goes out whether it can be or not.
func (r *run) reserve(critical bool) (*budget.Reservation, string) {
	now := r.m.now()
	if critical {
		paid, err := r.m.o.Budget.Critical(now)
		if err != nil {
			r.uncounted(textNotCounted, err)
		}
		return paid, ""
	}
	paid, ok, err := r.m.o.Budget.Reserve(now)
	switch {
	case err != nil:
		return nil, fmt.Sprintf(answerNoBudget, err) + r.elsewhere() + answerOrCritical
	case !ok:
		return nil, r.exhausted(now) + r.elsewhere() + answerOrCritical
	}
	return paid, ""
}

func (r *run) exhausted(now time.Time) string {
	state, _ := r.m.o.Budget.State(now)
	text := fmt.Sprintf(answerExhausted, state.Capacity)
	if at := state.NextAt(now); at.After(now) {
		n := int((at.Sub(now) + time.Minute - 1) / time.Minute)
		text += fmt.Sprintf(answerNextToken, n)
	}
	return text
}

// uncounted notes that the budget could not be saved.
func (r *run) uncounted(text string, err error) {
	r.m.log.Error("ping budget was not saved", "run", r.id, "error", err)
	r.line(tail.Error, fmt.Sprintf(text, clean.Line(err.Error())))
}

func (r *run) delivered(m message) {
	r.update(func(v *View) {
		v.Pings++
		if m.critical {
			v.Critical++
		}
	})
	text := shown(m.shown)
	if m.critical {
		text = textCriticalMark + text
	}
	r.line(tail.Ping, text)
	v := r.snapshot()
	entry := budget.Ping{
		At: r.m.now(), Task: v.TaskID, Title: v.Title, Kind: m.kind, Critical: m.critical, Run: r.id,
	}
	if err := r.m.o.Journal.Append(entry); err != nil {
		r.m.log.Warn("ping journal was not written", "run", r.id, "error", err)
	}
}

// refuse answers a ping that may not be sent: only the agent hears of it.
func (r *run) refuse(kind, why string) agent.ToolResult {
	r.update(func(v *View) { v.Refused++ })
	r.line(tail.Refuse, kind+" refused: "+clean.Cut(clean.Line(why), maxShown))
	return toolset.Refusal(why)
}
