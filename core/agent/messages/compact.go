package messages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/words"
	"ollimbot/core/safety/policy"
)

// errGone says that nobody listens any more: the consumer broke off the turn.
var errGone = errors.New("the consumer has left the turn")

// turn is one message and what comes back.
type turn struct {
	talk
	yield func(agent.Event, error) bool

	// kept is done when the message is on the disk; nobody is told anything before.
	kept sync.WaitGroup
	told bool // somebody was told of something
	gone bool // and listens no more
	end  over
	text string // what the result says, where it is not the last text
}

// put yields an event.
func (t *turn) put(e agent.Event) bool {
	if t.gone || t.ctx.Err() != nil {
		return false
	}
	t.kept.Wait()
	t.told = true
	if !t.yield(e, nil) {
		t.gone = true
		t.s.mu.Lock()
		t.s.cancel(errGone)
		t.s.mu.Unlock()
	}
	return !t.gone
}

// run carries the message out.
func (t *turn) run(m agent.Message) {
	t.tokens = t.history.Facts().Tokens
	if err := t.heal(); err != nil {
		t.end.err = err
		return
	}
	switch m.Command {
	case agent.Compact:
		t.text = t.compactNow(m.Text)
		return
	case agent.Cost:
		t.text = t.cost()
		return
	}
	if t.full() {
		if t.end = t.compact(true, false); t.end.ended() {
			return
		}
	}
	t.start = t.history.End()
	if err := t.receive(m); err != nil {
		t.end.err = err
		return
	}
	t.end = t.converse(func(again bool) string { return t.s.host.Stop(t.ctx, again) })
	switch {
	case t.end.refused:
		t.end.err = t.history.Cut(t.start, false)
		t.put(agent.Notice{Text: textRefusal})
	case t.end.failed != nil && !t.told: // nobody has heard of it: the message is theirs again
		t.end.err = errors.Join(t.history.Cut(t.start, true), t.end.failed)
	}
}

// receive adds a message to the history: pictures, then its text, and behind it what
// of the system prompt is new since the conversation began.
func (t *turn) receive(m agent.Message) error {
	blocks := t.pictures(m.Images)
	if len(m.Images) > len(blocks) {
		blocks = append(blocks, textBlock(answerNoPicture))
	}
	if m.Text != "" || blocks == nil {
		text := m.Text
		if strings.TrimSpace(text) == "" {
			text = answerNothing
		}
		blocks = append(blocks, textBlock(text))
	}
	facts := t.history.Facts()
	var later []byte
	if now := digest(t.s.o.SystemPrompt); facts.Prompt != now {
		facts.Prompt = now
		text := fmt.Sprintf(answerNewPrompt, t.s.o.SystemPrompt)
		if t.model.SystemMessages {
			later = line("system", []json.RawMessage{textBlock(text)})
		} else {
			blocks = append(blocks, textBlock(text))
		}
	}
	lines := [][]byte{line("user", blocks)}
	if later != nil {
		lines = append(lines, later)
	}
	if err := t.history.Add(lines...); err != nil {
		return err
	}
	if err := t.history.Note(facts); err != nil {
		return err
	}
	// The request need not wait for the disk: what counts is that the message is there
	// before anybody counts it as taken.
	t.kept.Go(func() {
		if err := t.history.Sync(); err != nil {
			t.s.log.Error("message may be lost where the power fails", "error", err)
		}
	})
	return nil
}

// finish sends the result, or the error that took its place.
func (t *turn) finish() {
	t.kept.Wait()
	cause := context.Cause(t.ctx)
	interrupted := errors.Is(cause, errInterrupted)
	switch {
	case t.gone:
		return
	case cause != nil && !interrupted:
		t.yield(nil, fmt.Errorf("turn: %w", cause))
		return
	case !interrupted && t.end.err != nil:
		t.yield(nil, t.end.err)
		return
	}
	r := agent.Result{SessionID: t.s.id, Text: t.last, Interrupted: interrupted, Turns: max(1, t.rounds), Usage: t.used}
	if t.text != "" {
		r.Text = t.text
	}
	if t.end.failed != nil && !interrupted {
		r.IsError, r.Text, r.Unavailable = true, t.end.failed.text, t.end.failed.away
	}
	t.yield(r, nil)
}

// cost is what the session has used since it was opened.
func (t *turn) cost() string {
	t.s.mu.Lock()
	u, n := t.s.used, t.s.turns
	t.s.mu.Unlock()
	price := words.Dollars(u.CostUSD)
	if t.model.Free {
		price = textFree
	}
	return fmt.Sprintf(textCost, price, n, u.Tokens(), u.Tokens()-u.OutputTokens, u.CacheRead, u.OutputTokens)
}

const (
	// longHistory is how many tokens a prompt may have before the history is made
	// shorter, and longPart the part of the window that is the limit where that is
	// smaller.
	longHistory = 150_000
	longPart    = 0.75
	// leastForServer is the shortest prompt that the server itself makes shorter.
	leastForServer = 50_000
	// savingRounds is how many requests the agent may take to save what matters.
	savingRounds = 8
)

// full reports whether the history is to be made shorter.
func (t *talk) full() bool {
	limit := longHistory
	if t.model.Window > 0 {
		limit = min(limit, int(float64(t.model.Window)*longPart))
	}
	return t.tokens >= limit
}

// compactNow is the command: it makes the history shorter whatever its length. wish
// is what the user wants to be kept.
func (t *turn) compactNow(wish string) (text string) {
	last, err := t.history.Last()
	if err != nil || last == nil {
		t.end.err = err
		return textNothingYet
	}
	t.wish = wish
	t.end = t.compact(false, false)
	return ""
}

// compact makes the history shorter: the agent saves what matters, then the server
// sums up, or the model does where the server cannot. The conversation begins anew
// with that; nothing is removed from the file. within says that a turn goes on
// behind it. A failure leaves the history as it is.
func (t *talk) compact(auto, within bool) over {
	before := t.tokens
	t.shortened = true
	t.emit(agent.Compacting{Auto: auto, PreTokens: before})
	if end := t.save(); end.err != nil {
		return end
	}
	first, betas, end := t.summary()
	if end.err != nil {
		return end
	}
	if end.failed != nil {
		t.emit(agent.Notice{Text: fmt.Sprintf(textNotCompacted, end.failed.text)})
		return over{}
	}
	if err := t.beginAnew(first, betas, within); err != nil {
		return over{err: err}
	}
	t.emit(agent.Compacting{Done: true, Auto: auto, PreTokens: before})
	return over{}
}

// beginAnew starts the conversation with its summary.
func (t *talk) beginAnew(first []byte, betas string, within bool) error {
	t.tokens = 0
	if err := t.s.freeze(t.model); err != nil {
		return err
	}
	t.start = t.history.End()
	facts := t.history.Facts()
	facts.Betas = betas
	lines := [][]byte{first}
	if betas == "" { // a summary of our own is told by the user
		lines = append(lines, line("assistant", []json.RawMessage{textBlock(answerUnderstood)}))
	}
	if within {
		lines = append(lines, userLine(answerWentOn))
	}
	if err := t.history.Add(lines...); err != nil {
		return err
	}
	return t.history.Note(facts)
}

// save asks the agent to write down what must outlast the conversation, where its
// lists let it write.
func (t *talk) save() over {
	may := policy.Compile(t.s.o.Dir, policy.Rules{Allowed: t.s.o.Allowed, Disallowed: t.s.o.Disallowed}).
		Allows(agent.ToolUse{Name: "Write", Input: json.RawMessage(`{"file_path":"USER.md"}`)})
	if t.s.o.Bare || !may || t.tokens == 0 {
		return over{}
	}
	if err := t.history.Add(userLine(fmt.Sprintf(answerSave, time.Now().Format("2006-01-02")))); err != nil {
		return over{err: err}
	}
	quiet := *t
	quiet.quiet, quiet.rounds = true, maxRounds-savingRounds
	end := quiet.converse(nil)
	t.used, t.rounds = quiet.used, t.rounds+quiet.rounds-(maxRounds-savingRounds)
	if t.ctx.Err() != nil {
		return over{err: errors.Join(t.ctx.Err(), end.err)}
	}
	return over{err: errors.Join(end.err, t.heal())}
}

// summary is the message that stands for all that was said, with the features of
// the server that it needs.
func (t *talk) summary() (first []byte, betas string, end over) {
	q := asked{
		provider: t.provider, model: t.model, params: paramsFor(t.model, t.settings.Thinking), history: t.history,
		tail: userLine(fmt.Sprintf(answerSummarise, t.wish)),
	}
	if known := t.history.Facts().Betas; known != "" {
		q.betas = []string{known}
	}
	server := t.model.Compaction != "" && t.provider.Betas && t.tokens >= leastForServer
	if server {
		q.betas = []string{t.model.Compaction}
		q.params.Context = serverCompaction()
	}
	a, end := t.sumUp(q)
	if end.ended() {
		return nil, "", end
	}
	if server && a.stop == stopCompaction {
		a.blocks = onlyKind(a.blocks, stopCompaction)
		first, err := a.message()
		if first != nil || err != nil {
			return first, t.model.Compaction, over{err: err}
		}
	}
	var said []string
	for _, b := range a.blocks {
		if b.kind == kindText && strings.TrimSpace(b.text(kindText)) != "" {
			said = append(said, strings.TrimSpace(b.text(kindText)))
		}
	}
	if said == nil {
		return nil, "", over{failed: &failure{text: textNoSummary}}
	}
	return userLine(fmt.Sprintf(answerSummary, strings.Join(said, "\n\n"))), "", over{}
}

// sumUp asks for a summary. Where the prompt does not fit any more, the oldest part
// of it is left out.
func (t *talk) sumUp(q asked) (a *answer, end over) {
	quiet := *t
	quiet.quiet = true
	defer func() { t.used, t.rounds = quiet.used, quiet.rounds }()
	for size := t.history.Size() / 2; ; size /= 2 {
		a, end = quiet.try(q)
		if end.failed == nil || !end.failed.long || size < 1<<10 {
			return a, end
		}
		recent, err := t.history.Recent(size)
		if err != nil {
			return nil, over{err: err}
		}
		q.history, q.params.Context = recent, nil
	}
}

func onlyKind(blocks []*block, kind string) []*block {
	var kept []*block
	for _, b := range blocks {
		if b.kind == kind {
			kept = append(kept, b)
		}
	}
	return kept
}

// serverCompaction asks the server to sum up at once and to say nothing more.
func serverCompaction() any {
	type object = map[string]any
	return object{"edits": []object{{
		"type": "compact_20260112", "trigger": object{"type": "input_tokens", "value": leastForServer}, "pause_after_compaction": true,
	}}}
}
