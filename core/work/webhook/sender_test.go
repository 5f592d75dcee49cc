package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store/storetest"
)

func TestOnlyLoopbackAndASecretMakeAServer(t *testing.T) {
	d := storetest.Dir(t)
	create := func(addr string, s config.Secret) error {
		_, err := New(Options{Dir: d, Index: NewIndex(d), Addr: addr, Secret: s, Run: func(context.Context, Job) error { return nil }})
		return err
	}
	for _, addr := range []string{
		"", ":8080", "0.0.0.0:8080", "192.168.1.4:80", "localhost:80", "[::]:80", "127.0.0.1", "127.0.0.1:99999",
		"example.com:80", "[::ffff:10.0.0.1]:80",
	} {
		if err := create(addr, secret); !errors.Is(err, errAddress) {
			t.Errorf("%q: %v", addr, err)
		}
	}
	for _, addr := range []string{"127.0.0.1:0", "127.0.0.1:8420", "[::1]:8420"} {
		if err := create(addr, secret); err != nil {
			t.Errorf("%q: %v", addr, err)
		}
	}
	if err := create("127.0.0.1:0", " "); !errors.Is(err, errNoSecret) {
		t.Errorf("without a secret: %v", err)
	}
}

func TestAShortSecretIsReportedWithItsCure(t *testing.T) {
	const short = "WEBHOOK_SECRET is shorter than 16 characters and can be guessed: create a longer one, at random"
	for text, weak := range map[config.Secret]bool{
		"1": true, "123456789012345": true, "  1234567890123456": false, "ÄÖÜäöüßÄÖÜäöüßÄ": true, secret: false, "": false,
	} {
		if got := WeakSecret("WEBHOOK_SECRET", text); got != map[bool]string{true: short}[weak] {
			t.Errorf("%d characters: %q", len(text.Reveal()), got)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *Options) { o.Secret = "hush" })
		r.start(t, newPipes())()
		if notices := r.noticedAtOnce(); len(notices) != 1 || notices[0] != short || !strings.Contains(r.logged(), textWeak) ||
			strings.Contains(r.logged(), "hush") {
			t.Errorf("noticed %q, log %s", r.noticedAtOnce(), r.logged())
		}
	})
}

// repeats is a server and what it has run, over restarts: of deliveries with the same id it runs one.
type repeats struct {
	*rig
	t    *testing.T
	l    *pipes
	set  func(*Options)
	runs int // since the start
}

func repeating(t *testing.T, r *rig, set func(*Options)) *repeats {
	l := newPipes()
	r.start(t, l)
	return &repeats{rig: r, t: t, l: l, set: set}
}

func (r *repeats) restart() {
	r.stop()
	r.rig, r.l, r.runs = rigOn(r.t, r.dir, r.set), newPipes(), 0
	r.start(r.t, r.l)
}

// answered is the head of an answer.
type answered struct {
	StatusCode int
	Header     http.Header
}

// to sends a request over the pipes.
func (p *pipes) to(t testing.TB, request *http.Request) (answered, string) {
	t.Helper()
	request.RequestURI, request.URL.Scheme, request.URL.Host = "", "http", "127.0.0.1"
	answer, err := p.client().Do(request)
	testkit.Must(t, err)
	text, err := io.ReadAll(answer.Body)
	testkit.Must(t, errors.Join(err, answer.Body.Close()))
	return answered{answer.StatusCode, answer.Header}, string(text)
}

// sends sends a request and checks its status, and whether it runs: a repeated one is answered as the first time.
func (r *repeats) sends(request *http.Request, want int, again bool) {
	r.t.Helper()
	answer, text := r.l.to(r.t, request)
	if answer.StatusCode != want || (answer.Header.Get("Idempotent-Replayed") == "true") != again || want == 202 && text != "{\"status\":\"accepted\"}\n" {
		r.t.Errorf("%d %v %s", answer.StatusCode, answer.Header, text)
	}
	if want == http.StatusAccepted && !again {
		r.runs++
	}
	waitFor(time.Second)
	if n := len(r.ran()); n != r.runs {
		r.t.Errorf("%d runs, not %d", n, r.runs)
		r.runs = n
	}
}

// fixed is a delivery with a header that identifies it.
func fixed(webhook, header, id string) *http.Request {
	request := httptest.NewRequest(http.MethodPost, "/hook/"+webhook, strings.NewReader(`{"status":"up"}`))
	return with(request, "Authorization", "Bearer "+secret, cmp.Or(header, "X-None"), id)
}

// L5: a delivery that was sent twice ran twice.
func TestADeliveryWithAKnownIDDoesNotRunAgainWithinAWeek(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := repeating(t, newRig(t, nil), nil)
		put(t, r.dir, "other.md", strings.ReplaceAll(fixedSpec, "fixed", "other"))
		r.index.Scan()
		for _, header := range keyHeaders {
			r.sends(fixed("fixed", header, header+"-1"), 202, false)
			r.sends(fixed("fixed", header, header+"-1"), 202, true)
			r.sends(fixed("fixed", header, header+"-2"), 202, false)
		}
		known := func() *http.Request { return fixed("fixed", "X-GitHub-Delivery", "X-GitHub-Delivery-1") }
		r.sends(fixed("other", "X-GitHub-Delivery", "X-GitHub-Delivery-1"), 202, false) // a webhook of its own
		r.sends(fixed("fixed", "", ""), 202, false)
		r.sends(fixed("fixed", "X-GitHub-Delivery", " "), 202, false) // no id
		r.restart()
		r.sends(known(), 202, true)
		for range keptMost + 20 { // enough others that the list has dropped it
			waitFor(time.Second)
			r.l.to(t, fixed("fixed", "", ""))
		}
		r.runs = keptMost + 20
		r.sends(known(), 202, true)
		waitFor(2 * time.Hour) // the file is rewritten
		r.restart()
		r.sends(known(), 202, true)
		if list, err := Log(r.dir, 1000); err != nil || len(list) > keptMost {
			t.Errorf("the log shows %d deliveries, %v", len(list), err)
		}
		waitFor(onceWithin)
		r.sends(known(), 202, false)
		r.stop()
		if strings.Contains(onDisk(t, r.dir), "X-GitHub") {
			t.Error("the sender's text is in the log")
		}
	})
}

func TestTheOldestOfTooManyKeysAreForgotten(t *testing.T) {
	r := newRig(t, nil)
	l, now := r.deliveryLog(), time.Now()
	for i := range mostKeys + 3 {
		k := fmt.Sprint(i)
		l.keys[k] = &record{Delivery: Delivery{Webhook: "busy", At: now.Add(time.Duration(i))}, Key: k}
	}
	l.keys["other"] = &record{Delivery: Delivery{Webhook: "calm", At: now}, Key: "other"}
	l.trimKeys(now)
	if _, old := l.keys["2"]; old || len(l.keys) != mostKeys+1 {
		t.Errorf("%d are kept", len(l.keys))
	}
	if l.keys["other"] == nil {
		t.Error("a busy webhook has pushed out the id of another one")
	}
}
