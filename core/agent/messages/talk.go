package messages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/messages/history"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/base/words"
	"ollimbot/core/safety/policy"
)

const (
	// maxRounds limits the requests of a turn, maxPauses how often the server may pause, and
	// maxLonger how often the model may continue an answer that was cut off.
	maxRounds = 400
	maxPauses = 20
	maxLonger = 5
	// retries is how often a request is repeated, fewRetries the same if another engine could
	// answer instead, silences the same for a silent server.
	retries    = 10
	fewRetries = 3
	silences   = 1
	// patience is the longest wait that a server may ask for.
	patience = 10 * time.Minute
	// firstPause and longestPause limit the pauses if the server asks for none.
	firstPause   = 500 * time.Millisecond
	longestPause = 32 * time.Second
)

// talk is a conversation with a model until its turn ends. It belongs to a session or a subagent.
type talk struct {
	s        *session
	ctx      context.Context
	history  *history.History
	provider provider.Provider
	model    provider.Model
	settings agent.Settings
	// emit reports an event. It returns false once the consumer is gone.
	emit func(agent.Event) bool
	// about describes a subagent's task; empty for the session's own turn.
	about string
	// tools are the tools offered to the model.
	tools []tool
	// limit contains patterns of the tools that a subagent may use; nil means no limit.
	limit *policy.Set
	// quiet hides the model's texts.
	quiet bool
	// part is what its requests are booked on.
	part agent.Part
	// wish is what the user asked the summary to keep.
	wish string

	speech   speech
	bill     *bill
	progress progress
	counting *sync.Mutex // guards used and rounds while calls run
	used     agent.Usage
	rounds   int
	// start is the history's end before the turn, or after a summary made during the turn.
	start int64
	// shortened means that compacting was tried in this turn.
	shortened bool
	// narrowed means that the window turned out to be smaller in this turn.
	narrowed bool
	// receive adds the user's message to the history; newest are its blocks there.
	receive func() error
	newest  []json.RawMessage
	// answered means that part of the answer is in the history.
	answered bool
	tokens   int    // of the newest prompt and its answer
	sent     int    // bytes of the newest request
	last     string // the newest text
}

// over describes how a talk ended.
type over struct {
	failed  *failure // no answer arrived
	err     error    // a local error, or ctx has ended
	refused bool
	endTurn bool   // requested by a tool
	stopped string // why it was ended before the model was done
}

func (o over) ended() bool { return o != over{} }

// try repeats a request until it is answered or retrying cannot help.
func (t *talk) try(q asked) (*answer, over) {
	silent, paid := 0, 0
	for attempt := 1; ; attempt++ {
		switch stop := t.afford(); {
		case t.ctx.Err() != nil:
			return nil, over{err: context.Cause(t.ctx)}
		case stop != "":
			return nil, over{stopped: stop}
		}
		t.rounds++
		a, err := t.once(q)
		cost := t.spend(a, err != nil)
		if err == nil {
			t.s.e.setProblem("")
			return a, over{}
		}
		if t.ctx.Err() != nil {
			a.blocks = ofKind(a.blocks, kindText, kindThinking)
			_, err := t.keep(a)
			return nil, over{err: errors.Join(context.Cause(t.ctx), err)}
		}
		f := failureOf(err)
		if errors.Is(err, errSilent) {
			silent++
		}
		wait, tries := f.pause(attempt), retries
		if f.away && t.s.e.o.Others() {
			tries = fewRetries
		}
		if cost.Tokens() > 0 { // the broken answer costs money, and so does the next one
			paid++
			tries = min(tries, attempt+maxIdle-1-paid)
		}
		switch {
		case wait > patience:
			f.text = fmt.Sprintf(textWaitsLong, f.text, words.Minutes(wait))
			f.again = false
		case attempt > tries, silent > silences:
			f.again = false
		}
		t.takeBack()
		if !f.again {
			if f.broke || f.status == http.StatusUnauthorized || f.status == http.StatusForbidden { // the user has to act
				t.s.e.setProblem(f.text)
			}
			return nil, over{failed: f}
		}
		t.s.log.Warn("request failed; retrying", "attempt", attempt, "status", f.status, "error", f.text)
		t.emit(agent.Retry{Attempt: attempt, Of: tries, Wait: wait, Reason: f.reason()})
		if !t.wait(wait) {
			return nil, over{err: context.Cause(t.ctx)}
		}
	}
}

// once makes one request.
func (t *talk) once(q asked) (*answer, error) {
	r, err := q.request(t.ctx)
	if err != nil {
		return &answer{}, err
	}
	a, err := q.receive(t.s.e.client, r, t.say)
	t.sent = int(r.ContentLength)
	if err == nil {
		err = t.whole(q, a)
	}
	return a, err
}

// pause returns how long to wait before the next try.
func (f *failure) pause(attempt int) time.Duration {
	if f.wait > 0 {
		return f.wait
	}
	d := min(longestPause, firstPause<<min(attempt-1, 10))
	return d + rand.N(d/4+1) // jitter
}

// wait waits for d. It returns false if ctx ends first.
func (t *talk) wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-t.ctx.Done():
		return false
	}
}

// bytesPerToken is roughly how many bytes of an answer make one token.
const bytesPerToken = 4

// spend books the usage of a request, even a failed one, and returns it. The server reports only
// at the end how many tokens an answer had, so those of a broken one are estimated. So is the whole usage if the server
// reports none.
func (t *talk) spend(a *answer, broken bool) agent.Usage {
	about := broken
	if a.used == (provider.Count{}) {
		if broken {
			return agent.Usage{}
		}
		a.used.Input, about = t.sent/bytesPerToken, true
	}
	if about {
		a.used.Output = max(a.used.Output, a.length()/bytesPerToken)
	}
	used := t.model.Cost(a.used.Usage())
	t.s.host.Charge(agent.Charge{Model: t.model.FullName(), Used: used, Part: t.part, About: about})
	t.add(used, 0)
	t.bill.add(used)
	t.tokens = used.Prompt() + used.OutputTokens
	return used
}

// add counts usage. Concurrent errands call it too.
func (t *talk) add(u agent.Usage, rounds int) {
	t.counting.Lock()
	defer t.counting.Unlock()
	t.used = t.used.Add(u)
	t.used.Free = t.model.Free
	t.rounds += rounds
}

// keep adds an answer to the history and returns its calls.
func (t *talk) keep(a *answer) ([]call, error) {
	if t.provider.API.Translated() { // its thoughts have no signature, and no later request may contain them
		a.blocks = slices.DeleteFunc(a.blocks, func(b *block) bool { return b.kind == kindThinking })
	}
	calls := a.calls()
	text, err := a.message()
	if err != nil || text == nil {
		return nil, err
	}
	if err := t.history.Add(text); err != nil {
		return nil, err
	}
	t.answered = true
	t.speech.open = 0 // can no longer be taken back
	for _, b := range a.blocks {
		switch {
		case b.kind != kindText:
		case t.speech.joins:
			t.last += b.text(kindText)
			t.speech.joins = false
		default:
			t.last = b.text(kindText)
		}
	}
	// Text cut off within a word continues within it.
	t.speech.joins = a.stop == stopMaxTokens && len(calls) == 0 && a.blocks[len(a.blocks)-1].kind == kindText
	facts := t.history.Facts()
	facts.Tokens = t.tokens
	return unwrapped(calls), t.history.Note(facts)
}

// speech tracks the text that a turn's reader has received.
type speech struct {
	total int  // bytes, without those taken back
	open  int  // those of the streaming answer
	ended bool // they end with a line break
	joins bool // the next answer continues the last text
}

// say reports a piece of an answer; a new block starts on a new line.
func (t *talk) say(kind, text string, first bool) {
	if text == "" || t.quiet || t.about != "" {
		return
	}
	if kind == kindThinking {
		t.emit(agent.Thinking{Delta: text})
		return
	}
	if kind != kindText {
		return
	}
	joined := t.speech.joins && t.speech.open == 0
	if first && t.speech.total > 0 && !t.speech.ended && !joined {
		text = "\n" + text
	}
	t.speech.total += len(text)
	t.speech.open += len(text)
	t.speech.ended = text[len(text)-1] == '\n'
	t.emit(agent.Text{Delta: text})
}

// takeBack takes back the text of an answer that was cut off.
func (t *talk) takeBack() {
	if t.speech.open > 0 {
		t.emit(agent.Rewind{Bytes: t.speech.open})
		t.speech.total -= t.speech.open
	}
	t.speech.open = 0
}
