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

// errGone means that the consumer has left the turn.
var errGone = errors.New("the consumer has left the turn")

// turn is one message and its answer.
type turn struct {
	talk
	yield func(agent.Event, error) bool

	// kept is done when the message is on disk; no event is sent before.
	kept sync.WaitGroup
	told bool // an event was sent
	gone bool // the consumer has left
	end  over
	text string // the result's text, if it is not the last one
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

// run processes the message.
func (t *turn) run(m agent.Message) {
	t.tokens = t.history.Facts().Tokens
	if limit := t.model.Window; limit > 0 && len(m.Text)/mostBytesPerToken > limit {
		t.end = over{failed: &failure{text: fmt.Sprintf(textLongMessage, words.Thousands(uint64(limit)))}}
		return
	}
	if err := t.heal(); err != nil {
		t.end.err = err
		return
	}
	if m.Command == agent.Compact {
		t.text = t.compactNow(m.Text)
		return
	}
	if t.full() {
		if _, t.end = t.compact(true); t.end.ended() {
			if t.end.stopped != "" { // the message was not received
				t.end = over{failed: &failure{text: t.end.stopped}}
			}
			return
		}
	}
	t.start = t.history.End()
	t.receive = func() error { return t.take(m) }
	if err := t.receive(); err != nil {
		t.end.err = err
		return
	}
	t.end = t.converse(func(again bool) string { return t.s.host.Stop(t.ctx, again) })
	switch {
	case t.end.refused:
		t.end.err = t.history.Cut(t.start, false)
		t.put(agent.Notice{Text: textRefusal})
	case t.end.failed != nil && !t.answered: // the message counts as never received
		t.end.err = t.history.Cut(t.start, true)
		if !t.told && t.used == (agent.Usage{Free: t.used.Free}) {
			t.end.err = errors.Join(t.end.err, t.end.failed)
		}
	}
}

// take adds a message to the history: pictures, its text, and then the system prompt if it has
// changed since the conversation started.
func (t *turn) take(m agent.Message) error {
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
	prompt := t.s.prompt(t.model)
	if now := digest(prompt); facts.Prompt != now {
		facts.Prompt = now
		text := fmt.Sprintf(answerNewPrompt, prompt)
		if t.model.SystemMessages {
			later = line("system", []json.RawMessage{textBlock(text)})
		} else {
			blocks = append(blocks, textBlock(text))
		}
	}
	t.newest = blocks
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
	// The request need not wait for the disk: the message only has to be stored before it counts as
	// received.
	t.kept.Go(func() {
		if err := t.history.Sync(); err != nil {
			t.s.log.Error("message was not synced and may be lost in a power failure", "error", err)
		}
	})
	return nil
}

// finish sends the result, or the error that replaces it.
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
	if !interrupted {
		r.Stopped = t.end.stopped
	}
	if t.end.failed != nil && !interrupted {
		r.IsError, r.Text, r.Unavailable = true, t.end.failed.text, t.end.failed.away
	}
	t.yield(r, nil)
}

// compactNow is the command that compacts a history of any length. wish is what the user wants to
// keep.
func (t *turn) compactNow(wish string) (text string) {
	last, err := t.history.Last()
	if err != nil || last == nil {
		t.end.err = err
		return textNothingYet
	}
	t.wish = wish
	_, t.end = t.compact(false)
	return ""
}
