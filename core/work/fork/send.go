package fork

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/tail"
	"ollimbot/core/base/words"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/budget"
	"ollimbot/routines"
	"ollimbot/routines/cron"
)

// The kinds of messages, as the journal has them.
const (
	kindPing  = "ping"
	kindEmbed = "embed"
	kindFile  = "file"
)

// outgoing is a ping on its way.
type outgoing struct {
	kind     string // as the journal has it
	post     post.Post
	critical bool
	problem  string // why it cannot be sent at all, or ""
	shown    string // what the tail shows of it
	done     string // the answer on success
}

// A run is what its tools act on.
var _ toolset.Caller = (*run)(nil)

// Ping sends a plain text, if the rules (mayPing) allow it now.
func (r *run) Ping(ctx context.Context, text string, critical bool) agent.ToolResult {
	p := r.fromHere(critical)
	p.Text = text
	return r.send(ctx, outgoing{kind: kindPing, post: p, critical: critical, shown: text, done: toolset.TextSent})
}

// Embed sends a card under the same rules.
func (r *run) Embed(ctx context.Context, e post.Embed, critical bool) agent.ToolResult {
	p := r.fromHere(critical)
	e.Footer = "bg"
	p.Embed = &e
	return r.send(ctx, outgoing{kind: kindEmbed, post: p, critical: critical, shown: e.Title, done: toolset.TextEmbedSent})
}

// SendFile sends a file under the rules of a ping. A file that cannot be sent
// costs nothing; whether pings are allowed is told first.
func (r *run) SendFile(ctx context.Context, path, text string, critical bool) agent.ToolResult {
	found, problem := toolset.File(r.m.o.Dir.Root(), path, func(full string) string { return r.guard.Send(ctx, full) })
	p := r.fromHere(critical)
	p.Text, p.Files = text, []string{found}
	m := outgoing{kind: kindFile, post: p, critical: critical, problem: problem, done: toolset.FileSent(found)}
	if m.shown = m.done; text != "" {
		m.shown += " · " + clean.Line(text)
	}
	return r.send(ctx, m)
}

func (r *run) fromHere(critical bool) post.Post {
	return post.Post{Context: "bg", Source: r.snapshot().Title, Critical: critical}
}

// send checks and sends in one go: the gate is held over both, or two pings of
// one run could pass the check together.
func (r *run) send(ctx context.Context, m outgoing) agent.ToolResult {
	leave, refusal := r.enter(ctx)
	if refusal != "" {
		return toolset.Refusal(refusal)
	}
	defer leave()
	if why, briefly := r.mayPing(m.critical); why != "" {
		return r.refuse(m, why, briefly)
	}
	if m.problem != "" {
		return toolset.Refusal(m.problem)
	}
	r.sent++
	r.untilDone(&m.post)
	m.post.Nonce = fmt.Sprintf("%s-%d", r.id, r.sent)
	var id post.MessageID
	sent := false
	unsaved, err := r.m.o.Budget.Try(m.critical, func(pay func() error) (bool, error) {
		var err error
		m.post.Before = pay
		id, err = r.m.o.Host.Post(ctx, m.post)
		sent = err == nil || errors.Is(err, post.ErrUnknown)
		return sent, err
	})
	if unsaved != nil {
		r.uncounted(sent, unsaved)
	}
	var unpaid *budget.UnpaidError
	switch {
	case errors.As(err, &unpaid):
		why, briefly := r.unpaid(unpaid)
		return r.refuse(m, why+r.elsewhere()+answerOrCritical, briefly)
	case errors.Is(err, post.ErrUnknown):
		return r.perhaps(m, err)
	case err != nil:
		r.line(tail.Error, fmt.Sprintf(textSendFailed, m.kind, clean.Line(err.Error())))
		if errors.Is(err, post.ErrNoChannel) {
			return toolset.Refusal(toolset.TextNoChannel + r.elsewhere())
		}
		return toolset.Refusal(fmt.Sprintf(answerNotSent, err))
	}
	r.delivered(m, id)
	return toolset.Said(m.done)
}

// untilDone gives the message of a reminder that comes back the buttons that end that,
// and says how often it came.
func (r *run) untilDone(p *post.Post) {
	m := r.job.Reminder
	if m == nil || !m.UntilDone {
		return
	}
	e := post.Embed{Title: r.snapshot().Title}
	if p.Embed != nil {
		e = *p.Embed
	}
	e.Footer = textUntilDone
	n := budget.CameOf(r.m.o.Journal.Recent(), m.ID).Times
	if r.snapshot().Pings == 0 {
		n++ // this time
	}
	if n > 1 {
		e.Footer += fmt.Sprintf(textForTheNth, words.Nth(n))
	}
	e.Buttons = append(post.Remind(m.ID), e.Buttons...)
	p.Embed = &e
}

// perhaps accounts for a message that got no answer: it counts as sent, for a
// second one would be one too many if it was.
func (r *run) perhaps(m outgoing, err error) agent.ToolResult {
	r.m.log.Error("it is not known whether a ping arrived; it counts as sent", "run", r.id, "error", err)
	r.line(tail.Error, fmt.Sprintf(textPerhaps, m.kind, clean.Line(err.Error())))
	r.delivered(m, "")
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
// critical ping needs only the task's leave. It gives the agent's answer, and the
// same in a few words; both are empty where the ping may go.
func (r *run) mayPing(critical bool) (why, briefly string) {
	if !r.job.Task.AllowPing {
		return answerDisabled + r.elsewhere(), briefDisabled
	}
	if critical {
		return "", ""
	}
	if r.snapshot().Pings > 0 {
		return answerLimit + r.elsewhere(), briefLimit
	}
	busy, quiet := r.m.o.Host.Busy()
	if busy {
		return answerBusy + r.elsewhere() + answerOrCritical, briefBusy
	}
	if !quiet.IsZero() && quiet.After(r.m.now()) {
		quiet = quiet.In(r.m.zone)
		return fmt.Sprintf(answerQuiet, cron.Clock(quiet)) + r.elsewhere() + answerOrCritical, fmt.Sprintf(briefQuiet, quiet.Format("15:04"))
	}
	return "", ""
}

// elsewhere says where findings can go instead, if anywhere.
func (r *run) elsewhere() string {
	if r.job.Task.Mode == routines.Blocked {
		return ""
	}
	return answerReport
}

// unpaid is why a message was not paid for, as mayPing says it.
func (r *run) unpaid(u *budget.UnpaidError) (why, briefly string) {
	switch {
	case u.Err != nil:
		return fmt.Sprintf(answerNoBudget, u.Err), briefNoBudget
	case u.State.Capacity == 0:
		return answerMuted, briefMuted
	}
	why = fmt.Sprintf(answerExhausted, u.State.Capacity)
	now := r.m.now()
	if at := u.State.NextAt(now); at.After(now) {
		n := int((at.Sub(now) + time.Minute - 1) / time.Minute)
		why += fmt.Sprintf(answerNextToken, n)
	}
	return why, briefExhausted
}

// uncounted notes that the budget could not be saved.
func (r *run) uncounted(sent bool, err error) {
	text := textNotRefunded
	if sent {
		text = textNotCounted
	}
	r.m.log.Error("ping budget was not saved", "run", r.id, "error", err)
	r.line(tail.Error, fmt.Sprintf(text, clean.Line(err.Error())))
}

// delivered accounts for a message that has reached the user, or may have. A reply
// to the id is answered by this run's session.
func (r *run) delivered(m outgoing, id post.MessageID) {
	r.unreported = true
	if id != "" {
		r.mu.Lock()
		r.messages = append(r.messages, id)
		r.mu.Unlock()
	}
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
	left, _ := r.m.o.Budget.State(r.m.now())
	r.journal(m, budget.Ping{Message: string(id), Left: &left.Available})
}

// journal writes down what has become of a ping.
func (r *run) journal(m outgoing, p budget.Ping) {
	v := r.snapshot()
	p.At, p.ID, p.Run, p.Task, p.Title = r.m.now(), m.post.Nonce, r.id, v.TaskID, v.Title
	p.Kind, p.Critical, p.Text = m.kind, m.critical, m.shown
	if err := r.m.o.Journal.Append(p); err != nil {
		r.m.log.Warn("ping journal was not written", "run", r.id, "error", err)
	}
}

// refuse answers a ping that may not be sent: only the agent hears of it. The journal
// has why, in the few words of a table.
func (r *run) refuse(m outgoing, why, briefly string) agent.ToolResult {
	r.update(func(v *View) { v.Refused++ })
	r.line(tail.Refuse, m.kind+" refused: "+clean.Cut(clean.Line(why), maxShown))
	r.journal(m, budget.Ping{Refused: briefly})
	return toolset.Refusal(why)
}
