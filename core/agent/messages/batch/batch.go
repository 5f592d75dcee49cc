// Package batch submits requests that are not urgent as message batches, at half the price, and
// returns their answers up to a day later. A submitted request is on disk until its answer has been
// accepted, which happens once. It must not know tasks, runs or the conversation.
package batch

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/base/clean"
	"ollimbot/core/safety/label"
	"ollimbot/core/storage/store"
)

// file contains the submitted requests whose answers have not been accepted yet.
const file = store.StateDir + "/batches.json"

const (
	// A batch is checked after a tenth of its age, within these limits.
	soonest, latest = time.Minute, 15 * time.Minute
	// given is how long the server may take for a batch, plus an hour.
	given = 25 * time.Hour
	// maxTokens limits an answer.
	maxTokens = 16_000
)

// Request is one request, without tools and without a history.
type Request struct {
	ID    string    `json:"id"`   // of its run, also used at the server
	Task  string    `json:"task"` // ID of the run's task
	Title string    `json:"title"`
	Model string    `json:"model"`
	At    time.Time `json:"at"`
	// Label is the label of the prompt.
	Label label.Label `json:"label,omitempty"`
	// Batch is the server's ID of the batch. It is empty until the request is submitted, and until
	// then System and Prompt are kept.
	Batch  string `json:"batch,omitempty"`
	System string `json:"system,omitempty"`
	Prompt string `json:"prompt,omitempty"`
	// Dropped means that its answer is no longer needed.
	Dropped bool `json:"dropped,omitempty"`
}

// Outcome is the result of a request: a text, or the reason why there is none.
type Outcome struct {
	Text    string
	Failure string
	Usage   agent.Usage // with its price
}

// Options of Batches. All are required.
type Options struct {
	Dir       *store.Dir
	Log       *slog.Logger
	Providers *provider.Registry
	// Wanted reports whether the answer is still needed. A request of a deleted task is dropped.
	Wanted func(Request) bool
	// Done accepts an answer. It calls taken when the answer is on disk but not yet shown.
	// Otherwise the answer is offered again, even after a restart.
	Done func(r Request, o Outcome, taken func())
}

// Batches manages the waiting requests. Use New.
type Batches struct {
	o      Options
	client *http.Client
	news   chan struct{}

	// mu guards the file.
	mu sync.Mutex
}

// New reads nothing and starts nothing.
func New(o Options) *Batches {
	return &Batches{o: o, client: &http.Client{Timeout: 2 * time.Minute, CheckRedirect: provider.CheckRedirect}, news: make(chan struct{}, 1)}
}

// Takes reports whether the model's provider accepts batches.
func (b *Batches) Takes(model string) bool {
	p, _, err := b.o.Providers.Find(model)
	return err == nil && p.Batches
}

// Waiting returns the waiting requests, oldest first.
func (b *Batches) Waiting() []Request {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.read()
}

// Submit stores a request so that Run submits it. If it returns nil, the request is on disk.
func (b *Batches) Submit(r Request) error {
	err := b.change(func(list []Request) []Request { return append(list, r) })
	b.wake()
	return err
}

// Drop cancels a request. It returns false if the request is not waiting. Its cost so far is
// unknown.
func (b *Batches) Drop(id string) (r Request, ok bool) {
	err := b.change(func(list []Request) []Request {
		for i := range list {
			if list[i].ID == id && !list[i].Dropped {
				list[i].Dropped, r, ok = true, list[i], true
			}
		}
		return list
	})
	if err != nil {
		b.o.Log.Error("request was not cancelled", "id", id, "error", err)
	}
	b.wake()
	return r, ok && err == nil
}

func (b *Batches) wake() {
	select {
	case b.news <- struct{}{}:
	default:
	}
}

func (b *Batches) read() []Request {
	var list []Request
	if _, err := b.o.Dir.ReadJSON(file, &list); err != nil {
		b.o.Log.Error("waiting requests could not be read", "error", err)
	}
	return list
}

func (b *Batches) change(do func([]Request) []Request) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.o.Dir.WriteJSON(file, do(b.read())); err != nil {
		return fmt.Errorf("store the waiting requests: %w", err)
	}
	return nil
}

// Run submits requests and checks for answers until ctx ends.
func (b *Batches) Run(ctx context.Context) error {
	due := map[string]time.Time{}
	for {
		next := latest
		for _, r := range b.Waiting() {
			if wait := time.Until(due[r.ID]); wait > 0 && !r.Dropped {
				next = min(next, wait)
				continue
			}
			b.step(ctx, r)
			wait := min(max(time.Since(r.At)/10, soonest), latest)
			due[r.ID] = time.Now().Add(wait)
			next = min(next, wait)
		}
		timer := time.NewTimer(next)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-b.news:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// step advances a request by one step.
func (b *Batches) step(ctx context.Context, r Request) {
	if r.Dropped || !b.o.Wanted(r) {
		b.cancel(ctx, r)
		b.forget(r)
		return
	}
	p, m, err := b.o.Providers.Find(r.Model)
	var o *Outcome
	switch {
	case err != nil:
	case r.Batch == "":
		err = b.handIn(ctx, p, m, r)
	default:
		o, err = b.look(ctx, p, m, r)
	}
	var refused *refusal
	switch {
	case ctx.Err() != nil:
		return
	case errors.As(err, &refused):
		o = &Outcome{Failure: err.Error()}
	case err != nil && time.Since(r.At) > given:
		o = &Outcome{Failure: fmt.Sprintf(textTooLate, err)}
	case err != nil:
		b.o.Log.Warn("waiting request could not be checked", "id", r.ID, "error", err)
	case o == nil && time.Since(r.At) > given:
		b.cancel(ctx, r)
		o = &Outcome{Failure: textExpired}
	}
	if o != nil {
		b.o.Done(r, *o, func() { b.forget(r) })
	}
}

func (b *Batches) forget(r Request) {
	err := b.change(func(list []Request) []Request {
		return slices.DeleteFunc(list, func(q Request) bool { return q.ID == r.ID })
	})
	if err != nil {
		b.o.Log.Error("answered request is still stored", "id", r.ID, "error", err)
	}
}

// handIn submits the request. If the program ends before the batch's ID is on disk, the request is
// submitted again, and only the later answer is read.
func (b *Batches) handIn(ctx context.Context, p provider.Provider, m provider.Model, r Request) error {
	type object = map[string]any
	body := object{"requests": []object{{"custom_id": r.ID, "params": object{
		"model": m.Name, "max_tokens": min(maxTokens, m.MaxOutput), "system": r.System, "messages": []object{{"role": "user", "content": r.Prompt}},
	}}}}
	var made state
	if err := b.call(ctx, p, errand{method: http.MethodPost, body: body, to: &made}); err != nil {
		return err
	}
	if made.ID == "" || strings.ContainsAny(made.ID, "/?#.%") {
		return &refusal{textNoID}
	}
	return b.change(func(list []Request) []Request {
		for i := range list {
			if list[i].ID == r.ID {
				list[i].Batch, list[i].System, list[i].Prompt = made.ID, "", ""
			}
		}
		return list
	})
}

// look fetches the answer. It returns nil if the answer is not ready yet.
func (b *Batches) look(ctx context.Context, p provider.Provider, m provider.Model, r Request) (*Outcome, error) {
	var now state
	if err := b.call(ctx, p, errand{path: "/" + r.Batch, to: &now}); err != nil {
		return nil, err
	}
	if now.Status != "ended" {
		return nil, nil
	}
	return b.result(ctx, p, m, r)
}

// cancel cancels a submitted request at the server.
func (b *Batches) cancel(ctx context.Context, r Request) {
	p, _, err := b.o.Providers.Find(r.Model)
	if err == nil && r.Batch != "" {
		err = b.call(ctx, p, errand{method: http.MethodPost, path: "/" + r.Batch + "/cancel"})
	}
	if err != nil {
		b.o.Log.Warn("an abandoned request could not be cancelled", "id", r.ID, "error", err)
	}
}

// User-visible texts.
const (
	textTooLate  = "no answer within a day: %v"
	textExpired  = "the server did not process it within a day"
	textNoID     = "the server returned no ID for the batch"
	textNoResult = "the server ended the batch without an answer"
	textRefused  = "the server answered %d: %s"
)

// maxBody is the maximum number of bytes read of an answer.
const maxBody = 8 << 20

// refusal is an error that retrying does not change.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

// state is a batch's status.
type state struct {
	ID     string `json:"id"`
	Status string `json:"processing_status"`
}

// line is one line of the results.
type line struct {
	ID     string `json:"custom_id"`
	Result struct {
		Type    string `json:"type"` // "succeeded", "errored", "canceled", "expired"
		Message struct {
			Content []struct {
				Type string `json:"type"`
				Text string `json:"text"`
			} `json:"content"`
			Usage provider.Count `json:"usage"`
		} `json:"message"`
		Error json.RawMessage `json:"error"`
	} `json:"result"`
}

// result reads the answer of a batch that has ended. It costs half the usual price.
func (b *Batches) result(ctx context.Context, p provider.Provider, m provider.Model, r Request) (*Outcome, error) {
	var body bytes.Buffer
	if err := b.call(ctx, p, errand{path: "/" + r.Batch + "/results", to: &body}); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(&body)
	lines.Buffer(nil, maxBody)
	for lines.Scan() {
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil || l.ID != r.ID {
			continue
		}
		used := m.Cost(l.Result.Message.Usage.Usage())
		used.CostUSD /= 2
		var text strings.Builder
		for _, c := range l.Result.Message.Content {
			if c.Type == "text" {
				text.WriteString(c.Text)
			}
		}
		o := &Outcome{Text: strings.TrimSpace(clean.Text(text.String())), Usage: used}
		switch {
		case l.Result.Type == "expired":
			o.Failure = textExpired
		case l.Result.Type != "succeeded":
			o.Failure = clean.Cut(clean.Line(l.Result.Type+" "+string(l.Result.Error)), 300)
		case o.Text == "":
			o.Failure = textNoResult
		}
		return o, nil
	}
	return &Outcome{Failure: textNoResult}, nil
}

// errand is a call to the batch API.
type errand struct {
	method string // empty means GET
	path   string // appended to the path of all batches
	body   any    // sent as JSON; nil for none
	to     any    // a *bytes.Buffer, or a value to decode JSON into; nil discards the answer
}

// call sends a request to the server. An error that the server would repeat is a refusal.
func (b *Batches) call(ctx context.Context, p provider.Provider, e errand) error {
	var data []byte
	if e.body != nil {
		var err error
		if data, err = json.Marshal(e.body); err != nil {
			return fmt.Errorf("write the batch: %w", err)
		}
	}
	q, err := http.NewRequestWithContext(ctx, e.method, p.BaseURL+"/v1/messages/batches"+e.path, bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("write the batch: %w", err)
	}
	q.Header.Set("content-type", "application/json")
	p.Authorize(q.Header)
	res, err := b.client.Do(q)
	if err != nil {
		return fmt.Errorf("ask for the batch: %w", err)
	}
	defer func() { _ = res.Body.Close() }() // only read
	said, err := io.ReadAll(io.LimitReader(res.Body, maxBody))
	why := fmt.Sprintf(textRefused, res.StatusCode, clean.Cut(clean.Line(string(said)), 200))
	switch {
	case err != nil:
		return fmt.Errorf("ask for the batch: %w", err)
	case res.StatusCode == http.StatusOK:
	case res.StatusCode == http.StatusTooManyRequests, res.StatusCode == http.StatusRequestTimeout, res.StatusCode == http.StatusConflict,
		res.StatusCode == http.StatusUnauthorized, res.StatusCode == http.StatusForbidden, res.StatusCode >= http.StatusInternalServerError:
		return errors.New(why)
	default:
		return &refusal{why}
	}
	switch to := e.to.(type) {
	case nil:
	case *bytes.Buffer:
		to.Write(said)
	default:
		if err := json.Unmarshal(said, to); err != nil {
			return fmt.Errorf("read the batch: %w", err)
		}
	}
	return nil
}
