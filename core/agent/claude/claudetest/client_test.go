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

// ask returns the body of a request for the model, whose prompt is a script of these steps.
func ask(stream bool, steps ...claudetest.Step) string {
	b, _ := json.Marshal(object{
		"model": "claude-test-1", "max_tokens": 1000, "stream": stream, "messages": []object{{"role": "user", "content": claudetest.Script(steps...)}},
	})
	return string(b)
}

// request sends a request with headers, as "name: value". The caller closes the answer's body.
func request(ctx context.Context, s *claudetest.Server, method, path, body string, headers ...string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, s.URL()+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for _, h := range headers {
		if name, value, is := strings.Cut(h, ": "); is {
			r.Header.Set(name, value)
		}
	}
	r.Close = true // a new connection each time, so that net/http does not silently retry a cut one
	return http.DefaultTransport.RoundTrip(r)
}

// answered sends a request for the model and reads its answer to the end.
func answered(ctx context.Context, s *claudetest.Server, body string) ([]byte, error) {
	resp, err := request(ctx, s, http.MethodPost, "/v1/messages", body)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}

// started starts a stream that is read while it arrives.
func started(t testing.TB, s *claudetest.Server, step claudetest.Step) *bufio.Reader {
	t.Helper()
	resp, err := request(soon(t), s, http.MethodPost, "/v1/messages", ask(true, step))
	testkit.Must(t, err)
	t.Cleanup(func() { _ = resp.Body.Close() })
	return bufio.NewReader(resp.Body)
}

// events reads a stream to its end. The error is nil if it ended properly.
func events(r io.Reader) (out []event, err error) {
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
func next(lines *bufio.Reader) (e event, err error) {
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

// assembled builds the message from an answer as a client does.
func assembled(answer []byte) (m object, err error) {
	if json.Unmarshal(answer, &m) == nil {
		return m, nil
	}
	list, err := events(bytes.NewReader(answer))
	content, input := []any{}, ""
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
			for _, name := range []string{"text", "thinking", "signature"} {
				if text, ok := d[name].(string); ok {
					b[name] = b[name].(string) + text
				}
			}
			if text, ok := d["partial_json"].(string); ok {
				input += text
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
	if m != nil {
		m["content"] = content
	}
	return m, err
}
