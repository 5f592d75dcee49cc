package rest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bwmarrin/discordgo"
)

func TestAnEmptyWindowIsWaitedForBeforeSending(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		last := says(
			200, `{"id":"1"}`,
			"X-RateLimit-Limit", "5", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset-After", "2.5", "X-RateLimit-Bucket", "abcd",
		)
		c, _ := discord(last, fine)
		send := func(channel string) { //nolint:unparam // reads better
			t.Helper()
			if _, err := c.Send(ctx, channel, Message{Content: "x"}); err != nil {
				t.Error(err)
			}
		}
		start := time.Now()
		send("7")
		took(t, start, 0)
		send("8") // another channel has a window of its own
		if err := c.Edit(ctx, "7", "1", Message{Content: "x"}); err != nil {
			t.Error(err) // and so has another route, as long as Discord does not say otherwise
		}
		took(t, start, 0)
		send("7")
		took(t, start, 2500*time.Millisecond)
	})
}

func TestRoutesOfOneBucketShareItsWindow(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		head := []string{"X-RateLimit-Limit", "2", "X-RateLimit-Reset-After", "3", "X-RateLimit-Bucket", "shared", "X-RateLimit-Remaining"}
		c, _ := discord(says(200, `{}`, append(head, "1")...), says(200, `{"id":"1"}`, append(head, "0")...), fine)
		start := time.Now()
		if err := c.Edit(ctx, "7", "1", Message{Content: "x"}); err != nil {
			t.Error(err)
		}
		if _, err := c.Send(ctx, "7", Message{Content: "x"}); err != nil {
			t.Error(err)
		}
		took(t, start, 0)
		if err := c.Edit(ctx, "7", "1", Message{Content: "x"}); err != nil {
			t.Error(err)
		}
		took(t, start, 3*time.Second)
	})
}

func TestAnAnswerThatWasOnItsWayLiftsNoLimit(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		f := &far{answer: func(n int, _ seen) (said, error) {
			switch n {
			case 0:
				return says(
					200, `{"id":"1"}`,
					"X-RateLimit-Limit", "5", "X-RateLimit-Remaining", "3", "X-RateLimit-Reset-After", "2", "X-RateLimit-Bucket", "b",
				), slowly(10 * time.Second)
			case 1:
				return says(429, `{"message":"x","retry_after":30}`, "X-RateLimit-Bucket", "b"), nil
			}
			return fine, nil
		}}
		c := client(f)
		start := time.Now()
		var wait sync.WaitGroup
		send := func() { _, _ = c.Send(ctx, "7", Message{Content: "x"}) }
		wait.Go(send)
		synctest.Wait()
		wait.Go(send) // is limited for 30 s
		time.Sleep(20 * time.Second)
		send()
		took(t, start, 30*time.Second)
		wait.Wait()
	})
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

func TestAGlobalLimitHoldsForAllButInteractions(t *testing.T) {
	globals := []said{
		says(429, `{"message":"x","retry_after":4,"global":true}`),
		says(429, `{"message":"x","retry_after":4}`, "X-RateLimit-Global", "true"),
	}
	for _, global := range globals {
		bubble(t, func(t *testing.T, ctx context.Context) {
			c, f := discord(global, fine)
			start := time.Now()
			var wait sync.WaitGroup
			wait.Go(func() { _, _ = c.Send(ctx, "7", Message{Content: "x"}) })
			synctest.Wait()
			if err := c.Answer(ctx, click, thinking, nil); err != nil {
				t.Error(err)
			}
			took(t, start, 0)
			if err := c.Delete(ctx, "8", "1"); err != nil {
				t.Error(err)
			}
			took(t, start, 4*time.Second)
			wait.Wait()
			if n := len(f.requests()); n != 4 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestASlowRequestHoldsUpNoOther(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		f := &far{answer: func(n int, _ seen) (said, error) {
			if n == 0 {
				return says(200, `{"id":"slow"}`), slowly(15 * time.Second)
			}
			return says(200, `{"id":"fast"}`), nil
		}}
		c := client(f)
		start := time.Now()
		var wait sync.WaitGroup
		wait.Go(func() {
			if id, err := c.Send(ctx, "7", Message{Content: "x"}); id != "slow" || err != nil {
				t.Error(id, err)
			}
			took(t, start, 15*time.Second)
		})
		synctest.Wait()
		if id, err := c.Send(ctx, "7", Message{Content: "x"}); id != "fast" || err != nil {
			t.Error(id, err)
		}
		took(t, start, 0)
		wait.Wait()
	})
}

// faults are what may happen to a request that Discord has perhaps carried out.
var faults = map[string]any{
	"500": says(500, "oops"), "502": says(502, "<html>"), "503": says(503, ""), "520": says(520, ""),
	"eof": io.ErrUnexpectedEOF, "reset": &net.OpError{Op: "read", Err: syscall.ECONNRESET},
	"no answer": slowly(time.Hour), "captive portal": says(302, "", "Location", "http://login.example/"),
	"html": says(200, "<html>welcome</html>"), "cut": said{status: 200, body: `{"id"`, lost: 7},
	"no id": says(200, `{"ok":true}`), "wrong type": says(200, `{"id":7}`), "empty": says(200, ""),
}

func TestAFailedMessageIsRepeatedUnderTheSameNonce(t *testing.T) {
	for name, fault := range faults {
		bubble(t, func(t *testing.T, ctx context.Context) {
			c, f := discord(fault, fault, fault, fault, fine)
			id, err := c.Send(ctx, "7", Message{Content: "x"})
			if err != nil || id != "100" {
				t.Errorf("%s: %q, %v", name, id, err)
			}
			got := f.requests()
			if len(got) != 5 {
				t.Fatalf("%s: %d requests", name, len(got))
			}
			nonces := map[any]bool{}
			for _, s := range got {
				o := object(t, s.body)
				nonces[o["nonce"]] = true
				if o["enforce_nonce"] != true {
					t.Errorf("%s: nonce is not enforced", name)
				}
			}
			if len(nonces) != 1 || nonces[nil] || nonces[""] {
				t.Errorf("%s: nonces %v", name, nonces)
			}
		})
	}
}

func TestAfterFiveTriesAMessageFails(t *testing.T) {
	for name, fault := range faults {
		bubble(t, func(t *testing.T, ctx context.Context) {
			c, f := discord(fault)
			_, err := c.Send(ctx, "7", Message{Content: "x"})
			if !errors.Is(err, ErrTransient) || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", name, err)
			}
			if n := len(f.requests()); n != 5 {
				t.Errorf("%s: %d requests", name, n)
			}
		})
	}
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

func TestWhatHasNoNonceIsNotRepeatedOnceItWasSent(t *testing.T) {
	for name, fault := range faults {
		bubble(t, func(t *testing.T, ctx context.Context) {
			c, f := discord(fault, fine)
			err := c.FollowUp(ctx, click, Message{Content: "x"})
			if !errors.Is(err, ErrTransient) || len(f.requests()) != 1 {
				t.Errorf("%s: %v after %d requests", name, err, len(f.requests()))
			}
		})
	}
}

func TestWhatWasNeverSentIsRepeatedAlways(t *testing.T) {
	for _, fault := range []any{
		&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED},
		fmt.Errorf("wrapped: %w", &net.OpError{Op: "proxyconnect", Err: syscall.EHOSTUNREACH}),
		&net.DNSError{Err: "no such host", Name: "discord.com", IsNotFound: true},
		limited("1"),
	} {
		bubble(t, func(t *testing.T, ctx context.Context) {
			c, f := discord(fault, fine)
			err := c.FollowUp(ctx, click, Message{Content: "x"})
			if err != nil || len(f.requests()) != 2 {
				t.Errorf("%v: %v after %d requests", fault, err, len(f.requests()))
			}
		})
	}
}

func TestARepeatedTryLearnsThatTheFirstOneArrived(t *testing.T) {
	gone := says(404, `{"message":"Unknown Message","code":10008}`)
	already := says(400, `{"message":"Interaction has already been acknowledged.","code":40060}`)
	bubble(t, func(t *testing.T, ctx context.Context) {
		c, _ := discord(says(502, ""), gone)
		if err := c.Delete(ctx, "7", "1"); err != nil {
			t.Errorf("deleted by the first try: %v", err)
		}
		c, _ = discord(gone)
		if err := c.Delete(ctx, "7", "1"); !errors.Is(err, ErrGone) {
			t.Errorf("deleted by somebody else: %v", err)
		}
		c, f := discord(io.EOF, already)
		if err := c.Answer(ctx, click, thinking, nil); err != nil || len(f.requests()) != 2 {
			t.Errorf("answered by the first try: %v", err)
		}
		c, _ = discord(already)
		if err := c.Answer(ctx, click, thinking, nil); !errors.Is(err, ErrExpired) {
			t.Errorf("answered by somebody else: %v", err)
		}
	})
}

func TestRefusalsAreNeverRepeatedAndHaveAKind(t *testing.T) {
	for _, tt := range []struct {
		status, code int
		want         error
	}{
		{404, 10003, ErrNoChannel},
		{404, 10008, ErrGone},
		{404, 10014, ErrGone},
		{404, 10015, ErrExpired},
		{404, 10062, ErrExpired},
		{400, 40060, ErrExpired},
		{403, 50007, ErrCannotDM},
		{400, 50007, ErrCannotDM},
		{403, 50278, ErrCannotDM},
		{400, 20028, ErrLimited},
		{400, 40094, ErrExpired},
		{400, 130000, ErrTransient},
		{400, 40005, ErrInvalid},
		{413, 0, ErrInvalid},
		{403, 50001, ErrForbidden},
		{403, 50005, ErrForbidden},
		{400, 50006, ErrInvalid},
		{400, 50035, ErrInvalid},
		{403, 40333, ErrForbidden},
		{403, 0, ErrForbidden},
		{404, 0, ErrInvalid},
		{405, 0, ErrInvalid},
	} {
		c, f := discord(says(tt.status, fmt.Sprintf(`{"code":%d,"message":"in Discord's words"}`, tt.code)))
		_, err := c.Send(t.Context(), "7", Message{Content: "x"})
		if !errors.Is(err, tt.want) || len(f.requests()) != 1 {
			t.Errorf("%d/%d: %v after %d requests", tt.status, tt.code, err, len(f.requests()))
		}
		var e *APIError
		if errors.As(err, &e) && (e.Status != tt.status || e.Code != tt.code || e.Message != "in Discord's words") {
			t.Errorf("%+v", e)
		}
		if !errors.As(err, &e) && !errors.Is(err, ErrLimited) {
			t.Errorf("%d/%d: %T", tt.status, tt.code, err)
		}
	}
}

func TestAFormErrorNamesItsField(t *testing.T) {
	c, _ := discord(says(400, `{"code":50035,"message":"Invalid Form Body","errors":{
		"embeds":{"0":{"title":{"_errors":[{"code":"X","message":"Must be 256 or fewer in length.\u001b[31m"}]}}},
		"content":{"_errors":[{"message":"too long"},{"message":"too loud"}]},"_errors":[{"message":"all wrong"}],"odd":7}}`))
	_, err := c.Send(t.Context(), "7", Message{Content: "x"})
	want := "send the message: not accepted by Discord (code 50035: " +
		"all wrong; content: too long; content: too loud; embeds[0].title: Must be 256 or fewer in length.)"
	if fmt.Sprint(err) != want {
		t.Errorf("\n%v\n%s", err, want)
	}
}

func TestAHostileFormErrorIsBounded(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 5000) + `{"_errors":[{"message":"deep"}]}` + strings.Repeat(`}`, 5000)
	wide := `{"_errors":[` + strings.Repeat(`{"message":"`+strings.Repeat("x", 1000)+`"},`, 500) + `{"message":"x"}]}`
	for _, tree := range []string{deep, wide, `[]`, `"x"`, `null`, `{"_errors":{"a":1}}`} {
		c, _ := discord(says(400, `{"code":50035,"message":"Invalid","errors":`+tree+`}`))
		_, err := c.Send(t.Context(), "7", Message{Content: "x"})
		if !errors.Is(err, ErrInvalid) || len(err.Error()) > 2000 {
			t.Errorf("%d bytes: %.100v", len(err.Error()), err)
		}
	}
}

func TestABanEndsAllCallsUntilItIsOver(t *testing.T) {
	for want, ban := range map[time.Duration]said{
		banFor:           says(429, "<html>error code: 1015</html>"),
		90 * time.Second: says(429, "", "Retry-After", "90"),
		time.Hour:        says(429, `error code: 1015`, "Retry-After", "3600"),
		24 * time.Hour:   says(429, `[]`, "Retry-After", "1e300"),
	} {
		bubble(t, func(t *testing.T, ctx context.Context) {
			c, f := discord(ban, fine)
			start := time.Now()
			_, err := c.Send(ctx, "7", Message{Content: "x"})
			var e *LimitedError
			if !errors.As(err, &e) || e.After != want {
				t.Fatalf("%v, want %s", err, want)
			}
			time.Sleep(want - time.Second)
			if err := c.Answer(ctx, click, thinking, nil); !errors.As(err, &e) || e.After != time.Second {
				t.Error(err)
			}
			if n := len(f.requests()); n != 1 {
				t.Errorf("%d requests", n)
			}
			time.Sleep(time.Second)
			if err := c.Delete(ctx, "7", "1"); err != nil {
				t.Error(err)
			}
			took(t, start, want)
		})
	}
}

func TestARefusedTokenEndsEveryCallAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		c, f := discord(limited("50"), says(401, `{"message":"401: Unauthorized","code":0}`), fine)
		start := time.Now()
		var wait sync.WaitGroup
		wait.Go(func() {
			if _, err := c.Send(ctx, "7", Message{Content: "waits"}); !errors.Is(err, ErrAuth) {
				t.Error(err)
			}
			took(t, start, time.Second)
		})
		time.Sleep(time.Second)
		err := c.Delete(ctx, "8", "1")
		if !errors.Is(err, ErrAuth) {
			t.Fatal(err)
		}
		for _, word := range []string{"Developer Portal", "Reset Token", "DISCORD_TOKEN", ".env"} {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%q does not name %s", err, word)
			}
		}
		wait.Wait()
		time.Sleep(24 * time.Hour)
		if _, err := c.Me(ctx); !errors.Is(err, ErrAuth) || len(f.requests()) != 2 {
			t.Errorf("%v after %d requests", err, len(f.requests()))
		}
	})
}

func TestAnInteractionThatIsOverDoesNotCondemnTheToken(t *testing.T) {
	c, f := discord(says(401, `{"message":"Invalid Webhook Token","code":50027}`), fine)
	if err := c.EditAnswer(t.Context(), click, Message{Content: "x"}); !errors.Is(err, ErrExpired) {
		t.Error(err)
	}
	if _, err := c.Send(t.Context(), "7", Message{Content: "x"}); err != nil {
		t.Error(err)
	}
	c2, _ := discord(says(401, ""))
	if err := c2.DeleteAnswer(t.Context(), click); !errors.Is(err, ErrExpired) {
		t.Error(err)
	}
	if a, ok := f.requests()[0].header["Authorization"]; ok {
		t.Errorf("an interaction is answered without the token, not with %q", a)
	}
}

func TestManyRefusalsStopTheClientForTheRestOfTheWindow(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		c, f := discord(says(403, `{"code":50001,"message":"Missing Access"}`))
		start := time.Now()
		for range maxRefused {
			if err := c.Delete(ctx, "7", "1"); !errors.Is(err, ErrForbidden) {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		var e *LimitedError
		if err := c.Delete(ctx, "7", "1"); !errors.As(err, &e) || e.why != textStoppedFor || e.After != 100*time.Second {
			t.Fatal(err)
		}
		if n := len(f.requests()); n != maxRefused {
			t.Errorf("%d requests", n)
		}
		time.Sleep(e.After)
		for range 2 {
			if err := c.Delete(ctx, "7", "1"); !errors.Is(err, ErrForbidden) {
				t.Error(err)
			}
		}
		took(t, start, refusedWithin)
	})
}

func TestRefusalsThatAreNotOurFaultDoNotCount(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		shared := says(429, `{"message":"x","retry_after":400}`, "X-RateLimit-Scope", "shared")
		c, _ := discord(shared)
		for i := range 2 * maxRefused { // each in its own channel: none waits for another
			if err := c.Delete(ctx, strconv.Itoa(1000+i), "1"); !errors.Is(err, ErrLimited) {
				t.Fatal(err)
			}
		}
		if err := c.standing.check(time.Now()); err != nil {
			t.Error(err)
		}
	})
}

func TestEditsOfOldMessagesAreToldApartAndHoldUpNoOthers(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		old := says(
			429, `{"message":"Maximum number of edits to messages older than 1 hour reached.","retry_after":300,"code":30046}`,
			"X-RateLimit-Limit", "5", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset-After", "300", "X-RateLimit-Bucket", "e",
		)
		c, _ := discord(old, fine)
		start := time.Now()
		if err := c.Edit(ctx, "7", "1", Message{Content: "x"}); !errors.Is(err, ErrOldEdit) {
			t.Error(err)
		}
		if err := c.Edit(ctx, "7", "2", Message{Content: "x"}); err != nil {
			t.Error(err)
		}
		took(t, start, 0)
	})
}

func TestTypingIsNeverWorthAWait(t *testing.T) {
	for _, fault := range []any{limited("9"), says(500, ""), slowly(time.Hour), io.EOF} {
		bubble(t, func(t *testing.T, ctx context.Context) {
			c, f := discord(fault, says(204, ""))
			start := time.Now()
			if err := c.Typing(ctx, "7"); err == nil || len(f.requests()) != 1 || time.Since(start) > 5*time.Second {
				t.Errorf("%v after %d requests and %s", err, len(f.requests()), time.Since(start))
			}
		})
	}
}

func TestNonsenseInHeadersChangesNothing(t *testing.T) {
	for _, head := range [][]string{
		{"X-RateLimit-Limit", "5", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset-After", "NaN"},
		{"X-RateLimit-Limit", "5", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset-After", "-3"},
		{"X-RateLimit-Limit", "5", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset-After", "1e18"},
		{"X-RateLimit-Limit", "0", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset-After", "5"},
		{"X-RateLimit-Limit", "-5", "X-RateLimit-Remaining", "-1", "X-RateLimit-Reset-After", "5"},
		{"X-RateLimit-Limit", "x", "X-RateLimit-Remaining", "y", "X-RateLimit-Reset-After", "z", "X-RateLimit-Bucket", strings.Repeat("b", 5000)},
	} {
		bubble(t, func(t *testing.T, ctx context.Context) {
			c, _ := discord(says(200, `{"id":"1"}`, head...))
			start := time.Now()
			for range 3 {
				if _, err := c.Send(ctx, "7", Message{Content: "x"}); err != nil {
					t.Error(err)
				}
			}
			took(t, start, 0)
		})
	}
}

func TestWindowsOfManyInteractionsAreForgotten(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		c, _ := discord(says(
			200, `{"id":"1"}`,
			"X-RateLimit-Limit", "5", "X-RateLimit-Remaining", "4", "X-RateLimit-Reset-After", "2", "X-RateLimit-Bucket", "i",
		))
		for i := range 10 * manyWindows {
			if err := c.FollowUp(ctx, &discordgo.Interaction{AppID: "5", Token: "token" + strconv.Itoa(i)}, Message{Content: "x"}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if n := len(c.limits.windows); n > manyWindows {
			t.Errorf("%d windows are remembered", n)
		}
	})
}

func TestAMessageThatGotNoAnswerMayBeThereAndOneThatWasNeverSentIsNot(t *testing.T) {
	dial := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	for name, tt := range map[string]struct {
		answers []any
		maybe   bool
	}{
		"frozen":                     {[]any{slowly(time.Hour)}, true},
		"cut each time":              {[]any{io.EOF}, true},
		"cut once, then refused":     {[]any{io.EOF, says(403, `{"message":"x","code":50007}`)}, true},
		"cut once, then unreachable": {[]any{io.EOF, dial}, true},
		"unreachable":                {[]any{dial}, false},
		"refused":                    {[]any{says(403, `{"message":"x","code":50007}`)}, false},
		"broken":                     {[]any{says(500, "")}, false},
	} {
		bubble(t, func(t *testing.T, ctx context.Context) {
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			c, _ := discord(tt.answers...)
			if _, err := c.Send(ctx, "7", Message{Content: "x"}); err == nil || errors.Is(err, ErrUnknown) != tt.maybe {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}
