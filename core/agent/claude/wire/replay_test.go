package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

// replay plays both sides of a capture: the peer says the CLI's lines, and the actions of the
// capture's host go through the connection.
type replay struct {
	*peer
	ids     map[string]string // the capture's IDs of host requests -> the connection's
	seen    int               // number of host lines already checked
	answers map[string][]control
	asked   []string // control requests that reached the handler

	mu        sync.Mutex
	cancelled int
	responses map[string]json.RawMessage // by the capture's ID; nil for a refusal
}

func newReplay(t *testing.T, entries []entry) *replay {
	r := &replay{ids: map[string]string{}, answers: map[string][]control{}, responses: map[string]json.RawMessage{}}
	requests := map[string]string{}
	for _, e := range entries {
		c := controlOf(t, e.Line)
		switch {
		case e.Dir == "cli->host" && c.Type == kindControlRequest:
			requests[c.RequestID] = string(c.Request)
		case e.Dir == "host->cli" && c.Type == kindControlResponse:
			request := requests[c.Response.RequestID]
			r.answers[request] = append(r.answers[request], c)
		}
	}
	r.peer = dial(t.Context(), t, Options{Handler: r.handle})
	return r
}

// handle answers as the host of the capture did, or waits for cancellation.
func (r *replay) handle(ctx context.Context, subtype string, request json.RawMessage) (any, error) {
	r.mu.Lock()
	r.asked = append(r.asked, subtype)
	answers := r.answers[string(request)]
	if len(answers) > 0 {
		r.answers[string(request)] = answers[1:]
	}
	r.mu.Unlock()
	if len(answers) == 0 {
		<-ctx.Done()
		r.mu.Lock()
		r.cancelled++
		r.mu.Unlock()
		return nil, ctx.Err()
	}
	if a := answers[0].Response; a.Subtype == subtypeError {
		return nil, errors.New(a.Error)
	}
	return answers[0].Response.Response, nil
}

// play replays one entry of the capture.
func (r *replay) play(e entry, requests *sync.WaitGroup) {
	c := controlOf(r.t, e.Line)
	switch {
	case e.Dir == "cli->host" && c.Type == kindControlResponse:
		ours := bytes.Replace(e.Line, []byte(c.Response.RequestID), []byte(r.ids[c.Response.RequestID]), 1)
		r.say(string(ours))
	case e.Dir == "cli->host":
		r.say(string(e.Line))
	case c.Type == kindControlRequest:
		requests.Go(func() {
			response, err := r.conn.Request(r.t.Context(), c.Request)
			if errors.Is(err, ErrClosed) {
				return
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			r.responses[c.RequestID] = response
		})
	case c.Type != kindControlResponse: // the handler sends the answers
		if err := r.conn.Send(e.Line); err != nil {
			r.t.Error(err)
		}
	}
	synctest.Wait()
	if e.Dir == "host->cli" {
		r.expect(c, e.Line)
	}
}

// expect looks for the host's line of the capture among the lines that the connection has written
// since the last one.
func (r *replay) expect(want control, line []byte) {
	r.t.Helper()
	heard := r.heard()
	for _, got := range heard[r.seen:] {
		c := controlOf(r.t, []byte(got))
		switch {
		case c.Type != want.Type:
			continue
		case c.Type == kindControlRequest && equalJSON(c.Request, want.Request):
			r.ids[want.RequestID] = c.RequestID
		case c.Type == kindControlResponse && c.Response.RequestID == want.Response.RequestID:
			if !equalJSON([]byte(got), line) {
				r.t.Errorf("answered %s\nthe capture's host %s", got, line)
			}
		case !equalJSON([]byte(got), line):
			continue
		}
		if c.Type != kindControlResponse {
			r.seen = len(heard)
		}
		return
	}
	r.t.Errorf("the host's line was never written: %.200s", line)
}

func TestEveryCaptureReplaysWithTheSameDialogue(t *testing.T) {
	for _, name := range captures(t) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				entries := capture(t, name)
				r := newReplay(t, entries)
				var requests sync.WaitGroup
				wantAsked, wantAnswered, wantResponses := 0, 0, 0
				for _, e := range entries {
					r.play(e, &requests)
					switch c := controlOf(t, e.Line); {
					case e.Dir == "cli->host" && c.Type == kindControlRequest:
						wantAsked++
					case e.Dir == "host->cli" && c.Type == kindControlResponse:
						wantAnswered++
					case e.Dir == "cli->host" && c.Type == kindControlResponse:
						wantResponses++
						if got := r.responses[c.Response.RequestID]; c.Response.Response != nil && !equalJSON(got, c.Response.Response) {
							t.Errorf("request %s was answered %.100s", c.Response.RequestID, got)
						}
					}
				}
				if err := r.hangUp(); err != nil {
					t.Errorf("Run: %v", err)
				}
				requests.Wait()
				if len(r.asked) != wantAsked || r.cancelled != wantAsked-wantAnswered || len(r.responses) != wantResponses {
					t.Errorf("%d of %d callbacks, %d of %d cancelled, %d of %d requests answered",
						len(r.asked), wantAsked, r.cancelled, wantAsked-wantAnswered, len(r.responses), wantResponses)
				}
				if diff := cmp.Diff(raws(captured(t, name)), raws(r.delivered())); diff != "" {
					t.Error("lines (-said +got):", diff)
				}
				if n := r.conn.skipped; n != 0 {
					t.Errorf("%d lines were skipped", n)
				}
			})
		})
	}
}

func TestAnInterruptCancelsThePermissionThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReplay(t, capture(t, "c-interrupt-while-permission-pending"))
		var requests sync.WaitGroup
		for _, e := range capture(t, "c-interrupt-while-permission-pending") {
			before := r.conn.Pending()
			r.play(e, &requests)
			switch c := controlOf(t, e.Line); {
			case e.Dir == "cli->host" && c.Type == kindControlRequest:
				if r.conn.Pending() != 1 {
					t.Errorf("pending %d while the permission waits", r.conn.Pending())
				}
			case c.Type == kindControlCancel:
				if before != 1 || r.conn.Pending() != 0 || r.cancelled != 1 {
					t.Errorf("pending %d, then %d; cancelled %d", before, r.conn.Pending(), r.cancelled)
				}
			}
		}
		requests.Wait()
		for _, line := range r.heard() {
			if c := controlOf(t, []byte(line)); c.Type == kindControlResponse {
				t.Errorf("a cancelled request was answered: %s", line)
			}
		}
	})
}
