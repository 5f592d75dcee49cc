package batch

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

// api is a server of message batches.
type api struct {
	mu       sync.Mutex
	made     []string // the bodies of the submitted batches
	looks    int
	ready    bool // the batches have ended
	result   string
	cancels  int
	failWith int
	keys     map[string]bool
}

func (a *api) RoundTrip(q *http.Request) (*http.Response, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	body, _ := io.ReadAll(q.Body)
	a.keys[q.Header.Get("x-api-key")+" "+q.URL.Host] = true
	status, said := http.StatusOK, `{"id":"msgbatch_1","processing_status":"in_progress"}`
	switch {
	case a.failWith != 0:
		status, said = a.failWith, `{"error":{"message":"not now"}}`
	case strings.HasSuffix(q.URL.Path, "/cancel"):
		a.cancels++
	case strings.HasSuffix(q.URL.Path, "/results"):
		said = a.result
	case q.Method == http.MethodPost:
		a.made = append(a.made, string(body))
	default:
		a.looks++
		if a.ready {
			said = `{"id":"msgbatch_1","processing_status":"ended","results_url":"https://thief.example/results"}`
		}
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(said)), Header: http.Header{}, Request: q}, nil
}

// bench is a Batches with this server.
type bench struct {
	t      *testing.T
	dir    *store.Dir
	api    *api
	gone   bool // the task was deleted
	refuse bool // the answer cannot be stored
	done   []Outcome
}

func newBench(t *testing.T) *bench {
	t.Helper()
	d := storetest.Prepared(t)
	return &bench{t: t, dir: d, api: &api{keys: map[string]bool{}, result: fmt.Sprintf(
		`{"custom_id":"other","result":{"type":"succeeded"}}`+"\n"+`{"custom_id":"aa","result":{"type":"succeeded","message":{"content":[{"type":"thinking"},{"type":"text","text":"%s"}],"usage":{"input_tokens":1000000,"output_tokens":100000}}}}`+"\n",
		`Three mails.\u001b[2J`)}}
}

// run runs one program's Batches for a while.
func (b *bench) run(d time.Duration, submit ...Request) {
	b.t.Helper()
	registry := provider.New(provider.Options{Dir: b.dir, Getenv: func(name string) string {
		return map[string]string{"ANTHROPIC_API_KEY": "right-key"}[name]
	}})
	batches := New(Options{
		Dir: b.dir, Log: slog.New(slog.DiscardHandler), Providers: registry, Wanted: func(Request) bool { return !b.gone },
		Done: func(_ Request, o Outcome, taken func()) {
			if !b.refuse {
				b.done = append(b.done, o)
				taken()
			}
		},
	})
	batches.client.Transport = b.api
	ctx, cancel := context.WithCancel(b.t.Context())
	var g sync.WaitGroup
	g.Go(func() {
		if err := batches.Run(ctx); err != nil {
			b.t.Error(err)
		}
	})
	for _, r := range submit {
		if err := batches.Submit(r); err != nil {
			b.t.Fatal(err)
		}
	}
	time.Sleep(d)
	synctest.Wait()
	cancel()
	g.Wait()
}

func request() Request {
	return Request{ID: "aa", Task: "t", Title: "Digest", Model: "sonnet", At: time.Now(), System: "You sum up.", Prompt: "What is new?"}
}

func TestAnAnswerIsTakenOnceAcrossRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.run(30*time.Minute, request())
		if len(b.api.made) != 1 || b.api.looks < 5 || b.api.looks > 30 {
			t.Fatalf("handed in %d times, looked at %d times", len(b.api.made), b.api.looks)
		}
		var body struct {
			Requests []struct {
				ID     string         `json:"custom_id"`
				Params map[string]any `json:"params"`
			} `json:"requests"`
		}
		if err := json.Unmarshal([]byte(b.api.made[0]), &body); err != nil || len(body.Requests) != 1 {
			t.Fatal(err, b.api.made)
		}
		if p := body.Requests[0].Params; body.Requests[0].ID != "aa" || p["model"] != "claude-sonnet-5-5" || p["system"] != "You sum up." || p["tools"] != nil {
			t.Errorf("%+v", body)
		}
		b.api.ready, b.refuse = true, true
		b.run(20 * time.Minute) // the answer cannot be stored
		b.refuse = false
		b.run(20 * time.Minute)
		b.run(20 * time.Minute)
		if len(b.done) != 1 || len(b.api.made) != 1 {
			t.Fatalf("taken %d times, handed in %d times", len(b.done), len(b.api.made))
		}
		if o := b.done[0]; o.Text != "Three mails." || o.Failure != "" || o.Usage.CostUSD != (2+1)/2.0 {
			t.Errorf("%+v", o)
		}
		if len(b.api.keys) != 1 || !b.api.keys["right-key api.anthropic.com"] {
			t.Errorf("the key went to %v", b.api.keys)
		}
	})
}

func TestATaskThatIsGoneTakesItsRequestWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.run(2*time.Minute, request())
		b.gone, b.api.ready = true, true
		b.run(20 * time.Minute)
		if b.api.cancels != 1 || len(b.done) != 0 {
			t.Errorf("cancelled %d times, taken %d times", b.api.cancels, len(b.done))
		}
	})
}

func TestAServerThatIsDownIsAskedAgainAndARefusalIsToldAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.api.failWith = http.StatusServiceUnavailable
		b.run(3*time.Hour, request())
		if len(b.done) != 0 {
			t.Fatalf("%+v", b.done)
		}
		b.api.failWith, b.api.ready = 0, true
		b.run(time.Hour)
		if len(b.done) != 1 || b.done[0].Failure != "" {
			t.Fatalf("%+v", b.done)
		}
		b.api.failWith = http.StatusBadRequest
		b.run(5*time.Minute, request())
		if len(b.done) != 2 || !strings.Contains(b.done[1].Failure, "not now") {
			t.Errorf("%+v", b.done)
		}
	})
}

func TestADayIsTheMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.run(26*time.Hour, request())
		if len(b.done) != 1 || b.done[0].Failure != textExpired || b.api.cancels != 1 {
			t.Errorf("%+v, cancelled %d times", b.done, b.api.cancels)
		}
		b = newBench(t)
		b.api.ready, b.api.result = true, `{"custom_id":"aa","result":{"type":"expired"}}`
		b.run(time.Hour, request())
		if len(b.done) != 1 || b.done[0].Failure != textExpired {
			t.Errorf("%+v", b.done)
		}
	})
}
