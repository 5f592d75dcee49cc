package claude

import (
	"cmp"
	"fmt"
	"html"
	"net/http"
	"strings"

	"ollimbot/core/agent"
	"ollimbot/core/agent/callback"
	"ollimbot/core/agent/claude/wire"
	"ollimbot/core/base/clean"
)

// maxNotice limits texts of the CLI, in characters.
const maxNotice = 300

// subagentTools run a whole agent, so it is normal that they are silent for a while. The tool has
// two names.
var subagentTools = map[string]bool{"Agent": true, "Task": true}

// translator turns the lines of one turn into events. It tracks the text so far, so that nothing is
// repeated and the text of a broken stream can be taken back.
type translator struct {
	// denied reports whether the bot refused a call.
	denied  func(toolUseID string) bool
	command agent.Command
	refused map[string]bool   // calls that the CLI itself refused
	tools   map[string]string // names of the running calls
	// compacting means that the history is being compacted, compacted that this turn did that.
	compacting, compacted bool
	lent                  bool       // a subagent was called
	retry                 wire.Retry // the last one, until another line follows
	failure               string     // class of the last failed request
	text                  textAccumulator
	tally                 *tally
}

func newTranslator(denied func(string) bool, command agent.Command) *translator {
	return &translator{denied: denied, command: command, refused: map[string]bool{}, tools: map[string]string{}, tally: newTally()}
}

// handOver returns the translator for a message that joined a running turn: the calls continue, but
// the text so far belongs to its earlier reader.
func (t *translator) handOver() *translator {
	next := *t
	next.text = textAccumulator{stream: t.text.stream}
	return &next
}

// last returns the text of the newest block.
func (t *translator) last() string { return t.text.last }

// working reports whether tools other than subagents run, and whether subagents do.
func (t *translator) working() (tools, subagents bool) {
	for _, name := range t.tools {
		if subagentTools[name] {
			subagents = true
		} else {
			tools = true
		}
	}
	return tools, subagents
}

// translate passes a line's events to put.
func (t *translator) translate(l wire.Line, put func(agent.Event)) {
	switch l.Type {
	case wire.TypeStream:
		t.stream(l.Stream(), put)
	case wire.TypeAssistant:
		t.assistant(l.Assistant(), put)
	case wire.TypeUser:
		t.user(l.User(), put)
	case wire.TypeRateLimit:
		if r := l.RateLimit(); r.Status != "" {
			put(agent.RateLimit{Status: r.Status, Resets: r.Resets()})
		}
	case wire.TypeSystem:
		t.system(l, put)
	}
}

// stream handles a piece of the model's answer. Subagents are not streamed.
func (t *translator) stream(s wire.Stream, put func(agent.Event)) {
	if s.ParentToolUseID != "" {
		return
	}
	t.retry = wire.Retry{}
	switch {
	case s.Kind == wire.MessageDelta:
		t.tally.note(t.text.stream, "", s.Usage)
		t.tally.end(t.text.stream)
	case s.Kind == wire.MessageStart:
		t.tally.note(s.MessageID, s.Model, s.Usage)
		t.text.begin(s.MessageID, put)
	case s.Kind == wire.BlockStart:
		t.text.block()
	case s.Kind == wire.BlockDelta && s.Delta == wire.DeltaText:
		t.text.say(s.Text, put)
	case s.Kind == wire.BlockDelta && s.Delta == wire.DeltaThinking:
		put(agent.Thinking{Delta: s.Thinking})
	}
}

// assistant handles a finished block, which is authoritative.
func (t *translator) assistant(a wire.Assistant, put func(agent.Event)) {
	if a.Error != "" { // the result repeats its text
		t.failure = a.Error
		return
	}
	t.tally.note(a.MessageID, a.Model, a.Usage)
	if a.ParentToolUseID != "" {
		t.tally.lend(a.MessageID)
	}
	for _, b := range a.Content {
		switch b.Type {
		case wire.BlockText:
			if a.ParentToolUseID == "" {
				t.text.finish(a.MessageID, b.Text, put)
			}
		case wire.BlockToolUse:
			t.tools[b.ID] = b.Name
			t.lent = t.lent || subagentTools[b.Name]
			put(agent.ToolStart{ID: b.ID, Name: b.Name, Input: b.Input, Subagent: subagent(a.Origin)})
		}
	}
}

// subagent describes the caller of a tool. It is empty for the main thread.
func subagent(o wire.Origin) string {
	if o.ParentToolUseID == "" {
		return ""
	}
	return cmp.Or(clean.Cut(clean.Line(o.TaskDescription), maxNotice), clean.Cut(clean.Line(o.SubagentType), maxNotice), textSubagent)
}

// user handles results of tools and ignores all other texts.
func (t *translator) user(u wire.User, put func(agent.Event)) {
	for _, b := range u.Content {
		if b.Type != wire.BlockToolResult {
			continue
		}
		name := t.tools[b.ToolUseID]
		delete(t.tools, b.ToolUseID)
		put(agent.ToolEnd{
			ID: b.ToolUseID, Name: name, Text: callback.Output(b.OutputText()), IsError: b.IsError,
			Denied: b.IsError && (t.refused[b.ToolUseID] || t.denied(b.ToolUseID)),
		})
	}
}

// system handles messages of the CLI itself.
func (t *translator) system(l wire.Line, put func(agent.Event)) {
	s := l.System()
	switch l.Subtype {
	case wire.SubtypeStatus:
		t.status(s, put)
	case wire.SubtypeCompactBoundary:
		t.compacting = false
		put(agent.Compacting{Done: true, Auto: s.Compact.Trigger == "auto", PreTokens: s.Compact.PreTokens})
	case wire.SubtypeRetry:
		t.retry = s.Retry
		put(agent.Retry{Attempt: s.Attempt, Of: s.MaxRetries, Wait: s.Delay(), Reason: retryReason(s.Retry)})
	case wire.SubtypePermissionDenied:
		t.refused[s.ToolUseID] = true
	case wire.SubtypeTaskNotification:
		if t.tools[s.ToolUseID] == "" { // otherwise the call's result reports the end
			putNotice(s.Summary, put)
		}
	case wire.SubtypeModelFallback:
		if s.FallbackModel != "" {
			s.Content = cmp.Or(s.Content, fmt.Sprintf(textFallback, s.FallbackModel))
		}
		putNotice(s.Content, put)
	case wire.SubtypeRefusal:
		putNotice(cmp.Or(s.Content, s.Explanation, textRefusal), put)
	case wire.SubtypeInformational:
		putNotice(s.Content, put)
	}
}

// putNotice puts a notice if it is not empty.
func putNotice(text string, put func(agent.Event)) {
	if text = short(text); text != "" {
		put(agent.Notice{Text: text})
	}
}

// status handles the start of a compaction, and its failure. The boundary that follows reports its
// success.
func (t *translator) status(s wire.System, put func(agent.Event)) {
	switch {
	case s.Status == "compacting":
		t.compacting, t.compacted = true, true
		put(agent.Compacting{Auto: t.command != agent.Compact})
	case t.compacting && s.CompactResult != "" && s.CompactResult != "success":
		t.compacting = false
		put(agent.Notice{Text: fmt.Sprintf(textNotCompacted, readable(s.CompactError))})
	}
}

// retryReason says in plain words why a request failed.
func retryReason(r wire.Retry) string {
	if r.ErrorStatus == 0 {
		return textNoConnection
	}
	if s, ok := reasons[r.Error]; ok {
		return s
	}
	if s := http.StatusText(r.ErrorStatus); s != "" {
		return fmt.Sprintf("%d %s", r.ErrorStatus, strings.ToLower(s))
	}
	return fmt.Sprintf(textStatus, r.ErrorStatus)
}

// short returns a text of the CLI on one line. The CLI puts some texts into tags.
func short(s string) string { return clean.Cut(clean.Line(html.UnescapeString(s)), maxNotice) }

// readable makes a code of the CLI, such as "too_few_groups", readable.
func readable(code string) string {
	if !strings.Contains(code, " ") {
		code = strings.ReplaceAll(code, "_", " ")
	}
	if code = short(code); code != "" {
		return code
	}
	return textNoReason
}

// textAccumulator collects the text of a turn. Assistant lines are authoritative; a stream only
// arrives earlier.
type textAccumulator struct {
	// stream is the ID of the streaming message.
	stream string
	// open is the streamed part of the open block, lead the line break before it.
	open strings.Builder
	lead string
	// total counts the bytes that were emitted and not taken back. last is the text of the newest
	// block, ended whether it ends with a line break.
	total int
	last  string
	ended bool
}

// begin starts a message and takes back an unfinished block.
func (a *textAccumulator) begin(id string, put func(agent.Event)) {
	a.takeBack(put)
	a.stream = id
}

// block starts a block. An unfinished one before it is kept.
func (a *textAccumulator) block() {
	if a.open.Len() > 0 { // its line is missing, but its stream is complete
		a.keep(a.open.String())
	}
}

// finish handles the whole text of a block and emits only the part that was not streamed.
func (a *textAccumulator) finish(id, text string, put func(agent.Event)) {
	streamed := a.open.String()
	rest, grown := strings.CutPrefix(text, streamed)
	if id != a.stream || !grown {
		a.takeBack(put)
		rest = text
	}
	a.say(rest, put)
	a.keep(text)
}

// say emits a piece of the open block; a new block starts on a new line.
func (a *textAccumulator) say(text string, put func(agent.Event)) {
	if text == "" {
		return
	}
	if a.open.Len() == 0 && a.lead == "" && a.total > 0 && !a.ended {
		a.lead = "\n"
		put(agent.Text{Delta: a.lead})
		a.total += len(a.lead)
	}
	put(agent.Text{Delta: text})
	a.total += len(text)
	a.open.WriteString(text)
}

// keep makes the open block final.
func (a *textAccumulator) keep(text string) {
	a.open.Reset()
	a.lead = ""
	if text != "" {
		a.last, a.ended = text, strings.HasSuffix(text, "\n")
	}
}

// takeBack takes back the open block.
func (a *textAccumulator) takeBack(put func(agent.Event)) {
	n := a.open.Len() + len(a.lead)
	if a.open.Len() == 0 {
		return
	}
	put(agent.Rewind{Bytes: n})
	a.total -= n
	a.open.Reset()
	a.lead = ""
}
