package messages

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"

	"ollimbot/core/agent"
	"ollimbot/core/agent/messages/history"
	"ollimbot/core/agent/messages/tools"
	"ollimbot/core/safety/policy"
)

// agentTool is the tool that runs subagents.
const agentTool = "Agent"

// subagent runs a subagent to its end, in a separate talk whose history is not kept.
func (s *session) subagent(ctx context.Context, sub tools.Subagent) tools.Result {
	in, ok := ctx.Value(talkKey{}).(inTalk)
	switch {
	case !ok:
		return failed(answerNoTalk)
	case in.about != "":
		return failed(answerNested)
	}
	t := talk{s: s, ctx: ctx, counting: &sync.Mutex{}, bill: in.bill, provider: in.provider, model: in.model, settings: in.settings, part: agent.Subagent}
	t.about = cmp.Or(short(sub.About), short(sub.Type))
	t.emit = func(e agent.Event) bool { in.tell(e); return ctx.Err() == nil }
	var err error
	if sub.Model != "" {
		if t.provider, t.model, err = s.e.find(sub.Model); err != nil {
			return failed(fmt.Sprintf(answerFailed, err))
		}
	}
	prompt, err := t.equip(sub)
	if err != nil {
		return failed(fmt.Sprintf(answerFailed, err))
	}
	return t.errand(ctx, prompt, in.talk)
}

// equip sets a subagent's tools and system prompt, and returns its first message. A subagent with a
// file uses that file's, because the session's prompt would contradict it. A subagent without a
// file shares the session's prompt, and with it the cache.
func (t *talk) equip(sub tools.Subagent) (prompt string, err error) {
	if strings.TrimSpace(sub.System) == "" && sub.Tools == nil {
		t.tools = t.s.tools
		list, system, err := t.s.history.Frozen()
		if err == nil {
			t.history, err = inMemory(list, system)
		}
		return answerSubagent + "\n\n" + sub.Prompt, err
	}
	if sub.Tools != nil {
		t.limit = policy.Compile(t.s.o.Dir, policy.Rules{Allowed: sub.Tools})
	}
	for _, x := range t.s.tools {
		if x.name != agentTool && (t.limit == nil || t.limit.Names(x.name)) {
			t.tools = append(t.tools, x)
		}
	}
	list, system, err := frozen(t.tools, strings.TrimSpace(sub.System), answerSubagent+" "+answerMaterial, t.model)
	if err == nil {
		t.history, err = inMemory(list, system)
	}
	return sub.Prompt, err
}

// search asks the provider to search the web, in a separate request.
func (s *session) search(ctx context.Context, q tools.Query) tools.Result {
	in, ok := ctx.Value(talkKey{}).(inTalk)
	if !ok {
		return failed(answerNoTalk)
	}
	t := talk{
		s: s, ctx: ctx, counting: &sync.Mutex{}, bill: in.bill, provider: in.provider, model: in.model, settings: in.settings,
		about: in.about, part: in.part, quiet: true,
	}
	t.emit = func(e agent.Event) bool { in.tell(e); return ctx.Err() == nil }
	h, err := inMemory(fmt.Appendf(nil, "[%s]", q.Definition(in.model.WebSearch)), []byte("[]"))
	if err != nil {
		return failed(fmt.Sprintf(answerFailed, err))
	}
	t.history = h
	return t.errand(ctx, fmt.Sprintf(answerSearch, q.Text), in.talk)
}

// inMemory returns a history in memory with these tools and system prompt.
func inMemory(list, system []byte) (*history.History, error) {
	h, err := history.New("", "")
	if err != nil {
		return nil, err
	}
	return h, h.Begin(list, system, history.Facts{})
}

// errand returns the model's last text for a prompt. Its usage counts for the talk that sent it.
func (t *talk) errand(ctx context.Context, prompt string, sent *talk) tools.Result {
	defer func() { sent.add(t.used, t.rounds) }()
	if err := t.history.Add(userLine(prompt)); err != nil {
		return failed(fmt.Sprintf(answerFailed, err))
	}
	switch end := t.converse(nil); {
	case end.stopped != "":
		return failed(fmt.Sprintf(answerFailed, end.stopped))
	case end.failed != nil:
		return failed(fmt.Sprintf(answerFailed, end.failed.text))
	case end.err != nil || ctx.Err() != nil:
		return failed(answerUnknown)
	case end.refused:
		return failed(textRefusal)
	}
	return tools.Result{Text: cmp.Or(t.last, answerNoWords)}
}
