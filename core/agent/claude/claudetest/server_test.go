package claudetest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/base/testkit"
)

func TestARequestIsReadAsFarAsATestMayAsk(t *testing.T) {
	testkit.Alone(t)
	s := claudetest.Start(t, claudetest.Options{})
	body := ask(false,
		user([]object{
			{"type": "text", "text": "look"},
			{"type": "image", "source": object{"type": "base64", "media_type": "image/png", "data": "AAAA"}},
			{"type": "text", "text": "(end)"},
		}),
		assistant([]object{{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "tool_use", "id": "t1", "name": "Bash", "input": object{"command": "ls"}}}),
		object{"role": "system", "content": "a reminder"},
		user([]object{{"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": []object{{"type": "text", "text": "no such file"}}}}),
	)
	body["system"] = []object{{"type": "text", "text": "one"}, {"type": "text", "text": "two"}}
	body["tools"] = []object{{"name": "Bash"}, {"name": "Read"}}
	body["thinking"] = object{"type": "enabled", "budget_tokens": 4000}
	if _, err := send(soon(t), s, "/v1/messages?beta=true", body); err != nil {
		t.Fatal(err)
	}
	got := s.Requests()[0]
	want := claudetest.Request{
		Time: got.Time, Method: "POST", Path: "/v1/messages", Header: got.Header, Raw: got.Raw,
		Status: 200, Ended: got.Ended, Model: "claude-test-1", MaxTokens: 1000, System: "one\ntwo", Tools: []string{"Bash", "Read"},
		Thinking: claudetest.Thinking{Type: "enabled", Budget: 4000},
		Messages: []claudetest.Message{
			{Role: "user", Text: "look\n(end)", Blocks: []claudetest.Block{{Type: "text", Text: "look"}, {Type: "image"}, {Type: "text", Text: "(end)"}}},
			{Role: "assistant", Blocks: []claudetest.Block{
				{Type: "thinking", Thinking: "hm", Signature: "s"}, {Type: "tool_use", ID: "t1", Name: "Bash", Input: object{"command": "ls"}},
			}},
			{Role: "system", Text: "a reminder", Blocks: []claudetest.Block{{Type: "text", Text: "a reminder"}}},
			{Role: "user", Blocks: []claudetest.Block{{Type: "tool_result", ID: "t1", Text: "no such file", IsError: true}}},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the request was read wrongly (-want +got):\n%s", d)
	}
	if got.Prompt() != "look\n(end)" || !got.ForModel() || got.Header.Get("x-api-key") != "test" || !bytes.Contains(got.Raw, []byte(`"AAAA"`)) {
		t.Errorf("prompt %q, for the model %v, headers %v", got.Prompt(), got.ForModel(), got.Header)
	}
}

func TestOnlyTheKeyIsLetIn(t *testing.T) {
	testkit.Alone(t)
	for _, c := range []struct {
		key, header, value string
		want               int
	}{
		{"", "x-api-key", "any", 200},
		{"k", "x-api-key", "k", 200},
		{"k", "authorization", "Bearer k", 200},
		{"k", "x-api-key", "other", 401},
		{"k", "authorization", "k", 401},
		{"k", "x-other", "k", 401},
	} {
		s := claudetest.Start(t, claudetest.Options{Key: c.key})
		r, err := http.NewRequestWithContext(soon(t), http.MethodPost, s.URL()+"/v1/messages/count_tokens", strings.NewReader(`{"messages":[]}`))
		testkit.Must(t, err)
		r.Header.Set(c.header, c.value)
		resp, err := http.DefaultClient.Do(r)
		testkit.Must(t, err)
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
		if resp.StatusCode != c.want || s.Requests()[0].Status != c.want {
			t.Errorf("%+v: status %d, recorded %d", c, resp.StatusCode, s.Requests()[0].Status)
		}
	}
}

func TestWhateverComesIsRecorded(t *testing.T) {
	testkit.Alone(t)
	s := claudetest.Start(t, claudetest.Options{})
	for _, c := range []struct {
		method, path, body string
		want               int
		answer             string
	}{
		{http.MethodHead, "/", "", 200, ""},
		{http.MethodGet, "/", "", 404, "not_found_error"},
		{http.MethodGet, "/v1/models", "", 404, "not_found_error"},
		{http.MethodGet, "/v1/messages", "", 404, "not_found_error"},
		{http.MethodPost, "/api/event_logging", `not json`, 404, "not_found_error"},
		{http.MethodPost, "/v1/messages", `not json`, 400, "read the body"},
		{http.MethodPost, "/v1/messages", `{"messages":[{"role":"user","content":7}]}`, 400, "messages.0.content"},
		{http.MethodPost, "/v1/messages/count_tokens?beta=true", `{"messages":[{"role":"user","content":"forty"}]}`, 200, `{"input_tokens":12}`},
	} {
		r, err := http.NewRequestWithContext(soon(t), c.method, s.URL()+c.path, strings.NewReader(c.body))
		testkit.Must(t, err)
		resp, err := http.DefaultClient.Do(r)
		testkit.Must(t, err)
		b, err := io.ReadAll(resp.Body)
		if err = errors.Join(err, resp.Body.Close()); err != nil || resp.StatusCode != c.want || !strings.Contains(string(b), c.answer) {
			t.Errorf("%s %s: status %d, %v: %s", c.method, c.path, resp.StatusCode, err, b)
		}
		all := s.Requests()
		if last := all[len(all)-1]; last.Method != c.method || last.Status != c.want || string(last.Raw) != c.body || last.ForModel() != (strings.HasPrefix(c.path, "/v1/messages") && c.method == "POST" && !strings.Contains(c.path, "count")) {
			t.Errorf("%s %s is recorded as %s %s %d", c.method, c.path, last.Method, last.Path, last.Status)
		}
	}
}

func TestWaitEndsWithTheServerOrTheContext(t *testing.T) {
	testkit.Alone(t)
	s := claudetest.Start(t, claudetest.Options{})
	never := func([]claudetest.Request) bool { return false }
	text(t, s, user("hello"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Wait(ctx, never); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "came: POST /v1/messages 200") {
		t.Errorf("a cancelled wait says %v", err)
	}
	waited := make(chan error, 1)
	var waiting sync.WaitGroup
	asked := make(chan struct{}, 100)
	waiting.Go(func() {
		waited <- s.Wait(soon(t), func([]claudetest.Request) bool { asked <- struct{}{}; return false })
	})
	<-asked
	s.Close()
	waiting.Wait()
	if err := <-waited; !errors.Is(err, claudetest.ErrClosed) {
		t.Errorf("a wait at a closed server says %v", err)
	}
	if err := s.Wait(soon(t), func(all []claudetest.Request) bool { return len(all) == 1 }); err != nil {
		t.Errorf("what holds already at a closed server says %v", err)
	}
}

func TestManyClientsAtOnceGetEachItsOwnAnswer(t *testing.T) {
	testkit.Alone(t)
	s := claudetest.Start(t, claudetest.Options{})
	const n = 60
	var want []string
	for i := range n {
		want = append(want, fmt.Sprintf("answer %02d", i))
	}
	got := make([]string, n)
	var asking sync.WaitGroup
	for i := range n {
		asking.Go(func() {
			list, err := streamed(t.Context(), s, user(claudetest.Script(claudetest.Step{Text: want[i], Chunk: 3})))
			if err != nil {
				t.Error(err)
				return
			}
			m, err := assemble(list)
			if err != nil {
				t.Error(err)
				return
			}
			got[i] = m["content"].([]any)[0].(object)["text"].(string)
		})
	}
	if err := s.Wait(soon(t), func(all []claudetest.Request) bool {
		return len(all) == n && !slices.ContainsFunc(all, func(r claudetest.Request) bool { return !r.Ended })
	}); err != nil {
		t.Fatal(err)
	}
	asking.Wait()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the answers (-asked +got):\n%s", d)
	}
}

func TestATestMayDecideBeforeTheScript(t *testing.T) {
	testkit.Alone(t)
	s := claudetest.Start(t, claudetest.Options{})
	s.Answer(func(r claudetest.Request) (claudetest.Step, bool) {
		return claudetest.Step{Text: "decided for " + r.Model}, r.Prompt() == "decide"
	})
	script := user(claudetest.Script(claudetest.Step{Text: "from the script"}))
	for _, c := range []struct {
		prompt object
		want   string
	}{
		{user("decide"), "decided for claude-test-1"},
		{script, "from the script"},
	} {
		if got := text(t, s, c.prompt); got != c.want {
			t.Errorf("the answer is %q, want %q", got, c.want)
		}
	}
	s.Answer(nil)
	if got := text(t, s, user("decide")); got != "I heard: decide" {
		t.Errorf("without anything to answer: %q", got)
	}
}

// TestAHistoryThatTheRealAPIRefusesIsRefused covers the mistakes that a fork or a resumed session
// can make.
func TestAHistoryThatTheRealAPIRefusesIsRefused(t *testing.T) {
	testkit.Alone(t)
	call := assistant([]object{{"type": "tool_use", "id": "t1", "name": "Bash", "input": object{}}})
	result := func(id string) object {
		return user([]object{{"type": "tool_result", "tool_use_id": id, "content": "ok"}})
	}
	for _, c := range []struct {
		name    string
		history []object
		want    string // a part of the refusal; empty if it is accepted
	}{
		{"a tool loop", []object{user("go"), call, result("t1")}, ""},
		{"a reminder inside a tool loop", []object{user("go"), call, {"role": "system", "content": "r"}, result("t1")}, ""},
		{"no messages", nil, "at least one message"},
		{"a strange role", []object{{"role": "robot", "content": "x"}}, "robot"},
		{"an empty text", []object{user([]object{{"type": "text", "text": ""}})}, "non-empty"},
		{"a call without a result", []object{user("go"), call, user("never mind")}, "without tool_result blocks: [t1]"},
		{"a call at the end", []object{user("go"), call}, "without tool_result blocks: [t1]"},
		{"an answer after a call", []object{user("go"), call, assistant("x"), result("t1")}, "without tool_result blocks: [t1]"},
		{"a result without a call", []object{user("go"), result("t2")}, "unexpected tool_use_id t2"},
	} {
		status, _ := whole(t, claudetest.Start(t, claudetest.Options{}), c.history...)
		got := text(t, claudetest.Start(t, claudetest.Options{}), c.history...)
		if c.want == "" && status != 200 || c.want != "" && (status != 400 || !strings.Contains(got, c.want)) {
			t.Errorf("%s: status %d, %q", c.name, status, got)
		}
	}
}
