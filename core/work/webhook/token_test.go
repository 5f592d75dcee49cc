package webhook

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store/storetest"
)

// The comparison uses digests of equal length, so its time reveals neither the length nor
// the beginning of a token.
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

// Guesses are limited. A long secret cannot be guessed, so its owner must not be locked
// out by a stranger; a short one waits with the guesses.
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
	for text, weak := range map[config.Secret]bool{
		"1": true, "123456789012345": true, "  1234567890123456": false, "ÄÖÜäöüßÄÖÜäöüßÄ": true, secret: false, "": false,
	} {
		if got := WeakSecret("WEBHOOK_SECRET", text); (got != "") != weak || weak && !strings.Contains(got, "at random") {
			t.Errorf("%d characters: %q", len(text.Reveal()), got)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *Options) { o.Secret = "hush" })
		r.start(t, newPipes())()
		if len(r.toldAtOnce()) != 1 || !strings.HasPrefix(r.toldAtOnce()[0], "WEBHOOK_SECRET is shorter") || !strings.Contains(r.logged(), textWeak) ||
			strings.Contains(r.logged(), "hush") {
			t.Errorf("told %q, log %s", r.toldAtOnce(), r.logged())
		}
	})
}
