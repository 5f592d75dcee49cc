package messages

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
)

// unmarked returns a request without its cache marks, which are not content.
func unmarked(body string) string {
	return strings.ReplaceAll(strings.ReplaceAll(body, forAnHour, ""), forMinutes, "")
}

func TestAForkRepeatsItsParentByteForByte(t *testing.T) {
	odd := "a <b> & \u2028 \"quoted\" \\ ü \x7f"
	answers := []func(*http.Request) canned{
		streams(reply("tool_use", object{"type": "thinking", "thinking": "hmm " + odd}, saying(odd), use("a", "mcp__discord__note", object{"n": odd, "z": 1.50}))),
		streams(reply("end_turn", object{"type": "redacted_thinking", "data": "c2VjcmV0"}, object{"type": "of tomorrow", "unknown": object{"b": 1, "a": []int{}}}, saying("Noted."))),
		streams(reply("end_turn", saying("As a fork, first."))),
		streams(reply("end_turn", saying("As a fork, second."))),
	}
	b := newBench(t, answers...)
	main := b.open(func(o *agent.SessionOptions) { o.Tools = []agent.Tool{noting("note", new([]string))} })
	say(t, main, "remember "+odd)
	parent := unmarked(b.wire.bodies[1])
	parent = parent[:strings.LastIndex(parent, "]}")] // up to the end of its messages
	fork := b.open(func(o *agent.SessionOptions) {
		o.Resume, o.Fork, o.SystemPrompt, o.Tools = main.ID(), true, "Another prompt.", nil
	})
	say(t, fork, "one")
	say(t, fork, "two")
	for n := 2; n < 4; n++ {
		body := unmarked(b.wire.bodies[n])
		if !strings.HasPrefix(body, parent) {
			at := 0
			for at < len(body) && body[at] == parent[at] {
				at++
			}
			t.Fatalf("request %d differs from its parent's prefix from byte %d of %d on: %.80q", n, at, len(parent), body[at:])
		}
		b.sent(n).valid(t)
	}
	first := unmarked(b.wire.bodies[2])
	if first = first[:strings.LastIndex(first, "]}")]; !strings.HasPrefix(unmarked(b.wire.bodies[3]), first) {
		t.Error("the second request differs from the first")
	}
	if q := b.sent(2); q.roles() != "uauaus" || len(q.Tools) == 0 {
		t.Errorf("the fork's first request holds %s with %d tools", q.roles(), len(q.Tools))
	}
	holds(t, "a prompt that is new", fmt.Sprint(b.sent(2).Messages[5].Content), "Another prompt.")
	if q := b.sent(3); q.roles() != "uauausau" {
		t.Errorf("the fork's second request holds %s: a prompt is told once", q.roles())
	}
}

func TestCacheMarksStandWhereTheNextRequestFindsThem(t *testing.T) {
	b := newBench(t, streams(reply("end_turn", saying("Yes."))))
	main := b.open()
	say(t, main, "one")
	say(t, main, "two")
	fork := b.open(func(o *agent.SessionOptions) { o.Resume, o.Fork = main.ID(), true })
	for _, text := range []string{"three", "four", "five"} {
		say(t, fork, text)
	}
	marked := func(n int) (list []string) {
		q := b.sent(n)
		for _, s := range q.System {
			if s["cache_control"] != nil {
				list = append(list, fmt.Sprint("system ", s["cache_control"]))
			}
		}
		for _, m := range q.Messages {
			for _, c := range m.Content {
				if c["cache_control"] != nil {
					list = append(list, fmt.Sprint(c["text"], " ", c["cache_control"]))
				}
			}
		}
		return list
	}
	hour, minutes := " map[ttl:1h type:ephemeral]", " map[type:ephemeral]"
	for n, want := range map[int][]string{
		0: {"system" + hour, "one" + minutes},
		1: {"system" + hour, "one" + minutes, "two" + minutes},
		2: {"system" + hour, "two" + hour, "three" + minutes},
		4: {"system" + hour, "two" + hour, "four" + minutes, "five" + minutes},
	} {
		if got := marked(n); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("request %d is marked at %q, want %q", n, got, want)
		}
	}
}

func TestAForkLeavesItsParentAloneAndForksOfForksWork(t *testing.T) {
	root := t.TempDir()
	b := newBenchAt(t, root, streams(reply("end_turn", saying("Yes."))))
	main := b.open()
	say(t, main, "one")
	fork := b.open(func(o *agent.SessionOptions) { o.Resume, o.Fork = main.ID(), true })
	say(t, fork, "in the fork")
	deeper := b.open(func(o *agent.SessionOptions) { o.Resume, o.Fork = fork.ID(), true })
	say(t, main, "two")
	say(t, deeper, "in the fork of the fork")
	last := b.wire.bodies[3]
	if strings.Contains(last, `"two"`) || !strings.Contains(last, "in the fork of the fork") || !strings.Contains(last, `"in the fork"`) {
		t.Errorf("the fork of the fork is sent %s", last)
	}
	if strings.Contains(b.wire.bodies[2], "in the fork") {
		t.Error("the parent hears of its fork")
	}
	for _, s := range []agent.Session{main, fork, deeper} {
		testkit.Must(t, s.Close())
	}
	again := newBenchAt(t, root, streams(reply("end_turn", saying("Yes."))))
	s := again.open(func(o *agent.SessionOptions) { o.Resume = deeper.ID() })
	say(t, s, "still there?")
	if q := again.sent(0); q.roles() != "uauauau" {
		t.Errorf("opened anew it holds %s", q.roles())
	}
}

func TestAChainOfForksHasNoEnd(t *testing.T) {
	b := newBench(t, streams(reply("end_turn", object{"type": "thinking", "thinking": "hmm"}, saying("Yes."))))
	s := b.open()
	say(t, s, "the beginning")
	for n := range 100 {
		parent := s
		s = b.open(func(o *agent.SessionOptions) { o.Resume, o.Fork = parent.ID(), true })
		if got := say(t, s, fmt.Sprint("fork ", n)); got.err != nil {
			t.Fatalf("fork %d: %v", n, got.err)
		}
		testkit.Must(t, parent.Close())
	}
	last := b.wire.bodies[100]
	if q := b.sent(100); len(q.Messages) != 201 || !strings.Contains(last, "the beginning") {
		t.Errorf("the last fork holds %d messages", len(q.Messages))
	}
	before := unmarked(b.wire.bodies[99])
	if !strings.HasPrefix(unmarked(last), before[:strings.LastIndex(before, "]}")]) {
		t.Error("it does not repeat its parent")
	}
}

func TestAnUnknownSessionIsToldByName(t *testing.T) {
	b := newBench(t, streams(""))
	for _, o := range []agent.SessionOptions{{Resume: store.NewUUID()}, {Resume: store.NewUUID(), Fork: true}, {Resume: "../../etc/passwd"}} {
		if _, err := b.engine.Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), agent.ErrNoSession.Error()) {
			t.Errorf("%+v opens with %v", o.Resume, err)
		}
	}
}

func TestASessionIsOpenOnce(t *testing.T) {
	b := newBench(t, streams(reply("end_turn", saying("Yes."))))
	s := b.open()
	say(t, s, "one")
	if _, err := b.engine.Open(t.Context(), agent.SessionOptions{Resume: s.ID()}); err == nil {
		t.Error("it was opened twice")
	}
	testkit.Must(t, s.Close())
	testkit.Must(t, s.Close())
	if got := say(t, s, "two"); got.err == nil {
		t.Error("a closed session takes a message")
	}
	b.open(func(o *agent.SessionOptions) { o.Resume = s.ID() })
}

// fill fills a session with about this many bytes.
func fill(t testing.TB, r *rig, bytes int) agent.Session {
	t.Helper()
	s := r.open(func(o *agent.SessionOptions) { o.SystemPrompt = strings.Repeat("You are the bot of a test. ", 1000) })
	text := strings.Repeat("What was said in this conversation so far. ", 400)
	for n := 0; n < bytes; n += 2 * len(text) {
		if got := say(t, s, text); got.err != nil {
			t.Fatal(got.err)
		}
	}
	return s
}

// TestAHundredForksOfALongHistoryStreamInLittleMemory keeps a hundred requests open at once and
// measures the program's memory for them.
func TestAHundredForksOfALongHistoryStreamInLittleMemory(t *testing.T) {
	testkit.Alone(t)
	api := newCounting(t, strings.Repeat("An answer of the model, as long as the question was. ", 330))
	r := newRigFor(t, api.URL)
	main := fill(t, r, 2<<20)
	before := resident(t)
	const forks = 100
	api.hold(forks)
	var g sync.WaitGroup
	began := time.Now()
	for range forks {
		fork := r.open(func(o *agent.SessionOptions) { o.Resume, o.Fork = main.ID(), true })
		g.Go(func() {
			if got := say(t, fork, "And now, as a fork?"); got.err != nil {
				t.Error(got.err)
			}
		})
	}
	api.waitHeld(t)
	took := time.Since(began)
	now := resident(t)
	api.release()
	g.Wait()
	t.Logf("100 forks of %d kB stream at once after %s; the process has %d MB, %d MB before", api.longest()>>10, took.Round(time.Millisecond), now>>20, before>>20)
	if api.longest() < 2<<20 {
		t.Errorf("the history has %d bytes only", api.longest())
	}
	if live := heap(); live > 40<<20 {
		t.Errorf("%d MB are live", live>>20)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
