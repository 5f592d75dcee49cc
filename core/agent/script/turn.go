package script

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/work/money"
)

// botPrefix precedes the names of the bot's own tools.
const botPrefix = "mcp__discord__"

// errGone means that the consumer stopped reading the turn.
var errGone = errors.New("the consumer has left the turn")

// turn plays the steps of one message.
type turn struct {
	s *session
	// ctx ends with the turn, as does everything in this value.
	ctx     context.Context
	yield   func(agent.Event, error) bool
	history []exchange

	// said is the start of the turn's text, saidSize the size of all of it, and lastText
	// the text since the last tool.
	said     strings.Builder
	saidSize int
	lastText strings.Builder
	command  bool // the message was a command to the engine itself
	calls    int
	rounds   int // requests that a model would have needed
	in, out  int // characters read and written
	thinks   bool
	fault    string // why the turn ends as an error result
	err      error  // why it ends without a result
	over     bool   // a tool has ended it
	refused  bool   // the last tool call was, or has failed
}

// play plays the script in the prompt, or says that there is none, and continues as long as the Stop hook keeps
// the turn going.
func (t *turn) play(m agent.Message) {
	t.in = len(m.Text) + len(t.s.o.SystemPrompt)
	for _, e := range t.history {
		t.in += e.size
	}
	if t.engineCommand(m.Command) {
		return
	}
	if t.s.o.Bare {
		t.perform(verdict(m.Text))
		return
	}
	asked := read(m.Text)
	source, unclosed, scripted := findScript(m.Text)
	if !scripted {
		t.perform(t.unscripted(asked))
		t.stopping(nil, asked, reportNoModel)
		return
	}
	steps, err := parse(source, unclosed)
	if err != nil {
		t.fault = err.Error()
		return
	}
	t.stopping(t.perform(steps), asked, reportDone)
}

// stopping asks the Stop hook whether the turn may end. While it blocks, the rest of the
// script is played; if none is left, the turn does what the hook asks for.
func (t *turn) stopping(rest []step, m message, report string) {
	hook := t.s.o.Hooks.Stop
	for again := false; hook != nil && t.alive(); again = true {
		reason := hook(t.ctx, again)
		if reason == "" || !t.alive() {
			return
		}
		t.rounds++
		t.in += len(reason)
		if len(rest) > 0 {
			rest = t.perform(rest)
			continue
		}
		if again { // never loop on a hook that always blocks
			return
		}
		words := cmp.Or(strings.TrimRight(clean.Cut(clean.Line(m.body), 120), " .!?:"), sayOnlyScript)
		t.perform(obey(reason, fmt.Sprintf(report, words)))
	}
}

// alive reports whether the turn continues.
func (t *turn) alive() bool {
	return t.err == nil && t.fault == "" && !t.over && t.ctx.Err() == nil
}

// finish sends the Result, or the error that replaces it.
func (t *turn) finish() {
	cause := context.Cause(t.ctx)
	interrupted := errors.Is(cause, errInterrupted)
	t.charge()
	switch {
	case errors.Is(t.err, errGone):
		return
	case t.err != nil:
		t.yield(nil, t.err)
		return
	case cause != nil && !interrupted:
		t.yield(nil, fmt.Errorf("offline turn: %w", cause))
		return
	}
	text := strings.TrimSpace(t.lastText.String())
	if t.fault != "" {
		text = t.fault
	}
	t.yield(agent.Result{
		SessionID: t.s.id, Text: text, Interrupted: interrupted,
		IsError: t.fault != "" && !interrupted, Turns: t.rounds, Usage: t.usage(),
	}, nil)
}

// charge books the turn, whatever has become of it.
func (t *turn) charge() {
	if book := t.s.o.Hooks.Charge; book != nil {
		c := agent.Charge{Model: cmp.Or(t.s.current().Model, money.AssumedModel), Used: t.usage()}
		if t.command {
			c.Part = agent.Compaction
		}
		book(c)
	}
}

// preset is the size of the system prompt that a real engine always sends, in tokens.
const preset = 1800

// usage estimates plausible numbers: a token is about four characters, and the history
// is read from the cache.
func (t *turn) usage() agent.Usage {
	return agent.Usage{
		InputTokens: 4 + t.rounds*6, OutputTokens: 1 + t.out/4,
		CacheRead: preset + (t.rounds-1)*t.in/4, CacheWrite: t.in / 4, Free: !t.s.engine.o.Priced,
	}
}

func (t *turn) emit(e agent.Event) bool {
	if !t.alive() {
		return false
	}
	if !t.yield(e, nil) {
		t.err = errGone
		return false
	}
	return t.alive()
}

// wait pauses for d at the engine's pace and reports whether the turn continues.
func (t *turn) wait(d time.Duration) bool {
	d = time.Duration(float64(d) * t.s.engine.o.Pace)
	if d <= 0 || !t.alive() {
		return t.alive()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-t.ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// say sends a line word by word, on a new line after other text.
func (t *turn) say(text string) {
	if t.saidSize > 0 {
		text = "\n" + text
	}
	for word := range strings.SplitAfterSeq(text, " ") {
		if !t.emit(agent.Text{Delta: word}) {
			return
		}
		if t.saidSize += len(word); t.said.Len() <= keptWords {
			t.said.WriteString(word)
		}
		t.lastText.WriteString(word)
		t.out += len(word)
		if !t.wait(time.Duration(18+len(word)*7) * time.Millisecond) {
			return
		}
	}
}

// think sends reasoning word by word; if thinking is off it only takes time.
func (t *turn) think(text string) {
	for word := range strings.SplitAfterSeq(text+"\n", " ") {
		if t.thinks {
			if !t.emit(agent.Thinking{Delta: word}) {
				return
			}
			t.out += len(word)
		}
		if !t.wait(45 * time.Millisecond) {
			return
		}
	}
}

// call calls one of the bot's tools and returns its result.
func (t *turn) call(name string, input json.RawMessage) agent.ToolResult {
	name = strings.TrimPrefix(name, botPrefix)
	use := t.toolStart(botPrefix+name, input)
	if !t.emit(agent.ToolStart{ID: use.ID, Name: use.Name, Input: input}) {
		return agent.ToolResult{IsError: true}
	}
	at := slices.IndexFunc(t.s.o.Tools, func(o agent.Tool) bool { return o.Name == name })
	var answer agent.ToolResult
	d := t.preTool(use)
	a, approved := agent.Approve(use, d)
	switch {
	case !approved:
		answer = agent.ToolResult{Text: d.Reason, IsError: true}
	case at < 0:
		answer = agent.ToolResult{Text: fmt.Sprintf(textNoTool, name, toolNames(t.s.o.Tools)), IsError: true}
	default:
		t.wait(250 * time.Millisecond)
		answer = t.s.o.Tools[at].Call(t.ctx, a)
	}
	t.toolEnd(use, answer, !approved)
	t.over = answer.EndTurn
	return answer
}

// ask requests a tool that is not the bot's: first the hook, then the permission. An
// allowed tool is not run, because the offline engine has none.
func (t *turn) ask(name string, input json.RawMessage) {
	use := t.toolStart(name, input)
	if !t.emit(agent.ToolStart{ID: use.ID, Name: use.Name, Input: input}) {
		return
	}
	d := t.preTool(use)
	if d.Allow {
		if t.s.o.Permission == nil {
			d = agent.Decision{Reason: textNoPermission}
		} else {
			d = t.s.o.Permission(t.ctx, use)
		}
	}
	if _, approved := agent.Approve(use, d); !approved {
		t.toolEnd(use, agent.ToolResult{Text: d.Reason, IsError: true}, true)
		return
	}
	t.wait(600 * time.Millisecond)
	t.toolEnd(use, agent.ToolResult{Text: textNotRun}, false)
}

func (t *turn) toolStart(name string, input json.RawMessage) agent.ToolUse {
	t.wait(300 * time.Millisecond)
	t.calls++
	t.rounds++
	t.lastText.Reset()
	t.out += len(name) + len(input)
	return agent.ToolUse{ID: fmt.Sprintf("toolu_%s_%d", t.s.id[:8], len(t.history)*1000+t.calls), Name: name, Input: input}
}

func (t *turn) preTool(u agent.ToolUse) agent.Decision {
	if t.s.o.Hooks.PreTool == nil {
		return u.Allowed()
	}
	return t.s.o.Hooks.PreTool(t.ctx, u)
}

func (t *turn) toolEnd(u agent.ToolUse, r agent.ToolResult, denied bool) {
	t.in += len(r.Text)
	t.refused = r.IsError
	if t.emit(agent.ToolEnd{ID: u.ID, Name: u.Name, Text: r.Text, IsError: r.IsError, Denied: denied}) &&
		!r.IsError && t.s.o.Hooks.PostTool != nil {
		t.s.o.Hooks.PostTool(t.ctx, u)
	}
}

func toolNames(tools []agent.Tool) string {
	names := make([]string, 0, len(tools))
	for _, t := range tools {
		names = append(names, t.Name)
	}
	return strings.Join(names, ", ")
}

// perform plays steps until one of them ends the turn. It returns the steps after a stop,
// which are played if the Stop hook does not let the turn end.
func (t *turn) perform(steps []step) (rest []step) {
	for i, s := range steps {
		if !t.alive() {
			return nil
		}
		switch s.verb {
		case vSay:
			t.say(s.words())
		case vThink:
			t.think(s.words())
		case vCall:
			t.call(s.words(), s.arguments())
		case vAsk:
			t.ask(s.words(), s.arguments())
		case vWait:
			t.wait(s.wait)
		case vFail:
			t.fault = s.words()
		case vCompact:
			t.compact()
		case vStop:
			return steps[i+1:]
		case vRefused:
			if t.refused {
				t.say(s.words())
				return nil
			}
		}
	}
	return nil
}

// compact pretends that the history grew too long and was summarized.
func (t *turn) compact() {
	tokens := 20_000 + t.in/4
	if t.emit(agent.Compacting{Auto: true, PreTokens: tokens}) && t.wait(2*time.Second) {
		t.emit(agent.Compacting{Done: true, Auto: true, PreTokens: tokens})
	}
}
