package messages

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"ollimbot/core/agent"
	"ollimbot/core/agent/messages/tools"
)

// botServer is the server of the bot's own tools where they name none. Their calls
// need nobody's permission.
const botServer = "discord"

// tool is one that the model can call, its own or the bot's.
type tool struct {
	name, description string
	schema            json.RawMessage
	// alone says that of one answer's calls it runs by itself, in their order.
	alone bool
	// trusted says that it decides by itself whether it may be called.
	trusted bool
	call    func(ctx context.Context, args json.RawMessage) outcome
}

// outcome is what has become of a call.
type outcome struct {
	tools.Result
	denied  bool // it was refused, and the tool never ran
	endTurn bool
}

func said(text string) outcome {
	return outcome{Result: tools.Result{Text: text, IsError: true}}
}

// toolsOf are all tools of a session, by their names: the same bytes for every
// session, as the cache wants it.
func (s *session) toolsOf(box *tools.Box) []tool {
	var list []tool
	if box != nil {
		for _, t := range box.Tools() {
			call := func(ctx context.Context, args json.RawMessage) outcome { return outcome{Result: t.Call(ctx, args)} }
			list = append(list, tool{name: t.Name, description: t.Description, schema: t.Schema, alone: t.Alone, call: call})
		}
	}
	for _, t := range s.o.Tools {
		server := cmp.Or(t.Server, botServer)
		list = append(list, tool{
			name: "mcp__" + server + "__" + t.Name, description: t.Description, schema: t.Schema, alone: true, trusted: server == botServer,
			call: func(ctx context.Context, args json.RawMessage) outcome { return s.callBot(ctx, t, args) },
		})
	}
	slices.SortFunc(list, func(a, b tool) int { return cmp.Compare(a.name, b.name) })
	return list
}

// callBot calls a tool of the bot's.
func (s *session) callBot(ctx context.Context, t agent.Tool, args json.RawMessage) outcome {
	r, ok := s.host.Call(ctx, t, args)
	if !ok {
		return outcome{Result: tools.Result{Text: textClosed, IsError: true}, denied: true}
	}
	return outcome{Result: tools.Result{Text: r.Text, IsError: r.IsError}, endTurn: r.EndTurn}
}
