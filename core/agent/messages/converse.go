package messages

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ollimbot/core/agent/messages/history"
	"ollimbot/core/agent/messages/preset"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/base/words"
	"ollimbot/core/safety/policy"

	"ollimbot/core/agent"
)

// converse asks the model until it ends its turn. Then stopping may return a reason to continue;
// stopping may be nil.
func (t *talk) converse(stopping func(again bool) string) over {
	again, pauses, longer := false, 0, 0
	for t.rounds < maxRounds {
		a, end := t.ask()
		if end.ended() {
			return end
		}
		calls, err := t.keep(a)
		if err != nil {
			return over{err: err}
		}
		switch {
		case a.stop == stopRefusal:
			return over{refused: true}
		case len(calls) > 0:
			if end := t.called(a, calls); end.ended() {
				return end
			}
			if !a.cut() {
				continue
			}
			if longer < maxLonger {
				longer++
				continue
			}
		case a.stop == stopPause:
			pauses++
			if pauses > maxPauses || len(a.blocks) == 0 && pauses >= maxIdle {
				return over{stopped: fmt.Sprintf(textPauses, pauses)}
			}
			continue
		case a.stop == stopMaxTokens && longer < maxLonger:
			longer++
			if err := t.history.Add(userLine(answerGoOn)); err != nil {
				return over{err: err}
			}
			continue
		case a.stop == stopWindow:
			t.emit(agent.Notice{Text: textWindow})
		}
		if t.wroteCall(a) {
			t.emit(agent.Notice{Text: textWroteCall})
		}
		if a.cut() && longer == maxLonger {
			t.emit(agent.Notice{Text: fmt.Sprintf(textCutAgain, longer+1)})
		}
		reason := ""
		if stopping != nil {
			reason = stopping(again)
		}
		if reason == "" || t.ctx.Err() != nil {
			return over{err: t.ctx.Err()}
		}
		again = true
		if err := t.history.Add(userLine(reason)); err != nil {
			return over{err: err}
		}
	}
	return over{stopped: fmt.Sprintf(textRounds, maxRounds)}
}

// called answers an answer's calls. It ends a turn that makes no progress.
func (t *talk) called(a *answer, calls []call) over {
	if end := t.answerCalls(calls); end.ended() {
		return end
	}
	if end := t.grown(); end.ended() {
		return end
	}
	if !a.cut() && t.progress.idle >= maxIdle {
		return over{stopped: fmt.Sprintf(textStuck, t.progress.idle)}
	}
	return over{}
}

// grown compacts a history that has become too long during a turn.
func (t *talk) grown() over {
	if t.about != "" || t.quiet || t.shortened || !t.full() {
		return over{}
	}
	done, end := t.compact(true)
	if !done || end.ended() {
		return end
	}
	return over{err: t.repeat()}
}

// repeat adds the user's original message to a turn that continues after a summary, because the
// summary does not quote the user and has no pictures.
func (t *talk) repeat() error {
	t.start = t.history.End()
	return t.history.Add(line("user", append(slices.Clone(t.newest), textBlock(answerWentOn))))
}

// heal completes an interrupted history: calls without results, and messages without an answer.
func (t *talk) heal() error {
	last, err := t.history.Last()
	if err != nil || last == nil {
		return err
	}
	var m struct {
		Role string `json:"role"`
	}
	if err := json.Unmarshal(last, &m); err != nil {
		return fmt.Errorf("read the session: %w", err)
	}
	stub := line("assistant", []json.RawMessage{textBlock(answerEnded)})
	if m.Role != "assistant" {
		return t.history.Add(stub)
	}
	var results []json.RawMessage
	for _, id := range danglingCalls(last) {
		results = append(results, t.result(id, said(answerUnknown)))
	}
	if results == nil {
		return nil
	}
	return t.history.Add(line("user", results), stub)
}

// ask makes one request and retries it if that may help. If the history is too long for the model,
// it is compacted first, once per turn.
func (t *talk) ask() (*answer, over) {
	for {
		q := asked{provider: t.provider, model: t.model, params: paramsFor(t.model, t.settings.Thinking), history: t.history}
		if betas := t.history.Facts().Betas; betas != "" {
			q.betas = append(q.betas, betas)
		}
		a, end := t.try(q)
		if end.failed == nil || !end.failed.long || t.quiet || t.about != "" {
			return a, end
		}
		if t.shortened {
			return a, t.noRoom(end)
		}
		if window := windowIn(end.failed.said); window > 0 {
			t.narrow(window)
		}
		done, shorter := t.shorten()
		if shorter.ended() {
			return nil, shorter
		}
		if !done {
			return nil, t.noRoom(end)
		}
	}
}

// noRoom says of a message that does not fit into a conversation without others that it is the message.
func (t *talk) noRoom(end over) over {
	if narrow(t.model) && !t.answered && (t.shortened || t.tokens == 0) {
		end.failed.text = fmt.Sprintf(textNoRoom, words.Thousands(uint64(max(0, t.model.Window))), end.failed.said)
	}
	return end
}

// shorten compacts a history that does not fit. A message without an answer is left out of the
// summary and follows it unchanged.
func (t *talk) shorten() (done bool, end over) {
	if t.answered {
		if done, end = t.compact(true); !done || end.ended() {
			return done, end
		}
		return true, over{err: t.repeat()}
	}
	if err := t.history.Cut(t.start, true); err != nil {
		return false, over{err: err}
	}
	last, err := t.history.Last()
	switch {
	case err != nil:
		return false, over{err: err}
	case last != nil:
		done, end = t.compact(true)
	case t.narrowed: // begin again, with instructions that fit
		done, t.shortened = true, true
		end.err = t.s.freeze(t.model)
	}
	t.start = t.history.End()
	end.err = errors.Join(end.err, t.receive())
	return done, end
}

// freeze starts a conversation with the current tools and prompt.
func (s *session) freeze(m provider.Model) error {
	list, system, err := frozen(s.listed(m), s.prompt(m), s.opening(m), m)
	if err != nil {
		return err
	}
	return s.history.Begin(list, system, history.Facts{Prompt: digest(s.prompt(m))})
}

// opening returns the text in front of the bot's own prompt.
func (s *session) opening(m provider.Model) string {
	switch {
	case s.o.Bare:
		return ""
	case m.NoTools:
		return preset.Talk()
	case narrow(m):
		return preset.Brief()
	}
	return preset.Text(m.WebSearch != "")
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

const (
	// longHistory is the prompt's length in tokens at which the history is compacted, and longPart
	// the fraction of the window that applies if it is smaller: earlyPart in a narrow one, where one result of a tool
	// is a large part of it.
	longHistory = 150_000
	longPart    = 0.75
	earlyPart   = 0.65
	// leastForServer is the shortest prompt that the server itself can compact.
	leastForServer = 50_000
	// leastForSaving is the window in tokens below which there is no room to save anything before a summary.
	leastForSaving = 8_192
	// savingRounds limits the requests in which the agent saves important facts.
	savingRounds = 8
)

// full reports whether the history should be compacted.
func (t *talk) full() bool {
	limit := longHistory
	if t.model.Window > 0 {
		part := longPart
		if narrow(t.model) {
			part = earlyPart
		}
		limit = min(limit, int(float64(t.model.Window)*part))
	}
	return t.tokens >= limit
}

// compact shortens the history: the agent saves important facts, then the server, or else the
// model, writes a summary. A new conversation starts with it; nothing is removed from the file. If
// done is false, the history is unchanged.
func (t *talk) compact(auto bool) (done bool, end over) {
	before, from, facts := t.tokens, t.history.End(), t.history.Facts()
	t.shortened = true
	t.emit(agent.Compacting{Auto: auto, PreTokens: before})
	end = t.save()
	var first []byte
	var betas string
	if !end.ended() {
		first, betas, end = t.summary()
	}
	if end.ended() {
		t.tokens = before
		err := t.history.Cut(from, false)
		if err == nil && facts != t.history.Facts() {
			err = t.history.Note(facts)
		}
		if end.failed == nil || err != nil {
			end.err = errors.Join(end.err, err)
			return false, end
		}
		t.emit(agent.Notice{Text: fmt.Sprintf(textNotCompacted, end.failed.text)})
		return false, over{}
	}
	if err := t.beginAnew(first, betas); err != nil {
		return false, over{err: err}
	}
	t.emit(agent.Compacting{Done: true, Auto: auto, PreTokens: before})
	return true, over{}
}

// beginAnew starts a new conversation with the summary.
func (t *talk) beginAnew(first []byte, betas string) error {
	t.tokens = 0
	if err := t.s.freeze(t.model); err != nil {
		return err
	}
	facts := t.history.Facts()
	facts.Betas = betas
	lines := [][]byte{first}
	if betas == "" { // the model's own summary is sent as the user's message
		lines = append(lines, line("assistant", []json.RawMessage{textBlock(answerUnderstood)}))
	}
	if err := t.history.Add(lines...); err != nil {
		return err
	}
	return t.history.Note(facts)
}

// save asks the agent to write down what must survive the conversation, if its tool lists allow it
// to write.
func (t *talk) save() over {
	may := policy.Compile(t.s.o.Dir, policy.Rules{Allowed: t.s.o.Allowed, Disallowed: t.s.o.Disallowed}).
		Allows(agent.ToolUse{Name: "Write", Input: json.RawMessage(`{"file_path":"USER.md"}`)})
	if t.s.o.Bare || !may || t.tokens == 0 || t.model.NoTools || t.narrowed || narrow(t.model) && t.model.Window < leastForSaving {
		return over{}
	}
	if err := t.history.Add(userLine(fmt.Sprintf(answerSave, time.Now().Format("2006-01-02")))); err != nil {
		return over{err: err}
	}
	quiet := *t
	quiet.quiet, quiet.part, quiet.rounds, quiet.progress = true, agent.Compaction, maxRounds-savingRounds, progress{}
	end := quiet.converse(nil)
	t.used, t.rounds = quiet.used, t.rounds+quiet.rounds-(maxRounds-savingRounds)
	if t.ctx.Err() != nil {
		return over{err: errors.Join(t.ctx.Err(), end.err)}
	}
	return over{err: errors.Join(end.err, t.heal()), stopped: t.bill.stop}
}

// summary returns the message that replaces the conversation, and the server features that it
// needs.
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
		a.blocks = ofKind(a.blocks, stopCompaction)
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

// sumUp asks for a summary. If the prompt does not fit, its oldest part is left out.
func (t *talk) sumUp(q asked) (a *answer, end over) {
	var err error
	quiet := *t
	quiet.quiet, quiet.part = true, agent.Compaction
	defer func() { t.used, t.rounds = quiet.used, quiet.rounds }()
	size := t.history.Size()
	wide := !narrow(t.model)
	if room := int64(t.model.Window * bytesPerToken / 2); !wide {
		size = min(size, room)
		if q.history, err = t.history.Recent(size, wide); err != nil {
			return nil, over{err: err}
		}
	}
	for size /= 2; ; size /= 2 {
		a, end = quiet.try(q)
		if end.failed == nil || !end.failed.long || size < 1<<10 {
			return a, end
		}
		if q.history, err = t.history.Recent(size, wide); err != nil {
			return nil, over{err: err}
		}
		q.params.Context = nil
	}
}

// serverCompaction tells the server to summarize at once and then stop.
func serverCompaction() any {
	type object = map[string]any
	return object{"edits": []object{{
		"type": "compact_20260112", "trigger": object{"type": "input_tokens", "value": leastForServer}, "pause_after_compaction": true,
	}}}
}
