// Package dialect lets an engine that speaks the Messages API talk to servers of two other APIs: OpenAI's chat
// completions, and Ollama's own. It rewrites a request on its way out, and the answer on its way back, piece by piece,
// so that everything else knows one API only. It must not know sessions, tools or where a server comes from.
//
// What the other APIs cannot say is left out: cache marks, documents, and thoughts of earlier answers.
package dialect

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
)

// API is the interface of a server.
type API string

// The known APIs. The zero value means Messages.
const (
	Messages API = "messages" // Anthropic's: POST /v1/messages
	OpenAI   API = "openai"   // OpenAI's chat completions: POST /v1/chat/completions
	Ollama   API = "ollama"   // Ollama's own: POST /api/chat, which takes the size of the context with each request
)

// All returns the names of the known APIs.
func All() []string { return []string{string(Messages), string(OpenAI), string(Ollama)} }

// Translated reports whether requests and answers are rewritten.
func (a API) Translated() bool { return a == OpenAI || a == Ollama }

// Endpoint returns the address to which a message is posted. base is the server's, without a slash at its end and
// without /v1.
func (a API) Endpoint(base string) string {
	switch a {
	case Ollama:
		return base + "/api/chat"
	case OpenAI:
		return Under(base, "/chat/completions")
	}
	return base + "/v1/messages"
}

// Under returns an address of an API that is usually below /v1. Some servers have another version in their address,
// such as /v4, or none.
func Under(base, path string) string {
	if u, err := url.Parse(base); err == nil {
		last := u.Path[strings.LastIndexByte(u.Path, '/')+1:]
		if last == "openai" || len(last) > 1 && last[0] == 'v' && strings.Trim(last[1:], "0123456789") == "" {
			return base + path
		}
	}
	return base + "/v1" + path
}

// Options are what a request of the Messages API does not say.
type Options struct {
	API API
	// Window is the size of the context in tokens. Ollama's API takes it.
	Window int
	// Thinks means that the model can think, so that it has to be said when it shall not.
	Thinks bool
}

// Do sends a request of the Messages API to a server of another API, and returns its answer as the Messages API has it:
// a stream of events, or an error's body.
func Do(client *http.Client, r *http.Request, o Options) (*http.Response, error) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	_ = r.Body.Close() // it was read to its end
	var q request
	if err := json.Unmarshal(data, &q); err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	body, err := q.write(o, r.URL.Hostname())
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	out := r.Clone(r.Context())
	out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	out.GetBody = nil
	out.Header.Del("anthropic-version")
	out.Header.Del("anthropic-beta")
	resp, err := client.Do(out)
	if err != nil {
		return resp, err //nolint:wrapcheck // as without this package: the caller explains errors of the network
	}
	if resp.StatusCode != http.StatusOK {
		return refused(resp), nil
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("content-type"))
	switch kind {
	case "text/event-stream", "application/x-ndjson", "application/json":
	default:
		return resp, nil // the caller says that this is no API
	}
	t := &translator{from: bufio.NewReader(resp.Body), whole: kind == "application/json" && o.API == OpenAI, closer: resp.Body}
	t.take = t.openAI
	if o.API == Ollama {
		t.take = t.ollama
	}
	resp.Header.Set("content-type", "text/event-stream")
	resp.Body, resp.ContentLength = t, -1
	return resp, nil
}

// maxRefusal is how much is read of an error's body, maxLine the longest line of an answer, in bytes.
const (
	maxRefusal = 64 << 10
	maxLine    = 16 << 20
)

// refused rewrites the body of an error.
func refused(resp *http.Response) *http.Response {
	data, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal)) // a partial text is better than none
	_ = resp.Body.Close()                                        // it was read
	kind, message := fault(data)
	out, err := json.Marshal(event{"type": "error", "error": event{"type": kind, "message": message}})
	if err != nil {
		out = nil // the status says enough
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(out)), int64(len(out))
	return resp
}

// fault reads the description of an error in any of the forms that servers use: {"error":{"message":…}},
// {"error":"…"}, {"message":"…"} and {"detail":…}.
func fault(data []byte) (kind, message string) {
	var said struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(data, &said) != nil {
		return "", ""
	}
	var whole struct {
		Type    string          `json:"type"`
		Code    json.RawMessage `json:"code"`
		Message string          `json:"message"`
	}
	_ = json.Unmarshal(said.Error, &whole) // it may be a text, or missing
	message = whole.Message
	for _, raw := range []json.RawMessage{said.Error, said.Detail} {
		if message == "" {
			_ = json.Unmarshal(raw, &message) // it may be no text
		}
	}
	if message == "" {
		message = said.Message
	}
	if whole.Type == "insufficient_quota" || string(whole.Code) == `"insufficient_quota"` {
		return "billing_error", message
	}
	return whole.Type, message
}

type event = map[string]any

// translator is the body of an answer: it reads the server's pieces and gives events of the Messages API.
type translator struct {
	from   *bufio.Reader
	closer io.Closer
	take   func(line []byte)
	whole  bool // the answer is one object and no stream

	out     bytes.Buffer
	begun   bool
	kind    string // of the open block of text or thought; empty if there is none
	index   int    // of the newest block
	calls   []*toolCall
	stop    string
	used    usage
	ended   bool // the server has said all
	over    bool // the end was written
	failure error
}

// toolCall is a call whose arguments arrive in pieces. key is the server's number for it.
type toolCall struct {
	key, block int
	id         string
}

// usage is the number of tokens of a request and its answer.
type usage struct {
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
	Read   int `json:"cache_read_input_tokens,omitempty"`
}

// Close closes the server's answer.
func (t *translator) Close() error { return t.closer.Close() }

// Read implements io.Reader. It waits for the server only if nothing is left to give.
func (t *translator) Read(p []byte) (int, error) {
	for t.out.Len() == 0 {
		switch {
		case t.over:
			return 0, io.EOF
		case t.failure != nil:
			return 0, t.failure
		case t.ended:
			t.finish()
			continue
		}
		t.next()
	}
	return t.out.Read(p)
}

// errLong means that a server sends a line without an end.
var errLong = errors.New("a line of the answer is too long")

// next reads a line. An answer that ends before its reason to stop ends like a broken one.
func (t *translator) next() {
	line, err := t.line()
	if line = bytes.TrimSpace(line); len(line) > 0 {
		t.take(line)
	}
	switch {
	case err == nil:
	case errors.Is(err, io.EOF) && t.stop != "":
		t.ended = true
	case errors.Is(err, io.EOF):
		t.failure = io.ErrUnexpectedEOF
	case errors.Is(err, errLong):
		t.garble()
	default:
		t.failure = err
	}
}

func (t *translator) line() (line []byte, err error) {
	for {
		part, err := t.from.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return nil, errLong
		case t.whole && err == nil, errors.Is(err, bufio.ErrBufferFull):
			continue
		}
		return line, err
	}
}

// put writes an event.
func (t *translator) put(name string, e event) {
	e["type"] = name
	data, err := json.Marshal(e)
	if err != nil {
		t.failure = err
		return
	}
	fmt.Fprintf(&t.out, "event: %s\ndata: %s\n\n", name, data)
}

// ping says that the server is at work.
func (t *translator) ping() { t.put("ping", event{}) }

// begin writes the start of the message, once.
func (t *translator) begin() {
	if !t.begun {
		t.begun = true
		t.put("message_start", event{"message": event{"type": "message", "role": "assistant", "content": []any{}}})
	}
}

// open starts a block and returns its number.
func (t *translator) open(block event) int {
	t.begin()
	t.index++
	t.put("content_block_start", event{"index": t.index, "content_block": block})
	return t.index
}

// close ends the open block of text or thought.
func (t *translator) close() {
	if t.kind != "" {
		t.put("content_block_stop", event{"index": t.index})
	}
	t.kind = ""
}

// say adds to a text ("text") or a thought ("thinking").
func (t *translator) say(kind, text string) {
	if text == "" {
		return
	}
	if t.kind != kind {
		t.close()
		t.open(event{"type": kind, kind: ""})
		t.kind = kind
	}
	t.put("content_block_delta", event{"index": t.index, "delta": event{"type": kind + "_delta", kind: text}})
}

// call adds to a call: the first piece has its name. Servers number calls in different ways, or not at all, so a name
// with another ID begins another call.
func (t *translator) call(key int, id, name, arguments string) {
	var c *toolCall
	for _, old := range t.calls {
		if old.key == key {
			c = old
		}
	}
	if c == nil || name != "" && id != "" && id != c.id {
		t.close()
		c = &toolCall{key: key, id: id}
		c.block = t.open(event{"type": "tool_use", "id": id, "name": name, "input": event{}})
		t.calls = append(t.calls, c)
	}
	if arguments != "" {
		t.put("content_block_delta", event{"index": c.block, "delta": event{"type": "input_json_delta", "partial_json": arguments}})
	}
}

// fail passes on an error that arrives in place of the rest.
func (t *translator) fail(data []byte) {
	kind, message := fault(data)
	t.put("error", event{"error": event{"type": kind, "message": message}})
	t.over = true
}

// garble passes on that the answer does not follow its API: what the caller cannot read either.
func (t *translator) garble() {
	t.out.WriteString("data: ?\n\n")
	t.over = true
}

// finish writes the end of the message.
func (t *translator) finish() {
	t.begin()
	t.close()
	for _, c := range t.calls {
		t.put("content_block_stop", event{"index": c.block})
	}
	if len(t.calls) > 0 && t.stop == stopEnd {
		t.stop = stopTool
	}
	t.put("message_delta", event{"delta": event{"stop_reason": t.stop}, "usage": t.used})
	t.put("message_stop", event{})
	t.over = true
}

// Reasons to stop, as the Messages API names them.
const (
	stopEnd     = "end_turn"
	stopTool    = "tool_use"
	stopTokens  = "max_tokens"
	stopRefusal = "refusal"
)
