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
	testkit.Must(t, dir.Write(File, []byte(text)))
	states, _, err := Known(dir, func(string) (string, bool) { return "", false })
	testkit.Must(t, err)
	for kind, want := range map[sandbox.Kind]int{sandbox.Bubblewrap: 0, sandbox.Landlock: 1, sandbox.Seatbelt: 1, sandbox.None: 0} {
		said := Unreached(states, func() sandbox.State { return sandbox.State{Kind: kind} })
		if len(said) != want || want == 1 && !strings.HasPrefix(said[0], "a: ") {
			t.Errorf("%s: %q", kind, said)
		}
	}
}

// A command without the bot says what the bot would say of the same record.
func TestACommandWithoutTheBotSaysWhichToolsWait(t *testing.T) {
	dir := storetest.Prepared(t)
	testkit.Must(t, dir.Write(File, []byte(`{"mcpServers": {"a": {"command": "x"}, "b": {"command": "x", "disabled": true}, "c": {"command": "x"}}}`)))
	lookup := func(string) (string, bool) { return "", false }
	servers, _, err := Read(dir, lookup)
	testkit.Must(t, err)
	one := Record{Source: servers[0].source, Tools: []Tool{{Name: "old"}}, Offered: []Tool{{Name: "old"}, {Name: "new"}}, Status: Ready}
	other := one
	other.Source = "another command"
	for version, want := range map[string]string{
		"":            "a: waiting, 1 tool; " + one.differs(),
		one.Version(): "a: ready, 1 tool; ",
	} {
		one.Refused = version
		testkit.Must(t, dir.WriteJSON(RecordFile, recordFile{map[string]Record{"a": one, "b": one, "c": other}}))
		states, _, err := Known(dir, lookup)
		if err != nil || !strings.HasPrefix(states[0].String(), want) {
			t.Errorf("%s, %v, want %s", states[0], err, want)
		}
		if got := states[0].Text; version != "" && !strings.Contains(got, "you have refused that") {
			t.Errorf("%s", got)
		}
		if b, c := states[1], states[2]; b.Status != Off || b.Text != "" || c.Tools != 0 || c.Text != textNotAsked {
			t.Errorf("%s, %s", b, c)
		}
	}
}

// The last calls of a server are recorded with their outcomes, newest last.
func TestTheLastCallsOfAServerAreKnown(t *testing.T) {
	testkit.Alone(t)
	h := running(t, stdio(t, nil, "plain"))
	for range maxCalls {
		h.call("plain/echo", `{"text":"a"}`)
	}
	h.call("plain/echo", `{"text":7}`)
	calls := h.States()[0].Calls
	if len(calls) != maxCalls || calls[0].Tool != "echo" || calls[0].Text != "" || calls[0].At.IsZero() || calls[maxCalls-1].Text == "" {
		t.Errorf("%+v", calls)
	}
}
