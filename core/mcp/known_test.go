package mcp

import (
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/sandbox"
	"ollimbot/core/storage/store/storetest"
)

// A list of hosts without effect is reported where the user looks.
func TestAListOfHostsThatOpensNothingIsSaid(t *testing.T) {
	dir := storetest.Prepared(t)
	text := `{"mcpServers": {"a": {"command": "x", "network": ["api.example.org"]}, "b": {"command": "x"}}}`
	if err := dir.Write(File, []byte(text)); err != nil {
		t.Fatal(err)
	}
	states, _, err := Known(dir, func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[sandbox.Kind]int{sandbox.Bubblewrap: 0, sandbox.Landlock: 1, sandbox.Seatbelt: 1, sandbox.None: 0} {
		said := Unreached(states, func() sandbox.State { return sandbox.State{Kind: kind} })
		if len(said) != want || want == 1 && !strings.HasPrefix(said[0], "a: ") {
			t.Errorf("%s: %q", kind, said)
		}
	}
}

// The last calls of a server are recorded with their outcomes, newest last.
func TestTheLastCallsOfAServerAreKnown(t *testing.T) {
	testkit.Alone(t)
	h := newHome(t, stdio(t, nil, "plain"))
	h.run()
	h.known()
	for range maxCalls {
		h.call("plain/echo", `{"text":"a"}`)
	}
	h.call("plain/echo", `{"text":7}`)
	calls := h.States()[0].Calls
	if len(calls) != maxCalls || calls[0].Tool != "echo" || calls[0].Text != "" || calls[0].At.IsZero() || calls[maxCalls-1].Text == "" {
		t.Errorf("%+v", calls)
	}
}
