package messages

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tmaxmax/go-sse"

	"ollimbot/core/agent/messages/dialect"
	"ollimbot/core/agent/messages/history"
	"ollimbot/core/agent/messages/provider"
)

const (
	// mostAnswer is the largest max_tokens of a request, fewAnswer its value if the model's limit
	// is unknown.
	mostAnswer = 64_000
	fewAnswer  = 8_192
	// someThinking is the default budget of models with a thinking budget, leastThinking
	// the smallest accepted one.
	someThinking  = 10_000
	leastThinking = 1_024
	// mildly and deeply are token budgets for models with efforts. Below mildly the lowest effort
	// is used, below deeply the next one, and above it the default.
	mildly = 4_000
	deeply = 16_000
)

// thinking is the field of a request.
type thinking struct {
	Type    string `json:"type"`
	Budget  int    `json:"budget_tokens,omitempty"`
	Display string `json:"display,omitempty"`
}

// effort is output_config.
type effort struct {
	Effort string `json:"effort"`
}

// params are the fields of a request before the frozen ones.
type params struct {
	Model     string    `json:"model"`
	MaxTokens int       `json:"max_tokens"`
	Stream    bool      `json:"stream"`
	Thinking  *thinking `json:"thinking,omitempty"`
	Output    *effort   `json:"output_config,omitempty"`
	Context   any       `json:"context_management,omitempty"`
}

// paramsFor returns a model's fields for a thinking setting.
func paramsFor(m provider.Model, setting string) params {
	p := params{Model: m.Name, MaxTokens: fewAnswer, Stream: true}
	if m.MaxOutput > 0 {
		p.MaxTokens = min(m.MaxOutput, mostAnswer)
	}
	tokens, err := strconv.Atoi(setting)
	measured := err == nil && tokens > 0
	off := setting == "off" || err == nil && tokens <= 0
	switch m.Thinking.Style {
	case provider.BudgetThinking:
		if off || setting == "" {
			break
		}
		if !measured {
			tokens = someThinking
		}
		p.Thinking = &thinking{Type: "enabled", Budget: max(leastThinking, min(tokens, p.MaxTokens/2))}
	case provider.AdaptiveThinking:
		p.Thinking = &thinking{Type: "adaptive", Display: "summarized"}
		if off && m.Thinking.Off != "" {
			p.Thinking = &thinking{Type: m.Thinking.Off}
		}
		p.Output = effortFor(m.Efforts, tokens, off && m.Thinking.Off == "", measured)
	}
	return p
}

// effortFor returns the effort for a setting; nil means the model's default.
func effortFor(efforts []string, tokens int, off, measured bool) *effort {
	switch {
	case len(efforts) == 0:
		return nil
	case off, measured && tokens < mildly:
		return &effort{efforts[0]}
	case measured && tokens < deeply:
		return &effort{efforts[min(1, len(efforts)-1)]}
	}
	return nil
}

// checkThinking validates a thinking setting.
func checkThinking(setting string) error {
	switch setting {
	case "", "off", "adaptive":
		return nil
	}
	if n, err := strconv.Atoi(setting); err != nil || n < 0 {
		return fmt.Errorf(textThinking, setting)
	}
	return nil
}

// Cache marks, with how long everything before them is kept.
const (
	forMinutes = `,"cache_control":{"type":"ephemeral"}`
	forAnHour  = `,"cache_control":{"type":"ephemeral","ttl":"1h"}`
)

// marksFor returns the cache marks of a request: where a fork left its parent, for the next fork
// within the hour, and at the user's newest messages, for the next request of the loop. The system
// prompt has its own mark.
func marksFor(h *history.History, m provider.Model) []history.Insert {
	if !m.Cache {
		return nil
	}
	var list []history.Insert
	marks := h.Marks()
	if marks.Forked != (history.Mark{}) {
		list = append(list, history.Insert{At: marks.Forked, Text: forAnHour})
	}
	for _, at := range marks.Users {
		if at != marks.Forked {
			list = append(list, history.Insert{At: at, Text: forMinutes})
		}
	}
	return list
}

// frozen returns the tools and the system prompt of a session as JSON arrays.
func frozen(tools []tool, prompt, opening string, m provider.Model) (toolsJSON, system []byte, err error) {
	type listed struct {
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
		Schema      any    `json:"input_schema"`
	}
	list := make([]listed, 0, len(tools))
	for _, t := range tools {
		list = append(list, listed{t.name, t.description, t.schema})
	}
	if toolsJSON, err = encode(list); err != nil {
		return nil, nil, fmt.Errorf("describe the tools: %w", err)
	}
	var blocks []string
	for _, text := range []string{opening, prompt} {
		if strings.TrimSpace(text) != "" {
			blocks = append(blocks, string(textBlock(text)))
		}
	}
	if n := len(blocks); n > 0 && m.Cache {
		blocks[n-1] = strings.TrimSuffix(blocks[n-1], "}") + forAnHour + "}"
	}
	return toolsJSON, []byte("[" + strings.Join(blocks, ",") + "]"), nil
}

// asked is a request to make.
type asked struct {
	provider provider.Provider
	model    provider.Model
	params   params
	history  *history.History
	// tail is an additional message of the user, which is not added to the history.
	tail []byte
	// betas are server features that the request needs.
	betas []string
}

// request builds the HTTP request, which can be sent once.
func (q asked) request(ctx context.Context) (*http.Request, error) {
	head, err := encode(q.params)
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	body, size := q.history.Body(marksFor(q.history, q.model)...)
	before := string(head[:len(head)-1]) + ","
	after := "}"
	if len(q.tail) > 0 {
		body, size = io.LimitReader(body, size-1), size-1 // without the closing bracket
		after = string(q.tail) + "]}"
		if q.history.Size() > 0 {
			after = "," + after
		}
	}
	whole := io.MultiReader(strings.NewReader(before), body, strings.NewReader(after))
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, q.provider.API.Endpoint(q.provider.BaseURL), whole)
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	r.ContentLength = int64(len(before)) + size + int64(len(after))
	r.Header.Set("content-type", "application/json")
	r.Header.Set("accept", "text/event-stream, application/json")
	r.Header.Set("user-agent", "ollim-bot")
	q.provider.Authorize(r.Header)
	if len(q.betas) > 0 && q.provider.Betas {
		r.Header.Set("anthropic-beta", strings.Join(q.betas, ","))
	}
	return r, nil
}

// send sends a request to the server, in the server's own API.
func (q asked) send(client *http.Client, r *http.Request) (*http.Response, error) {
	if !q.provider.API.Translated() {
		return client.Do(r)
	}
	return dialect.Do(client, r, dialect.Options{
		API: q.provider.API, Window: q.model.Window, Thinks: q.model.Thinking.Style != provider.NoThinking,
	})
}

// readsSlowly reports whether the server may be silent while it reads a long prompt: one without a price has no data
// center behind it.
func (q asked) readsSlowly() bool { return q.model.Free || q.provider.API.Translated() }

const (
	// firstWithin is how long a server may take to send the headers of its answer: a local one may
	// read a long prompt for minutes.
	firstWithin = 10 * time.Minute
	// silentFor is how long a stream may be silent; pings count as activity.
	silentFor = 2 * time.Minute
	// maxRefusal is the maximum number of bytes read of an error's body.
	maxRefusal = 64 << 10
)

// errSilent is the cause that cancels a silent request.
var errSilent = errors.New(textSilent)

// errCut means that a stream ended before its answer was complete.
var errCut = errors.New(textCut)

// watch cancels ctx if pat is not called for limit.
type watch struct {
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

func newWatch(ctx context.Context) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watch{cancel: cancel}
	w.timer = time.AfterFunc(firstWithin, func() { cancel(errSilent) })
	return ctx, w
}

func (w *watch) pat(limit time.Duration) { w.timer.Reset(limit) }

func (w *watch) end() {
	w.timer.Stop()
	w.cancel(nil)
}

// receive sends a request and reads its answer to the end. On an error it also returns the part
// that has arrived.
func (q asked) receive(client *http.Client, r *http.Request, put piece) (*answer, error) {
	ctx, w := newWatch(r.Context())
	defer w.end()
	a := &answer{}
	resp, err := q.send(client, r.WithContext(ctx))
	switch {
	case err != nil && resp != nil: // a redirect to another server
		return a, refused(resp, nil)
	case err != nil:
		return a, because(ctx, err)
	}
	defer resp.Body.Close()
	if !q.readsSlowly() {
		w.pat(silentFor)
	}
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal)) // a partial text is better than none
		return a, refused(resp, body)
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("content-type"))
	switch kind {
	case "text/event-stream":
		err = a.stream(resp.Body, w, put)
	case "application/json":
		err = a.whole(resp.Body, put)
	default:
		return a, &failure{text: fmt.Sprintf(textNoAPI, short(r.URL.Host), short(kind))}
	}
	if err != nil {
		return a, because(ctx, err)
	}
	for _, b := range a.blocks { // the answer is complete
		b.whole = true
	}
	return a, nil
}

// because returns the cause that ended ctx, or else the network's error.
func because(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, errGarbled) {
		return cause
	}
	return err
}

// stream reads server-sent events. Each byte, also of a comment, shows that the server is at work.
func (a *answer) stream(from io.Reader, w *watch, put piece) error {
	for event, err := range sse.Read(heard{from, w}, &sse.ReadConfig{MaxEventSize: maxAnswer}) {
		switch {
		case errors.Is(err, bufio.ErrTooLong):
			return errGarbled
		case errors.Is(err, io.ErrUnexpectedEOF):
			return errCut
		case err != nil:
			return err
		case event.Data == "":
			continue
		}
		if err := a.take(event.Type, []byte(event.Data), put); err != nil || a.over {
			return err
		}
	}
	if a.stop == "" {
		return errCut
	}
	return nil // only message_stop is missing
}

// heard is a body that pats a watch whenever something has arrived.
type heard struct {
	io.Reader
	*watch
}

func (h heard) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	if n > 0 {
		h.pat(silentFor)
	}
	return n, err
}

// whole reads the answer of a server that does not stream.
func (a *answer) whole(from io.Reader, put piece) error {
	data, err := io.ReadAll(io.LimitReader(from, maxAnswer+1))
	if err != nil {
		return errCut
	}
	var m message
	switch err := json.Unmarshal(data, &m); {
	case err != nil || len(data) > maxAnswer:
		return errGarbled
	case m.Error != nil:
		return inStream(m.Error)
	case m.Type != "message":
		return errGarbled
	}
	for i, raw := range m.Content {
		if err := a.begin(i, raw); err != nil {
			return err
		}
		b := a.blocks[i]
		if text := b.string(b.kind); text != "" {
			put(b.kind, text, true)
		}
	}
	a.stop, a.over = m.Stop, true
	a.count(m.Usage)
	return nil
}
