package claude

import (
	"context"
	"testing"

	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/base/testkit"
)

func TestARefusedKeyIsSaidAfterTwoRequests(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t)
	s := r.open()
	end := say(t, s, claudetest.Script(claudetest.Step{Error: 401})).result(t)
	if !end.IsError || !end.Unavailable || end.Text != textBadKey || len(r.requests()) > 3 {
		t.Errorf("%d requests, %+v", len(r.requests()), end)
	}
	testkit.Must(t, s.Interrupt(context.Background()))
	if h := say(t, s, claudetest.Script(claudetest.Step{Text: "Here."})); h.text() != "Here." || h.result(t).IsError {
		t.Errorf("%q, %+v", h.text(), h.result(t))
	}
}
