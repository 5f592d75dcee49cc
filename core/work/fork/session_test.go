package fork

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/agent"
	"ollimbot/core/agent/script"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/routines"
)

func TestOnlyAnOpenThatTimedOutIsTriedAgainAfter5And15Seconds(t *testing.T) {
	for name, c := range map[string]struct {
		fails int // number of opens that fail
		err   error
		want  State
		took  time.Duration
	}{
		"twice, then it opens": {2, errors.New("Control request timeout: initialize"), Done, 20 * time.Second},
		"three times":          {3, errors.New("Control request timeout: initialize"), Failed, 20 * time.Second},
		"a deadline":           {1, fmt.Errorf("open: %w", context.DeadlineExceeded), Done, 5 * time.Second},
		"another error":        {1, errors.New("no disk"), Failed, 0},
	} {
		t.Run(name, func(t *testing.T) {
			offline, n := script.New(script.Options{}), 0
			served(t, func(t *testing.T, h *harness) {
				begin := time.Now()
				v, _ := h.m.Do(t.Context(), playing(task(), "say hello"))
				if v.State != c.want || time.Since(begin) != c.took || c.want == Failed && v.Error != "open a session: "+c.err.Error() {
					t.Errorf("%s after %s: %q", v.State, time.Since(begin), v.Error)
				}
				var waits []string
				for _, line := range []string{"5s", "15s"}[:map[time.Duration]int{5 * time.Second: 1, 20 * time.Second: 2}[c.took]] {
					waits = append(waits, "note "+fmt.Sprintf(textReopen, line))
				}
				if lines := h.lines(v.ID); !slices.Equal(lines[:len(lines)-1], append(waits, []string{"text hello"}[:map[State]int{Done: 1}[c.want]]...)) {
					t.Errorf("the tail does not say why the run waits: %q", lines)
				}
			}, opening(func(ctx context.Context, so agent.SessionOptions) (agent.Session, error) {
				if n++; n <= c.fails {
					return nil, c.err
				}
				return offline.Open(ctx, so)
			}))
		})
	}
}

// M12: thinking_fork was ignored, and each run with a thinking setting other than the
// conversation's paid for its whole history again.
func TestTheSessionIsForkedFromMainUnlessIsolated(t *testing.T) {
	alone := Limits{Model: "sonnet", Thinking: "off", Alone: "8000"}
	still := func(t *routines.Task) { t.Thinking = false }
	own := func(model string) func(*routines.Task) { return func(t *routines.Task) { t.Model = model } }
	for name, c := range map[string]struct {
		main            string
		task            routines.Task
		limits          Limits
		model, thinking string
		forked          bool
	}{
		"forked":                        {mainSession, task(), Limits{Model: "sonnet"}, "sonnet", "adaptive", true},
		"isolated with its own model":   {mainSession, task(isolated, own("haiku"), still), Limits{Model: "sonnet"}, "haiku", "off", false},
		"the task's model counts":       {mainSession, task(own("opus")), Limits{Model: "sonnet"}, "opus", "adaptive", true},
		"no main session yet":           {"", task(), Limits{Model: "sonnet"}, "sonnet", "adaptive", false},
		"no readable one":               {"not-a-uuid", task(), Limits{Model: "sonnet"}, "sonnet", "adaptive", false},
		"M12: like the conversation":    {mainSession, task(), alone, "sonnet", "off", true},
		"M12: alone":                    {mainSession, task(isolated), alone, "sonnet", "8000", false},
		"M12: never, if it must not":    {mainSession, task(still), Limits{Thinking: "8000", Alone: "8000"}, "", "off", true},
		"M12: alone without a main one": {"", task(), alone, "sonnet", "8000", false},
	} {
		t.Run(name, func(t *testing.T) {
			offline := script.New(script.Options{})
			var got agent.SessionOptions
			served(t, func(t *testing.T, h *harness) {
				h.limits = c.limits
				if c.main != "" {
					storetest.Put(t, h.dir, "state/sessions.json", c.main)
				}
				v := h.done(playing(c.task, "say x"))
				parent, event := map[bool]string{true: mainSession}[c.forked], map[bool]string{true: "isolated_bg", false: "bg_fork"}[c.task.Isolated]
				want := agent.Settings{Model: c.model, Thinking: c.thinking, Mode: "default"}
				if got.Resume != parent || got.Fork != c.forked || got.Settings != want || got.Dir != h.dir.Root() {
					t.Errorf("opened with %+v", got)
				}
				if v.Parent != parent || v.Session == "" || v.Session == mainSession || v.Model != c.model {
					t.Errorf("view: parent %q, session %q, model %q", v.Parent, v.Session, v.Model)
				}
				wants(t, "the history", storetest.Text(t, h.dir, "state/session_history.jsonl"), event, v.Session)
			}, opening(func(ctx context.Context, so agent.SessionOptions) (agent.Session, error) {
				got = so
				return offline.Open(ctx, so)
			}))
		})
	}
}

func TestOnlyAMainSessionThatTheEngineDoesNotKnowIsLeftOut(t *testing.T) {
	for name, c := range map[string]struct {
		task  routines.Task
		fails error // of the first open; the second fails with "enough"
		opens []string
		want  string // the error of the run
	}{
		"it has lost the main session": {task(), agent.ErrNoSession, []string{mainSession, ""}, "open a session: enough"},
		"another error":                {task(), errors.New("no disk"), []string{mainSession}, "open a session: no disk"},
		"no history was asked for":     {task(isolated), agent.ErrNoSession, []string{""}, "open a session: " + agent.ErrNoSession.Error()},
	} {
		synctest.Test(t, func(t *testing.T) {
			var opens, warned, told []string
			h := newHarness(t, func(o *Options) { o.Warn = func(text string) { warned = append(warned, text) } },
				opening(func(_ context.Context, so agent.SessionOptions) (agent.Session, error) {
					if opens = append(opens, so.Resume); len(opens) > 1 || so.Fork != (so.Resume != "") {
						return nil, errors.New("enough")
					}
					return nil, c.fails
				}))
			storetest.Put(t, h.dir, "state/sessions.json", mainSession)
			defer h.serve()()
			v, _ := h.m.Do(t.Context(), playing(c.task, "say hello"))
			if v.State != Failed || v.Error != c.want || !slices.Equal(opens, c.opens) {
				t.Errorf("%s: %s with %q, opened with %q", name, v.State, v.Error, opens)
			}
			if len(c.opens) > 1 {
				told = []string{"Email sweep runs without the conversation's history, because the engine no longer has the main session"}
			}
			if noted := h.lines(v.ID)[0] == "note "+textNoHistory; noted != (told != nil) || !slices.Equal(warned, told) {
				t.Errorf("%s: the user is warned of %q, the tail is %q", name, warned, h.lines(v.ID))
			}
		})
	}
}

func TestARunCountsWhatItDid(t *testing.T) {
	served(t, func(t *testing.T, h *harness) {
		v := h.done(playing(task(),
			`think is it worth it?`,
			`ask Bash {"command":"ollim-bot tasks list"}`,
			`call ping_user {"message":"Water the plants"}`,
			`call ping_user {"message":"And again"}`,
			`call report_updates {"message":"pinged once"}`,
			`say done with it`))
		if v.Tools != 4 || v.Pings != 1 || v.Refused != 1 || v.Reports != 1 || v.Usage.Tokens() == 0 || v.Activity != "done" {
			t.Errorf("counters: %+v", v)
		}
		want := []string{
			"think is it worth it?",
			"tool Bash(ollim-bot tasks list)",
			"refuse Bash denied: Bash is not available in background forks, or not with these arguments.",
			"tool ping_user", "ping Water the plants", "result Message sent.",
			"tool ping_user",
			"refuse ping refused: " + answerLimit + answerReport,
			"tool report_updates", "report pinged once", "result " + answerReported,
			"text done with it", "note done",
		}
		if diff := cmp.Diff(strings.Join(want, "\n"), strings.Join(h.lines(v.ID), "\n")); diff != "" {
			t.Error(diff)
		}
	})
}
