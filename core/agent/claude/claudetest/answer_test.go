package claudetest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/base/testkit"
)

func TestAStreamHasTheEventsOfTheRealAPIInTheirOrder(t *testing.T) {
	testkit.Alone(t)
	s := claudetest.Start(t, claudetest.Options{})
	a, err := send(soon(t), s, "/v1/messages", ask(true, user(claudetest.Script(claudetest.Step{
		Thinking: "Let me think about it for a while.", Text: "I look it up for you, a moment please.",
		Tool: "Bash", Input: object{"command": "ls"}, Out: 7, CacheRead: 11,
	}))))
	testkit.Must(t, err)
	if got := a.header; got.Get("content-type") != "text/event-stream; charset=utf-8" || got.Get("request-id") == "" {
		t.Errorf("the headers are %v", got)
	}
	list, err := events(bytes.NewReader(a.body))
	testkit.Must(t, err)
	block := " content_block_start content_block_delta content_block_stop"
	if got, want := names(list), "message_start ping"+block+block+block+" message_delta message_stop"; got != want {
		t.Errorf("the events are\n%s, want\n%s", got, want)
	}
	for _, e := range list {
		if e.data["type"] != e.name {
			t.Errorf("the event %s says that it is %v", e.name, e.data["type"])
		}
	}
	start := list[0].data["message"].(object)["usage"].(object)
	end := list[len(list)-2].data
	if start["output_tokens"] != 1.0 || start["cache_read_input_tokens"] != 11.0 {
		t.Errorf("it starts with the usage %v", start)
	}
	if end["usage"].(object)["output_tokens"] != 7.0 || end["delta"].(object)["stop_reason"] != "tool_use" {
		t.Errorf("it ends with %v", end)
	}
}

// TestStreamingChangesNothingOfAnAnswer compares an assembled streamed answer with the same answer
// sent as a whole.
func TestStreamingChangesNothingOfAnAnswer(t *testing.T) {
	testkit.Alone(t)
	s := claudetest.Start(t, claudetest.Options{})
	testkit.Check(t, func(r *rapid.T) {
		step := claudetest.Step{
			Thinking: rapid.String().Draw(r, "thinking"), Text: rapid.String().Draw(r, "text"),
			Tool: rapid.SampledFrom([]string{"", "Bash"}).Draw(r, "tool"), Input: object{"a": rapid.String().Draw(r, "input")},
			Chunk: rapid.IntRange(0, 9).Draw(r, "chunk"), In: 5, CacheRead: rapid.IntRange(0, 99).Draw(r, "cache"),
		}
		for range rapid.IntRange(0, 3).Draw(r, "blocks") {
			step.Blocks = append(step.Blocks, claudetest.Block{
				Type: rapid.SampledFrom([]string{"text", "tool_use"}).Draw(r, "type"),
				Text: rapid.String().Draw(r, "block"), Name: "Read", ID: "toolu_1",
			})
		}
		prompt := user("go " + claudetest.Script(step))
		var answers [2]object
		for i, stream := range []bool{false, true} {
			a, err := send(t.Context(), s, "/v1/messages", ask(stream, prompt))
			if err != nil {
				r.Fatal(err)
			}
			var list []event
			if !stream {
				err = json.Unmarshal(a.body, &answers[i])
			} else if list, err = events(bytes.NewReader(a.body)); err == nil {
				answers[i], err = assemble(list)
			}
			if err != nil {
				r.Fatal(err)
			}
			delete(answers[i], "id")
			for _, b := range answers[i]["content"].([]any) {
				delete(b.(object), "id")
			}
		}
		if d := cmp.Diff(answers[0], answers[1]); d != "" {
			r.Errorf("whole and streamed answers differ (-whole +streamed):\n%s", d)
		}
	})
}

func TestAFaultBefallsTheFirstRequestsOnly(t *testing.T) {
	testkit.Alone(t)
	s := claudetest.Start(t, claudetest.Options{})
	script := user(claudetest.Script(claudetest.Step{Error: 529, Times: 2, Text: "fine"}))
	other := user(claudetest.Script(claudetest.Step{Error: 500, ErrMsg: "mine", Times: 1, Text: "fine too"}))
	for i, want := range []string{"overloaded_error: Overloaded", "overloaded_error: Overloaded", "fine", "fine"} {
		if got := text(t, s, script); got != want {
			t.Errorf("request %d got %q, want %q", i, got, want)
		}
	}
	if got := text(t, s, other); got != "api_error: mine" {
		t.Errorf("another step got %q: it counts by itself", got)
	}
	if got := text(t, s, other); got != "fine too" {
		t.Errorf("another step got %q the second time", got)
	}
}

func TestARefusalLooksLikeTheRealOne(t *testing.T) {
	testkit.Alone(t)
	s := claudetest.Start(t, claudetest.Options{})
	a, err := send(soon(t), s, "/v1/messages", ask(true, user(claudetest.Script(claudetest.Step{Error: 429, RetryAfter: "2"}))))
	testkit.Must(t, err)
	h := a.header
	if a.status != http.StatusTooManyRequests || h.Get("retry-after") != "2" {
		t.Errorf("status %d, headers %v", a.status, h)
	}
	if got, want := text(t, s, user(claudetest.Script(claudetest.Step{PromptTooLong: true}))), "invalid_request_error: prompt is too long: 210000 tokens > 200000 maximum"; got != want {
		t.Errorf("a prompt that is too long got %q", got)
	}
	if got := text(t, s, user(claudetest.Script(claudetest.Step{Error: 418}))); !strings.HasPrefix(got, "invalid_request_error: ") {
		t.Errorf("the refusal is %q", got)
	}
}

func TestACutConnectionEndsInTheMiddleOfTheAnswer(t *testing.T) {
	testkit.Alone(t)
	s := claudetest.Start(t, claudetest.Options{})
	list, err := streamed(soon(t), s, user(claudetest.Script(claudetest.Step{Text: "one two three four", Chunk: 4, DropAfter: 2})))
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the stream ended with %v", err)
	}
	if got, want := names(list), "message_start ping content_block_start content_block_delta"; got != want || len(list) != 5 {
		t.Errorf("%d events came: %s", len(list), got)
	}
	list, err = streamed(soon(t), s, user(claudetest.Script(claudetest.Step{Text: "short", DropAfter: 99})))
	if !errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(names(list), "message_stop") {
		t.Errorf("a cut after more than there is: %v, %s", err, names(list))
	}
	for _, step := range []claudetest.Step{{DropAfter: -1}, {Text: "not streamed", DropAfter: 1}} {
		if a, err := send(soon(t), s, "/v1/messages", ask(step.Text == "", user(claudetest.Script(step)))); err == nil {
			t.Errorf("%+v answered %d", step, a.status)
		}
	}
	testkit.Must(t, s.Wait(soon(t), func(all []claudetest.Request) bool { return ended(all) == 4 }))
	for i, want := range []int{200, 200, 0, 0} {
		if got := s.Requests()[i]; got.Status != want || got.Left || !got.Ended {
			t.Errorf("request %d is recorded with status %d, left %v, ended %v", i, got.Status, got.Left, got.Ended)
		}
	}
}

func TestAnErrorEventEndsTheStream(t *testing.T) {
	testkit.Alone(t)
	s := claudetest.Start(t, claudetest.Options{})
	for _, c := range []struct {
		step   claudetest.Step
		deltas int
	}{
		{claudetest.Step{Text: "one two three four", Chunk: 4, SSEError: "overloaded_error"}, 1},
		{claudetest.Step{Text: "one two three four", Chunk: 4, SSEError: "overloaded_error", SSEAfter: 3}, 3},
		{claudetest.Step{SSEError: "overloaded_error"}, 0},
	} {
		list, err := streamed(soon(t), s, user(claudetest.Script(c.step)))
		testkit.Must(t, err)
		deltas := 0
		for _, e := range list {
			if e.name == "content_block_delta" {
				deltas++
			}
		}
		last := list[len(list)-1]
		if last.name != "error" || last.data["error"].(object)["type"] != "overloaded_error" || deltas != c.deltas {
			t.Errorf("%+v: %d deltas, the last event is %v", c.step, deltas, last)
		}
		if status, _ := whole(t, s, user(claudetest.Script(c.step))); status != 529 {
			t.Errorf("%+v without streaming answers %d", c.step, status)
		}
	}
}

// TestAHeldAnswerWaitsForItsRelease holds before the answer and in its middle.
func TestAHeldAnswerWaitsForItsRelease(t *testing.T) {
	testkit.Alone(t)
	s := claudetest.Start(t, claudetest.Options{})
	for i, step := range []claudetest.Step{{Text: "late", Hold: "a"}, {Text: "late", Hold: "b"}} {
		var list []event
		var failed error
		var asking sync.WaitGroup
		asking.Go(func() { list, failed = streamed(t.Context(), s, user(claudetest.Script(step))) })
		testkit.Must(t, s.Wait(soon(t), func(all []claudetest.Request) bool { return len(all) == 2*i+1 }))
		all := s.Requests()
		if last := all[len(all)-1]; last.Status != 0 || last.Ended {
			t.Errorf("a held request has status %d, ended %v", last.Status, last.Ended)
		}
		s.Release(step.Hold)
		asking.Wait()
		if failed != nil || list[len(list)-1].name != "message_stop" {
			t.Errorf("after the release: %v, %s", failed, names(list))
		}
		if got := text(t, s, user(claudetest.Script(step))); got != "late" {
			t.Errorf("an open gate gives %q", got)
		}
	}

	lines := open(t, s, user(claudetest.Script(claudetest.Step{Text: "one two three", Chunk: 4, Hold: "c", HoldAfter: 1})))
	for e := (event{}); e.name != "content_block_delta"; {
		var err error
		if e, err = next(lines); err != nil {
			t.Fatal(err)
		}
	}
	all := s.Requests()
	if last := all[len(all)-1]; last.Status != 200 || last.Ended {
		t.Errorf("a request that is held in its middle has status %d, ended %v", last.Status, last.Ended)
	}
	s.Release("c")
	rest, err := events(lines)
	if err != nil || rest[len(rest)-1].name != "message_stop" {
		t.Errorf("after the release: %v, %s", err, names(rest))
	}
}

func TestAnEarlyReleaseIsNotLost(t *testing.T) {
	testkit.Alone(t)
	s := claudetest.Start(t, claudetest.Options{})
	s.Release("k")
	s.Release("k")
	if got := text(t, s, user(claudetest.Script(claudetest.Step{Text: "at once", Hold: "k"}))); got != "at once" {
		t.Errorf("the answer is %q", got)
	}
}

func TestTheServerSeesThatAClientLeaves(t *testing.T) {
	testkit.Alone(t)
	s := claudetest.Start(t, claudetest.Options{})
	for _, step := range []claudetest.Step{{Hold: "never"}, {DelayMS: 3_600_000}, {Text: "a long one", Chunk: 1, Hold: "never", HoldAfter: 1}} {
		before := len(s.Requests())
		ctx, leave := context.WithCancel(soon(t))
		var asking sync.WaitGroup
		asking.Go(func() {
			if list, err := streamed(ctx, s, user(claudetest.Script(step))); err == nil {
				t.Errorf("%+v ended well: %s", step, names(list))
			}
		})
		testkit.Must(t, s.Wait(soon(t), func(all []claudetest.Request) bool { return len(all) == before+1 }))
		leave()
		testkit.Must(t, s.Wait(soon(t), func(all []claudetest.Request) bool { return all[before].Ended }))
		if !s.Requests()[before].Left {
			t.Errorf("%+v: nobody noticed that the client left", step)
		}
		asking.Wait()
	}
}

// TestCloseEndsWhatHangs closes before an answer and in its middle. Neither may look like a
// complete answer.
func TestCloseEndsWhatHangs(t *testing.T) {
	testkit.Alone(t)
	for _, step := range []claudetest.Step{{Hold: "never"}, {Text: "one two three", Chunk: 4, Hold: "never", HoldAfter: 1}} {
		s := claudetest.Start(t, claudetest.Options{})
		var failed error
		var asking, closing sync.WaitGroup
		asking.Go(func() { _, failed = streamed(t.Context(), s, user(claudetest.Script(step))) })
		if err := s.Wait(soon(t), func(all []claudetest.Request) bool {
			return len(all) == 1 && (step.HoldAfter == 0 || all[0].Status == http.StatusOK)
		}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			closing.Go(s.Close)
		}
		closing.Wait()
		if r := s.Requests()[0]; !r.Ended || !r.Left {
			t.Errorf("%+v: recorded as ended %v, left %v", step, r.Ended, r.Left)
		}
		asking.Wait()
		if failed == nil {
			t.Errorf("%+v: Close made it a whole answer", step)
		}
		if _, err := send(soon(t), s, "/v1/messages", ask(true, user("hello"))); err == nil {
			t.Error("a closed server answers")
		}
	}
}

// ended counts the requests that will get no further data.
func ended(all []claudetest.Request) (n int) {
	for _, r := range all {
		if r.Ended {
			n++
		}
	}
	return n
}
