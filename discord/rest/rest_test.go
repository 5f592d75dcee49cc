package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bwmarrin/discordgo"
)

const secret = "MTk4.token-of-the-bot.dont-tell"

// seen is a request as it arrived.
type seen struct {
	at     time.Time
	rule   string // "POST /channels/1/messages"
	header http.Header
	body   []byte
}

// far is a Discord in memory, so that its waits pass in a bubble. answer gets
// the number of the request, from 0, and what arrived.
type far struct {
	mu     sync.Mutex
	seen   []seen
	answer func(n int, s seen) (said, error)
}

func (f *far) RoundTrip(r *http.Request) (*http.Response, error) {
	var data []byte
	if r.Body != nil {
		var err error
		data, err = io.ReadAll(r.Body)
		_ = r.Body.Close()
		if err != nil {
			return nil, err
		}
	}
	s := seen{at: time.Now(), rule: r.Method + " " + r.URL.Path, header: r.Header, body: data}
	if r.URL.RawQuery != "" {
		s.rule += "?" + r.URL.RawQuery
	}
	f.mu.Lock()
	n := len(f.seen)
	f.seen = append(f.seen, s)
	f.mu.Unlock()
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	a, err := f.answer(n, s)
	if slow, ok := errors.AsType[slowly](err); ok {
		err = nil
		select {
		case <-time.After(time.Duration(slow)):
		case <-r.Context().Done():
			err = r.Context().Err()
		}
	}
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: a.status, Header: a.header.Clone(), Body: io.NopCloser(strings.NewReader(a.body)), ContentLength: int64(len(a.body) + a.lost),
	}, nil
}

// said is an answer of far; lost is how many bytes of its body get lost.
type said struct {
	status int
	body   string
	header http.Header
	lost   int
}

func (f *far) requests() []seen {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]seen(nil), f.seen...)
}

// slowly as an error makes far answer after that time.
type slowly time.Duration

func (slowly) Error() string { return "slow" }

func says(status int, body string, header ...string) said {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return said{status: status, body: body, header: h}
}

// inTurn answers one request after the other, the last again and again. An
// element is what is said, or an error.
func inTurn(answers ...any) func(int, seen) (said, error) {
	return func(n int, _ seen) (said, error) {
		switch a := answers[min(n, len(answers)-1)].(type) {
		case said:
			return a, nil
		case error:
			return said{}, a
		default:
			panic(fmt.Sprint(a))
		}
	}
}

func client(f *far) *Client {
	return New(Options{Token: secret, Transport: f, Version: "1.2.3"})
}

func discord(answers ...any) (*Client, *far) {
	f := &far{answer: inTurn(answers...)}
	return client(f), f
}

var fine = says(200, `{"id":"100"}`)

func limited(retryAfter string) said {
	return says(429, `{"message":"You are being rate limited.","retry_after":`+retryAfter+`,"global":false}`)
}

func took(t *testing.T, since time.Time, want time.Duration) {
	t.Helper()
	if got := time.Since(since); got != want {
		t.Errorf("it took %s, want %s", got, want)
	}
}

func bubble(t *testing.T, f func(t *testing.T, ctx context.Context)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, t.Context()) })
}

func TestAMessageIsSentWithTheTokenAndANameOfOurs(t *testing.T) {
	c, f := discord(fine)
	id, err := c.Send(t.Context(), "7", Message{Content: "hello"})
	if err != nil || id != "100" {
		t.Fatalf("%q, %v", id, err)
	}
	got := f.requests()[0]
	if got.rule != "POST /api/v10/channels/7/messages" {
		t.Error(got.rule)
	}
	if a := got.header.Get("Authorization"); a != "Bot "+secret {
		t.Errorf("authorization %q", a)
	}
	if a := got.header.Get("User-Agent"); a != "DiscordBot (ollim-bot, 1.2.3)" {
		t.Errorf("user agent %q", a)
	}
	if a := got.header.Get("Content-Type"); a != "application/json" {
		t.Errorf("content type %q", a)
	}
}

func TestALimitIsWaitedFor(t *testing.T) {
	for _, wait := range []string{"0.5", "1.234", "60"} {
		bubble(t, func(t *testing.T, ctx context.Context) {
			c, f := discord(limited(wait), fine)
			start := time.Now()
			if _, err := c.Send(ctx, "7", Message{Content: "x"}); err != nil {
				t.Fatal(err)
			}
			d, _ := span(wait)
			took(t, start, d)
			if n := len(f.requests()); n != 2 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestALimitThatIsLongerThanPatienceIsToldAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		c, f := discord(limited("61.5"), fine)
		start := time.Now()
		_, err := c.Send(ctx, "7", Message{Content: "x"})
		took(t, start, 0)
		var e *LimitedError
		if !errors.As(err, &e) || e.After != 61500*time.Millisecond || !errors.Is(err, ErrLimited) {
			t.Fatal(err)
		}
		// What was learned holds for the next call, which is not even sent.
		time.Sleep(500 * time.Millisecond)
		if _, err := c.Send(ctx, "7", Message{Content: "x"}); !errors.As(err, &e) || e.After != 61*time.Second {
			t.Error(err)
		}
		if n := len(f.requests()); n != 1 {
			t.Errorf("%d requests", n)
		}
		time.Sleep(2 * time.Second)
		if _, err := c.Send(ctx, "7", Message{Content: "x"}); err != nil {
			t.Error(err)
		}
		took(t, start, 61500*time.Millisecond)
	})
}

func TestAStormOfLimitsEndsWithPatience(t *testing.T) {
	for _, wait := range []string{"0", "0.001", "7"} {
		bubble(t, func(t *testing.T, ctx context.Context) {
			c, f := discord(limited(wait))
			start := time.Now()
			_, err := c.Send(ctx, "7", Message{Content: "x"})
			if !errors.Is(err, ErrLimited) {
				t.Error(err)
			}
			if d := time.Since(start); d > patience {
				t.Errorf("it was patient for %s", d)
			}
			if n := len(f.requests()); n > 25 {
				t.Errorf("retry_after %s: %d requests", wait, n)
			}
		})
	}
}

func TestAWaitEndsWithItsContext(t *testing.T) {
	waits := map[string]any{
		"limit":      limited("30"),
		"back-off":   says(503, "", "Retry-After", "30"),
		"slow reply": slowly(time.Hour),
	}
	for name, first := range waits {
		bubble(t, func(t *testing.T, ctx context.Context) {
			c, f := discord(first, fine)
			ctx, cancel := context.WithCancel(ctx)
			start := time.Now()
			time.AfterFunc(700*time.Millisecond, cancel)
			_, err := c.Send(ctx, "7", Message{Content: "x"})
			took(t, start, 700*time.Millisecond)
			if !errors.Is(err, context.Canceled) || len(f.requests()) != 1 {
				t.Errorf("%s: %v after %d requests", name, err, len(f.requests()))
			}
		})
	}
}

func TestAWaitThatItsDeadlineForbidsDoesNotBegin(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		c, _ := discord(limited("30"), fine)
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		start := time.Now()
		var e *LimitedError
		if _, err := c.Send(ctx, "7", Message{Content: "x"}); !errors.As(err, &e) || e.After != 30*time.Second {
			t.Error(err)
		}
		took(t, start, 0)
	})
}

func TestAnEndedContextSendsNothing(t *testing.T) {
	c, f := discord(fine)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Send(ctx, "7", Message{Content: "x"}); !errors.Is(err, context.Canceled) || len(f.requests()) != 0 {
		t.Errorf("%v after %d requests", err, len(f.requests()))
	}
}

func TestAnIDThatLeadsElsewhereIsNotSent(t *testing.T) {
	c, f := discord(fine)
	for _, id := range []string{"", ".", "..", strings.Repeat("1", 600)} {
		if err := c.Delete(t.Context(), "7", id); !errors.Is(err, ErrInvalid) {
			t.Errorf("%.20q: %v", id, err)
		}
	}
	if err := c.Delete(t.Context(), "7", "../../users/@me?x={}#"); err != nil {
		t.Error(err)
	}
	if got := f.requests(); len(got) != 1 || got[0].rule != "DELETE /api/v10/channels/7/messages/../../users/@me?x={}#" {
		t.Errorf("%v", got) // one segment: the path that is shown here is unescaped
	}
}

// Every way that a request can end goes through here, and whatever it says must
// hold no secret.
func TestNoSecretIsEverTold(t *testing.T) {
	const interaction = "aW50ZXJhY3Rpb246MTIzNDU2Nzg5MDEyMzQ1Njc4OTA6dG9rZW4"
	leaky := `{"code":50035,"message":"` + secret + ` ` + interaction + `","errors":{"x":{"_errors":[{"message":"` + interaction + `"}]}}}`
	ends := []any{
		errors.New("dial https://discord.com/" + secret + "/" + interaction),
		fmt.Errorf("through %w", &timeoutError{secret + interaction}),
		says(400, leaky), says(401, leaky), says(403, leaky), says(404, leaky), says(429, leaky), says(500, leaky), says(200, leaky),
		says(500, leaky, "X-RateLimit-Limit", "5", "X-RateLimit-Remaining", "4", "X-RateLimit-Reset-After", "2", "X-RateLimit-Bucket", "b"),
		says(302, "", "Location", leaky),
	}
	for _, e := range ends {
		bubble(t, func(t *testing.T, ctx context.Context) {
			var log bytes.Buffer
			f := &far{answer: inTurn(e)}
			c := New(Options{Token: secret, Transport: f, Log: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
			it := &discordgo.Interaction{ID: "9", AppID: "5", Token: interaction}
			err1 := c.FollowUp(ctx, it, Message{Content: "x"})
			_, err2 := c.Send(ctx, "5", Message{Content: "x"})
			err3 := c.Answer(ctx, it, thinking, nil)
			told := fmt.Sprintf("%v %+v %v\n%s\n%+v %#v", err1, err3, errors.Unwrap(err1), log.String(), c, c)
			if strings.Contains(told, secret) || strings.Contains(told, interaction) || strings.Contains(err2.Error(), secret) {
				t.Errorf("%v: told %s and %v", e, told, err2)
			}
			if !strings.Contains(fmt.Sprint(err1), "follow up: ") {
				t.Errorf("%v does not say what was done", err1)
			}
		})
	}
}

func TestATransportsErrorLosesItsAddress(t *testing.T) {
	c, _ := discord(&url.Error{Op: "Post", URL: "https://discord.com/private", Err: fmt.Errorf("through: %w", &url.Error{Op: "Get", URL: "https://proxy/", Err: io.EOF})})
	err := c.FollowUp(t.Context(), click, Message{Content: "x"})
	if want := "follow up: the connection to Discord failed: it ended the connection"; fmt.Sprint(err) != want || !errors.Is(err, io.EOF) {
		t.Errorf("%v, want %s", err, want)
	}
}

type timeoutError struct{ s string }

func (e *timeoutError) Error() string { return e.s }

func TestABaseMustBeLoopbackOrEncrypted(t *testing.T) {
	for base, want := range map[string]bool{
		"":                                 true,
		defaultBase:                        true,
		"http://127.0.0.1:8080/api/v10":    true,
		"http://127.8.9.10/api/v10/":       true,
		"http://[::1]:80/api":              true,
		"http://[::ffff:127.0.0.1]/":       true,
		"http://LocalHost:1/":              true,
		"https://proxy.example/discord":    true,
		"http://discord.com/api/v10":       false,
		"http://10.0.0.1/":                 false,
		"http://127.0.0.1.example.com/":    false,
		"http://2130706433/":               false,
		"http://localhost.example/":        false,
		"ftp://127.0.0.1/":                 false,
		"127.0.0.1:8080":                   false,
		"https://":                         false,
		"https://user:pw@discord.com/":     false,
		"https://discord.com/?x=y":         false,
		"https://discord.com/#x":           false,
		"http://127.0.0.1@evil.example/":   false,
		"http://[fe80::1%25127.0.0.1]/api": false,
		"://":                              false,
		"https://discord.com/\x7f":         false,
	} {
		if err := CheckBase(base); (err == nil) != want {
			t.Errorf("%q: %v", base, err)
		}
	}
}

func TestATokenMayBePastedWithItsScheme(t *testing.T) {
	f := &far{answer: inTurn(says(200, `{"id":"1","username":"ollim","bot":true}`))}
	c := New(Options{Token: " Bot abc\n", Transport: f})
	me, err := c.Me(t.Context())
	if err != nil || me.ID != "1" || me.DisplayName() != "ollim" || f.requests()[0].header.Get("Authorization") != "Bot abc" {
		t.Errorf("%+v, %v, %q", me, err, f.requests()[0].header)
	}
}

func TestWithoutATokenNothingIsAsked(t *testing.T) {
	f := &far{answer: inTurn(fine)}
	if _, err := New(Options{Token: " ", Transport: f}).Me(t.Context()); !errors.Is(err, ErrAuth) || len(f.requests()) != 0 {
		t.Error(err)
	}
}

// object reads a body as JSON.
func object(t *testing.T, data []byte) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return v
}

func TestWhatComesBeforeASendingIsDoneOnceAndWhenNoLimitIsWaitedFor(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		last := says(200, `{"id":"1"}`, "X-RateLimit-Limit", "5", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset-After", "2.5", "X-RateLimit-Bucket", "abcd")
		c, f := discord(last, says(500, ""), fine)
		if _, err := c.Send(ctx, "7", Message{Content: "x"}); err != nil {
			t.Fatal(err)
		}
		start, calls := time.Now(), 0
		_, err := c.Send(ctx, "7", Message{Content: "x", Before: func() error {
			took(t, start, 2500*time.Millisecond)
			calls++
			return nil
		}})
		if err != nil || calls != 1 || len(f.requests()) != 3 {
			t.Errorf("called %d times, %d requests, %v", calls, len(f.requests()), err)
		}
		no := errors.New("not paid")
		if _, err := c.Send(ctx, "7", Message{Content: "x", Before: func() error { return no }}); !errors.Is(err, no) || len(f.requests()) != 3 {
			t.Errorf("%v, %d requests", err, len(f.requests()))
		}
		ending, end := context.WithCancel(ctx)
		_, err = c.Send(ending, "7", Message{Content: "x", Before: func() error { end(); return nil }})
		if !errors.Is(err, context.Canceled) || errors.Is(err, ErrUnknown) || len(f.requests()) != 3 {
			t.Errorf("where the program ends meanwhile: %v, %d requests", err, len(f.requests()))
		}
	})
}

// A message that was paid for is not given up half sent: its caller may end, as
// every caller does when the bot stops.
func TestWhatIsPaidForOutlivesItsCallerForAMoment(t *testing.T) {
	for _, tt := range []struct {
		answer time.Duration
		want   error
	}{{time.Second, nil}, {2 * time.Minute, ErrUnknown}} {
		bubble(t, func(t *testing.T, ctx context.Context) {
			f := &far{answer: func(int, seen) (said, error) { return fine, slowly(tt.answer) }}
			ending, end := context.WithCancel(ctx)
			time.AfterFunc(500*time.Millisecond, end)
			start := time.Now()
			id, err := client(f).Send(ending, "7", Message{Content: "x", Before: func() error { return nil }})
			if !errors.Is(err, tt.want) || len(f.requests()) != 1 {
				t.Errorf("answered after %s: %q, %v, %d requests", tt.answer, id, err, len(f.requests()))
			}
			took(t, start, min(tt.answer, 500*time.Millisecond+parting))
		})
	}
}
