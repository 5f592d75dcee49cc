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
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/base/testkit"
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

// late is what far says after a time.
type late struct {
	after time.Duration
	said
}

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
		case late:
			return a.said, slowly(a.after)
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

func bubble(t *testing.T, f func(t *testing.T, ctx context.Context)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, t.Context()) })
}

var outcomes = []struct {
	name string
	err  error
}{
	{"canceled", context.Canceled},
	{"late", context.DeadlineExceeded},
	{"auth", ErrAuth},
	{"cannot DM", ErrCannotDM},
	{"gone", ErrGone},
	{"no channel", ErrNoChannel},
	{"expired", ErrExpired},
	{"invalid", ErrInvalid},
	{"forbidden", ErrForbidden},
	{"old edit", ErrOldEdit},
	{"transient", ErrTransient},
	{"too large", ErrTooLarge},
	{"unpaid", errUnpaid},
	{"unknown", ErrUnknown},
}

var errUnpaid = errors.New("not paid")

// outcome names every kind of an error, and for how long a limit holds.
func outcome(err error) string {
	var words []string
	if limit, ok := errors.AsType[*LimitedError](err); ok {
		kind := map[string]string{"": "limited", textBannedFor: "banned", textStoppedFor: "stopped"}[limit.why]
		words = append(words, kind, limit.After.String())
	}
	for _, kind := range outcomes {
		if errors.Is(err, kind.err) {
			words = append(words, kind.name)
		}
	}
	if err != nil && words == nil {
		return err.Error()
	}
	return strings.Join(words, " ")
}

// play is a story that runs.
type play struct {
	t       *testing.T
	c       *Client
	f       *far
	start   time.Time
	waiting sync.WaitGroup
}

// plays runs the steps of a story in a bubble, at a Discord that answers in turn. A step is a call of the client and, behind
// a colon, what becomes of it: nothing if it succeeds, or an ID other than 100. The others say how long it has taken by
// then and what has arrived.
func plays(t *testing.T, name string, answers []any, steps string) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		bubble(t, func(t *testing.T, ctx context.Context) {
			c, f := discord(answers...)
			p := &play{t: t, c: c, f: f, start: time.Now()}
			for step := range strings.SplitSeq(steps, ", ") {
				p.step(ctx, step)
			}
			p.waiting.Wait()
		})
	})
}

func (p *play) step(ctx context.Context, step string) {
	p.t.Helper()
	do, want, _ := strings.Cut(step, ": ")
	words := strings.Fields(do)
	arg := words[len(words)-1]
	d, _ := time.ParseDuration(arg)
	switch words[0] {
	case "wait":
		time.Sleep(d)
	case "join":
		p.waiting.Wait()
	case "one": // nonce
		nonces := map[any]bool{}
		for _, s := range p.f.requests() {
			o := object(p.t, s.body)
			nonces[o["nonce"]] = o["enforce_nonce"] == true
		}
		for n, enforced := range nonces {
			if len(nonces) != 1 || !enforced || n == nil || n == "" {
				p.t.Errorf("nonces %v", nonces)
			}
		}
	case "at":
		if got := time.Since(p.start); got != d {
			p.t.Errorf("at %s, want %s", got, step)
		}
	case "beside": // the next steps
		p.waiting.Go(func() { p.calls(ctx, step, words[1:], want) })
		synctest.Wait()
	case "by", "for": // a deadline, or an end without one
		d, _ := time.ParseDuration(words[1])
		ctx, end := context.WithCancel(ctx)
		if words[0] == "by" {
			ctx, end = context.WithTimeout(ctx, d)
		} else if d == 0 {
			end()
		} else {
			time.AfterFunc(d, end)
		}
		p.calls(ctx, step, words[2:], want)
		end()
	default:
		if arg != "requests" {
			p.calls(ctx, step, words, want)
		} else if got := fmt.Sprint(len(p.f.requests()), " requests"); got != step {
			p.t.Errorf("%s, want %s", got, step)
		}
	}
}

func (p *play) calls(ctx context.Context, step string, words []string, want string) {
	p.t.Helper()
	id, err := p.call(ctx, words[0], words[len(words)-1])
	got := outcome(err)
	if err == nil && id != "100" {
		got = id
	}
	if got != want {
		p.t.Errorf("%s becomes %q: %v", step, got, err)
	}
}

// call makes a call, with a channel or another argument that matters to it.
func (p *play) call(ctx context.Context, verb, arg string) (id string, err error) {
	c, m, channel := p.c, Message{Content: "x"}, "7"
	if arg != verb {
		channel = arg
	}
	switch verb {
	case "send":
		return c.Send(ctx, channel, m)
	case "pay": // right before the first try
		calls := 0
		m.Before = func() error { p.step(ctx, "at "+arg); calls++; return nil }
		id, err = c.Send(ctx, "7", m)
		if calls != 1 {
			err = fmt.Errorf("paid %d times", calls)
		}
		return id, err
	case "refuse":
		m.Before = func() error { return errUnpaid }
		return c.Send(ctx, "7", m)
	case "stop": // the program ends while it pays
		ctx, end := context.WithCancel(ctx)
		m.Before = func() error { end(); return nil }
		return c.Send(ctx, "7", m)
	case "edit":
		err = c.Edit(ctx, channel, "1", m)
	case "delete":
		err = c.Delete(ctx, channel, "1")
	case "react":
		err = c.React(ctx, "7", "1", "x")
	case "unreact":
		err = c.Unreact(ctx, "7", "1", "x")
	case "type":
		err = c.Typing(ctx, "7")
	case "read":
		_, err = c.Text(ctx, "7", "1")
	case "me":
		_, err = c.Me(ctx)
	case "fetch":
		_, err = c.Download(ctx, "https://cdn.discordapp.com/a", 10)
	case "ack":
		err = c.Answer(ctx, click, thinking, nil)
	case "reword":
		err = c.EditAnswer(ctx, click, m)
	case "retract":
		err = c.DeleteAnswer(ctx, click)
	case "register":
		err = c.PutCommands(ctx, "5", nil)
	case "follow":
		err = c.FollowUp(ctx, click, m)
	default:
		p.t.Errorf("no step %q", verb)
	}
	return "100", err
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
func TestNoSecretIsEverShown(t *testing.T) {
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

type timeoutError struct{ s string }

func (e *timeoutError) Error() string { return e.s }

func TestABaseMustBeLoopbackOrEncrypted(t *testing.T) {
	for bases, want := range map[string]bool{
		"http://127.0.0.1:8080/api/v10 http://127.8.9.10/api/v10/ http://[::1]:80/api http://[::ffff:127.0.0.1]/ http://LocalHost:1/ " +
			"https://proxy.example/discord " + defaultBase + " ": true, // and none
		"http://discord.com/api/v10 http://10.0.0.1/ http://127.0.0.1.example.com/ http://2130706433/ http://localhost.example/ ftp://127.0.0.1/ " +
			"127.0.0.1:8080 https:// https://user:pw@discord.com/ https://discord.com/?x=y https://discord.com/#x http://127.0.0.1@evil.example/ " +
			"http://[fe80::1%25127.0.0.1]/api :// https://discord.com/\x7f": false,
	} {
		for base := range strings.SplitSeq(bases, " ") {
			if err := CheckBase(base); (err == nil) != want {
				t.Errorf("%q: %v", base, err)
			}
		}
	}
}

func TestATokenMayBePastedWithItsSchemeAndAVersionFitsIntoAHeader(t *testing.T) {
	for given, want := range map[[2]string]string{
		{" Bot abc\n", ""}:               "Bot abc DiscordBot (ollim-bot, dev)",
		{"abc", "1.0 (of\ntoday)\x7f é"}: "Bot abc DiscordBot (ollim-bot, 1.0oftoday)",
		{" ", "1.0"}:                     "", // nothing is asked without a token
	} {
		f := &far{answer: inTurn(says(200, `{"id":"1","username":"ollim","bot":true}`))}
		me, err := New(Options{Token: given[0], Version: given[1], Transport: f}).Me(t.Context())
		if want == "" {
			if !errors.Is(err, ErrAuth) || len(f.requests()) != 0 {
				t.Error(err)
			}
			continue
		}
		head := f.requests()[0].header
		if got := head.Get("Authorization") + " " + head.Get("User-Agent"); err != nil || got != want || me.ID != "1" || me.DisplayName() != "ollim" {
			t.Errorf("%q: %s, %+v, %v", given, got, me, err)
		}
	}
}

func TestTheClientKnowsTheNoncesOfItsLatestMessages(t *testing.T) {
	c, _ := discord(fine)
	for i := range keptNonces + 1 {
		testkit.Must(t, second(c.Send(t.Context(), "7", Message{Content: "x", Nonce: fmt.Sprint("n", i)})))
	}
	for i, known := range map[int]bool{0: false, 1: true, keptNonces: true, keptNonces + 1: false} {
		if c.Sent(fmt.Sprint("n", i)) != known {
			t.Errorf("number %d is known: %v", i, !known)
		}
	}
}

// object reads a body as JSON.
func object(t *testing.T, data []byte) map[string]any {
	t.Helper()
	var v map[string]any
	testkit.Must(t, json.Unmarshal(data, &v))
	return v
}
