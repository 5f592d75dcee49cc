package claude

import (
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

// markedStopped reports whether the running turn was asked to end.
func (s *session) markedStopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.flow.current != nil && !s.flow.current.stopped.IsZero()
}
