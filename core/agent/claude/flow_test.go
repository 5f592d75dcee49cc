package claude

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
)

// played opens a session with a played process.
func played(t *testing.T, st *stage, change ...func(*agent.SessionOptions)) (agent.Session, *player) {
	t.Helper()
	o := agent.SessionOptions{Dir: "/"}
	for _, f := range change {
		f(&o)
	}
	s, err := st.engine.Open(t.Context(), o)
	testkit.Must(t, err)
	p := <-st.players
	<-p.asked // initialize
	return s, p
}

// turnLines returns the lines of a whole turn that answers a message.
func turnLines(m sent, text string) []string {
	return []string{begin, start("m" + m.UUID), delta(text), echoLine(m), answerLine("m"+m.UUID, text), resultLine("")}
}

// ownLines returns the lines of a whole turn that begins by itself.
func ownLines(text string) []string {
	return []string{ended, begin, start("own"), delta(text), answerLine("own", text), resultLine("task-notification")}
}

// collect returns an OnEngineTurn that keeps what it reads.
func collect(into chan<- told) func(iter.Seq2[agent.Event, error]) {
	return func(turn iter.Seq2[agent.Event, error]) {
		var h told
		for ev, err := range turn {
			if err != nil {
				h.err = err
				continue
			}
			h.events = append(h.events, ev)
		}
		into <- h
	}
}

// beside runs a turn in a goroutine. The first sender reads first: a turn that begins by itself in
// the meantime is read after it.
func beside(t *testing.T, s agent.Session, text string) <-chan told {
	done := make(chan told, 1)
	go func() { done <- listen(t, 24*time.Hour, s.Send, agent.Message{Text: text}) }()
	return done
}

func TestATurnThatBeginsWhileAMessageIsOnItsWayIsNotItsAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own := make(chan told, 9)
		s, p := played(t, newStage(t, Options{}), func(o *agent.SessionOptions) { o.OnEngineTurn = collect(own) })
		mine := beside(t, s, "hello")
		m := <-p.messages
		p.say(running)
		p.say(ownLines("by itself")...)
		p.say(turnLines(m, "for you")...)
		p.say(idle)
		if h := <-mine; h.text() != "for you" {
			t.Errorf("the answer is %q", h.text())
		}
		h := <-own
		if h.text() != "by itself" {
			t.Errorf("the turn that began by itself says %q", h.text())
		}
		if n := all[agent.Notice](h); len(n) != 1 || n[0].Text != `a command "x && y" has ended` {
			t.Errorf("what began it is told as %+v", n)
		}
	})
}

func TestAMessageThatIsTakenIntoAnotherTurnGetsTheRestOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own := make(chan told, 9)
		s, p := played(t, newStage(t, Options{}), func(o *agent.SessionOptions) { o.OnEngineTurn = collect(own) })
		mine := beside(t, s, "hello")
		m := <-p.messages
		p.say(running, ended, begin, start("a"), delta("I look"), answerLine("a", "I look"), echoLine(m))
		p.say(start("b"), delta("Hello!"), answerLine("b", "Hello!"), resultLine("task-notification"), idle)
		if h := <-mine; h.text() != "Hello!" || h.result(t).IsError {
			t.Errorf("the rest is %q", h.text())
		}
		if h := <-own; h.text() != "I look" || h.result(t).Text != "I look" {
			t.Errorf("the first part is %q", h.text())
		}
		again := beside(t, s, "again")
		p.say(append(turnLines(<-p.messages, "fine"), idle)...)
		if h := <-again; h.text() != "fine" {
			t.Errorf("the next turn says %q", h.text())
		}
	})
}

func TestATurnThatWasMistakenForTheAnswerIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := played(t, newStage(t, Options{}))
		mine := beside(t, s, "hello")
		m := <-p.messages
		p.say(running)
		p.say(ownLines("not for you")[1:]...) // without its announcement
		p.say(turnLines(m, "for you")...)
		p.say(idle)
		if h := <-mine; h.text() != "for you" {
			t.Errorf("the answer is %q", h.text())
		}
	})
}

func TestAMessageWaitsUntilTheTurnBeforeItWasRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		s, p := played(t, newStage(t, Options{}), func(o *agent.SessionOptions) {
			o.OnEngineTurn = func(turn iter.Seq2[agent.Event, error]) {
				for _, err := range turn {
					if <-free; err != nil {
						t.Error(err)
					}
				}
			}
		})
		p.say(running)
		p.say(ownLines("by itself")...)
		p.say(idle)
		synctest.Wait()
		mine := beside(t, s, "hello")
		synctest.Wait()
		if len(p.messages) > 0 {
			t.Error("the message was written while another turn is read")
		}
		close(free)
		p.say(append(append([]string{running}, turnLines(<-p.messages, "now you")...), idle)...)
		if h := <-mine; h.text() != "now you" {
			t.Errorf("the answer is %q", h.text())
		}
	})
}

func TestTurnsThatNobodyReadsAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := played(t, newStage(t, Options{}))
		p.say(running)
		p.say(ownLines("by itself")...)
		p.say(idle)
		mine := beside(t, s, "hello")
		p.say(append(turnLines(<-p.messages, "fine"), idle)...)
		if h := <-mine; h.text() != "fine" {
			t.Errorf("the answer is %q", h.text())
		}
	})
}

func TestSilenceBetweenTurnsIsNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own := make(chan told, 9)
		_, p := played(t, newStage(t, Options{}), func(o *agent.SessionOptions) { o.OnEngineTurn = collect(own) })
		p.say(`{"type":"user","isReplay":true,"uuid":"u","message":{"role":"user","content":"<local-command-stdout>Set model</local-command-stdout>"}}`,
			`{"type":"system","subtype":"status","status":null,"permissionMode":"acceptEdits"}`,
			`{"type":"system","subtype":"task_updated","task_id":"b1","patch":{"status":"completed"}}`,
			`{"type":"keep_alive"}`, `{"type":"system","subtype":"something_new"}`, `{"type":"rate_limit_event","rate_limit_info":{"status":"allowed"}}`)
		synctest.Wait()
		if len(own) > 0 {
			t.Errorf("a turn: %v", (<-own).events)
		}
	})
}

func TestWithoutWordThatItIsIdleAMessageWaitsASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := played(t, newStage(t, Options{}))
		mine := beside(t, s, "one")
		p.say(append([]string{running}, turnLines(<-p.messages, "first")...)...)
		<-mine
		at := time.Now()
		mine = beside(t, s, "two")
		m := <-p.messages
		if d := time.Since(at); d != idleSoon {
			t.Errorf("it waited %s", d)
		}
		p.say(turnLines(m, "second")...)
		if h := <-mine; h.text() != "second" {
			t.Errorf("the answer is %q", h.text())
		}
	})
}

func TestOneTurnAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := played(t, newStage(t, Options{}))
		mine := beside(t, s, "one")
		m := <-p.messages
		if h := say(t, s, "two"); !errors.Is(h.err, agent.ErrTwoTurns) {
			t.Errorf("a second message gives %v", h.err)
		}
		p.say(turnLines(m, "first")...)
		if h := <-mine; h.text() != "first" {
			t.Errorf("the answer is %q", h.text())
		}
	})
}

func TestAnInterruptionThatCameTooEarlyIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := played(t, newStage(t, Options{}))
		mine := beside(t, s, "hello")
		<-p.messages
		testkit.Must(t, s.Interrupt(t.Context()))
		<-p.asked
		p.say(running, begin)
		if again := <-p.asked; again != "interrupt" {
			t.Errorf("asked for %s", again)
		}
		p.say(aborted, idle)
		if end := (<-mine).result(t); !end.Interrupted || end.IsError {
			t.Errorf("%+v", end)
		}
	})
}

func TestAProcessThatDiesEndsTheTurnWithAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := played(t, newStage(t, Options{}))
		mine := beside(t, s, "hello")
		<-p.messages
		p.say(begin, start("a"), delta("I was ab"))
		p.end()
		h := <-mine
		oneLine(t, h.err, "ended")
		if h.text() != "I was ab" {
			t.Errorf("before that it said %q", h.text())
		}
		if err := s.Interrupt(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestAMessageThatTheProcessCannotTakeGoesToANewOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t, Options{})
		s, p := played(t, st)
		_ = p.in.Close() // it is exiting, but has not said so yet
		mine := beside(t, s, "hello")
		next := <-st.players
		p.end()
		next.say(append(turnLines(<-next.messages, "here"), idle)...)
		if h := <-mine; h.text() != "here" {
			t.Errorf("the answer is %q, %v", h.text(), h.err)
		}
	})
}

func TestClosingEndsARunningTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := played(t, newStage(t, Options{}))
		mine := beside(t, s, "hello")
		<-p.messages
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if h := <-mine; !errors.Is(h.err, agent.ErrClosed) {
			t.Errorf("it ends with %v", h.err)
		}
		if got := <-p.asked; got != "interrupt" {
			t.Errorf("before the end it was asked for %s", got)
		}
	})
}

func TestACommandThatDoesNotAnswerIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t, Options{}, func(p *player) { p.mute.Store(true) })
		at := time.Now()
		_, err := st.engine.Open(t.Context(), agent.SessionOptions{Dir: "/"})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(at) != openLimit {
			t.Errorf("after %s: %v", time.Since(at), err)
		}
		oneLine(t, err, "/nowhere/claude")
		synctest.Wait()
		if n := len(st.engine.Status().Processes); n > 0 {
			t.Errorf("%d processes are left", n)
		}
	})
}

func TestSilenceIsAnsweredStepByStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := played(t, newStage(t, Options{}))
		p.deaf.Store(true)
		mine := beside(t, s, "hello")
		<-p.messages
		p.say(running, begin)
		at := time.Now()
		after := func(want time.Duration) {
			t.Helper()
			if d := time.Since(at); d < want || d > want+3*lookEvery {
				t.Errorf("after %s, want %s", d, want)
			}
		}
		if got := <-p.asked; got != "interrupt" {
			t.Errorf("asked for %s", got)
		}
		after(stallAfter)
		if got := <-p.signals; got != os.Interrupt {
			t.Errorf("signal %s", got)
		}
		after(stallAfter + obeyWithin)
		if end := (<-mine).result(t); !end.IsError || end.Interrupted || !strings.Contains(end.Text, "two minutes") {
			t.Errorf("%+v", end)
		}
		after(stallAfter + 2*obeyWithin)
	})
}

func TestASignOfLifeBetweenLinesIsNoWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := played(t, newStage(t, Options{}))
		mine := beside(t, s, "hello")
		m := <-p.messages
		p.say(running, begin)
		for range 3 {
			time.Sleep(stallAfter / 2)
			p.say(`{"type":"keep_alive"}`)
		}
		if len(p.asked) != 1 {
			t.Error("the silent turn goes on")
		}
		p.say(echoLine(m), resultLine(""))
		if end := (<-mine).result(t); !end.IsError || end.Text != textStalled {
			t.Errorf("%+v", end)
		}
	})
}

func TestWhoWorksIsNotInterrupted(t *testing.T) {
	tool := `{"type":"assistant","message":{"id":"a","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}`
	for name, lines := range map[string][]string{
		"a tool":          {tool},
		"a question":      {`{"type":"control_request","request_id":"q","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{},"tool_use_id":"t1"}}`},
		"a compaction":    {`{"type":"system","subtype":"status","status":"compacting"}`},
		"a long back-off": {`{"type":"system","subtype":"api_retry","attempt":1,"max_retries":3,"retry_delay_ms":300000,"error_status":529,"error":"overloaded"}`},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, p := played(t, newStage(t, Options{}), func(o *agent.SessionOptions) {
				o.Permission = func(ctx context.Context, _ agent.ToolUse) agent.Decision {
					<-ctx.Done()
					return agent.Decision{}
				}
			})
			mine := beside(t, s, "hello")
			m := <-p.messages
			p.say(append([]string{running, begin}, lines...)...)
			time.Sleep(5 * time.Minute)
			if len(p.asked) > 0 {
				t.Errorf("%s: interrupted", name)
			}
			p.say(echoLine(m), resultLine(""))
			<-mine
		})
	}
}

func TestAProcessWithTooMuchMemoryIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told atomic.Int32
		st := newStage(t, Options{MemoryLimit: func() int64 { return 1 << 30 }})
		s, p := played(t, st)
		synctest.Wait() // its version was requested
		st.engine.OnChange(func() { told.Add(1) })
		p.resident.Store(100 << 20)
		time.Sleep(3 * lookEvery)
		p.resident.Store(102 << 20) // too small a change to report
		time.Sleep(3 * lookEvery)
		if st := st.engine.Status(); told.Load() != 1 || st.Processes[0].Memory != 100<<20 {
			t.Errorf("told %d times, %+v", told.Load(), st.Processes)
		}
		mine := beside(t, s, "hello")
		<-p.messages
		p.say(running, begin)
		synctest.Wait()
		p.resident.Store(1500 << 20)
		h := <-mine
		oneLine(t, h.err, "1.5 GB", "1.0 GB", "/config claude_memory_limit")
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if n := len(st.engine.Status().Processes); n > 0 {
			t.Errorf("%d processes are left", n)
		}
	})
}

func TestAnEngineThatDoesNotRunOpensNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := New(Options{Path: "/nowhere"}).Open(t.Context(), agent.SessionOptions{})
		if !errors.Is(err, errNotRunning) {
			t.Errorf("it gives %v", err)
		}
	})
}

// In any order of turns, every message gets its own answer and every other turn goes to the bot.
func TestNoAnswerIsLostOrGivenToAnother(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		order := rapid.SliceOfN(rapid.SampledFrom([]string{"mine", "own", "own first", "taken in", "idle"}), 1, 12).Draw(rt, "order")
		synctest.Test(t, func(t *testing.T) {
			own := make(chan told, 100)
			s, p := played(t, newStage(t, Options{}), func(o *agent.SessionOptions) { o.OnEngineTurn = collect(own) })
			wantOwn := 0
			for i, what := range order {
				answer, other := fmt.Sprintf("answer %d", i), fmt.Sprintf("other %d", i)
				switch what {
				case "idle":
					p.say(running, idle)
					continue
				case "own":
					p.say(running)
					p.say(ownLines(other)...)
					p.say(idle)
					wantOwn++
					continue
				}
				mine := beside(t, s, "question")
				m := <-p.messages
				p.say(running)
				switch what {
				case "own first":
					p.say(ownLines(other)...)
					wantOwn++
					p.say(turnLines(m, answer)...)
				case "taken in":
					p.say(ended, begin, start("x"), delta(other), answerLine("x", other), echoLine(m))
					wantOwn++
					p.say(start("y"), delta(answer), answerLine("y", answer), resultLine("task-notification"))
				default:
					p.say(turnLines(m, answer)...)
				}
				p.say(idle)
				if h := <-mine; h.text() != answer || h.err != nil {
					t.Fatalf("%v: message %d is answered with %q, %v", order, i, h.text(), h.err)
				}
			}
			for range wantOwn {
				if h := <-own; !strings.HasPrefix(h.text(), "other") {
					t.Fatalf("%v: a turn of its own says %q", order, h.text())
				}
			}
		})
	})
}
