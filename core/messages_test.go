package core

import (
	"os"

	"ollimbot/core/agent"
	"ollimbot/core/agent/messages"
	"ollimbot/core/agent/messages/messagestest"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/agent/script"
	"ollimbot/core/storage/store/storetest"
)

// overMessages is the engine over the Messages API, behind which the offline engine
// plays the model.
func overMessages(h home) (agent.Engine, func()) {
	h.t.Helper()
	must(h.t, os.MkdirAll(h.root, 0o700))
	dir, model := storetest.At(h.t, h.root), messagestest.New(script.Options{Pace: 0.5})
	return messages.New(messages.Options{
		Dir: dir, Transport: model, Env: []string{"PATH=/usr/bin:/bin"},
		Providers: provider.New(provider.Options{Dir: dir, Getenv: func(name string) string {
			return map[string]string{"ANTHROPIC_API_KEY": "a key of a test"}[name]
		}}),
	}), model.Close
}
