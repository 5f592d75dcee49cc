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
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/config"
)

// waitFor lets time pass in a bubble.
func waitFor(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
	synctest.Wait()
}

func TestTheChecksComeInTheirOrderWithTheirAnswers(t *testing.T) {
	const good, hook, right = `{"repo":"a","status":"success"}`, "/hook/github-ci", "Bearer " + secret
	const unauthorized, notFound, notAllowed = `{"error":"unauthorized"}`, `{"error":"not found"}`, `{"error":"method not allowed"}`
	for name, c := range map[string]struct {
		method, path, token, body string
		status                    int
		answer                    string
	}{
		"accepted":           {"POST", hook, right, good, 202, `{"status":"accepted"}`},
		"no token":           {"POST", hook, "", good, 401, unauthorized},
		"wrong token":        {"POST", hook, right + "x", good, 401, unauthorized},
		"no Bearer":          {"POST", hook, secret, good, 401, unauthorized},
		"other scheme":       {"POST", hook, "bearer " + secret, good, 401, unauthorized},
		"empty token":        {"POST", hook, "Bearer ", good, 401, unauthorized},
		"bytes":              {"POST", hook, "Bearer \xff\xfe\x80", good, 401, unauthorized},
		"its beginning":      {"POST", hook, right[:12], good, 401, unauthorized},
		"more":               {"POST", hook, right + "\x00", good, 401, unauthorized},
		"two spaces":         {"POST", hook, "Bearer  " + secret, good, 401, unauthorized},
		"as it is logged":    {"POST", hook, "Bearer [hidden]", good, 401, unauthorized},
		"token before spec":  {"POST", "/hook/none", "Bearer x", good, 401, unauthorized},
		"no spec":            {"POST", "/hook/none", right, "not json", 404, `{"error":"webhook not found: none"}`},
		"file name":          {"POST", hook + ".md", right, good, 404, `{"error":"webhook not found: github-ci.md"}`},
		"no JSON":            {"POST", hook, right, "{", 400, `{"error":"invalid json"}`},
		"JSON before schema": {"POST", hook, right, `{"repo":1,"repo":2}`, 400, `{"error":"invalid json"}`},
		"schema":             {"POST", hook, right, `{"repo":"a"}`, 400, `{"error":"validation failed","details":["status is required"]}`},
		"template":           {"POST", "/hook/open", right, `{}`, 400, `{"error":"payload missing fields referenced in template: ['note']"}`},
		"too large":          {"POST", "/hook/open", right, `{"note":"` + strings.Repeat("x", MaxBody) + `"}`, 413, `{"error":"payload too large"}`},
		"GET":                {"GET", hook, right, "", 405, notAllowed},
		"other path":         {"POST", "/", right, good, 404, notFound},
		"no slug":            {"POST", "/hook/", right, good, 404, notFound},
		"deeper":             {"POST", hook + "/x", right, good, 404, notFound},
		"health":             {"GET", "/healthz", "", "", 200, `{"status":"ok"}`},
		"health's head":      {"HEAD", "/healthz", "", "", 200, `{"status":"ok"}`}, // net/http leaves it out
		"health is read":     {"POST", "/healthz", "", "", 405, notAllowed},
	} {
		w := newRig(t, nil).ask(c.method, c.path, c.token, c.body)
		if h := w.Header(); w.Code != c.status || w.Body.String() != c.answer+"\n" || h.Get("Content-Type") != "application/json" || h.Get("Server") != "" ||
			h.Get("Cache-Control") != "no-store" || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %s %v", name, w.Code, w.Body, h)
		}
		allow := map[bool]string{true: "POST", false: "GET, HEAD"}[c.path == hook]
		if got := w.Header().Get("Allow"); (c.status == 405) != (got == allow) {
			t.Errorf("%s: allows %q", name, got)
		}
	}
}

func TestTheLimitOfAPayloadIsExact(t *testing.T) {
	body := func(n int) string { return `{"note":"` + strings.Repeat("x", n-len(`{"note":""}`)) + `"}` }
	r := newRig(t, nil)
	if w := r.post("open", body(MaxBody+1)); w.Code != http.StatusRequestEntityTooLarge || w.Header().Get("Connection") != "close" {
		t.Errorf("one byte more: %d", w.Code)
	}
	// The spec's schema allows fewer characters, so this one is read and validated.
	if w := r.post("open", body(MaxBody)); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "note has 10229 characters") {
		t.Errorf("exactly the limit: %d %s", w.Code, w.Body.String())
	}
	for range signedAtOnce { // what is read of verified senders does not matter
		r.large <- struct{}{}
	}
	request, _ := http.NewRequest(http.MethodPost, "/hook/open", io.MultiReader(strings.NewReader(body(MaxBody+1)))) // without a length
	request.Header.Set("Authorization", "Bearer "+secret)
	w := r.serve(request)
	if size := r.Deliveries()[0].Size; w.Code != http.StatusRequestEntityTooLarge || w.Header().Get("Connection") != "close" || size != MaxBody+1 {
		t.Errorf("a body of unknown length: %d, %v, %d bytes read", w.Code, w.Header(), size)
	}
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

func TestDeliverSpeaksToARunningBot(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t, nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	stop := r.start(t, l)
	addr := l.Addr().String()
	status, answer, err := Deliver(t.Context(), addr, "fixed", []byte(`{"status":"up"}`), bearerOf(secret))
	if status != http.StatusAccepted || answer != `{"status":"accepted"}` || err != nil {
		t.Errorf("%d %s %v", status, answer, err)
	}
	for _, c := range [][3]string{
		{"a/../b c", secret, `404 {"error":"not found"}`},
		{"a?b", secret, `404 {"error":"webhook not found: a?b"}`},
		{"fixed", "another", `401 {"error":"unauthorized"}`},
	} {
		status, answer, err = Deliver(t.Context(), addr, c[0], nil, bearerOf(config.Secret(c[1])))
		if got := fmt.Sprint(status, " ", answer); got != c[2] || err != nil {
			t.Errorf("%s: %s, %v", c[0], got, err)
		}
	}
	stop()
	if _, _, err = Deliver(t.Context(), addr, "fixed", nil, bearerOf(secret)); err == nil || strings.Contains(err.Error(), secret) ||
		!strings.HasPrefix(err.Error(), "deliver to "+addr+": dial tcp") || !strings.HasSuffix(err.Error(), "is the bot running, with this WEBHOOK_PORT?") {
		t.Errorf("no bot there: %v", err)
	}
	if _, _, err = Deliver(t.Context(), "10.0.0.1:80", "fixed", nil, bearerOf(secret)); !errors.Is(err, errAddress) {
		t.Errorf("the secret would leave the machine: %v", err)
	}
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

// raw opens a connection and writes the beginning of a request.
func raw(t *testing.T, l *pipes, text string) net.Conn {
	t.Helper()
	c, err := l.dial()
	testkit.Must(t, err)
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
		want  string // the status of the answer, or nothing
	}{
		"silent":     {"", headerTimeout, ""},
		"header":     {head, headerTimeout, ""},
		"body":       {whole + `{"note":`, readTimeout, "408"},
		"strangers":  {head + "Content-Length: 900\r\n\r\n", 0, "401"},
		"large head": {head + "X: " + strings.Repeat("a", 20000) + "\r\n", 0, "431"},
	} {
		serving(t, nil, func(t *testing.T, r *rig, l *pipes) {
			begun := time.Now()
			client, err := l.dial()
			testkit.Must(t, err)
			var sending sync.WaitGroup
			sending.Go(func() { _, _ = io.WriteString(client, c.text) }) // the server may stop reading midway
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
		})
	}
}

func TestAFullHouseLastsUntilItsSilentClientsAreCutOff(t *testing.T) {
	serving(t, nil, func(t *testing.T, r *rig, l *pipes) {
		for range maxConnections {
			defer raw(t, l, "").Close()
		}
		begun := time.Now()
		if status, _ := l.post(t, "fixed", `{"status":"up"}`); status != http.StatusAccepted || time.Since(begun) != headerTimeout {
			t.Errorf("answered %d after %s", status, time.Since(begun))
		}
	})
}

func TestATakenPortIsReportedWithItsCureAndUsedWhenItIsFree(t *testing.T) {
	testkit.Alone(t)
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		l := newPipes()
		var taken atomic.Bool
		taken.Store(true)
		defer r.listens(t, func(context.Context) (net.Listener, error) {
			if taken.Load() {
				return nil, errors.New("address already in use; choose another WEBHOOK_PORT")
			}
			return l, nil
		})()
		waitFor(10 * time.Minute)
		if n := strings.Count(r.logged(), "level=ERROR"); n != 1 || !strings.Contains(r.logged(), "WEBHOOK_PORT") || r.Addr() != "" {
			t.Errorf("reported %d times:\n%s", n, r.logged())
		}
		taken.Store(false)
		waitFor(retryEvery)
		if status, _ := l.post(t, "fixed", `{"status":"up"}`); status != http.StatusAccepted {
			t.Errorf("once it is free: %d", status)
		}
		if len(r.noticedAtOnce()) != 1 || r.noticedAtOnce()[0] != textTakenAgain {
			t.Errorf("noticed %q", r.noticedAtOnce())
		}
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
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

func TestAListenerThatDiesIsReportedAndReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		var l *pipes
		defer r.listens(t, func(context.Context) (net.Listener, error) { l = newPipes(); return l, nil })()
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
	})
}
