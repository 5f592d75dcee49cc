package mcp

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/storage/store/storetest"
)

// tokens estimates the cost of definitions in a prompt.
func tokens(t testing.TB, tools []agent.Tool) int {
	t.Helper()
	size := 0
	for _, one := range tools {
		text, err := json.Marshal(map[string]any{"name": wireName(one), "description": one.Description, "input_schema": one.Schema})
		testkit.Must(t, err)
		size += len(text) + 1
	}
	return size / 4
}

// recorded returns a host whose servers have a total number of tools, none of them
// running.
func recorded(t testing.TB, servers, tools int) *Host {
	t.Helper()
	dir := storetest.Prepared(t)
	file := map[string]any{}
	for i := range servers {
		file[fmt.Sprintf("server-with-a-long-name%d", i)] = map[string]any{"command": "none"}
	}
	text, err := json.Marshal(map[string]any{"mcpServers": file})
	testkit.Must(t, err)
	testkit.Must(t, dir.Write(File, text))
	none := func(string) (string, bool) { return "", false }
	list, _, err := Read(dir, none)
	testkit.Must(t, err)
	book := recordFile{Servers: map[string]Record{}}
	for i, s := range list {
		r := Record{Source: s.source}
		for n := i; n < tools; n += servers {
			r.Tools = append(r.Tools, Tool{
				Name: fmt.Sprintf("get_thing_%d", n), Given: "x", Description: strings.Repeat("It gets a thing. ", 20),
				Schema: json.RawMessage(`{"properties":{"id":{"description":"Which thing","type":"string"}},"type":"object"}`),
			})
		}
		book.Servers[s.Name] = r
	}
	testkit.Must(t, dir.WriteJSON(RecordFile, book))
	return New(Options{Dir: dir, Log: slog.New(slog.DiscardHandler), Lookup: none})
}

// For any number of tools, a prompt grows by fewer than 600 tokens.
func TestAPromptHasRoomForAnyNumberOfTools(t *testing.T) {
	for _, c := range []struct{ servers, tools int }{{1, 0}, {1, 3}, {1, 4}, {1, 20}, {1, 200}, {1, 5_000}, {50, 200}, {50, 5_000}} {
		n := tokens(t, recorded(t, c.servers, c.tools).Tools())
		t.Logf("%d tools of %d servers: %d tokens", c.tools, c.servers, n)
		if n >= 600 || c.tools > 0 && n == 0 {
			t.Errorf("%d tools of %d servers: %d tokens", c.tools, c.servers, n)
		}
	}
}

// If there are few tools, the prompt contains them and no search is needed.
func TestAFewToolsNeedNoSearch(t *testing.T) {
	if list := recorded(t, 1, 2).Tools(); len(list) != 2 || list[0].Name != "get_thing_0" {
		t.Errorf("%d tools, the first is %+v", len(list), list)
	}
}

// A session's list stays byte-identical whatever the servers do, because an engine caches
// it. Search results may be newer.
func TestTheToolsOfASessionStayTheSameWhileItsServersChange(t *testing.T) {
	h := recorded(t, 1, 200)
	names := func() (list []string) {
		for _, one := range h.Tools() {
			list = append(list, wireName(one)+one.Description+string(one.Schema))
		}
		return list
	}
	before := names()
	testkit.Must(t, changeRecord(h.o.Dir, "server-with-a-long-name0", func(r *Record) error { r.Tools = append(r.Tools, Tool{Name: "zebra", Given: "z"}); return nil }))
	h.Reload()
	if !reflect.DeepEqual(before, names()) {
		t.Error("the tools of a session have changed")
	}
	if got := h.find(t.Context(), searching("zebra")).Text; !strings.Contains(got, "__zebra") {
		t.Errorf("found: %s", got)
	}
	h.Renew(t.Context())
	if after := names(); reflect.DeepEqual(before, after) || after[0] != before[0] || wireName(h.Tools()[1]) != toolset.Find {
		t.Errorf("a new conversation: %v", after)
	}
}

// searching is a call that searches for words.
func searching(words string) agent.Approved {
	u := agent.ToolUse{Name: toolset.Find, Input: json.RawMessage(`{"words":"` + words + `"}`)}
	a, _ := agent.Approve(u, u.Allowed())
	return a
}

func TestAHostThatDoesNotRunStartsNothingForACall(t *testing.T) {
	h := recorded(t, 1, 2)
	for range 2 {
		if r := h.Tools()[0].Call(t.Context(), searching("x")); !r.IsError || !strings.Contains(r.Text, textStopping) {
			t.Errorf("called: %+v", r)
		}
	}
}

func BenchmarkFindAmong5000Tools(b *testing.B) {
	h := recorded(b, 1, 5_000)
	for b.Loop() {
		if r := h.find(b.Context(), searching("get thing 4711")); r.IsError {
			b.Fatal(r.Text)
		}
	}
}
