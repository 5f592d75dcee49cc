package batch

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/clean"
)

// Words for people.
const (
	textTooLate  = "no answer within a day: %v"
	textExpired  = "the server did not get to it within a day"
	textNoID     = "the server does not say what it calls the batch"
	textNoResult = "the server has ended the batch without an answer"
	textRefused  = "the server says %d: %s"
)

// maxBody is how much of an answer is read, in bytes.
const maxBody = 8 << 20

// refusal is an answer that asking again does not change.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

// state is how a batch stands.
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

// result reads the answer of a batch that has ended. Its price is half of the usual.
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

// errand is a request about batches.
type errand struct {
	method string // empty is GET
	path   string // behind that of all batches
	body   any    // sent as JSON; nil for none
	to     any    // a *bytes.Buffer, or what JSON is read into; nil for nothing
}

// call asks the server. What the server will say again is a refusal.
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
	switch {
	case err != nil:
		return fmt.Errorf("ask for the batch: %w", err)
	case res.StatusCode == http.StatusOK:
	case res.StatusCode == http.StatusTooManyRequests, res.StatusCode == http.StatusRequestTimeout, res.StatusCode == http.StatusConflict,
		res.StatusCode == http.StatusUnauthorized, res.StatusCode == http.StatusForbidden, res.StatusCode >= http.StatusInternalServerError:
		return fmt.Errorf(textRefused, res.StatusCode, clean.Cut(clean.Line(string(said)), 200))
	default:
		return &refusal{fmt.Sprintf(textRefused, res.StatusCode, clean.Cut(clean.Line(string(said)), 200))}
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
