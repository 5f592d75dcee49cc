package rest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/base/testkit"
)

// windowed answers with the headers of a rate limit.
func windowed(limit, left, after, bucket string) said {
	return says(
		200, `{"id":"100"}`,
		"X-RateLimit-Limit", limit, "X-RateLimit-Remaining", left, "X-RateLimit-Reset-After", after, "X-RateLimit-Bucket", bucket,
	)
}

// after changes what is said.
func (s said) after(seconds int) late { return late{time.Duration(seconds) * time.Second, s} }

func TestALimitIsWaitedForAndNoOther(t *testing.T) {
	old := says(
		429, `{"message":"Maximum number of edits to messages older than 1 hour reached.","retry_after":300,"code":30046}`,
		"X-RateLimit-Limit", "5", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset-After", "300", "X-RateLimit-Bucket", "e",
	)
	shared := says(429, `{"message":"x","retry_after":400}`, "X-RateLimit-Scope", "shared")
	forbidden := says(403, `{"code":50001,"message":"Missing Access"}`)
	var others []string
	for i := range 2 * maxRefused {
		others = append(others, fmt.Sprintf("delete %d: limited 6m40s", 1000+i))
	}
	for _, s := range []struct {
		name    string
		answers []any
		steps   string
	}{
		{"half a second", []any{limited("0.5"), fine}, "send, at 500ms, 2 requests"},
		{"to the millisecond", []any{limited("1.234"), fine}, "send, at 1.234s, 2 requests"},
		{"a minute", []any{limited("60"), fine}, "send, at 1m, 2 requests"},
		{"one beyond patience is reported at once, and holds", []any{limited("61.5"), fine}, "send: limited 1m1.5s, at 0s, " +
			"wait 500ms, send: limited 1m1s, 1 requests, wait 2s, send, at 1m1.5s"},
		{"a storm ends with patience", []any{limited("0")}, "send: limited 5.5s, at 57.75s, 22 requests"},
		{"of very short ones, too", []any{limited("0.001")}, "send: limited 5.5s, at 57.75s, 22 requests"},
		{"and of longer ones", []any{limited("7")}, "send: limited 7s, at 56s, 9 requests"},
		{"a wait ends with its context", []any{limited("30"), fine}, "for 700ms send: canceled, at 700ms, 1 requests"},
		{"after a fault, too", []any{says(503, "", "Retry-After", "30"), fine}, "for 700ms send: canceled, at 700ms, 1 requests"},
		{"and without an answer", []any{slowly(time.Hour), fine}, "for 700ms send: canceled unknown, at 700ms, 1 requests"},
		{"what a deadline forbids does not begin", []any{limited("30"), fine}, "by 10s send: limited 30s, at 0s"},
		{"an ended context sends nothing", []any{fine}, "for 0s send: canceled, 0 requests"},
		{
			"an empty window is waited for, another channel and route have their own",
			[]any{windowed("5", "0", "2.5", "abcd"), fine},
			"send, at 0s, send 8, edit, at 0s, send, at 2.5s",
		},
		{"routes of one bucket share its window", []any{windowed("2", "1", "3", "b"), windowed("2", "0", "3", "b"), fine}, "edit, send, at 0s, edit, at 3s"},
		{
			"but not if its name is endless",
			[]any{windowed("2", "1", "3", strings.Repeat("b", 101)), windowed("2", "0", "3", strings.Repeat("b", 101)), fine},
			"edit, send, edit, at 0s",
		},
		{
			"the limits of a file's server are none of the client's, whatever it calls them",
			[]any{windowed("5", "4", "9", "b"), said{status: 200, body: "x", header: windowed("1", "0", "9", "b").header}, fine},
			"me, fetch, me, at 0s",
		},
		{
			"an answer with half of the time left is of the same window",
			[]any{windowed("5", "3", "4", "b"), windowed("5", "0", "2", "b"), fine},
			"send, send, at 0s, send, at 2s",
		},
		{
			"and so is one with half more",
			[]any{windowed("5", "2", "2", "b"), windowed("5", "4", "4", "b"), fine},
			"send, send, send, at 0s, send, at 4s",
		},
		{"an answer that was on its way lifts no limit", []any{windowed("5", "3", "2", "b").after(10), says(
			429, `{"message":"x","retry_after":30}`, "X-RateLimit-Bucket", "b"), fine}, "beside send, beside send, wait 20s, send, at 30s"},
		{
			"a slow request holds up no other",
			[]any{says(200, `{"id":"slow"}`).after(15), says(200, `{"id":"fast"}`)},
			"beside send: slow, send: fast, at 0s, join, at 15s",
		},
		{
			"a global one holds for all but interactions",
			[]any{says(429, `{"message":"x","retry_after":4,"global":true}`), fine},
			"beside send, ack, at 0s, delete 8, at 4s, join, 4 requests",
		},
		{
			"by its header, too",
			[]any{says(429, `{"message":"x","retry_after":4}`, "X-RateLimit-Global", "true"), fine},
			"beside send, ack, at 0s, delete 8, at 4s, join, 4 requests",
		},
		{
			"a shorter global one does not end a longer one",
			[]any{
				says(429, `{"message":"x","retry_after":4,"global":true}`).after(10), says(429, `{"message":"x","retry_after":30,"global":true}`), fine,
			},
			"beside send, beside delete 8, wait 20s, edit, at 30s, join",
		},
		{"edits of old messages have their own", []any{old, fine}, "edit: old edit, edit, at 0s"},
		{
			"many refusals stop the client for the rest of the window",
			[]any{forbidden},
			strings.Repeat("delete: forbidden, wait 1s, ", maxRefused) + "delete: stopped 1m40s, 500 requests, wait 1m40s, delete: forbidden, delete: forbidden, at 10m",
		},
		{"those that are not our fault do not", []any{shared}, strings.Join(others, ", ")}, // each in its own channel: none waits for another
		// S40: the first two reactions of a program were one too many for Discord, which allows one in a quarter of a second.
		{"the first reactions are not too quick", []any{fine}, "react, at 0s, unreact, at 300ms, react, at 600ms"},
		{"a window of one request", []any{windowed("1", "0", "5", "b"), fine}, "send, send, at 5s"},
		{"not a number", []any{windowed("5", "0", "NaN", "b")}, "send, send, send, at 0s"},
		{"before now", []any{windowed("5", "0", "-3", "b")}, "send, send, send, at 0s"},
		{"never", []any{windowed("5", "0", "1e18", "b")}, "send, send, send, at 0s"},
		{"nothing is allowed", []any{windowed("0", "0", "5", "b")}, "send, send, send, at 0s"},
		{"less than nothing", []any{windowed("-5", "-1", "5", "b")}, "send, send, send, at 0s"},
		{"words", []any{windowed("x", "y", "z", strings.Repeat("b", 5000))}, "send, send, send, at 0s"},
	} {
		plays(t, s.name, s.answers, s.steps)
	}
	for want, ban := range map[time.Duration]said{
		banFor:           says(429, "<html>error code: 1015</html>"),
		90 * time.Second: says(429, "", "Retry-After", "90"),
		time.Hour:        says(429, `error code: 1015`, "Retry-After", "3600"),
		24 * time.Hour:   says(429, `[]`, "Retry-After", "1e300"),
	} {
		plays(t, "a ban ends all calls until it is over", []any{ban, fine}, fmt.Sprintf(
			"send: banned %v, wait %v, ack: banned 1s, 1 requests, wait 1s, delete, at %v", want, want-time.Second, want))
	}
}

func TestARequestIsRepeatedWhereThatIsSafe(t *testing.T) {
	dial := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	gone := says(404, `{"message":"Unknown Message","code":10008}`)
	already := says(400, `{"message":"Interaction has already been acknowledged.","code":40060}`)
	noDM := says(403, `{"message":"x","code":50007}`)
	invalidToken := says(401, `{"message":"Invalid Webhook Token","code":50027}`)
	for _, s := range []struct {
		name    string
		answers []any
		steps   string
	}{
		{"never sent", []any{dial, fine}, "follow, 2 requests"},
		{"not even to the proxy", []any{fmt.Errorf("wrapped: %w", &net.OpError{Op: "proxyconnect", Err: syscall.EHOSTUNREACH}), fine}, "follow, 2 requests"},
		{"without an address", []any{&net.DNSError{Err: "no such host", Name: "discord.com", IsNotFound: true}, fine}, "follow, 2 requests"},
		{"limited", []any{limited("1"), fine}, "follow, 2 requests"},
		{"read", []any{says(500, ""), fine}, "read, 2 requests"},
		{"deleted by the first try", []any{says(502, ""), gone}, "delete"},
		{"deleted by somebody else", []any{gone}, "delete: gone"},
		{"deleted with its channel", []any{says(502, ""), says(404, `{"code":10003}`)}, "delete: no channel"},
		{"edited", []any{says(500, ""), fine}, "edit, 2 requests"},
		{"an answer is edited", []any{says(500, ""), fine}, "reword, 2 requests"},
		{"commands are registered", []any{says(500, ""), fine}, "register, 2 requests"},
		{"answered by the first try", []any{io.EOF, already}, "ack, 2 requests"},
		{"answered by somebody else", []any{already}, "ack: expired"},
		{"an interaction that is over does not condemn the token", []any{invalidToken, fine}, "reword: expired, send"},
		{"also without words", []any{says(401, ""), fine}, "retract: expired, send"},
		{
			"a refused token ends every call at once",
			[]any{limited("50"), says(401, `{"message":"401: Unauthorized","code":0}`), fine},
			"beside send: auth, wait 1s, delete 8: auth, join, at 1s, wait 24h, me: auth, 2 requests",
		},
		{"typing is worth no wait", []any{limited("9"), says(204, "")}, "type: limited 9s, at 0s, 1 requests"},
		{"nor a second try", []any{says(500, ""), says(204, "")}, "type: transient, at 0s, 1 requests"},
		{"not even where the first was cut", []any{io.EOF, says(204, "")}, "type: transient, at 0s, 1 requests"},
		{"or slow", []any{slowly(time.Hour), says(204, "")}, "type: transient, at 5s, 1 requests"},
		// A message that got no answer may be there, and one that was never sent is not.
		{"frozen", []any{slowly(time.Hour)}, "by 1m send: late unknown"},
		{"cut each time", []any{io.EOF}, "by 1m send: transient unknown"},
		{"cut once, then refused", []any{io.EOF, noDM}, "by 1m send: cannot DM unknown"},
		{"cut once, then unreachable", []any{io.EOF, dial}, "by 1m send: transient unknown"},
		{"unreachable", []any{dial}, "by 1m send: transient"},
		{"refused", []any{noDM}, "by 1m send: cannot DM"},
		{"broken", []any{says(500, "")}, "by 1m send: transient"},
		{"a file is a matter of its own", []any{says(302, "", "Location", "http://169.254.169.254/"), fine}, "fetch: invalid, me, 2 requests"},
		{"its address ends", []any{says(403, "This content is no longer available."), fine}, "fetch: expired, me, 2 requests"},
		{"or was never there", []any{says(404, ""), fine}, "fetch: expired, me, 2 requests"},
		{"or is gone for good", []any{says(410, ""), fine}, "fetch: expired, me, 2 requests"},
		{"or needs more rights", []any{says(401, ""), fine}, "fetch: expired, me, 2 requests"},
		{"or is of another kind", []any{says(415, ""), fine}, "fetch: invalid, me, 2 requests"},
		{"a fault costs all tries", []any{says(503, "")}, "fetch: transient, 5 requests"},
		{"and so does half of it", []any{said{status: 200, body: "half", lost: 4}}, "fetch: transient, 5 requests"},
		{"its limits are no ban", []any{says(429, "<html>")}, "fetch: limited 5.5s, fetch: limited 5.5s"},
		{"a payment comes once, when no limit is waited for", []any{windowed("5", "0", "2.5", "abcd"), says(500, ""), fine}, "send, pay 2.5s, 3 requests"},
		{"what is refused is not sent", []any{fine}, "refuse: unpaid, 0 requests"},
		{"nor what the program's end overtakes", []any{fine}, "stop: canceled, 0 requests"},
		// What was paid for outlives its caller for a moment: every caller ends when the bot stops.
		{"what is paid for is sent", []any{fine.after(1)}, "for 500ms pay 0s, at 1s, 1 requests"},
		{"unless that takes long", []any{fine.after(120)}, "for 500ms pay 0s: canceled unknown, at 3.5s, 1 requests"},
	} {
		plays(t, s.name, s.answers, s.steps)
	}
	for name, fault := range map[string]any{ // what may happen to a request that Discord has perhaps carried out
		"500": says(500, "oops"), "502": says(502, "<html>"), "503": says(503, ""), "520": says(520, ""),
		"eof": io.ErrUnexpectedEOF, "reset": &net.OpError{Op: "read", Err: syscall.ECONNRESET},
		"no answer": slowly(time.Hour), "captive portal": says(302, "", "Location", "http://login.example/"),
		"html": says(200, "<html>welcome</html>"), "cut": said{status: 200, body: `{"id"`, lost: 7},
		"no id": says(200, `{"ok":true}`), "wrong type": says(200, `{"id":7}`), "empty": says(200, ""),
	} {
		maybe := " unknown"
		if s, answered := fault.(said); answered && s.status >= 300 {
			maybe = ""
		}
		plays(t, name+", then an answer", []any{fault, fault, fault, fault, fine}, "send, 5 requests, one nonce")
		plays(t, name+" each time", []any{fault}, "send: transient"+maybe+", 5 requests")
		plays(t, name+" without a nonce", []any{fault, fine}, "follow: transient, 1 requests")
	}
}

func TestAnErrorSaysWhatToDo(t *testing.T) {
	for _, c := range []struct {
		answer any
		want   string
	}{
		{
			says(400, `{"code":50035,"message":"Invalid Form Body","errors":{
			"embeds":{"0":{"title":{"_errors":[{"code":"X","message":"Must be 256 or fewer in length.\u001b[31m"}]}}},
			"content":{"_errors":[{"message":"too long"},{"message":"too loud"}]},"_errors":[{"message":"all wrong"}],"odd":7}}`),
			"not accepted by Discord (code 50035: all wrong; content: too long; content: too loud; embeds[0].title: Must be 256 or fewer in length.)",
		},
		{
			&url.Error{Op: "Post", URL: "https://discord.com/private", Err: fmt.Errorf("through: %w", &url.Error{Op: "Get", URL: "https://proxy/", Err: io.EOF})},
			"the connection to Discord failed: it ended the connection",
		},
		{says(401, ""), "the bot's token was refused: open the Developer Portal > your application > Bot > Reset Token, " +
			"set DISCORD_TOKEN in .env to the new token, and restart the bot"},
		{says(500, ""), "the connection to Discord failed: answered with status 500"},
		{says(400, `{"code":50035,"errors":{"content":{"_errors":[{"message":"too long"}]}}}`), "not accepted by Discord (code 50035: content: too long)"},
		{says(413, `{"message":"too\nlarge"}`), "not accepted by Discord (status 413: too large)"},
		{says(413, ""), "not accepted by Discord (status 413)"},
		{limited("100.2"), "Discord's rate limit was reached: retrying is possible in 1m41s"},
	} {
		bubble(t, func(t *testing.T, ctx context.Context) {
			client, _ := discord(c.answer)
			_, err := client.Send(ctx, "7", Message{Content: "x"})
			_, cut := c.answer.(error)
			if strings.TrimPrefix(fmt.Sprint(err), "send the message: ") != c.want || errors.Is(err, io.EOF) != cut {
				t.Errorf("%v\nwant %s", err, c.want)
			}
		})
	}
}

// discordsWindow limits as Discord does: so many requests, then a 429 until the
// window, which began with its first request, is over.
type discordsWindow struct {
	mu      sync.Mutex
	limit   int
	span    time.Duration
	begin   time.Time
	used    int
	refused int
}

func (w *discordsWindow) answer(_ int, _ seen) (said, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if now.Sub(w.begin) >= w.span {
		w.begin, w.used = now, 0
	}
	after := strconv.FormatFloat(w.begin.Add(w.span).Sub(now).Seconds(), 'f', 3, 64)
	head := func(left int) []string {
		return []string{"X-RateLimit-Limit", strconv.Itoa(w.limit), "X-RateLimit-Remaining", strconv.Itoa(left), "X-RateLimit-Reset-After", after, "X-RateLimit-Bucket", "b"}
	}
	if w.used == w.limit {
		w.refused++
		return says(429, `{"message":"slow down","retry_after":`+after+`,"global":false}`, head(0)...), slowly(40 * time.Millisecond)
	}
	w.used++
	return says(200, `{"id":"1"}`, head(w.limit-w.used)...), slowly(40 * time.Millisecond)
}

func TestABurstIsSpreadOverTheWindows(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		w := &discordsWindow{limit: 5, span: 5 * time.Second}
		c := client(&far{answer: w.answer})
		start := time.Now()
		if _, err := c.Send(ctx, "7", Message{Content: "the first tells the limit"}); err != nil {
			t.Fatal(err)
		}
		var wait sync.WaitGroup
		for range 39 {
			wait.Go(func() {
				if _, err := c.Send(ctx, "7", Message{Content: "x"}); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if w.refused > 0 {
			t.Errorf("%d of 40 requests were refused", w.refused)
		}
		if d := time.Since(start); d < 35*time.Second || d > 36*time.Second {
			t.Errorf("40 messages took %s; eight windows of five take 35 s", d)
		}
	})
}

func TestPausesGrowAndDiffer(t *testing.T) {
	first := map[time.Duration]bool{}
	for range 5 {
		bubble(t, func(t *testing.T, ctx context.Context) {
			c, f := discord(says(500, ""))
			_, _ = c.Send(ctx, "7", Message{Content: "x"})
			got := f.requests()
			for i := 1; i < len(got); i++ {
				pause, most := got[i].at.Sub(got[i-1].at), backOff<<(i-1)
				if pause < most/2 || pause > most {
					t.Errorf("pause %d is %s, not between %s and %s", i, pause, most/2, most)
				}
			}
			first[got[1].at.Sub(got[0].at)] = true
		})
	}
	if len(first) < 2 {
		t.Errorf("five clients come back together: %v", first)
	}
}

func TestRefusalsAreNeverRepeatedAndHaveAKind(t *testing.T) {
	for want, codes := range map[error]string{ // statuses and codes
		ErrNoChannel: "404/10003",
		ErrGone:      "404/10008 404/10014",
		ErrExpired:   "404/10015 404/10062 400/40060 400/40094",
		ErrCannotDM:  "403/50007 400/50007 403/50278",
		ErrLimited:   "400/20028 400/40062 400/40003",
		ErrTransient: "400/130000",
		ErrInvalid:   "400/40005 413/0 400/50006 400/50035 404/0 405/0",
		ErrForbidden: "403/50001 403/50005 403/40333 403/0",
	} {
		for both := range strings.SplitSeq(codes, " ") {
			status, code, _ := strings.Cut(both, "/")
			n, err := strconv.Atoi(status)
			testkit.Must(t, err)
			c, f := discord(says(n, `{"code":`+code+`,"message":"in Discord's words"}`))
			_, err = c.Send(t.Context(), "7", Message{Content: "x"})
			e, is := errors.AsType[*APIError](err)
			if !errors.Is(err, want) || len(f.requests()) != 1 || is == errors.Is(err, ErrLimited) {
				t.Errorf("%s: %T %v after %d requests", both, err, err, len(f.requests()))
			}
			if is && fmt.Sprint(e.Status, "/", e.Code, e.Message) != both+"in Discord's words" {
				t.Errorf("%s: %+v", both, e)
			}
		}
	}
}

func TestAHostileFormErrorIsBounded(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 5000) + `{"_errors":[{"message":"deep"}]}` + strings.Repeat(`}`, 5000)
	wide := `{"_errors":[` + strings.Repeat(`{"message":"`+strings.Repeat("x", 1000)+`"},`, 500) + `{"message":"x"}]}`
	for _, tree := range []string{deep, wide, `[]`, `"x"`, `null`, `{"_errors":{"a":1}}`} {
		c, _ := discord(says(400, `{"code":50035,"message":"Invalid","errors":`+tree+`}`))
		_, err := c.Send(t.Context(), "7", Message{Content: "x"})
		if !errors.Is(err, ErrInvalid) || len(err.Error()) > 2000 || (tree == wide) != strings.HasSuffix(err.Error(), "; and more)") {
			t.Errorf("%d bytes: %.100v", len(err.Error()), err)
		}
	}
	for levels, shown := range map[int]bool{maxDepth: true, maxDepth + 1: false} {
		tree := strings.Repeat(`{"a":`, levels) + `{"_errors":[{"message":"deep"}]}` + strings.Repeat(`}`, levels)
		c, _ := discord(says(400, `{"code":50035,"message":"Invalid","errors":`+tree+`}`))
		if _, err := c.Send(t.Context(), "7", Message{Content: "x"}); strings.Contains(err.Error(), "deep") != shown {
			t.Errorf("%d levels: %v", levels, err)
		}
	}
}

func TestWindowsOfManyInteractionsAreForgotten(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		c, _ := discord(windowed("5", "4", "2", "i"))
		for i := range 10 * manyWindows {
			if err := c.FollowUp(ctx, &discordgo.Interaction{AppID: "5", Token: "token" + strconv.Itoa(i)}, Message{Content: "x"}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond)
			if n := len(c.limits.windows); n > manyWindows {
				t.Fatalf("%d windows are remembered", n)
			}
		}
	})
}
