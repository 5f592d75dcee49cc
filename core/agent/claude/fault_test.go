package claude

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/base/testkit"
)

func TestARequestThatFailsIsMadeAgainAndSaysSo(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t)
	h := say(t, r.open(), claudetest.Script(claudetest.Step{Error: 429, Times: 1, Text: "Now it works."}))
	if tries := all[agent.Retry](h); len(tries) != 1 || tries[0].Attempt != 1 || tries[0].Reason != "rate limit" || tries[0].Wait <= 0 {
		t.Errorf("retries %+v", tries)
	}
	if h.text() != "Now it works." || h.result(t).IsError {
		t.Errorf("text %q", h.text())
	}
}

func TestAFailureSaysWhatToDo(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t, func(o *Options) { o.Env = append(slices.Clone(o.Env), "CLAUDE_CODE_MAX_RETRIES=1") })
	s := r.open()
	for _, c := range []struct {
		name string
		step claudetest.Step
		want string
	}{
		{"a key that is refused", claudetest.Step{Error: 401}, "ANTHROPIC_API_KEY"},
		{"a server that is overloaded", claudetest.Step{Error: 529}, "529"},
		{"a request that is refused", claudetest.Step{Error: 400, ErrMsg: "this is no good"}, "this is no good"},
		{"a stream without content", claudetest.Step{Text: "half of it", Chunk: 4, DropAfter: -1}, ""},
	} {
		h := say(t, s, claudetest.Script(c.step))
		end := h.result(t)
		if !end.IsError || end.Interrupted || !strings.Contains(end.Text, c.want) || end.Text == "" || strings.Contains(end.Text, "\n") {
			t.Errorf("%s: %+v", c.name, end)
		}
		if h.text() != "" {
			t.Errorf("%s: the turn said %q besides", c.name, h.text())
		}
	}
	if h := say(t, s, claudetest.Script(claudetest.Step{Text: "here"})); h.text() != "here" || h.result(t).IsError {
		t.Errorf("after failures: %q, %+v", h.text(), h.result(t))
	}
}

func TestABrokenStreamIsNeverSaidTwice(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t)
	s := r.open()
	whole := "one two three four five six seven eight"
	for name, step := range map[string]claudetest.Step{
		"a connection that is cut": {Text: whole, Chunk: 4, DropAfter: 3, Times: 1},
		"an error in the stream":   {Text: whole, Chunk: 4, SSEError: "overloaded_error", SSEAfter: 3, Times: 1},
	} {
		h := say(t, s, claudetest.Script(step))
		if h.text() != whole || h.result(t).IsError {
			t.Errorf("%s: text %q, result %+v", name, h.text(), h.result(t))
		}
	}
}

func TestAnAnswerThatStallsIsInterruptedAfterTwoMinutes(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t)
	s := r.open()
	once := false
	h := say(t, s, claudetest.Script(slow("never")), func(ev agent.Event) {
		if _, ok := ev.(agent.Text); !ok || once {
			return
		}
		once = true
		now := time.Now()
		inner(s).checkSilence(now.Add(stallAfter - time.Second)) // not yet
		if inner(s).markedStopped() {
			t.Error("interrupted too early")
		}
		inner(s).checkSilence(now.Add(stallAfter + time.Second))
	})
	if end := h.result(t); !end.IsError || end.Interrupted || end.Text != textStalled {
		t.Errorf("%+v", end)
	}
	if h := say(t, s, "still there?"); h.result(t).IsError {
		t.Error("the session is lost")
	}
}

func TestAPromptThatIsTooLongIsCompactedAndAnswered(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t)
	s := r.open()
	for range 4 {
		say(t, s, "a word "+strings.Repeat("and another one ", 50))
	}
	h := say(t, s, claudetest.Script(claudetest.Step{PromptTooLong: true, Times: 1, Text: "It fits."}))
	got := all[agent.Compacting](h)
	if len(got) != 2 || got[0].Done || !got[0].Auto || !got[1].Done || !got[1].Auto {
		t.Errorf("compacting %+v", got)
	}
	if h.result(t).IsError {
		t.Errorf("%+v", h.result(t))
	}
	alone := r.open()
	if end := say(t, alone, claudetest.Script(claudetest.Step{PromptTooLong: true})).result(t); !end.IsError || !strings.Contains(end.Text, "/compact") {
		t.Errorf("where nothing can be compacted: %+v", end)
	}
}

func TestWithoutALoginTheCureIsSaid(t *testing.T) {
	testkit.Alone(t)
	changed := make(chan struct{}, 100)
	r := newRig(t, func(o *Options) {
		o.Env = slices.DeleteFunc(slices.Clone(o.Env), func(v string) bool { return strings.HasPrefix(v, "ANTHROPIC_API_KEY=") })
	})
	r.engine.OnChange(func() { changed <- struct{}{} })
	s := r.open()
	if st := r.engine.Status(); !st.LoginNeeded || !strings.Contains(st.Problem, "L in the dashboard") {
		t.Errorf("status %+v", st)
	}
	if len(changed) == 0 {
		t.Error("nobody was told")
	}
	h := say(t, s, "hello")
	if end := h.result(t); !end.IsError || !strings.Contains(end.Text, "L in the dashboard") {
		t.Errorf("result %+v", end)
	}
	if h.text() != "" {
		t.Errorf("the CLI's words were taken for the model's: %q", h.text())
	}
}

func TestACommandThatCannotBeginSaysWhy(t *testing.T) {
	testkit.Alone(t)
	for _, c := range []struct {
		name, body string
		mode       os.FileMode
		want       string
	}{
		{"not executable", "#!/bin/sh\n", 0o644, "make it executable"},
		{"ends at once", "#!/bin/sh\necho 'node: bad option' >&2\nexit 9\n", 0o755, "node: bad option"},
		{"prints nonsense", "#!/bin/sh\necho Welcome to claude\nread x\n", 0o755, "is "},
		{"says why in a result", `#!/bin/sh
echo '{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["the disk is full"]}'
`, 0o755, "the disk is full"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := New(Options{Path: playing(t, c.body, c.mode), Env: []string{"PATH=/usr/bin:/bin", "HOME=" + t.TempDir()}, Log: testLog(t)})
			runEngine(t, e)
			_, err := e.Open(t.Context(), agent.SessionOptions{Dir: t.TempDir()})
			oneLine(t, err, c.want)
		})
	}
}

// markedStopped reports whether the running turn was asked to end.
func (s *session) markedStopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.flow.current != nil && !s.flow.current.stopped.IsZero()
}

func TestACommandThatIsMissingSaysHowToInstallIt(t *testing.T) {
	e := New(Options{Env: []string{"PATH=" + t.TempDir(), "HOME=" + t.TempDir()}, Log: testLog(t)})
	changed := make(chan struct{}, 100)
	e.OnChange(func() { changed <- struct{}{} })
	end := runEngine(t, e)
	<-changed // its version was requested
	_, err := e.Open(t.Context(), agent.SessionOptions{Dir: t.TempDir()})
	oneLine(t, err, "from npm")
	end()
	_, err = e.Open(t.Context(), agent.SessionOptions{Dir: t.TempDir()})
	oneLine(t, err, "not running")
	if st := e.Status(); !strings.Contains(st.Problem, "from npm") {
		t.Errorf("status %+v", st)
	}
}

func TestTheEngineRunsOnce(t *testing.T) {
	e := New(Options{Path: "/nowhere", Log: testLog(t)})
	end := runEngine(t, e)
	end()
	if err := e.Run(t.Context()); !errors.Is(err, errRanTwice) {
		t.Errorf("a second Run gives %v", err)
	}
}

func TestAStartThatIsGivenUpLeavesNothing(t *testing.T) {
	testkit.Alone(t)
	path := playing(t, "#!/bin/sh\nexec sleep 60\n", 0o755)
	e := New(Options{Path: path, Env: []string{"PATH=/usr/bin:/bin"}, Log: testLog(t)})
	runEngine(t, e)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := e.Open(ctx, agent.SessionOptions{Dir: t.TempDir()})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("given up with %v", err)
	}
	oneLine(t, err)
}
