package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

type interrupt struct {
	Subtype string `json:"subtype"`
}

func TestARequestGetsTheAnswerThatBelongsToIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := dial(t.Context(), t, Options{})
		var g sync.WaitGroup
		got := make([]string, 4)
		for i := range got {
			g.Go(func() {
				response, err := p.conn.Request(t.Context(), map[string]any{"subtype": "set_model", "n": i})
				got[i] = fmt.Sprintf("%s %v", response, err)
			})
		}
		synctest.Wait()
		heard := p.heard()
		for _, h := range slices.Backward(heard) { // the answers arrive in another order
			c := controlOf(t, []byte(h))
			var asked struct{ N int }
			if err := json.Unmarshal(c.Request, &asked); err != nil {
				t.Error(err)
			}
			p.say([]string{
				`{"type":"control_response","response":{"subtype":"success","request_id":"` + c.RequestID + `","response":{"n":0}}}`,
				`{"type":"control_response","response":{"subtype":"success","request_id":"` + c.RequestID + `"}}`,
				`{"type":"control_response","response":{"subtype":"error","request_id":"` + c.RequestID + `","error":"no\nsuch \u001b[1mmodel"}}`,
				`{"type":"control_response","response":{"request_id":"` + c.RequestID + `","error":{"of":"another type"}}}`,
			}[asked.N])
		}
		g.Wait()
		want := []string{
			`{"n":0} <nil>`, `{} <nil>`, " claude refused set_model: no such model", " claude refused set_model: no reason was given",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestARefusalCanBeToldFromAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := dial(t.Context(), t, Options{})
		var g sync.WaitGroup
		g.Go(func() {
			_, err := p.conn.Request(t.Context(), interrupt{"interrupt"})
			var refused *RequestError
			if !errors.As(err, &refused) || refused.Subtype != "interrupt" || len([]rune(refused.Message)) != maxReason {
				t.Errorf("%v", err)
			}
		})
		synctest.Wait()
		id := controlOf(t, []byte(p.heard()[0])).RequestID
		p.say(`{"type":"control_response","response":{"subtype":"error","request_id":"` + id + `","error":"` + strings.Repeat("é", 9999) + `"}}`)
		g.Wait()
		g.Go(func() {
			if _, err := p.conn.Request(t.Context(), interrupt{"interrupt"}); !errors.Is(err, ErrClosed) {
				t.Errorf("ended while it waits: %v", err)
			}
		})
		synctest.Wait()
		if err := p.hangUp(); err != nil {
			t.Error(err)
		}
		g.Wait()
		if _, err := p.conn.Request(t.Context(), interrupt{"interrupt"}); !errors.Is(err, ErrClosed) {
			t.Errorf("after the end: %v", err)
		}
	})
}

func TestAnAnswerThatComesTooLateIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := dial(t.Context(), t, Options{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := p.conn.Request(ctx, interrupt{"interrupt"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		id := controlOf(t, []byte(p.heard()[0])).RequestID
		p.say(`{"type":"control_response","response":{"subtype":"success","request_id":"` + id + `"}}`)
		if err := p.hangUp(); err != nil || p.conn.skipped != 0 || len(p.conn.waiting) != 0 {
			t.Errorf("%v, %d skipped, %d wait", err, p.conn.skipped, len(p.conn.waiting))
		}
	})
}

func TestAnAnswerInTheLastLineStillCounts(t *testing.T) {
	for range 100 { // both are available at once, so either could be seen first
		synctest.Test(t, func(t *testing.T) {
			p := dial(t.Context(), t, Options{})
			var g sync.WaitGroup
			g.Go(func() {
				if r, err := p.conn.Request(t.Context(), interrupt{"interrupt"}); err != nil || string(r) != "{}" {
					t.Errorf("%s, %v", r, err)
				}
			})
			synctest.Wait()
			p.say(`{"type":"control_response","response":{"subtype":"success","request_id":"` + controlOf(t, []byte(p.heard()[0])).RequestID + `"}}`)
			if err := p.hangUp(); err != nil {
				t.Error(err)
			}
			g.Wait()
		})
	}
}

func TestOnlyObjectsAreSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := dial(t.Context(), t, Options{})
		for _, bad := range []any{nil, "text", 7, []int{1}, func() {}, json.RawMessage(`{"a":`), json.RawMessage("{\"a\":\"\n\"}"), json.RawMessage(" [1]")} {
			if err := p.conn.Send(bad); err == nil {
				t.Errorf("%v was sent", bad)
			}
			if _, err := p.conn.Request(t.Context(), bad); err == nil {
				t.Errorf("%v was requested", bad)
			}
		}
		if _, err := p.conn.Request(t.Context(), map[string]int{"subtype": 1}); err == nil {
			t.Error("a request without a subtype was sent")
		}
		synctest.Wait()
		if got := p.heard(); len(got) != 0 {
			t.Errorf("written: %q", got)
		}
	})
}

func TestWhateverIsSentIsOneLine(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		words := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"a\nb\r\nc", "\u2028\u2029", "\x00\x1f\x7f", "\xff\xfe", "<&>"})).Draw(rt, "words")
		quoted, err := json.Marshal(words)
		if err != nil {
			rt.Fatal(err)
		}
		raw := json.RawMessage("\n {\r\n\t\"k\" :\n" + string(quoted) + "}\n")
		line, err := encode(map[string]any{"text": words, "raw": raw, "odd": json.RawMessage("\"\xff\u2028\"")})
		if err != nil {
			rt.Fatal(err)
		}
		body, ok := strings.CutSuffix(string(line), "\n")
		if !ok || strings.ContainsAny(body, "\n\r\u2028\u2029\x00") || strings.ToValidUTF8(body, "") != body {
			rt.Errorf("not one line: %q", line)
		}
		var back struct {
			Text string
			Raw  struct{ K string }
		}
		want := strings.ToValidUTF8(words, "\ufffd")
		if err := json.Unmarshal(line, &back); err != nil || back.Raw.K != back.Text || utf8.ValidString(words) && back.Text != want {
			rt.Errorf("%q came back as %q, %q, %v", words, back.Text, back.Raw.K, err)
		}
	})
}

func TestLinesOfManySendersStayWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := dial(t.Context(), t, Options{})
		var g sync.WaitGroup
		for sender := range 8 {
			g.Go(func() {
				for n := range 100 {
					if err := p.conn.Send(map[string]any{"sender": sender, "n": n, "text": strings.Repeat("x", n*100)}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		g.Wait()
		synctest.Wait()
		next := map[int]int{}
		for _, line := range p.heard() {
			var v struct {
				Sender, N int
				Text      string
			}
			if err := json.Unmarshal([]byte(line), &v); err != nil || v.N != next[v.Sender] || len(v.Text) != v.N*100 {
				t.Fatalf("sender %d line %d: %v", v.Sender, v.N, err)
			}
			next[v.Sender]++
		}
		if len(next) != 8 || next[3] != 100 {
			t.Errorf("lines %v", next)
		}
	})
}

func TestSendNeverWaitsForThePipeAndItsEndIsNoFault(t *testing.T) {
	for name, end := range map[string]struct {
		by   func(in io.Closer, cancel context.CancelFunc)
		want error
	}{
		"the other side":      {func(in io.Closer, _ context.CancelFunc) { _ = in.Close() }, nil},
		"the context":         {func(_ io.Closer, cancel context.CancelFunc) { cancel() }, context.Canceled},
		"a pipe that we lost": {func(in io.Closer, _ context.CancelFunc) { _ = in.(*io.PipeWriter).CloseWithError(io.ErrNoProgress) }, io.ErrNoProgress},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				r, in := io.Pipe()
				_, w := io.Pipe() // without a reader
				c := New(r, w, Options{})
				var g sync.WaitGroup
				g.Go(func() {
					if err := c.Run(ctx); !errors.Is(err, end.want) {
						t.Errorf("Run: %v", err)
					}
				})
				for range 1000 {
					testkit.Must(t, c.Send(struct{}{}))
				}
				synctest.Wait()
				end.by(in, cancel)
				g.Wait()
			})
		})
	}
}

func TestAWriteErrorEndsTheConnectionAfterTheLastWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := dial(t.Context(), t, Options{})
		begun := time.Now()
		_ = p.out.CloseWithError(errors.New("nobody listens"))
		if err := p.conn.Send(struct{}{}); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if err := p.conn.Send(struct{}{}); !errors.Is(err, ErrClosed) {
			t.Errorf("Send after a write error: %v", err)
		}
		p.say(`{"type":"result","errors":["No conversation found"]}`)
		<-p.done
		if lines := p.delivered(); len(lines) != 1 || lines[0].Type != TypeResult {
			t.Errorf("last words: %+v", lines)
		}
		if p.err == nil || !strings.Contains(p.err.Error(), "write: nobody listens") || time.Since(begun) != lastWords {
			t.Errorf("Run: %v after %s", p.err, time.Since(begun))
		}
	})
}

func TestAUserMessageIsWhatTheCLITakes(t *testing.T) {
	line, err := encode(UserMessage("u1", []Block{ImageBlock("image/png", []byte{1, 2, 3}), TextBlock("a\nb")}))
	want := `{"type":"user","message":{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AQID"}},` +
		`{"type":"text","text":"a\nb"}]},"parent_tool_use_id":null,"session_id":"","uuid":"u1"}` + "\n"
	if err != nil || string(line) != want {
		t.Errorf("%s, %v", line, err)
	}
	line, err = encode(UserMessage("", nil))
	if want := `{"type":"user","message":{"role":"user","content":[]},"parent_tool_use_id":null,"session_id":""}` + "\n"; err != nil || string(line) != want {
		t.Errorf("%s, %v", line, err)
	}
}
