package claude

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/base/testkit"
)

// M13: the bot waited 25 seconds for a command that closed its output and kept running.
func TestACommandThatClosesItsOutputAndLivesOnIsSaidAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t, Options{}, func(p *player) { p.deaf.Store(true) })
		s, p := played(t, st)
		done := make(chan told, 1)
		go func() { done <- say(t, s, "go") }()
		m := <-p.messages
		began := time.Now()
		p.say(begin, start("a"), echoLine(m))
		testkit.Must(t, p.out.Close())
		oneLine(t, (<-done).err, "has ended")
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("it was said after %s", took)
		}
	})
}

// E2: a command that hangs was named after two minutes of silence.
func TestACommandThatHangsIsNamedWithinTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := true
		st := newStage(t, Options{}, func(p *player) { p.mute.Store(hangs) })
		done := make(chan error, 1)
		go func() {
			_, err := st.engine.Open(t.Context(), agent.SessionOptions{Dir: "/"})
			done <- err
		}()
		time.Sleep(10 * time.Second)
		if got := st.engine.Status().Problem; !strings.Contains(got, "claude has not answered for 9 seconds") {
			t.Errorf("after ten seconds the problem is %q", got)
		}
		oneLine(t, <-done, "did not answer within 1 minute")
		hangs = false
		if _, err := st.engine.Open(t.Context(), agent.SessionOptions{Dir: "/"}); err != nil {
			t.Fatal(err)
		}
		if got := st.engine.Status().Problem; got != "" {
			t.Errorf("then it answers, and the problem is %q", got)
		}
	})
}

func refusedLine(attempt, status int) string {
	return fmt.Sprintf(`{"type":"system","subtype":"api_retry","attempt":%d,"max_retries":10,"retry_delay_ms":500,"error_status":%d,"error":"authentication_failed"}`, attempt, status)
}

// M13: a refused key was reported after eight seconds.
func TestCredentialsThatAreRefusedTwiceEndTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t, Options{})
		s, p := played(t, st)
		done := make(chan told, 1)
		go func() { done <- say(t, s, "go") }()
		<-p.messages
		p.say(begin, refusedLine(1, 401))
		synctest.Wait()
		if len(p.asked) != 0 {
			t.Error("interrupted after the first refusal, which a fresh token may cure")
		}
		p.say(refusedLine(2, 401))
		if got := <-p.asked; got != "interrupt" {
			t.Errorf("the command is asked to %s", got)
		}
		p.say(aborted, idle)
		if end := (<-done).result(t); !end.IsError || !end.Unavailable || end.Interrupted || end.Text != textBadKey {
			t.Errorf("%+v", end)
		}
		go func() { done <- say(t, s, "again") }()
		m := <-p.messages
		p.say(append([]string{begin, refusedLine(3, 403)}, turnLines(m, "Fine.")[1:]...)...)
		p.say(idle)
		if h := <-done; h.text() != "Fine." || h.result(t).IsError {
			t.Errorf("%q, %+v", h.text(), h.result(t))
		}
	})
}

func TestARefusedKeyIsSaidAfterTwoRequests(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t)
	s := r.open()
	end := say(t, s, claudetest.Script(claudetest.Step{Error: 401})).result(t)
	if !end.IsError || !end.Unavailable || end.Text != textBadKey || len(r.requests()) > 3 {
		t.Errorf("%d requests, %+v", len(r.requests()), end)
	}
	testkit.Must(t, s.Interrupt(context.Background()))
	if h := say(t, s, claudetest.Script(claudetest.Step{Text: "Here."})); h.text() != "Here." || h.result(t).IsError {
		t.Errorf("%q, %+v", h.text(), h.result(t))
	}
}
