package messages

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
)

// unmarked returns a request without its cache marks, which are not content; messagesOf does so up to the end of its messages.
func unmarked(body string) string {
	return strings.ReplaceAll(strings.ReplaceAll(body, forAnHour, ""), forMinutes, "")
}

func messagesOf(body string) string {
	body = unmarked(body)
	return body[:strings.LastIndex(body, "]}")]
}

func TestAForkRepeatsItsParentByteForByte(t *testing.T) {
	odd := "a <b> & \u2028 \"quoted\" \\ ü \x7f"
	b := newBench(t,
		calls(thought("hmm "+odd), saying(odd), note(object{"n": odd, "z": 1.50})),
		streams(reply("end_turn", object{"type": "redacted_thinking", "data": "c2VjcmV0"},
			object{"type": "of tomorrow", "unknown": object{"b": 1, "a": []int{}}}, saying("Noted."))),
		ends("As a fork, first."), ends("As a fork, second."))
	main := b.open(b.notes)
	say(main, "remember "+odd)
	parent := messagesOf(b.wire.bodies[1])
	fork := b.open(func(o *agent.SessionOptions) {
		o.Resume, o.Fork, o.SystemPrompt, o.Tools = main.ID(), true, "Another prompt.", nil
	})
	say(fork, "one")
	say(fork, "two")
	for n := 2; n < 4; n++ {
		if body := unmarked(b.wire.bodies[n]); !strings.HasPrefix(body, parent) {
			t.Fatalf("request %d is %s, not what its parent sent:\n%s", n, body, parent)
		}
		b.sent(n).valid(t)
	}
	if !strings.HasPrefix(unmarked(b.wire.bodies[3]), messagesOf(b.wire.bodies[2])) {
		t.Error("the second request differs from the first")
	}
	if q := b.sent(2); q.roles() != "uauaus" || len(q.Tools) == 0 {
		t.Errorf("the fork's first request holds %s with %d tools", q.roles(), len(q.Tools))
	}
	holds(t, "a prompt that is new", b.sent(2).told(5), "Another prompt.")
	if q := b.sent(3); q.roles() != "uauausau" {
		t.Errorf("the fork's second request holds %s: a prompt is told once", q.roles())
	}
}

func TestCacheMarksAreWhereTheNextRequestFindsThem(t *testing.T) {
	b := newBench(t, ends("Yes."))
	main := b.open()
	say(main, "one")
	say(main, "two")
	fork := b.fork(main)
	for _, text := range []string{"three", "four", "five"} {
		say(fork, text)
	}
	marked := func(n int) (list []string) {
		q := b.sent(n)
		blocks := q.System
		for _, m := range q.Messages {
			blocks = append(blocks, m.Content...)
		}
		for _, c := range blocks {
			if c["cache_control"] != nil {
				list = append(list, fmt.Sprint(c["text"], c["cache_control"]))
			}
		}
		return list
	}
	const system = "You are the bot of a test."
	hour, minutes := "map[ttl:1h type:ephemeral]", "map[type:ephemeral]"
	for n, want := range map[int][]string{
		0: {system + hour, "one" + minutes},
		1: {system + hour, "one" + minutes, "two" + minutes},
		2: {system + hour, "two" + hour, "three" + minutes},
		4: {system + hour, "two" + hour, "four" + minutes, "five" + minutes},
	} {
		if got := marked(n); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("request %d is marked at %q, want %q", n, got, want)
		}
	}
}

func TestAForkLeavesItsParentAloneAndForksOfForksWork(t *testing.T) {
	b := newBench(t, ends("Yes."))
	main := b.open()
	say(main, "one")
	fork := b.fork(main)
	say(fork, "in the fork")
	deeper := b.fork(fork)
	say(main, "two")
	say(deeper, "in the fork of the fork")
	last := b.wire.bodies[3]
	if strings.Contains(last, `"two"`) || !strings.Contains(last, "in the fork of the fork") || !strings.Contains(last, `"in the fork"`) {
		t.Errorf("the fork of the fork is sent %s", last)
	}
	if strings.Contains(b.wire.bodies[2], "in the fork") {
		t.Error("the parent hears of its fork")
	}
	again, s := b.again(deeper, ends("Yes."))
	say(s, "still there?")
	if q := again.sent(0); q.roles() != "uauauau" {
		t.Errorf("in another engine it holds %s", q.roles())
	}
}

func TestAChainOfForksHasNoEnd(t *testing.T) {
	b := newBench(t, streams(reply("end_turn", thought("hmm"), saying("Yes."))))
	s := b.open()
	say(s, "the beginning")
	for n := range 100 {
		parent := s
		s = b.fork(parent)
		if got := say(s, fmt.Sprint("fork ", n)); got.err != nil {
			t.Fatalf("fork %d: %v", n, got.err)
		}
		testkit.Must(t, parent.Close())
	}
	last := b.wire.bodies[100]
	if q := b.sent(100); len(q.Messages) != 201 || !strings.Contains(last, "the beginning") {
		t.Errorf("the last fork holds %d messages", len(q.Messages))
	}
	if !strings.HasPrefix(unmarked(last), messagesOf(b.wire.bodies[99])) {
		t.Error("it does not repeat its parent")
	}
}

func TestASessionIsOpenOnce(t *testing.T) {
	b := newBench(t, ends("Yes."))
	s := b.open()
	say(s, "one")
	if _, err := b.engine.Open(t.Context(), agent.SessionOptions{Resume: s.ID()}); err == nil {
		t.Error("it was opened twice")
	}
	testkit.Must(t, s.Close())
	testkit.Must(t, s.Close())
	if got := say(s, "two"); got.err == nil {
		t.Error("a closed session takes a message")
	}
	b.open(func(o *agent.SessionOptions) { o.Resume = s.ID() })
}

func TestASessionThatIsClosedDuringATurnCanBeResumedAfterIt(t *testing.T) {
	b := newBench(t, ends("Yes."))
	s := b.open()
	var ended error
	for _, err := range s.Send(t.Context(), agent.Message{Text: "one"}) {
		testkit.Must(t, s.Close())
		ended = err
	}
	if !errors.Is(ended, agent.ErrClosed) {
		t.Errorf("the turn ends with %v", ended)
	}
	b.open(func(o *agent.SessionOptions) { o.Resume = s.ID() })
}

// fill fills a session with about this many bytes.
func fill(t testing.TB, r *rig, bytes int) agent.Session {
	t.Helper()
	s := r.open(func(o *agent.SessionOptions) { o.SystemPrompt = strings.Repeat("You are the bot of a test. ", 1000) })
	text := strings.Repeat("What was said in this conversation so far. ", 400)
	for n := 0; n < bytes; n += 2 * len(text) {
		if got := say(s, text); got.err != nil {
			t.Fatal(got.err)
		}
	}
	return s
}

// TestAHundredForksOfALongHistoryStreamInLittleMemory keeps a hundred requests open at once.
func TestAHundredForksOfALongHistoryStreamInLittleMemory(t *testing.T) {
	testkit.Alone(t)
	api := newCounting(t, strings.Repeat("An answer of the model, as long as the question was. ", 330))
	r := newRigFor(t, api.URL)
	main := fill(t, r, 2<<20)
	const forks = 100
	var held, ended sync.WaitGroup
	held.Add(forks)
	release := make(chan struct{})
	api.with(func() { api.middle = func() { held.Done(); <-release } })
	for range forks {
		fork := r.fork(main)
		ended.Go(func() {
			if got := say(fork, "And now, as a fork?"); got.err != nil {
				t.Error(got.err)
			}
		})
	}
	held.Wait()
	close(release)
	ended.Wait()
	if api.most < 2<<20 {
		t.Errorf("the history has %d bytes only", api.most)
	}
	runtime.GC()
	var m runtime.MemStats
	if runtime.ReadMemStats(&m); m.HeapAlloc > 40<<20 {
		t.Errorf("%d MB are live", m.HeapAlloc>>20)
	}
}
