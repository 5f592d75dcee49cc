package script

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
)

// said plays a turn and returns its texts in pieces, and the error that ended it.
func said(t testing.TB, s agent.Session, text string) (deltas []string, failed error) {
	for ev, err := range s.Send(t.Context(), agent.Message{Text: text}) {
		if ev, ok := ev.(agent.Text); ok {
			deltas = append(deltas, ev.Delta)
		}
		failed = err
	}
	return deltas, failed
}

func TestTextComesInWordsOneTurnAtATimeAndAConsumerMayLeave(t *testing.T) {
	s, err := New(Options{}).Open(t.Context(), agent.SessionOptions{})
	testkit.Must(t, err)
	const script = "```script\nsay three little words\n```"
	for _, err := range s.Send(t.Context(), agent.Message{Text: script}) {
		testkit.Must(t, err)
		if _, err := said(t, s, "hello"); !errors.Is(err, agent.ErrTwoTurns) {
			t.Errorf("a second turn: %v", err)
		}
		break
	}
	deltas, err := said(t, s, strings.ReplaceAll(script, "\n", "\r\n"))
	if diff := cmp.Diff([]string{"three ", "little ", "words"}, deltas); diff != "" || err != nil {
		t.Errorf("the turn after the one that was left: %s, %v", diff, err)
	}
	testkit.Must(t, errors.Join(s.Close(), s.Close()))
	if err := s.Configure(t.Context(), agent.Settings{Model: "x"}); !errors.Is(err, agent.ErrClosed) {
		t.Errorf("a closed session is configured: %v", err)
	}
}

func TestSessionsAreResumedAndForkedByIDAndTheOldestForgotten(t *testing.T) {
	e := New(Options{Dir: storetest.Prepared(t)})
	opened := func(o agent.SessionOptions) *session {
		t.Helper()
		s, err := e.Open(t.Context(), o)
		testkit.Must(t, err)
		return s.(*session)
	}
	const chosen = "6f1c0a52-8a63-4a3e-9d1e-0c2b7a9f4e11"
	fresh := opened(agent.SessionOptions{})
	_, err := said(t, fresh, "hello there")
	testkit.Must(t, err)
	fork := opened(agent.SessionOptions{Resume: fresh.ID(), Fork: true, ID: chosen})
	_, err = said(t, fork, "in the fork")
	testkit.Must(t, err)
	resumed := func(id string) string {
		s, heard := opened(agent.SessionOptions{Resume: id}), []string{}
		for _, h := range s.history {
			heard = append(heard, h.Asked+" -> "+h.Answered)
		}
		return fmt.Sprint(s.ID() == id, heard)
	}
	hello, inFork := "hello there -> "+sayNoModel, "in the fork -> "+sayNoModel
	for id, want := range map[string]string{fresh.ID(): "true [" + hello + "]", chosen: "true [" + hello + " " + inFork + "]", "00000000-0000-4000-8000-000000000000": "true []"} {
		if got := resumed(id); got != want {
			t.Errorf("resumed by %s: %s, want %s", id, got, want)
		}
	}
	if other := opened(agent.SessionOptions{Resume: fresh.ID(), Fork: true}); other.ID() == fresh.ID() || (agent.SessionOptions{ID: other.ID()}).CheckIDs() != nil {
		t.Errorf("a fork without a name is %s", other.ID())
	}
	if _, err := e.Open(t.Context(), agent.SessionOptions{Resume: "my-session"}); !errors.Is(err, agent.ErrNoSession) {
		t.Errorf("no UUID: %v", err)
	}
	for range keptSessions {
		opened(agent.SessionOptions{})
	}
	if got := resumed(fresh.ID()); got != "true []" || len(e.sessions) != keptSessions || len(e.order) != keptSessions {
		t.Errorf("of %d sessions the oldest has %s", len(e.sessions), got)
	}
	for i := range keptTurns + 1 {
		_, err := said(t, fork, fmt.Sprint("turn ", i))
		testkit.Must(t, err)
	}
	if n, first := len(fork.history), fork.history[0].Asked; n != keptTurns || first != "turn 1" {
		t.Errorf("%d turns are kept, the first is %s", n, first)
	}
	broken := storetest.Prepared(t)
	testkit.Must(t, os.Mkdir(broken.Path(journalFile), 0o700))
	s, err := New(Options{Dir: broken}).Open(t.Context(), agent.SessionOptions{})
	testkit.Must(t, err)
	for range 2 { // a turn that is not recorded does not block the next
		if got, err := said(t, s, "hello"); len(got) > 0 || err == nil || !strings.HasPrefix(err.Error(), "record the message: ") {
			t.Errorf("without a journal: %q, %v", got, err)
		}
	}
	// The journal has what was taken, for another process.
	later := New(Options{Dir: e.o.Dir})
	for _, c := range []struct {
		engine  *Engine
		id      string
		said    string
		has, is bool
	}{
		{later, fresh.ID(), "hello there", true, true},
		{later, fresh.ID(), "in the fork", false, true},
		{later, chosen, "in the fork", true, true},
		{later, "00000000-0000-4000-8000-000000000000", "hello there", false, false},
		{New(Options{}), fresh.ID(), "hello there", false, false},
	} {
		has, err := c.engine.HasMessage(t.Context(), c.id, sha256.Sum256([]byte(c.said)))
		if is := c.engine.HasSession(c.id); has != c.has || is != c.is || err != nil {
			t.Errorf("%+v: has the message %v, is known %v, %v", c, has, is, err)
		}
	}
}

func TestPropertyNoMessageBreaksATurn(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		parts := rapid.SliceOfN(rapid.OneOf(
			rapid.String(),
			rapid.SampledFrom([]string{
				"[2026-11-23 Mon 09:02 AM PT] ", "[routine-bg:x] ", "RECENT BACKGROUND UPDATES:\n- (", "```script\n", "\n```", "repeat 2\n", "end\n",
				"say x\n", "call ping_user {}\n", "\n\n", "[late:", "CHAIN CONTEXT check 1 of 2", "remind me ", "in 5 min", "Ping budget: 9999999999999999999/5", "\x1b[31m", "\xff",
			}),
		), 0, 8).Draw(rt, "parts")
		s, err := New(Options{}).Open(t.Context(), agent.SessionOptions{Tools: botTools()})
		testkit.Must(t, err)
		n := 0
		for ev, err := range s.Send(t.Context(), agent.Message{Text: strings.Join(parts, "")}) {
			if err != nil {
				rt.Fatal(err)
			}
			if _, ok := ev.(agent.Result); ok {
				n++
			}
		}
		if n != 1 {
			rt.Fatalf("%d results", n)
		}
	})
}
