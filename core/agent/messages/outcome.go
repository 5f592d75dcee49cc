package messages

import (
	"context"
	"encoding/json"

	"ollimbot/core/agent/messages/tools"
)

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

func failed(text string) tools.Result { return tools.Result{Text: text, IsError: true} }
