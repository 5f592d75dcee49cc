package messages

import (
	"fmt"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/agent/messages/dialect"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/base/aimocktest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
)

// independent are the answers of the server.
const independent = `{"fixtures": [
	{"match": {"userMessage": "note it", "hasToolResult": false}, "response": {"toolCalls": [{"name": "mcp__discord__note", "arguments": {"n": 1}}]}},
	{"match": {"userMessage": "note it", "hasToolResult": true}, "response": {"content": "It is noted."}},
	{"match": {"userMessage": "break"}, "response": {"error": {"message": "out of memory", "type": "server_error"}, "status": 400}}
]}`

// E1: an independent server of both interfaces is understood: text, calls, usage and errors.
func TestAnIndependentServerOfEachInterfaceAnswers(t *testing.T) {
	testkit.Alone(t)
	address := aimocktest.Start(t, independent)
	for _, api := range []dialect.API{dialect.Ollama, dialect.OpenAI, dialect.Messages} {
		r := newRigFor(t, "")
		storetest.Put(t, r.dir, provider.File, fmt.Sprintf("local:\n  base-url: %s\n  api: %s\n  models: [m]\n", address, api))
		s := r.open(r.notes, func(o *agent.SessionOptions) { o.Settings.Model = "local/m" })
		if got := r.says(s, "note it", "It is noted."); fmt.Sprint(r.called) != `[{"n":1}]` || got.result.Usage.Tokens() == 0 {
			t.Errorf("%s: called %v, %+v", api, r.called, got.result.Usage)
		}
		holds(t, string(api), say(s, "break").fate(), "out of memory")
	}
}
