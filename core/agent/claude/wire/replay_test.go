package wire

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	gocmp "github.com/google/go-cmp/cmp"

	"ollimbot/core/base/testkit"
)

// traffic has the fields of a line in either direction.
type traffic struct {
	Type      string          `json:"type"`
	Subtype   string          `json:"subtype"`
	RequestID string          `json:"request_id"`
	Request   json.RawMessage `json:"request"`
	Response  response        `json:"response"`
}

// Both sides of a capture are played: the command says its lines, and what the host did goes through the connection.
func TestEveryCaptureReplaysWithTheSameDialogue(t *testing.T) {
	files, err := filepath.Glob("testdata/captures/*.jsonl")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d captures, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { replay(t, capture(t, name)) }) })
	}
}

func replay(t *testing.T, entries []entry) {
	answers := map[string]response{} // of the host, by request
	for _, e := range entries {
		if c := decode[traffic](e.Line); e.Dir == "host->cli" && c.Type == kindControlResponse {
			answers[c.Response.RequestID] = c.Response
		}
	}
	var next response
	s := open(t, func(ctx context.Context, _ string, _ json.RawMessage) (any, error) {
		switch next.Subtype {
		case subtypeSuccess:
			return next.Response, nil
		case subtypeError:
			return nil, errors.New(next.Error)
		}
		<-ctx.Done() // it was cancelled
		return nil, ctx.Err()
	}, "")
	ids := map[string]string{} // the connection's own IDs of the host's requests
	var want []string
	for _, e := range entries {
		c := decode[traffic](e.Line)
		if e.Dir == "host->cli" && c.Type == kindControlRequest {
			ids[c.RequestID] = fmt.Sprintf("host_%d", len(ids)+1)
		}
		for id, ours := range ids {
			e.Line = bytes.ReplaceAll(e.Line, []byte(`"`+id+`"`), []byte(`"`+ours+`"`))
		}
		switch {
		case e.Dir == "host->cli" && c.Type == kindControlRequest:
			s.ask(t.Context(), ids[c.RequestID], c.Request)
		case e.Dir == "host->cli" && c.Type != kindControlResponse: // the handler answers
			testkit.Must(t, s.Send(e.Line))
		case e.Dir == "cli->host":
			next = answers[c.RequestID]
			s.says(string(e.Line) + "\n")
		}
		switch {
		case e.Dir == "host->cli":
			want = append(want, "writes "+string(e.Line))
		case c.Type == kindControlResponse:
			said, err := json.Marshal(c.Response.Response)
			testkit.Must(t, err)
			want = append(want, ids[c.Response.RequestID]+" gets "+cmp.Or(strings.TrimPrefix(string(said), "null"), "{}"))
		case c.Type != kindControlRequest && c.Type != kindControlCancel:
			want = append(want, fmt.Sprintf("delivers %q %q %s", c.Type, c.Subtype, e.Line))
		}
		synctest.Wait()
	}
	got := s.take()
	if diff := gocmp.Diff(spelled(t, want), spelled(t, got)); diff != "" || s.Pending() > 0 {
		t.Errorf("%d requests are pending (-want +got)\n%s", s.Pending(), diff)
	}
	s.end()
	s.g.Wait()
}

// spelled sorts notes and spells their JSON in the same way.
func spelled(t *testing.T, notes []string) []string {
	for i, note := range notes {
		words, line, ok := strings.Cut(note, "{")
		if ok {
			same, err := json.Marshal(decode[any]([]byte("{" + line)))
			testkit.Must(t, err)
			notes[i] = words + string(same)
		}
	}
	slices.Sort(notes)
	return notes
}
