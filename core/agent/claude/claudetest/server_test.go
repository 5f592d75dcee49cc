package claudetest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
)

// A story has requests to a server, which has a key if the first line says so. "whole" and "stream" have steps of a script; "POST" and
// the like have a path, a body, and headers behind "| ". Below is what comes, and how the server recorded it if it did not just answer.
func TestTheServerAnswersAsTheRealOneDoes(t *testing.T) {
	testkit.Alone(t)
	goldentest.Stories(t, "stories/answers.txt", func(t *testing.T, story string) string {
		key, _, _ := strings.Cut(strings.TrimPrefix(story, "key "), "\n")
		if !strings.HasPrefix(story, "key ") {
			key = ""
		}
		s := claudetest.Start(t, claudetest.Options{Key: key})
		var out []string
		for line := range strings.SplitSeq(story, "\n") {
			if strings.HasPrefix(line, "  ") {
				continue
			}
			out = append(out, line)
			verb, rest, _ := strings.Cut(line, " ")
			rest, headers, _ := strings.Cut(rest, " | ")
			path, body := "/v1/messages", `{"max_tokens":1,"model":"m","messages":[{"role":"user","content":`
			method := http.MethodPost
			switch verb {
			case "whole", "stream":
				script, _ := json.Marshal("go @@[" + rest + "]@@")
				body += fmt.Sprintf(`%s}],"stream":%v}`, script, verb == "stream")
			case "says":
				said, _ := json.Marshal(rest)
				body += string(said) + `}]}`
			case "GET", "HEAD", "POST":
				method = verb
				path, body, _ = strings.Cut(rest, " ")
			default:
				continue
			}
			out = append(out, "  "+exchanged(t, s, method, path, body, headers))
		}
		return strings.Join(out, "\n")
	})
}

// exchanged describes the answer of a request.
func exchanged(t *testing.T, s *claudetest.Server, method, path, body, header string) (got string) {
	t.Helper()
	resp, err := request(soon(t), s, method, path, body, header)
	status, answer := 0, []byte{}
	if err == nil {
		status = resp.StatusCode
		got = fmt.Sprint(status, " ")
		if h := resp.Header; h.Get("request-id") == "" {
			got += "without an ID "
		} else if after := h.Get("retry-after"); after != "" {
			got += "retry after " + after + " "
		}
		answer, err = io.ReadAll(resp.Body)
		_ = resp.Body.Close()
	}
	list, unread := events(bytes.NewReader(answer))
	if strings.HasPrefix(string(answer), "event: ") {
		got += names(list) + " "
		if bad, is := list[len(list)-1].data["error"].(object); is {
			got += fmt.Sprintf("%v: %v ", bad["type"], bad["message"])
		}
		err = errors.Join(err, unread)
	}
	m, _ := assembled(answer)
	switch bad, _ := m["error"].(object); {
	case bad != nil:
		got += fmt.Sprintf("%v: %.80s", bad["type"], bad["message"])
	case m["content"] != nil:
		got += fmt.Sprint(m["stop_reason"])
		for _, b := range m["content"].([]any) {
			delete(b.(object), "signature")
			if id, _ := b.(object)["id"].(string); strings.HasPrefix(id, "toolu_") {
				delete(b.(object), "id")
			}
			text, _ := json.Marshal(b)
			got += " " + string(text)
		}
		u := m["usage"].(object)
		got += fmt.Sprintf(" in %v+%v out %v", u["input_tokens"], u["cache_read_input_tokens"], u["output_tokens"])
	default:
		got += string(answer)
	}
	if err != nil {
		got += " CUT"
	}
	testkit.Must(t, s.Wait(soon(t), func(all []claudetest.Request) bool { return all[len(all)-1].Ended }))
	all := s.Requests()
	if r := all[len(all)-1]; r.Status != status || r.Left || r.Method != method || string(r.Raw) != body || !strings.HasPrefix(path, r.Path) {
		got += fmt.Sprintf(" recorded as %s %s %d, left %v", r.Method, r.Path, r.Status, r.Left)
	} else if r.ForModel() {
		got += fmt.Sprintf(" for %s", r.Model)
	}
	return strings.Join(strings.Fields(got), " ")
}

// names joins the kinds of events, with the number of equal ones.
func names(list []event) string {
	var out []string
	for i := 0; i < len(list); {
		n := i
		for n < len(list) && list[n].name == list[i].name && list[n].data["type"] == list[n].name {
			n++
		}
		out = append(out, fmt.Sprintf("%s×%d", list[i].name, n-i))
		i = max(n, i+1)
	}
	return strings.ReplaceAll(strings.Join(out, " "), "×1", "")
}

// An assembled streamed answer is the same as the answer that is sent as a whole.
func TestStreamingChangesNothingOfAnAnswer(t *testing.T) {
	testkit.Alone(t)
	s := claudetest.Start(t, claudetest.Options{})
	testkit.Check(t, func(r *rapid.T) {
		step := claudetest.Step{
			Thinking: rapid.String().Draw(r, "thinking"), Text: rapid.String().Draw(r, "text"),
			Tool: rapid.SampledFrom([]string{"", "Bash"}).Draw(r, "tool"), Input: object{"a": rapid.String().Draw(r, "input")},
			Chunk: rapid.IntRange(0, 9).Draw(r, "chunk"), In: 5, CacheRead: rapid.IntRange(0, 99).Draw(r, "cache"),
		}
		for range rapid.IntRange(0, 3).Draw(r, "blocks") {
			step.Blocks = append(step.Blocks, claudetest.Block{
				Type: rapid.SampledFrom([]string{"text", "tool_use"}).Draw(r, "type"),
				Text: rapid.String().Draw(r, "block"), Name: "Read", ID: "toolu_1",
			})
		}
		var answers [2]object
		for i, stream := range []bool{false, true} {
			a, err := answered(t.Context(), s, ask(stream, step))
			testkit.Must(r, err)
			answers[i], err = assembled(a)
			testkit.Must(r, err)
			delete(answers[i], "id")
			for _, b := range answers[i]["content"].([]any) {
				delete(b.(object), "id")
			}
		}
		if d := cmp.Diff(answers[0], answers[1]); d != "" {
			r.Errorf("whole and streamed answers differ (-whole +streamed):\n%s", d)
		}
	})
}

func TestARequestIsReadAsFarAsATestMayAsk(t *testing.T) {
	testkit.Alone(t)
	s := claudetest.Start(t, claudetest.Options{})
	const body = `{"model":"m","max_tokens":1000,"system":[{"type":"text","text":"one"},{"type":"text","text":"two"}],
		"tools":[{"name":"Bash"},{"name":"Read"}],"thinking":{"type":"enabled","budget_tokens":4000},"messages":[
		{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","source":{"type":"base64","data":"AAAA"}},{"type":"text","text":"(end)"}]},
		{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]},
		{"role":"system","content":"a reminder"},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":[{"type":"text","text":"no such file"}]}]}]}`
	_, err := answered(soon(t), s, body)
	testkit.Must(t, err)
	got := s.Requests()[0]
	want := claudetest.Request{
		Time: got.Time, Method: "POST", Path: "/v1/messages", Header: got.Header, Raw: []byte(body),
		Status: 200, Ended: got.Ended, Model: "m", MaxTokens: 1000, System: "one\ntwo", Tools: []string{"Bash", "Read"},
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
	if d := cmp.Diff(want, got); d != "" || got.Prompt() != "look\n(end)" || !got.ForModel() {
		t.Errorf("the request was read wrongly, with the prompt %q (-want +got):\n%s", got.Prompt(), d)
	}
}

// An answer is held before its beginning or in its middle, until it is released, its client leaves, or the server closes.
func TestAHeldAnswerWaitsForItsRelease(t *testing.T) {
	testkit.Alone(t)
	s := claudetest.Start(t, claudetest.Options{})
	newest := func() claudetest.Request { all := s.Requests(); return all[len(all)-1] }
	s.Release("early")
	s.Release("early")
	if a, err := answered(soon(t), s, ask(false, claudetest.Step{Text: "at once", Hold: "early"})); err != nil || !bytes.Contains(a, []byte("at once")) {
		t.Errorf("an early release is lost: %s, %v", a, err)
	}
	var asking sync.WaitGroup
	asking.Go(func() {
		if a, err := answered(t.Context(), s, ask(true, claudetest.Step{Text: "late", Hold: "a"})); err != nil || !bytes.Contains(a, []byte("message_stop")) {
			t.Errorf("after the release: %v, %s", err, a)
		}
	})
	testkit.Must(t, s.Wait(soon(t), func(all []claudetest.Request) bool { return len(all) == 2 }))
	if r := newest(); r.Status != 0 || r.Ended {
		t.Errorf("a held request has status %d, ended %v", r.Status, r.Ended)
	}
	s.Release("a")
	asking.Wait()

	lines := started(t, s, claudetest.Step{Text: "one two three", Chunk: 4, Hold: "c", HoldAfter: 1})
	for e := (event{}); e.name != "content_block_delta"; {
		var err error
		e, err = next(lines)
		testkit.Must(t, err)
	}
	if r := newest(); r.Status != 200 || r.Ended {
		t.Errorf("a request that is held in its middle has status %d, ended %v", r.Status, r.Ended)
	}
	s.Release("c")
	if rest, err := events(lines); err != nil || rest[len(rest)-1].name != "message_stop" {
		t.Errorf("after the release: %v, %s", err, names(rest))
	}
}

func TestAnAnswerThatHangsEndsWithItsClientOrItsServer(t *testing.T) {
	testkit.Alone(t)
	for _, step := range []claudetest.Step{{Hold: "never"}, {DelayMS: 3_600_000}, {Text: "one two three", Chunk: 4, Hold: "never", HoldAfter: 1}} {
		for _, closes := range []bool{false, true} {
			s := claudetest.Start(t, claudetest.Options{})
			ctx, leave := context.WithCancel(soon(t))
			var asking, closing sync.WaitGroup
			asking.Go(func() {
				if a, err := answered(ctx, s, ask(true, step)); err == nil {
					t.Errorf("%+v looks like a whole answer: %s", step, a)
				}
			})
			testkit.Must(t, s.Wait(soon(t), func(all []claudetest.Request) bool {
				return len(all) == 1 && (step.HoldAfter == 0 || all[0].Status == 200)
			}))
			if closes {
				closing.Go(s.Close)
				closing.Go(s.Close)
				closing.Wait() // for all answers, too
			} else {
				leave()
				testkit.Must(t, s.Wait(soon(t), func(all []claudetest.Request) bool { return all[0].Ended }))
			}
			if r := s.Requests()[0]; !r.Left || !r.Ended {
				t.Errorf("%+v, closed %v: it is recorded as whole", step, closes)
			}
			asking.Wait()
			leave()
			if _, err := answered(soon(t), s, ask(true)); closes == (err == nil) {
				t.Errorf("afterwards, closed %v: %v", closes, err)
			}
		}
	}
}

func TestWaitEndsWithTheServerOrTheContext(t *testing.T) {
	testkit.Alone(t)
	s := claudetest.Start(t, claudetest.Options{})
	_, err := answered(soon(t), s, ask(false, claudetest.Step{Text: "hello"}))
	testkit.Must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Wait(ctx, func([]claudetest.Request) bool { return false }); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "came: POST /v1/messages 200") {
		t.Errorf("a cancelled wait says %v", err)
	}
	waited := make(chan error, 1)
	asked := make(chan struct{}, 100)
	go func() {
		waited <- s.Wait(soon(t), func([]claudetest.Request) bool { asked <- struct{}{}; return false })
	}()
	<-asked
	s.Close()
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
	s.Answer(func(r claudetest.Request) (claudetest.Step, bool) {
		return claudetest.Step{Text: "decided for " + r.Model}, strings.Contains(r.Prompt(), "decide")
	})
	var asking sync.WaitGroup
	for i := range 60 {
		asking.Go(func() {
			text := map[bool]string{true: "decide", false: fmt.Sprintf("answer %02d", i)}[i%3 == 0]
			want := strings.Replace(text, "decide", "decided for claude-test-1", 1)
			a, err := answered(soon(t), s, ask(true, claudetest.Step{Text: text}))
			if m, unread := assembled(a); err != nil || unread != nil || m["content"].([]any)[0].(object)["text"] != want {
				t.Errorf("%s is answered with %v, %v", text, m, err)
			}
		})
	}
	asking.Wait()
	if all := claudetest.ForModel(s.Requests()); len(all) != 60 {
		t.Errorf("%d requests are recorded", len(all))
	}
}

// verdict is the test of RequireCLI; it records how it was ended.
type verdict struct {
	testing.TB
	ended string
}

func (v *verdict) Helper()                           {}
func (v *verdict) Skipf(format string, args ...any)  { v.end("skipped: "+format, args...) }
func (v *verdict) Fatalf(format string, args ...any) { v.end("failed: "+format, args...) }

func (v *verdict) end(format string, args ...any) {
	v.ended = fmt.Sprintf(format, args...)
	panic(v)
}

func TestAMissingCommandSkipsUnlessItIsRequired(t *testing.T) {
	empty, full := t.TempDir(), t.TempDir()
	claude := testkit.Program(t, filepath.Join(full, "claude"), "#!/bin/sh\n")
	for _, c := range []struct{ name, path, test, require, want string }{
		{"missing", empty, "", "", "skipped: needs the claude command: set OLLIM_TEST_CLAUDE"},
		{"missing and required", empty, "", "1", "failed: needs"},
		{"on PATH", full, "", "1", claude},
		{"named", empty, claude, "", claude},
		{"named wrongly", full, filepath.Join(empty, "nothing"), "", "failed: OLLIM_TEST_CLAUDE is not a command"},
		{"named, but a folder", full, empty, "", "failed: OLLIM_TEST_CLAUDE is not a command"},
	} {
		t.Setenv("PATH", c.path)
		t.Setenv("OLLIM_TEST_CLAUDE", c.test)
		t.Setenv("OLLIM_TEST_MACHINE", c.require)
		v := &verdict{TB: t}
		func() {
			defer func() { _ = recover() }()
			v.ended = claudetest.RequireCLI(v)
		}()
		if !strings.HasPrefix(v.ended, c.want) {
			t.Errorf("%s: %s, want %s", c.name, v.ended, c.want)
		}
	}
}

func TestTheCommandGetsNothingOfThisMachine(t *testing.T) {
	testkit.Alone(t)
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "from outside")
	t.Setenv("CLAUDE_CONFIG_DIR", "/from/outside")
	s := claudetest.Start(t, claudetest.Options{Key: "the-key"})
	env := claudetest.CLIEnv(t, s)
	root := filepath.Dir(strings.TrimPrefix(env[1], "HOME="))
	for _, folder := range []string{"home", "config", "tmp"} {
		if list, err := os.ReadDir(filepath.Join(root, folder)); err != nil || len(list) > 0 {
			t.Errorf("%s is no new folder: %v, %d entries", folder, err, len(list))
		}
	}
	want := []string{
		"PATH=/usr/bin:/bin", "HOME=" + root + "/home", "CLAUDE_CONFIG_DIR=" + root + "/config", "TMPDIR=" + root + "/tmp",
		"ANTHROPIC_BASE_URL=" + s.URL(), "ANTHROPIC_API_KEY=the-key", "CLAUDE_CODE_MAX_RETRIES=3", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_AUTOUPDATER=1", "ENABLE_TOOL_SEARCH=false",
	}
	if d := cmp.Diff(want, env); d != "" || slices.Equal(env, claudetest.CLIEnv(t, s)) {
		t.Errorf("the environment, new for each command (-want +got):\n%s", d)
	}
}
