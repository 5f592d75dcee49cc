package webhook

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

// east is the zone of the times that are shown.
var east = time.FixedZone("east", 2*3600)

const secret = "a-long-secret-of-the-tests"

// ciSpec is a fixture known to users of the original program.
const ciSpec = `---
id: "github-ci"
isolated: true
model: "haiku"
allow-ping: true
update-main-session: "on_ping"
fields:
  type: object
  required:
    - repo
    - status
  properties:
    repo:
      type: string
      maxLength: 200
    status:
      type: string
      enum: [success, failure, cancelled]
    branch:
      type: string
    run:
      type: integer
  additionalProperties: false
---
CI result for {repo}: {status}. Check if it warrants attention.
`

// fixedSpec has no fields that need screening.
const fixedSpec = `---
id: fixed
fields:
  type: object
  properties:
    status: {enum: [up, down]}
    n: {type: integer}
---
The server is {status}.
`

const openSpec = `---
id: open
fields: {type: object, properties: {note: {type: string, maxLength: 9000}}}
---
Someone says: {{note}}
`

// variables are those of .env.
var variables = map[string]string{}

// bearerOf returns the header of a caller with the bot's own secret.
func bearerOf(secret config.Secret) http.Header { return Spec{}.Sign(secret, nil, time.Time{}) }

// rig is a server that records its messages and actions.
type rig struct {
	begun map[string]string // the outcomes of runs that a previous process has begun
	*Server
	stop  func() // of start; it waits, and does nothing the second time
	dir   *store.Dir
	index *Index
	log   *bytes.Buffer
	// writer guards log.
	writer *locked

	mu      sync.Mutex
	jobs    []Job
	notes   []string
	noticed []string // immediate notices
	refuse  error    // the error of Note
}

// copied returns a list so far, while others add to it.
func copied[T any](r *rig, list *[]T) []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(*list)
}

func (r *rig) noticedAtOnce() []string { return copied(r, &r.noticed) } // immediate notices to the user
func (r *rig) ran() []Job              { return copied(r, &r.jobs) }
func (r *rig) noted() []string         { return copied(r, &r.notes) }

// logged returns the log so far, while others write to it.
func (r *rig) logged() string {
	r.writer.mu.Lock()
	defer r.writer.mu.Unlock()
	return r.log.String()
}

func (r *rig) deliveryLog() *deliveryLog { return r.Server.log }

func safeScreen(context.Context, map[string]string) (bool, []string, error) { return true, nil, nil }

func put(t testing.TB, d *store.Dir, name, text string) {
	t.Helper()
	storetest.Put(t, d, Folder+"/"+name, text)
}

func newRig(t testing.TB, change func(*Options)) *rig {
	t.Helper()
	d := storetest.Dir(t)
	put(t, d, "github-ci.md", ciSpec)
	put(t, d, "fixed.md", fixedSpec)
	put(t, d, "open.md", openSpec)
	return rigOn(t, d, change)
}

// rigOn creates a server on a data directory, which may have a history.
func rigOn(t testing.TB, d *store.Dir, change func(*Options)) *rig {
	t.Helper()
	r := &rig{dir: d, index: NewIndex(d), log: &bytes.Buffer{}}
	r.writer = &locked{w: r.log}
	r.index.Scan()
	o := Options{
		Dir: d, Index: r.index, Secret: secret, Hosts: func() string { return "" },
		Variable: func(name string) config.Secret { return config.Secret(variables[name]) },
		Addr:     "127.0.0.1:0", Zone: east, Changed: func() {},
		Log:    slog.New(slog.NewTextHandler(r.writer, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Screen: safeScreen, Settle: func(string) {}, Begun: func() (map[string]string, error) { return r.begun, nil },
		Run: func(_ context.Context, j Job) error {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.jobs = append(r.jobs, j)
			return nil
		},
		Note: func(text string, kept func()) error {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.refuse == nil {
				r.notes = append(r.notes, text)
				kept()
			}
			return r.refuse
		},
		Notice: func(text string) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.noticed = append(r.noticed, text)
		},
	}
	if change != nil {
		change(&o)
	}
	s, err := New(o)
	testkit.Must(t, err)
	r.Server = s
	return r
}

type locked struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// ask sends a request to the handler alone.
func (r *rig) ask(method, path, token, body string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(method, path, strings.NewReader(body))
	if token != "" {
		request.Header.Set("Authorization", token)
	}
	w := httptest.NewRecorder()
	r.ServeHTTP(w, request)
	return w
}

func (r *rig) post(id, body string) *httptest.ResponseRecorder {
	return r.ask(http.MethodPost, "/hook/"+id, "Bearer "+secret, body)
}

// start runs the server on the listener and returns a function that stops it and waits.
func (r *rig) start(t testing.TB, l net.Listener) (stop func()) {
	t.Helper()
	return r.listens(t, func(context.Context) (net.Listener, error) { return l, nil })
}

// listens runs the server on what a function returns.
func (r *rig) listens(t testing.TB, listen func(context.Context) (net.Listener, error)) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	var g sync.WaitGroup
	g.Go(func() { done <- r.run(ctx, listen) })
	r.stop = sync.OnceFunc(func() {
		cancel()
		g.Wait()
		if err := <-done; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return r.stop
}

// serving runs a test in a bubble beside a server that takes connections.
func serving(t *testing.T, change func(*Options), test func(t *testing.T, r *rig, l *pipes)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r, l := newRig(t, change), newPipes()
		defer r.start(t, l)()
		test(t, r, l)
	})
}

// pipes is an in-memory listener, so that time can be that of a bubble.
type pipes struct {
	coming chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{coming: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.coming:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

func (p *pipes) dial() (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.coming <- there:
		return here, nil
	case <-p.closed:
		return nil, errors.New("closed")
	}
}

// client speaks HTTP over the pipes.
func (p *pipes) client() *http.Client {
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return p.dial() },
	}}
}

func (p *pipes) post(t testing.TB, id, body string) (int, string) {
	t.Helper()
	request := httptest.NewRequest(http.MethodPost, "/hook/"+id, strings.NewReader(body))
	answer, text := p.to(t, with(request, "Authorization", "Bearer "+secret))
	return answer.StatusCode, text
}
