package fork

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/tail"
	"ollimbot/core/base/words"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/budget"
)

// The kinds of messages in the journal.
const (
	kindPing  = "ping"
	kindEmbed = "embed"
	kindFile  = "file"
)

// tools are the bot's tools in a run, for sending messages and reports. The agent calls
// them concurrently.
type tools struct {
	o      *Options
	job    Job
	status *status
	guard  *policy.Session
	chain  *toolset.Chain
	title  string

	// gate has one token, held while a ping or report is checked and sent, so that two calls
	// of one run cannot both pass the check. It guards the fields below.
	gate       chan struct{}
	unreported bool // something visible was sent since the last report
	reported   bool
	blocked    bool            // the stop rule has already blocked once
	named      map[string]bool // the pings that this run has sent, or that had arrived already
	pings      int             // pings that reached the user
	refused    string          // why the last one was refused, in a few words
	unsent     error           // why the last one could not be delivered

	mu    sync.Mutex // guards the fields below
	ended bool       // late calls are refused
	sent  []post.MessageID
	lost  error // why the last report could not be stored
}

var _ toolset.Caller = (*tools)(nil)

func newTools(o *Options, j Job, s *status, g *policy.Session) *tools {
	t := &tools{o: o, job: j, status: s, guard: g, title: s.snapshot().Title, gate: make(chan struct{}, 1), named: map[string]bool{}}
	t.chain = toolset.NewChain(t.Reminders(), j.Reminder)
	return t
}

// Reminders returns the book for the reminder tools.
func (t *tools) Reminders() toolset.ReminderBook { return t.o.Host.Reminders(t.guard.Writer()) }

// close makes all later calls fail.
func (t *tools) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
}

// messages returns the messages that reached the user. It waits for a message being sent.
func (t *tools) messages() []post.MessageID {
	select {
	case t.gate <- struct{}{}:
		defer func() { <-t.gate }()
	case <-time.After(grace): // its id stays unknown, so a reply quotes it
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.sent)
}

// outgoing is a ping being sent.
type outgoing struct {
	kind      string // in the journal
	post      post.Post
	problem   string // why it cannot be sent at all, or ""
	shown     string // in the tail
	done      string // the answer on success
	own       bool   // the text of the task's file, not written by a model
	essential bool   // the budget cannot refuse it
	begun     bool   // it is in the journal, because it is about to leave
}

// Ping sends a plain text if the rules (mayPing, mayLeave) allow it now.
func (t *tools) Ping(ctx context.Context, message string, critical, quiet bool) agent.ToolResult {
	p := post.Post{Text: message, Critical: critical, Quiet: quiet}
	return t.send(ctx, outgoing{kind: kindPing, post: p, shown: message, done: toolset.TextSent})
}

// Embed sends a card under the same rules.
func (t *tools) Embed(ctx context.Context, e post.Embed, critical bool) agent.ToolResult {
	p := post.Post{Embed: &e, Critical: critical}
	return t.send(ctx, outgoing{kind: kindEmbed, post: p, shown: e.Title, done: toolset.TextEmbedSent})
}

// SendFile sends a file under the rules of a ping, which are checked first. A file that
// cannot be sent costs nothing.
func (t *tools) SendFile(ctx context.Context, path, message string, critical bool) agent.ToolResult {
	found, problem := toolset.File(t.o.Dir.Root(), path, func(full string) string { return t.guard.Send(ctx, full) })
	p := post.Post{Text: message, Files: []string{found}, Critical: critical}
	m := outgoing{kind: kindFile, post: p, problem: problem, done: toolset.FileSent(found)}
	if m.shown = m.done; message != "" {
		m.shown += " · " + clean.Line(message)
	}
	return t.send(ctx, m)
}

// send checks and sends while holding the gate, because otherwise two pings of one run
// could both pass the check.
func (t *tools) send(ctx context.Context, m outgoing) agent.ToolResult {
	leave, refusal := t.enter(ctx)
	if refusal != "" {
		return toolset.Refusal(refusal)
	}
	defer leave()
	nonce, earlier := t.identify(m.post)
	if earlier.ID != "" && !earlier.Begun {
		return t.already(m, nonce)
	}
	if why, briefly := t.may(&m); why != "" {
		return t.refuse(m, why, briefly)
	}
	if m.problem != "" {
		return toolset.Refusal(m.problem)
	}
	if !m.own {
		m.post.Label = t.guard.Label().Via(fmt.Sprintf(labelRun, t.status.id))
	}
	m.post.Context, m.post.Source, m.post.Nonce = "bg", t.title, nonce
	if reminder := t.job.Reminder; reminder != nil && reminder.UntilDone {
		t.untilDone(&m.post, reminder.ID)
	} else {
		withButtons(&m.post)
	}
	var id post.MessageID
	var unsaved, err error
	sent := false
	send := func(pay func() error) (bool, error) {
		m.post.Before = func() error {
			if err := pay(); err != nil {
				return err
			}
			m.begun = earlier.ID == "" // what an earlier run has begun may have arrived
			t.journal(m, budget.Ping{Begun: true})
			return nil
		}
		id, err = t.o.Host.Post(ctx, m.post)
		sent = err == nil || errors.Is(err, post.ErrUnknown)
		return sent, err
	}
	if earlier.Begun { // and paid for
		_, err = send(func() error { return nil })
	} else {
		unsaved, err = t.paid(m, send)
	}
	if unsaved != nil {
		t.uncounted(sent, unsaved)
	}
	switch {
	case err == nil:
		t.delivered(m, id)
		return toolset.Said(m.done)
	case errors.Is(err, post.ErrUnknown):
		return t.perhaps(m, err)
	}
	return t.notSent(m, err)
}

// paid sends a message that a token pays for, or that is counted outside the budget.
func (t *tools) paid(m outgoing, send budget.Sending) (unsaved, err error) {
	switch {
	case m.essential:
		return t.o.Tally.Essential(send)
	case m.post.Quiet:
		return t.o.Tally.Quiet(t.o.Host.Limits().QuietMessages, send)
	}
	return t.o.Budget.Try(m.post.Critical, send)
}

// enter takes the gate; leave releases it. Calls fail once the run has ended.
func (t *tools) enter(ctx context.Context) (leave func(), refusal string) {
	select {
	case t.gate <- struct{}{}:
	case <-ctx.Done():
		return nil, answerCancelled
	}
	t.mu.Lock()
	ended := t.ended
	t.mu.Unlock()
	if ended || ctx.Err() != nil {
		<-t.gate
		return nil, answerCancelled
	}
	return func() { <-t.gate }, ""
}

// untilDone adds the buttons that end a repeating reminder, and how often it was sent.
func (t *tools) untilDone(p *post.Post, reminder string) {
	e := post.Embed{Title: t.title}
	if p.Embed != nil {
		e = *p.Embed
	}
	e.Footer = textUntilDone
	n := budget.CameOf(t.o.Journal.Recent(), reminder).Times
	if t.pings == 0 {
		n++ // including this time
	}
	if n > 1 {
		e.Footer += fmt.Sprintf(textForTheNth, words.Nth(n))
	}
	e.Buttons = append(append(post.Remind(reminder), post.NotUseful(p.Nonce)), e.Buttons...)
	p.Embed = &e
}

// withButtons adds the standard buttons of every ping after the agent's own, skipping
// duplicates by name.
func withButtons(p *post.Post) {
	if p.Embed == nil {
		p.Buttons = post.Ping(p.Nonce)
		return
	}
	e := *p.Embed
	own := slices.Clip(e.Buttons)
	for _, b := range post.Ping(p.Nonce) {
		if !slices.ContainsFunc(own, func(o post.Button) bool { return strings.EqualFold(o.Label, b.Label) }) {
			e.Buttons = append(slices.Clip(e.Buttons), b)
		}
	}
	p.Embed = &e
}

// notSent returns the result for a message that was not sent.
func (t *tools) notSent(m outgoing, err error) agent.ToolResult {
	if m.begun {
		t.journal(m, budget.Ping{Refused: briefNotSent})
	}
	var limit *budget.LimitError
	if errors.As(err, &limit) {
		if limit.Err != nil {
			return t.refuse(m, fmt.Sprintf(answerNoBudget, limit.Err)+t.elsewhere(), briefNoBudget)
		}
		return t.refuse(m, fmt.Sprintf(answerQuietUsed, limit.Limit)+t.elsewhere(), briefQuietUsed)
	}
	var unpaid *budget.UnpaidError
	if errors.As(err, &unpaid) {
		why, briefly := t.unpaid(unpaid)
		return t.refuse(m, why+t.elsewhere()+answerOrCritical, briefly)
	}
	t.unsent = err
	t.status.line(tail.Error, fmt.Sprintf(textSendFailed, m.kind, clean.Line(err.Error())))
	if errors.Is(err, post.ErrNoChannel) {
		return toolset.Refusal(toolset.TextNoChannel + t.elsewhere())
	}
	return toolset.Refusal(fmt.Sprintf(answerNotSent, err))
}

// unpaid returns why a message was not paid for; see mayPing.
func (t *tools) unpaid(u *budget.UnpaidError) (why, briefly string) {
	switch {
	case u.Err != nil:
		return fmt.Sprintf(answerNoBudget, u.Err), briefNoBudget
	case u.State.Capacity == 0:
		return answerMuted, briefMuted
	}
	why = fmt.Sprintf(answerExhausted, u.State.Capacity)
	now := t.o.now()
	if at := u.State.NextAt(now); at.After(now) {
		n := int(math.Ceil(at.Sub(now).Minutes()))
		why += fmt.Sprintf(answerNextToken, n)
	}
	return why, briefExhausted
}

// perhaps handles a message whose delivery is unknown: it counts as sent, because sending
// it again could deliver it twice.
func (t *tools) perhaps(m outgoing, err error) agent.ToolResult {
	t.o.Log.Error("a ping may not have arrived; it counts as sent", "run", t.status.id, "error", err)
	t.status.line(tail.Error, fmt.Sprintf(textPerhaps, m.kind, clean.Line(err.Error())))
	t.delivered(m, "")
	return toolset.Refusal(fmt.Sprintf(answerPerhaps, err))
}

// uncounted reports that the budget could not be saved.
func (t *tools) uncounted(sent bool, err error) {
	text := textNotRefunded
	if sent {
		text = textNotCounted
	}
	t.o.Log.Error("ping budget was not saved", "run", t.status.id, "error", err)
	t.status.line(tail.Error, fmt.Sprintf(text, clean.Line(err.Error())))
}

// delivered handles a message that has reached the user, or may have. Replies to its id
// continue this run's session.
func (t *tools) delivered(m outgoing, id post.MessageID) {
	t.counts(m.post.Nonce)
	if id != "" {
		t.mu.Lock()
		t.sent = append(t.sent, id)
		t.mu.Unlock()
	}
	text := shown(m.shown)
	switch {
	case m.essential:
		t.status.update(func(v *View) { v.Pings, v.Essential = v.Pings+1, v.Essential+1 })
		t.o.Audit.Record(t.o.now(), audit.Entry{
			Actor: audit.Bot, From: fmt.Sprintf(labelRun, t.status.id), Action: audit.PingedBeside, Subject: t.job.Task.ID, Detail: m.shown,
		})
		text = textEssentialMark + text
	case m.post.Quiet:
		t.status.update(func(v *View) { v.Quiet++ })
		t.o.Audit.Record(t.o.now(), audit.Entry{
			Actor: audit.Agent, From: fmt.Sprintf(labelRun, t.status.id), Action: audit.LeftQuietly, Subject: t.job.Task.ID, Detail: m.shown,
		})
		text = textQuietMark + text
	case m.post.Critical:
		t.status.update(func(v *View) { v.Pings, v.Critical = v.Pings+1, v.Critical+1 })
		text = textCriticalMark + text
	default:
		t.status.update(func(v *View) { v.Pings++ })
	}
	t.status.line(tail.Ping, text)
	left, _ := t.o.Budget.State(t.o.now())
	t.journal(m, budget.Ping{
		Message: string(id), Left: &left.Available, Capacity: left.Capacity, Refill: left.RefillRateMinutes,
	})
}

// counts records that a message has reached the user: it has to be reported, and uses up the
// run's ping.
func (t *tools) counts(nonce string) {
	t.unreported, t.named[nonce] = true, true
	t.pings++
}

// already returns the result for a message that an earlier run has sent for the same fire.
func (t *tools) already(m outgoing, nonce string) agent.ToolResult {
	t.counts(nonce)
	t.status.line(tail.Ping, fmt.Sprintf(textAlready, shown(m.shown)))
	return toolset.Said(answerAlready)
}

// refuse returns the result for a refused ping, which only the agent sees. The journal
// gets the short reason.
func (t *tools) refuse(m outgoing, why, briefly string) agent.ToolResult {
	t.refused = briefly
	t.status.update(func(v *View) { v.Refused++ })
	t.status.refused(m.kind, why)
	t.journal(m, budget.Ping{Refused: briefly})
	return toolset.Refusal(why)
}

// journal records the outcome of a ping.
func (t *tools) journal(m outgoing, p budget.Ping) {
	p.At, p.ID, p.Run, p.Task, p.Title = t.o.now(), m.post.Nonce, t.status.id, t.job.Task.ID, t.title
	p.Kind, p.Critical, p.Quiet, p.Text, p.Label = m.kind, m.post.Critical, m.post.Quiet, m.shown, m.post.Label
	p.Essential = m.essential
	if err := t.o.Journal.Append(p); err != nil {
		t.o.Log.Warn("ping journal was not written", "run", t.status.id, "error", err)
	}
}
