package claudetest_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/base/testkit"
)

// object is a JSON object.
type object = map[string]any

// event is one raw server-sent event.
type event struct {
	name string
	data object
}

// soon returns a context for events that must happen at once.
func soon(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// user and assistant return messages of a history. content is a string or blocks.
func user(content any) object      { return object{"role": "user", "content": content} }
func assistant(content any) object { return object{"role": "assistant", "content": content} }

// ask returns the body of a request for the model.
func ask(stream bool, history ...object) object {
	return object{"model": "claude-test-1", "max_tokens": 1000, "stream": stream, "messages": history}
}

// answer is the received answer, up to the error that ended it.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// send posts a body and reads the answer.
func send(ctx context.Context, s *claudetest.Server, path string, body any) (answer, error) {
	resp, err := post(ctx, s, path, body)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return answer{status: resp.StatusCode, header: resp.Header, body: b}, err
}

// post posts a body. The caller closes the answer's body.
func post(ctx context.Context, s *claudetest.Server, path string, body any) (*http.Response, error) {
	b, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+path, strings.NewReader(string(b)))
	if err != nil {
		return nil, err
	}
	r.Header.Set("x-api-key", "test")
	// Use a new connection each time, so that net/http does not silently retry a cut one.
	r.Close = true
	return http.DefaultTransport.RoundTrip(r)
}

// whole sends a request without streaming and returns the status and the answer.
func whole(t testing.TB, s *claudetest.Server, history ...object) (int, object) {
	t.Helper()
	a, err := send(soon(t), s, "/v1/messages?beta=true", ask(false, history...))
	testkit.Must(t, err)
	var o object
	testkit.Must(t, json.Unmarshal(a.body, &o))
	return a.status, o
}

// text returns the text of a whole answer, or the message of a refusal.
func text(t testing.TB, s *claudetest.Server, history ...object) string {
	t.Helper()
	_, o := whole(t, s, history...)
	if e, ok := o["error"].(object); ok {
		return fmt.Sprintf("%s: %s", e["type"], e["message"])
	}
	var out []string
	for _, b := range o["content"].([]any) {
		out = append(out, fmt.Sprint(b.(object)["text"]))
	}
	return strings.Join(out, "|")
}

// open starts a stream that is read while it arrives.
func open(t testing.TB, s *claudetest.Server, history ...object) *bufio.Reader {
	t.Helper()
	resp, err := post(soon(t), s, "/v1/messages", ask(true, history...))
	testkit.Must(t, err)
	t.Cleanup(func() {
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
	})
	return bufio.NewReader(resp.Body)
}

// streamed requests a stream and returns its events and its error; nil if it ended properly.
func streamed(ctx context.Context, s *claudetest.Server, history ...object) ([]event, error) {
	a, err := send(ctx, s, "/v1/messages", ask(true, history...))
	list, unread := events(bytes.NewReader(a.body))
	return list, errors.Join(err, unread)
}

// events reads a stream to its end. The error is nil if it ended properly.
func events(r io.Reader) ([]event, error) {
	var out []event
	lines := bufio.NewReader(r)
	for {
		e, err := next(lines)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, e)
	}
}

// next reads one event.
func next(lines *bufio.Reader) (event, error) {
	var e event
	for {
		l, err := lines.ReadString('\n')
		if err != nil {
			return e, err
		}
		l = strings.TrimSuffix(l, "\n")
		if name, ok := strings.CutPrefix(l, "event: "); ok {
			e.name = name
		} else if data, ok := strings.CutPrefix(l, "data: "); ok {
			if err := json.Unmarshal([]byte(data), &e.data); err != nil {
				return e, err
			}
		} else if l == "" {
			return e, nil
		} else {
			return e, fmt.Errorf("a stray line %q", l)
		}
	}
}

// names joins the kinds of events; consecutive equal ones appear once.
func names(list []event) string {
	var out []string
	for _, e := range list {
		if len(out) == 0 || out[len(out)-1] != e.name {
			out = append(out, e.name)
		}
	}
	return strings.Join(out, " ")
}

// assemble builds the message from a stream as a client does.
func assemble(list []event) (object, error) {
	var m object
	var content []any
	var input string
	for _, e := range list {
		switch e.name {
		case "message_start":
			m = e.data["message"].(object)
		case "content_block_start":
			if int(e.data["index"].(float64)) != len(content) {
				return nil, fmt.Errorf("block %v after %d blocks", e.data["index"], len(content))
			}
			content, input = append(content, e.data["content_block"]), ""
		case "content_block_delta":
			b, d := content[len(content)-1].(object), e.data["delta"].(object)
			switch d["type"] {
			case "text_delta":
				b["text"] = b["text"].(string) + d["text"].(string)
			case "thinking_delta":
				b["thinking"] = b["thinking"].(string) + d["thinking"].(string)
			case "signature_delta":
				b["signature"] = d["signature"]
			case "input_json_delta":
				input += d["partial_json"].(string)
			}
		case "content_block_stop":
			if b := content[len(content)-1].(object); b["type"] == "tool_use" {
				var v object
				if err := json.Unmarshal([]byte(input), &v); err != nil {
					return nil, err
				}
				b["input"] = v
			}
		case "message_delta":
			m["usage"] = e.data["usage"]
			maps.Copy(m, e.data["delta"].(object))
		}
	}
	if content == nil {
		content = []any{}
	}
	m["content"] = content
	return m, nil
}
