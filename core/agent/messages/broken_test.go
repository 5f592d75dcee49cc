package messages

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
)

// whole returns an answer with all kinds of blocks.
func whole() string {
	return reply("tool_use", thought("hmm, well"), saying("Let me <see> it."), note(object{"n": "ü"}))
}

func TestAStreamThatIsCutAtAnyByteIsAskedForAgain(t *testing.T) {
	full := whole()
	stopped := strings.Index(full, "event: message_stop") // from there on nothing is missing
	for at := range len(full) {
		synctest.Test(t, func(t *testing.T) {
			answers, want := []served{streams(full[:at]), streams(full), done}, 1
			if at >= stopped {
				answers, want = []served{streams(full[:at]), done}, 0
			}
			b := newBench(t, answers...)
			s := b.open(b.notes, func(o *agent.SessionOptions) { o.Bare = true })
			got := b.says(s, "do it", "Let me <see> it.\nDone.")
			q := b.last()
			if q.valid(t); q.roles() != "uau" || strings.Join(b.called, " ") != `{"n":"ü"}` || len(find[agent.Retry](got)) != want {
				t.Fatalf("cut at %d of %d: called %v, the history is %s, retries %v", at, len(full), b.called, q.roles(), find[agent.Retry](got))
			}
			testkit.Must(t, s.Close())
		})
	}
}

func TestATurnThatIsInterruptedAtAnyByteLeavesAHistoryToContinue(t *testing.T) {
	full := whole()
	for at := 0; at < len(full); at += 3 {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, hangs(full[:at]), ends("Here."))
			s := b.open(b.notes, func(o *agent.SessionOptions) { o.Bare = true })
			go func() {
				time.Sleep(time.Second)
				_ = s.Interrupt(context.Background())
			}()
			if got := say(s, "one"); at < len(full)-20 && (got.err != nil || !got.result.Interrupted) {
				t.Fatalf("interrupted at %d: %+v, %v", at, got.result, got.err)
			}
			if got := say(s, "two"); got.err != nil || got.result.Text != "Here." {
				t.Fatalf("after %d: %+v, %v", at, got.result, got.err)
			}
			b.last().valid(t)
			testkit.Must(t, s.Close())
		})
	}
}

func TestAnInterruptedCallSaysSo(t *testing.T) {
	b := newBench(t, calls(note(object{}), use("b", "mcp__discord__slow", object{}), use("c", "mcp__discord__note", object{})), ends("Here."))
	var s agent.Session
	s = b.open(b.notes, func(o *agent.SessionOptions) {
		o.Tools = append(o.Tools, agent.Tool{Name: "slow", Schema: []byte(`{}`), Call: func(ctx context.Context, _ agent.Approved) agent.ToolResult {
			_ = s.Interrupt(ctx)
			<-ctx.Done()
			return agent.ToolResult{Text: "cancelled", IsError: true}
		}})
	})
	if got := say(s, "go"); !got.result.Interrupted {
		t.Errorf("%+v, %v", got.result, got.err)
	}
	say(s, "and?")
	q := b.sent(1)
	q.valid(t)
	results := q.Messages[2].Content
	holds(t, "the first result", fmt.Sprint(results[0]), "note did it")
	holds(t, "the third result", fmt.Sprint(results[2]), "its effects are unknown")
}

// The file of a session may end anywhere: in its middle after a crash, in a line that was never written whole.
func TestAHistoryThatEndsAnywhereCanBeContinued(t *testing.T) {
	b := newBench(t, streams(whole()), ends("First."))
	s := b.open(b.notes)
	say(s, "one")
	testkit.Must(t, s.Close())
	data, err := os.ReadFile(b.file(s))
	testkit.Must(t, err)
	resumes := func(text string) sent {
		testkit.Must(t, os.WriteFile(b.file(s), []byte(text), 0o600))
		again, s := b.again(s, ends("Second."))
		again.says(s, "two", "Second.")
		testkit.Must(t, s.Close())
		again.sent(0).valid(t)
		return again.sent(0)
	}
	for at := strings.Index(string(data), `{"role"`); at <= len(data); at += 17 {
		resumes(string(data[:at]))
	}
	for _, end := range []string{`{`, `{"role":"us`, `{"role":"user","content":[{"type":"text","text":"to` + strings.Repeat("o", 70<<10), "\x00\x00\x00"} {
		if q := resumes(string(data) + end); q.roles() != "uauau" {
			t.Errorf("with %.20q at its end it holds %s", end, q.roles())
		}
	}
}
