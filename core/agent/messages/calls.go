package messages

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"ollimbot/core/agent"
	"ollimbot/core/agent/callback"
	"ollimbot/core/agent/messages/tools"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/fault"
)

// news is a report of a running call: an event, or its end.
type news struct {
	event agent.Event
	at    int
	end   *outcome
}

// answerCalls runs calls and adds all results to the history in one message. If ctx ends,
// unfinished calls are marked as interrupted.
func (t *talk) answerCalls(calls []call) over {
	results := make([]outcome, len(calls))
	for i := range results {
		results[i] = said(answerUnknown)
	}
	for from := 0; from < len(calls) && t.ctx.Err() == nil; {
		to := from + 1
		for !t.alone(calls[from]) && to < len(calls) && !t.alone(calls[to]) {
			to++
		}
		t.together(calls[from:to], results[from:to])
		from = to
	}
	t.progress.note(calls, results)
	blocks := make([]json.RawMessage, len(calls))
	end := over{}
	for i, c := range calls {
		blocks[i] = t.result(c.ID, results[i])
		end.endTurn = end.endTurn || results[i].endTurn
	}
	if err := t.history.Add(line("user", blocks)); err != nil {
		return over{err: err}
	}
	if t.ctx.Err() != nil {
		end.err = context.Cause(t.ctx)
	}
	return end
}

// find returns a tool by its name. Task is an older name of Agent, which task files still use.
func (t *talk) find(name string) (tool, bool) {
	if name == "Task" {
		name = agentTool
	}
	i := slices.IndexFunc(t.tools, func(x tool) bool { return x.name == name })
	if i < 0 {
		return tool{}, false
	}
	return t.tools[i], true
}

// alone reports whether a call must run by itself.
func (t *talk) alone(c call) bool {
	x, known := t.find(c.Name)
	return !known || x.alone
}

// together runs calls concurrently and waits for all of them.
func (t *talk) together(calls []call, results []outcome) {
	for _, c := range calls {
		t.emit(agent.ToolStart{ID: c.ID, Name: c.Name, Input: c.Input, Subagent: t.about})
	}
	told := make(chan news)
	var running sync.WaitGroup
	for i, c := range calls {
		running.Go(func() {
			end := said(fmt.Sprintf(answerFault, c.Name))
			err := fault.Guard("a call of a tool", func() error {
				tell := func(e agent.Event) { told <- news{event: e} }
				end = t.carryOut(context.WithValue(t.ctx, talkKey{}, inTalk{t, tell}), c)
				return nil
			})()
			if err != nil {
				t.s.log.Error("tool failed", "tool", short(c.Name), "fault", err, "stack", fault.Stack(err))
			}
			told <- news{at: i, end: &end}
		})
	}
	for left := len(calls); left > 0; {
		n := <-told
		if n.end == nil {
			t.emit(n.event)
			continue
		}
		left--
		results[n.at] = *n.end
		c := calls[n.at]
		t.emit(agent.ToolEnd{
			ID: c.ID, Name: c.Name, Text: callback.Output(n.end.Text), IsError: n.end.IsError, Denied: n.end.denied,
		})
	}
	running.Wait()
}

// carryOut asks for permission and runs the tool. It may be called concurrently.
func (t *talk) carryOut(ctx context.Context, c call) outcome {
	x, known := t.find(c.Name)
	switch {
	case c.Name == findTool:
		return t.s.findTool(c.Input)
	case c.Name == callTool: // it names no tool
		return said(answerNoTool2)
	case !known:
		r := said(fmt.Sprintf(answerNoTool, short(c.Name), strings.Join(t.names(), ", ")))
		r.unknown = true
		return r
	case c.bad != "":
		return said(c.bad)
	}
	d := t.permit(ctx, x, c.ToolUse)
	a, ok := agent.Approve(c.ToolUse, d)
	if !ok {
		r := said(cmp.Or(d.Reason, callback.AnswerOther))
		r.denied = true
		return r
	}
	r := x.call(ctx, a)
	if !r.IsError {
		t.s.host.PostTool(ctx, a.Use())
	}
	return r
}

// permit checks the lists, the hook and, unless the call is already allowed, the permission
// callback.
func (t *talk) permit(ctx context.Context, x tool, u agent.ToolUse) agent.Decision {
	rules := t.s.rules()
	if rules.Forbids(u) {
		return agent.Decision{Reason: fmt.Sprintf(answerForbidden, short(u.Name))}
	}
	if t.limit != nil && !t.limit.Allows(u) {
		return agent.Decision{Reason: fmt.Sprintf(answerLimited, short(u.Name)) + t.limit.WouldPass(u)}
	}
	d := t.s.host.PreTool(ctx, u)
	if !d.Allow || !d.Ask && (x.trusted || rules.Allows(u)) {
		return d
	}
	return t.s.host.Permission(ctx, u)
}

func (t *talk) names() []string {
	var list []string
	for _, x := range t.tools {
		list = append(list, x.name)
	}
	return list
}

// result returns the block that answers a call.
func (t *talk) result(id string, r outcome) json.RawMessage {
	var content []json.RawMessage
	text := r.Text
	for _, d := range r.Documents {
		if !t.model.PDFs {
			text = strings.TrimLeft(text+"\n"+fmt.Sprintf(answerNoPDF, short(d.Title)), "\n")
			continue
		}
		content = append(content, raw(map[string]any{"type": "document", "title": d.Title, "source": inBase64(d.MediaType, d.Data)}))
	}
	if limit := t.model.Window; narrow(t.model) && len(text) > limit { // a quarter of the window
		text = clean.Head(text, limit) + answerCutText
	}
	if len(r.Images) > 0 && !t.model.Images {
		text = strings.TrimLeft(text+"\n"+answerNoPicture, "\n")
	}
	content = append(content, t.pictures(r.Images)...)
	if text != "" || content == nil {
		content = append([]json.RawMessage{textBlock(cmp.Or(text, answerNoText))}, content...)
	}
	return raw(struct {
		Type    string            `json:"type"`
		ID      string            `json:"tool_use_id"`
		IsError bool              `json:"is_error,omitempty"`
		Content []json.RawMessage `json:"content"`
	}{"tool_result", id, r.IsError, content})
}

// encoded is the source of a block with binary data.
type encoded struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

func inBase64(mediaType string, data []byte) encoded {
	return encoded{"base64", mediaType, base64.StdEncoding.EncodeToString(data)}
}

// pictures returns images as blocks, or none if the model does not accept images.
func (t *talk) pictures(list []agent.Image) []json.RawMessage {
	var out []json.RawMessage
	for _, i := range list {
		if t.model.Images {
			out = append(out, raw(map[string]any{"type": "image", "source": inBase64(i.MediaType, i.Data)}))
		}
	}
	return out
}

// talkKey is the context key of the talk for which a tool runs.
type talkKey struct{}

// inTalk is a talk and a function that reports events from other goroutines.
type inTalk struct {
	*talk
	tell func(agent.Event)
}

// botServer is the default server of the bot's own tools, whose calls need no permission.
const botServer = "discord"

// toolsOf returns all tools of a session, sorted by name. The bytes are the same for every session,
// so that they share the cache.
func (s *session) toolsOf(box *tools.Box) []tool {
	var list []tool
	if box != nil {
		for _, t := range box.Tools() {
			call := func(ctx context.Context, a agent.Approved) outcome { return outcome{Result: t.Call(ctx, a)} }
			list = append(list, tool{name: t.Name, description: t.Description, schema: t.Schema, alone: t.Alone, call: call})
		}
	}
	for _, t := range s.o.Tools {
		server := cmp.Or(t.Server, botServer)
		list = append(list, tool{
			name: "mcp__" + server + "__" + t.Name, description: t.Description, schema: t.Schema, alone: true, trusted: server == botServer,
			call: func(ctx context.Context, a agent.Approved) outcome { return s.callBot(ctx, t, a) },
		})
	}
	slices.SortFunc(list, func(a, b tool) int { return cmp.Compare(a.name, b.name) })
	return list
}

// callBot calls one of the bot's tools.
func (s *session) callBot(ctx context.Context, t agent.Tool, a agent.Approved) outcome {
	r, ok := s.host.Call(ctx, t, a)
	if !ok {
		return outcome{Result: tools.Result{Text: agent.ErrClosed.Error(), IsError: true}, denied: true}
	}
	return outcome{Result: tools.Result{Text: r.Text, IsError: r.IsError}, endTurn: r.EndTurn}
}

// tool is a tool that the model can call.
type tool struct {
	name, description string
	schema            json.RawMessage
	// alone means that the tool's calls run by themselves among the calls of one answer, in order.
	alone bool
	// trusted means that the tool checks permissions itself.
	trusted bool
	call    func(ctx context.Context, a agent.Approved) outcome
}

// outcome is the result of a call.
type outcome struct {
	tools.Result
	denied  bool // it was refused and never ran
	unknown bool // there is no such tool
	endTurn bool
}

func said(text string) outcome {
	return outcome{Result: tools.Result{Text: text, IsError: true}}
}

func failed(text string) tools.Result { return tools.Result{Text: text, IsError: true} }
