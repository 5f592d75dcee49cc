package messages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"ollimbot/core/agent"
	"ollimbot/core/base/words"
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
