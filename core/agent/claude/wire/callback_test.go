package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

// answersOf returns the control responses that the connection has written, by ID.
func (p *peer) answersOf() map[string]string {
	p.t.Helper()
	out := map[string]string{}
	for _, line := range p.heard() {
		c := controlOf(p.t, []byte(line))
		if c.Type != kindControlResponse || out[c.Response.RequestID] != "" {
			p.t.Errorf("unexpected line %s", line)
		}
		out[c.Response.RequestID] = c.Response.Subtype + " " + string(c.Response.Response) + c.Response.Error
	}
	return out
}

type unmarshallable struct{}

func (unmarshallable) MarshalJSON() ([]byte, error) { panic("secret of the marshaller") }

func TestEveryRequestIsAnsweredWhateverTheHandlerDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var got json.RawMessage
		p := dial(t.Context(), t, Options{
			Log: slog.New(slog.NewTextHandler(&log, nil)),
			Handler: func(_ context.Context, subtype string, request json.RawMessage) (any, error) {
				switch subtype {
				case "nothing":
					return nil, nil
				case "something":
					got = request
					return map[string]any{"behavior": "allow"}, nil
				case "error":
					return nil, errors.New("not\nnow")
				case "silent error":
					return nil, errors.New("")
				case "panic":
					panic("secret of the handler")
				case "panic in the answer":
					return unmarshallable{}, nil
				case "no JSON":
					return func() {}, nil
				}
				return nil, errors.New("unknown request")
			},
		})
		for id, subtype := range map[string]string{
			"1": "nothing", "2": "error", "3": "panic", "4": "panic in the answer", "5": "silent error", "6": "of tomorrow", "7": "no JSON",
		} {
			p.say(asks(id, subtype))
		}
		p.say(`{"request_id":"8","type":"control_request","request":{"input":{"a": "<é>"},"subtype":"something"}}`)
		p.say(`{"type":"control_request","request_id":"9"}`)
		synctest.Wait()
		want := map[string]string{
			"1": "success {}", "2": "error not\nnow", "3": "error " + textFault, "4": "error " + textFault, "5": "error " + textNoReason,
			"6": "error unknown request", "7": "error json: unsupported type: func()", "8": `success {"behavior":"allow"}`, "9": "error " + textNoRequest,
		}
		if diff := cmp.Diff(want, p.answersOf()); diff != "" {
			t.Error(diff)
		}
		if want := `{"input":{"a": "<é>"},"subtype":"something"}`; string(got) != want {
			t.Errorf("the handler saw %s", got)
		}
		if n := strings.Count(log.String(), "panicked"); n != 2 || strings.Contains(log.String(), "secret") {
			t.Errorf("log: %s", log.String())
		}
		if p.conn.Pending() != 0 {
			t.Errorf("%d pending", p.conn.Pending())
		}
	})
}

func TestWithoutAHandlerRequestsAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := dial(t.Context(), t, Options{})
		p.say(asks("1", "can_use_tool"))
		synctest.Wait()
		if diff := cmp.Diff(map[string]string{"1": "error " + textNoHandler}, p.answersOf()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAnAnswerAfterACancellationIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stubborn := make(chan struct{})
		p := dial(t.Context(), t, Options{Handler: func(ctx context.Context, subtype string, _ json.RawMessage) (any, error) {
			if subtype == "stubborn" {
				<-stubborn
				return nil, nil
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		p.say(asks("1", "polite"), asks("2", "stubborn"), asks("3", "stubborn"), cancels("unknown"))
		synctest.Wait()
		if p.conn.Pending() != 3 {
			t.Errorf("%d pending", p.conn.Pending())
		}
		p.say(cancels("1"), cancels("2"), cancels("2"))
		synctest.Wait()
		if p.conn.Pending() != 1 {
			t.Errorf("%d pending after two cancellations", p.conn.Pending())
		}
		close(stubborn)
		synctest.Wait()
		p.say(cancels("3")) // too late
		if diff := cmp.Diff(map[string]string{"3": "success {}"}, p.answersOf()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestOfEqualRequestIDsTheFirstWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		release := make(chan struct{})
		p := dial(t.Context(), t, Options{Handler: func(ctx context.Context, subtype string, _ json.RawMessage) (any, error) {
			asked = append(asked, subtype)
			select {
			case <-release:
			case <-ctx.Done():
			}
			return subtype, nil
		}})
		p.say(asks("1", "first"))
		synctest.Wait()
		p.say(asks("1", "while it is answered"))
		synctest.Wait()
		close(release)
		synctest.Wait()
		if diff := cmp.Diff([]string{"first"}, asked); diff != "" {
			t.Error(diff)
		}
		if got := p.answersOf(); got["1"] != `success "first"` {
			t.Errorf("answers %v", got)
		}
	})
}

func TestCallbacksRunBesideEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		second := make(chan struct{})
		p := dial(t.Context(), t, Options{Handler: func(_ context.Context, subtype string, _ json.RawMessage) (any, error) {
			if subtype == "first" {
				<-second // would never arrive if requests were answered one by one
			} else {
				close(second)
			}
			return nil, nil
		}})
		p.say(asks("1", "first"), asks("2", "second"))
		synctest.Wait()
		if got := p.answersOf(); len(got) != 2 {
			t.Errorf("answers %v", got)
		}
	})
}
