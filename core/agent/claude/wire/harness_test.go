package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"ollimbot/core/base/testkit"
)

// peer plays the CLI at the other ends of a connection's pipes.
type peer struct {
	t    *testing.T
	conn *Conn
	in   *io.PipeWriter // input of the connection
	out  *io.PipeReader // output of the connection
	done chan struct{}
	err  error // of Run, once done is closed

	mu    sync.Mutex
	got   [][]byte // lines written by the connection
	lines []Line   // lines delivered by the connection
}

// dial runs a connection against a peer. When the test ends, the peer hangs up and Run must have
// returned.
func dial(ctx context.Context, t *testing.T, o Options) *peer {
	t.Helper()
	r, in := io.Pipe()
	out, w := io.Pipe()
	p := &peer{t: t, in: in, out: out, done: make(chan struct{})}
	o.Line = func(l Line) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.lines = append(p.lines, l)
	}
	p.conn = New(r, w, o)
	var g sync.WaitGroup
	g.Go(func() {
		defer close(p.done)
		p.err = p.conn.Run(ctx)
	})
	g.Go(func() {
		lines := bufio.NewReader(out)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			p.mu.Lock()
			p.got = append(p.got, line)
			p.mu.Unlock()
		}
	})
	t.Cleanup(func() {
		_ = in.Close()
		g.Wait()
	})
	return p
}

// say writes lines as the CLI.
func (p *peer) say(lines ...string) {
	p.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(p.in, line+"\n"); err != nil {
			p.t.Fatalf("say %.80q: %v", line, err)
		}
	}
}

// heard returns what the connection has written so far.
func (p *peer) heard() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var lines []string
	for _, line := range p.got {
		lines = append(lines, strings.TrimSuffix(string(line), "\n"))
	}
	return lines
}

// hangUp ends the peer's output and returns Run's error.
func (p *peer) hangUp() error {
	_ = p.in.Close()
	<-p.done
	return p.err
}

// delivered returns the peer's lines so far that are not control traffic.
func (p *peer) delivered() []Line {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.lines)
}

func raws(lines []Line) []string {
	var out []string
	for _, l := range lines {
		out = append(out, string(l.Raw))
	}
	return out
}

// equalJSON compares values, not spelling.
func equalJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// entry is one line of a capture.
type entry struct {
	Dir  string          `json:"dir"`
	Line json.RawMessage `json:"line"`
}

func capture(t testing.TB, name string) []entry {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "captures", name+".jsonl"))
	testkit.Must(t, err)
	var entries []entry
	for raw := range bytes.Lines(data) {
		var e entry
		testkit.Must(t, json.Unmarshal(raw, &e))
		if e.Dir == "cli->host" || e.Dir == "host->cli" {
			entries = append(entries, e)
		}
	}
	return entries
}

// captures returns the names of all captures.
func captures(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/captures/*.jsonl")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d captures, %v", len(files), err)
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".jsonl")
	}
	return files
}

// captured returns the lines of a capture that are not control traffic.
func captured(t testing.TB, name string) []Line {
	t.Helper()
	var input bytes.Buffer
	for _, e := range capture(t, name) {
		if e.Dir == "cli->host" {
			input.Write(append(e.Line, '\n'))
		}
	}
	var lines []Line
	testkit.Must(t, New(&input, io.Discard, Options{Line: func(l Line) { lines = append(lines, l) }}).Run(t.Context()))
	return lines
}

// control is the form of control traffic in either direction.
type control struct {
	Type      string          `json:"type"`
	RequestID string          `json:"request_id"`
	Request   json.RawMessage `json:"request"`
	Response  struct {
		Subtype   string          `json:"subtype"`
		RequestID string          `json:"request_id"`
		Response  json.RawMessage `json:"response"`
		Error     string          `json:"error"`
	} `json:"response"`
}

func controlOf(t testing.TB, line []byte) control {
	t.Helper()
	var c control
	if err := json.Unmarshal(line, &c); err != nil {
		t.Fatalf("%.80s: %v", line, err)
	}
	return c
}

// asks returns a control request of the CLI.
func asks(id, subtype string) string {
	return fmt.Sprintf(`{"type":"control_request","request_id":%q,"request":{"subtype":%q}}`, id, subtype)
}

// cancels returns its cancellation.
func cancels(id string) string {
	return fmt.Sprintf(`{"type":"control_cancel_request","request_id":%q}`, id)
}
