package webhook

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/config"
)

// waitFor lets a bubble's time pass.
func waitFor(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
	synctest.Wait()
}

func TestTheChecksComeInTheirOrderWithTheirAnswers(t *testing.T) {
	good := `{"repo":"a","status":"success"}`
	for name, c := range map[string]struct {
		method, path, token, body string
		status                    int
		answer                    string
	}{
		"accepted":           {"POST", "/hook/github-ci", "Bearer " + secret, good, 202, `{"status":"accepted"}`},
		"no token":           {"POST", "/hook/github-ci", "", good, 401, `{"error":"unauthorized"}`},
		"wrong token":        {"POST", "/hook/github-ci", "Bearer " + secret + "x", good, 401, `{"error":"unauthorized"}`},
		"no Bearer":          {"POST", "/hook/github-ci", secret, good, 401, `{"error":"unauthorized"}`},
		"other scheme":       {"POST", "/hook/github-ci", "bearer " + secret, good, 401, `{"error":"unauthorized"}`},
		"empty token":        {"POST", "/hook/github-ci", "Bearer ", good, 401, `{"error":"unauthorized"}`},
		"bytes":              {"POST", "/hook/github-ci", "Bearer \xff\xfe\x80", good, 401, `{"error":"unauthorized"}`},
		"token before spec":  {"POST", "/hook/none", "Bearer x", good, 401, `{"error":"unauthorized"}`},
		"no spec":            {"POST", "/hook/none", "Bearer " + secret, "not json", 404, `{"error":"webhook not found: none"}`},
		"file name":          {"POST", "/hook/github-ci.md", "Bearer " + secret, good, 404, `{"error":"webhook not found: github-ci.md"}`},
		"no JSON":            {"POST", "/hook/github-ci", "Bearer " + secret, "{", 400, `{"error":"invalid json"}`},
		"JSON before schema": {"POST", "/hook/github-ci", "Bearer " + secret, `{"repo":1,"repo":2}`, 400, `{"error":"invalid json"}`},
		"schema":             {"POST", "/hook/github-ci", "Bearer " + secret, `{"repo":"a"}`, 400, `{"error":"validation failed","details":["status is required"]}`},
		"template":           {"POST", "/hook/open", "Bearer " + secret, `{}`, 400, `{"error":"payload missing fields referenced in template: ['note']"}`},
		"too large":          {"POST", "/hook/open", "Bearer " + secret, `{"note":"` + strings.Repeat("x", MaxBody) + `"}`, 413, `{"error":"payload too large"}`},
		"GET":                {"GET", "/hook/github-ci", "Bearer " + secret, "", 405, `{"error":"method not allowed"}`},
		"other path":         {"POST", "/", "Bearer " + secret, good, 404, `{"error":"not found"}`},
		"no slug":            {"POST", "/hook/", "Bearer " + secret, good, 404, `{"error":"not found"}`},
		"deeper":             {"POST", "/hook/github-ci/x", "Bearer " + secret, good, 404, `{"error":"not found"}`},
		"health":             {"GET", "/healthz", "", "", 200, `{"status":"ok"}`},
		"health is read":     {"POST", "/healthz", "", "", 405, `{"error":"method not allowed"}`},
	} {
		r := newRig(t, nil)
		w := r.ask(c.method, c.path, c.token, c.body)
		if w.Code != c.status || strings.TrimSpace(w.Body.String()) != c.answer {
			t.Errorf("%s: %d %s", name, w.Code, w.Body.String())
		}
		if kind := w.Header().Get("Content-Type"); kind != "application/json" || w.Header().Get("Server") != "" {
			t.Errorf("%s: headers %v", name, w.Header())
		}
		if c.status == 405 && w.Header().Get("Allow") == "" {
			t.Errorf("%s: no Allow", name)
		}
	}
}

func TestTheLimitOfAPayloadIsExact(t *testing.T) {
	body := func(n int) string { return `{"note":"` + strings.Repeat("x", n-len(`{"note":""}`)) + `"}` }
	r := newRig(t, nil)
	if w := r.post("open", body(MaxBody+1)); w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("one byte more: %d", w.Code)
	}
	// The schema of the spec allows fewer characters: this one is read and judged.
	if w := r.post("open", body(MaxBody)); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "note has 10229 characters") {
		t.Errorf("exactly the limit: %d %s", w.Code, w.Body.String())
	}
	request, _ := http.NewRequest(http.MethodPost, "/hook/open", io.MultiReader(strings.NewReader(body(MaxBody+1)))) // no length is told
	request.Header.Set("Authorization", "Bearer "+secret)
	d := &Delivery{}
	if refusal := r.take(discard{}, request, "open", d); refusal == nil || refusal.Status != http.StatusRequestEntityTooLarge || d.Size != MaxBody+1 {
		t.Errorf("a body of unknown length: %v, %d bytes read", refusal, d.Size)
	}
}

type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) WriteHeader(int)             {}

// What is compared are digests of equal length: neither the length nor the
// beginning of a token shows in the time.
func TestTokensAreComparedByDigest(t *testing.T) {
	r := newRig(t, nil)
	for token, want := range map[string]bool{
		"Bearer " + secret: true, "Bearer " + secret[:5]: false, "": false, "Bearer " + strings.Repeat("x", 7000): false,
		"Bearer " + secret + "\x00": false, "Bearer  " + secret: false, r.o.Secret.String(): false, "Bearer [hidden]": false,
	} {
		request := &http.Request{Header: http.Header{"Authorization": {token}}}
		if got := r.authorized(request); got != want {
			t.Errorf("%.20q: %v", token, got)
		}
	}
	if len(r.token) != 32 || strings.Contains(string(r.token[:]), secret) {
		t.Error("the server keeps something else than a digest")
	}
}

func TestOnlyLoopbackAndASecretMakeAServer(t *testing.T) {
	d := newDir(t)
	create := func(addr string, s config.Secret) error {
		_, err := New(Options{Dir: d, Index: NewIndex(d), Addr: addr, Secret: s, Run: func(context.Context, Job) error { return nil }})
		return err
	}
	for _, addr := range []string{"", ":8080", "0.0.0.0:8080", "192.168.1.4:80", "localhost:80", "[::]:80", "127.0.0.1", "127.0.0.1:99999", "example.com:80", "[::ffff:10.0.0.1]:80"} {
		if err := create(addr, secret); !errors.Is(err, ErrAddress) {
			t.Errorf("%q: %v", addr, err)
		}
	}
	for _, addr := range []string{"127.0.0.1:0", "127.0.0.1:8420", "[::1]:8420"} {
		if err := create(addr, secret); err != nil {
			t.Errorf("%q: %v", addr, err)
		}
	}
	if err := create("127.0.0.1:0", " "); !errors.Is(err, ErrNoSecret) {
		t.Errorf("without a secret: %v", err)
	}
	if _, err := New(Options{Secret: secret, Addr: "127.0.0.1:0"}); err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("without parts: %v", err)
	}
}

func TestSixtyDeliveriesPassForEachWebhookAndThenOneASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		for i := range perMinute {
			if w := r.post("github-ci", "{"); w.Code != http.StatusBadRequest {
				t.Fatalf("delivery %d: %d", i+1, w.Code)
			}
		}
		for range 3 { // what is refused uses nothing up
			w := r.post("github-ci", "{")
			if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "1" {
				t.Errorf("%d, Retry-After %q", w.Code, w.Header().Get("Retry-After"))
			}
		}
		if w := r.post("fixed", "{"); w.Code != http.StatusBadRequest {
			t.Errorf("another webhook: %d", w.Code)
		}
		waitFor(time.Second)
		if w := r.post("github-ci", "{"); w.Code != http.StatusBadRequest {
			t.Errorf("after the time that was told: %d", w.Code)
		}
		if w := r.post("github-ci", "{"); w.Code != http.StatusTooManyRequests {
			t.Errorf("only one has become free: %d", w.Code)
		}
	})
}

// Guesses are limited. A long secret cannot be guessed, and whoever has it is not
// to be locked out by a stranger; a short one waits with the guesses.
func TestGuessesOfTheTokenAreLimited(t *testing.T) {
	for _, short := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			right := secret
			if short {
				right = "1"
			}
			r := newRig(t, func(o *Options) { o.Secret = config.Secret(right) })
			deliver := func() int { return r.ask("POST", "/hook/github-ci", "Bearer "+right, "{").Code }
			guess := func() *httptest.ResponseRecorder { return r.ask("POST", "/hook/none", "Bearer 2", "{") }
			if got := deliver(); got != http.StatusBadRequest {
				t.Errorf("the right token: %d", got)
			}
			for i := range guesses {
				if w := guess(); w.Code != http.StatusUnauthorized {
					t.Errorf("guess %d: %d", i+1, w.Code)
				}
			}
			if w := guess(); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "6" {
				t.Errorf("one more: %d, Retry-After %q", w.Code, w.Header().Get("Retry-After"))
			}
			want := http.StatusBadRequest
			if short {
				want = http.StatusTooManyRequests
			}
			if got := deliver(); got != want {
				t.Errorf("the right token after the guesses, short %v: %d", short, got)
			}
			waitFor(6 * time.Second)
			if got := deliver(); got != http.StatusBadRequest {
				t.Errorf("the right token later: %d", got)
			}
			if w := guess(); w.Code != http.StatusUnauthorized {
				t.Errorf("a guess later: %d", w.Code)
			}
		})
	}
}

func TestAShortSecretIsToldWithItsCure(t *testing.T) {
	for text, weak := range map[config.Secret]bool{"1": true, "123456789012345": true, "  1234567890123456": false, "ÄÖÜäöüßÄÖÜäöüßÄ": true, secret: false, "": false} {
		if got := WeakSecret(text); (got != "") != weak || weak && !strings.Contains(got, "/dev/urandom") {
			t.Errorf("%d characters: %q", len(text.Reveal()), got)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *Options) { o.Secret = "hush" })
		r.start(t, newPipes())()
		if len(r.toldAtOnce()) != 1 || !strings.Contains(r.toldAtOnce()[0], "WEBHOOK_SECRET") || !strings.Contains(r.logged(), textWeak) || strings.Contains(r.logged(), "hush") {
			t.Errorf("told %q, log %s", r.toldAtOnce(), r.logged())
		}
	})
}

func TestTenDeliveriesRunAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		r := newRig(t, func(o *Options) {
			o.Run = func(ctx context.Context, _ Job) error {
				select {
				case <-gate:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		})
		l := newPipes()
		stop := r.start(t, l)
		for i := range atOnce {
			if status, text := l.post(t, "fixed", `{"status":"up"}`); status != http.StatusAccepted {
				t.Fatalf("delivery %d: %d %s", i+1, status, text)
			}
		}
		if status, _ := l.post(t, "fixed", `{"status":"up"}`); status != http.StatusTooManyRequests {
			t.Errorf("the eleventh: %d", status)
		}
		gate <- struct{}{}
		synctest.Wait()
		if status, _ := l.post(t, "fixed", `{"status":"up"}`); status != http.StatusAccepted {
			t.Errorf("after one has ended: %d", status)
		}
		synctest.Wait()
		stop()
		var done, cut int
		for _, d := range r.Deliveries() {
			switch d.Outcome {
			case Done:
				done++
			case Interrupted:
				cut++
			}
		}
		if done != 1 || cut != atOnce || len(r.noted()) != atOnce {
			t.Errorf("%d done, %d interrupted at the end, %d told", done, cut, len(r.noted()))
		}
	})
}

func TestARunThatFailsOrPanicsLeavesTheServerAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := 0
		r := newRig(t, func(o *Options) {
			o.Run = func(context.Context, Job) error {
				if fails++; fails == 1 {
					return errors.New("no engine")
				}
				panic("hush")
			}
		})
		l := newPipes()
		stop := r.start(t, l)
		for range 2 {
			l.post(t, "fixed", `{"status":"up"}`)
			synctest.Wait()
		}
		if status, _ := l.post(t, "fixed", `{"status":"x"}`); status != http.StatusBadRequest {
			t.Errorf("the server does not answer: %d", status)
		}
		stop()
		for _, d := range r.Deliveries()[1:] {
			if d.Outcome != Failed {
				t.Errorf("%+v", d)
			}
		}
		assertNothingLeaked(t, r)
	})
}

func TestAPanicWhileAnsweringIs500AndLogged(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Changed = func() { panic("hush value") } })
	w := r.post("github-ci", `{`)
	if w.Code != http.StatusInternalServerError || strings.TrimSpace(w.Body.String()) != `{"error":"internal error"}` {
		t.Errorf("%d %s", w.Code, w.Body.String())
	}
	if log := r.logged(); !strings.Contains(log, "panic of type string") || strings.Contains(log, "hush") {
		t.Errorf("the log says %s", log)
	}
}

func TestASpecFileThatBreaksWhileRunningIsStillInForce(t *testing.T) {
	r := newRig(t, nil)
	put(t, r.dir, "github-ci.md", "---\nid: [")
	r.index.Reload("webhooks/github-ci.md")
	if w := r.post("github-ci", `{"repo":"a","status":"success"}`); w.Code != http.StatusAccepted {
		t.Errorf("%d %s", w.Code, w.Body.String())
	}
	put(t, r.dir, "new.md", strings.Replace(fixedSpec, "id: fixed", "id: new", 1))
	r.index.Reload("webhooks/new.md")
	if w := r.post("new", `{"status":"up"}`); w.Code != http.StatusAccepted {
		t.Errorf("a new file: %d %s", w.Code, w.Body.String())
	}
}

// raw opens a connection and writes a beginning.
func raw(t *testing.T, l *pipes, text string) net.Conn {
	t.Helper()
	c, err := l.dial()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSlowClientsAreCutOffInTime(t *testing.T) {
	head := "POST /hook/open HTTP/1.1\r\nHost: x\r\n"
	whole := head + "Authorization: Bearer " + secret + "\r\nContent-Length: 900\r\n\r\n"
	for name, c := range map[string]struct {
		text  string
		after time.Duration
		want  string // the status that it is told, or nothing
	}{
		"silent":     {"", headerTimeout, ""},
		"header":     {head, headerTimeout, ""},
		"body":       {whole + `{"note":`, readTimeout, "408"},
		"strangers":  {head + "Content-Length: 900\r\n\r\n", 0, "401"},
		"large head": {head + "X: " + strings.Repeat("a", 20000) + "\r\n", 0, "431"},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			l := newPipes()
			stop := r.start(t, l)
			begun := time.Now()
			client, err := l.dial()
			if err != nil {
				t.Fatal(err)
			}
			var sending sync.WaitGroup
			sending.Go(func() { _, _ = io.WriteString(client, c.text) }) // the server may stop reading half-way
			answer, _ := bufio.NewReader(client).ReadString('\n')
			if took := time.Since(begun); took > c.after+time.Second || took < c.after {
				t.Errorf("%s: an answer or an end after %s", name, took)
			}
			if c.want != "" && !strings.Contains(answer, " "+c.want+" ") || c.want == "" && answer != "" {
				t.Errorf("%s: %q", name, answer)
			}
			if status, text := l.post(t, "fixed", `{"status":"up"}`); status != http.StatusAccepted {
				t.Errorf("%s: others get %d %s", name, status, text)
			}
			_ = client.Close()
			sending.Wait()
			stop()
		})
	}
}

func TestAFullHouseMakesRoomForWhoeverDelivers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		l := newPipes()
		stop := r.start(t, l)
		var idle []net.Conn
		for range 3 * maxConnections {
			idle = append(idle, raw(t, l, ""))
		}
		if status, _ := l.post(t, "fixed", `{"status":"up"}`); status != http.StatusAccepted {
			t.Errorf("%d", status)
		}
		open := 0
		for _, c := range idle {
			_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
			if _, err := c.Read(make([]byte, 1)); errors.Is(err, io.EOF) {
				continue
			}
			open++
			_ = c.Close()
		}
		if open == 0 || open > maxConnections {
			t.Errorf("%d idle connections are held", open)
		}
		stop()
	})
}

func TestConnectionsThatAreAnsweredKeepTheirPlace(t *testing.T) {
	g := newGate(nil, 2, nil)
	guests := []*guest{{gate: g}, {gate: g}, {gate: g}, {gate: g}}
	for _, c := range guests[:2] {
		g.admit(c)
	}
	guests[0].serve(true)
	if out, ok := g.admit(guests[2]); out != guests[1] || !ok {
		t.Error("the oldest that nobody is answered on has to go")
	}
	guests[2].serve(true)
	if out, ok := g.admit(guests[3]); out != nil || ok {
		t.Error("all are being answered: there is no room")
	}
}

func TestWhatHasNotBegunAtTheEndRunsAfterTheNextStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *Options) {
			o.Screen = func(ctx context.Context, _ map[string]string) (bool, []string, error) {
				<-ctx.Done()
				return true, nil, nil
			}
		})
		l := newPipes()
		stop := r.start(t, l)
		l.post(t, "open", `{"note":"hush"}`)
		synctest.Wait()
		stop()
		d := r.Deliveries()[0]
		if d.Outcome != Accepted || len(r.ran()) != 0 || len(r.noted()) != 0 {
			t.Errorf("%+v, notes %q", d, r.noted())
		}
		if w := r.post("fixed", `{"status":"up"}`); w.Code != http.StatusServiceUnavailable {
			t.Errorf("after the end: %d", w.Code)
		}
		next := rigOn(t, r.dir, nil)
		stop = next.start(t, newPipes())
		synctest.Wait()
		stop()
		if ran := next.ran(); len(ran) != 1 || ran[0].Delivery.ID != d.ID || ran[0].Payload.Data[0].Value != "hush" {
			t.Errorf("ran %+v", ran)
		}
		assertNothingLeaked(t, next)
	})
}

func TestDeliverSpeaksToARunningBot(t *testing.T) {
	r := newRig(t, nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	stop := r.start(t, l)
	addr := l.Addr().String()
	status, answer, err := Deliver(t.Context(), addr, secret, "fixed", []byte(`{"status":"up"}`))
	if status != http.StatusAccepted || answer != `{"status":"accepted"}` || err != nil {
		t.Errorf("%d %s %v", status, answer, err)
	}
	status, answer, err = Deliver(t.Context(), addr, "another", "a/../b c", nil)
	if status != http.StatusNotFound && status != http.StatusUnauthorized || err != nil {
		t.Errorf("%d %s %v", status, answer, err)
	}
	stop()
	if _, _, err = Deliver(t.Context(), addr, secret, "fixed", nil); err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("no bot there: %v", err)
	}
	if _, _, err = Deliver(t.Context(), "10.0.0.1:80", secret, "fixed", nil); !errors.Is(err, ErrAddress) {
		t.Errorf("the secret would leave the machine: %v", err)
	}
}

func TestAPortThatIsTakenIsToldWithItsCureAndTakenWhenItIsFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		l := newPipes()
		taken := true
		ctx, cancel := context.WithCancel(t.Context())
		var g sync.WaitGroup
		g.Go(func() {
			if err := r.run(ctx, func(context.Context) (net.Listener, error) {
				if taken {
					return nil, errors.New("address already in use; choose another WEBHOOK_PORT")
				}
				return l, nil
			}); err != nil {
				t.Error(err)
			}
		})
		waitFor(10 * time.Minute)
		if n := strings.Count(r.logged(), "level=ERROR"); n != 1 || !strings.Contains(r.logged(), "WEBHOOK_PORT") || r.Addr() != "" {
			t.Errorf("told %d times:\n%s", n, r.logged())
		}
		taken = false
		waitFor(retryEvery)
		if status, _ := l.post(t, "fixed", `{"status":"up"}`); status != http.StatusAccepted {
			t.Errorf("once it is free: %d", status)
		}
		if len(r.toldAtOnce()) != 1 || r.toldAtOnce()[0] != textTakenAgain {
			t.Errorf("told %q", r.toldAtOnce())
		}
		cancel()
		g.Wait()
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r := newRig(t, func(o *Options) { o.Addr = l.Addr().String() })
	ctx, cancel := context.WithCancel(t.Context())
	var g sync.WaitGroup
	g.Go(func() { _ = r.Run(ctx) })
	for !strings.Contains(r.logged(), "WEBHOOK_PORT") {
		runtime.Gosched()
	}
	cancel()
	g.Wait()
}

func TestAListenerThatDiesIsToldAndReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		var l *pipes
		ctx, cancel := context.WithCancel(t.Context())
		var g sync.WaitGroup
		g.Go(func() {
			_ = r.run(ctx, func(context.Context) (net.Listener, error) { l = newPipes(); return l, nil })
		})
		synctest.Wait()
		if status, _ := l.post(t, "fixed", `{"status":"up"}`); status != http.StatusAccepted {
			t.Errorf("before: %d", status)
		}
		_ = l.Close()
		waitFor(2 * stopTimeout)
		if r.Addr() != "" || !strings.Contains(r.logged(), textNotTaken) {
			t.Errorf("at %q, log %s", r.Addr(), r.logged())
		}
		waitFor(time.Minute)
		if status, _ := l.post(t, "fixed", `{"status":"up"}`); status != http.StatusAccepted || r.Addr() == "" {
			t.Errorf("a minute later: %d", status)
		}
		cancel()
		g.Wait()
	})
}

// exhausted is a listener for which there is no file handle at times.
type exhausted struct {
	*pipes
	none atomic.Bool
}

func (l *exhausted) Accept() (net.Conn, error) {
	if l.none.Load() {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return l.pipes.Accept()
}

func TestAMomentWithoutFileHandlesPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		l := &exhausted{pipes: newPipes()}
		stop := r.start(t, l)
		idle := raw(t, l.pipes, "")
		defer idle.Close()
		synctest.Wait()
		l.none.Store(true)
		second := raw(t, l.pipes, "") // the Accept that waits takes it
		defer second.Close()
		waitFor(10 * time.Second)
		if _, err := idle.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("the oldest connection keeps its handle: %v", err)
		}
		if n := strings.Count(r.logged(), "level=ERROR"); n != 1 || !strings.Contains(r.logged(), "ulimit -n") {
			t.Errorf("told %d times:\n%s", n, r.logged())
		}
		l.none.Store(false)
		waitFor(2 * time.Second)
		if status, _ := l.post(t, "fixed", `{"status":"up"}`); status != http.StatusAccepted {
			t.Errorf("once there are handles: %d", status)
		}
		waitFor(time.Minute)
		if status, _ := l.post(t, "fixed", `{"status":"up"}`); status != http.StatusAccepted || len(r.toldAtOnce()) != 1 {
			t.Errorf("a minute later: %d, told %q", status, r.toldAtOnce())
		}
		stop()
	})
}

func TestAnAnswerIsAlwaysOneJSONObject(t *testing.T) {
	r := newRig(t, nil)
	for i, slug := range []string{"%22%7D", "a%0Ab", "%E2%80%AEx", strings.Repeat("x", 3000), "%00", "%ff"} {
		w := r.ask(http.MethodPost, "/hook/"+slug, "Bearer "+secret, "")
		var body map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || w.Code != http.StatusNotFound || w.Body.Len() > 200 {
			t.Errorf("%s: %d %q", strconv.Itoa(i), w.Code, w.Body.String())
		}
		if strings.ContainsAny(fmt.Sprint(body["error"]), "\n\u202e\x00") {
			t.Errorf("%q", body["error"])
		}
	}
}
