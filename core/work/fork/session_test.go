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

	"ollimbot/core/agent"
	"ollimbot/core/agent/script"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/routines"
)

func TestOnlyAnOpenThatTimedOutIsTriedAgainAfter5And15Seconds(t *testing.T) {
	for name, tt := range map[string]struct {
		fail int // number of opens that time out
		want State
		took time.Duration
	}{
		"twice, then it opens": {2, Done, 20 * time.Second},
		"three times":          {3, Failed, 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				offline := script.New(script.Options{})
				n := 0
				h := newHarness(t, func(o *Options) {
					o.Engine = engineFunc(func(ctx context.Context, so agent.SessionOptions) (agent.Session, error) {
						if n++; n <= tt.fail {
							return nil, errors.New("Control request timeout: initialize")
						}
						return offline.Open(ctx, so)
					})
				})
				defer h.serve()()
				begin := time.Now()
				v, _ := h.m.Do(t.Context(), playing(task(), "say hello"))
				if tt.want == Failed && !strings.Contains(v.Error, "Control request timeout") {
					t.Errorf("it failed because of %q", v.Error)
				}
				page, _ := h.m.Tail(v.ID, 0)
				if len(page.Lines) < 2 || page.Lines[0].Text != fmt.Sprintf(textReopen, "5s") || page.Lines[1].Text != fmt.Sprintf(textReopen, "15s") {
					t.Errorf("the tail does not say why the run waits: %+v", page.Lines)
				}
				if v.State != tt.want || time.Since(begin) != tt.took {
					t.Errorf("got %s after %s, want %s after %s", v.State, time.Since(begin), tt.want, tt.took)
				}
			})
		})
	}
}

func TestTheSessionIsForkedFromMainUnlessIsolated(t *testing.T) {
	const main = "6f1c0a52-8a63-4a3e-9d1e-0c2b7a9f4e11"
	tests := map[string]struct {
		main string
		task routines.Task
		want agent.SessionOptions
	}{
		"forked": {main, task(), agent.SessionOptions{Resume: main, Fork: true, Settings: agent.Settings{Model: "sonnet", Thinking: "adaptive", Mode: "default"}}},
		"isolated, with its own model, without thinking": {main, task(func(t *routines.Task) { t.Isolated, t.Model, t.Thinking = true, "haiku", false }), agent.SessionOptions{Settings: agent.Settings{Model: "haiku", Thinking: "off", Mode: "default"}}},
		"the task's model counts in a forked run too":    {main, task(func(t *routines.Task) { t.Model = "opus" }), agent.SessionOptions{Resume: main, Fork: true, Settings: agent.Settings{Model: "opus", Thinking: "adaptive", Mode: "default"}}},
		"no main session yet":                            {"", task(), agent.SessionOptions{Settings: agent.Settings{Model: "sonnet", Thinking: "adaptive", Mode: "default"}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				offline := script.New(script.Options{})
				var got agent.SessionOptions
				h := newHarness(t, func(o *Options) {
					o.Engine = engineFunc(func(ctx context.Context, so agent.SessionOptions) (agent.Session, error) {
						got = so
						return offline.Open(ctx, so)
					})
				})
				h.limits.Model = "sonnet"
				if tt.main != "" {
					storetest.Put(t, h.dir, "state/sessions.json", tt.main)
				}
				defer h.serve()()
				v := h.does(playing(tt.task, "say x"))
				if got.Resume != tt.want.Resume || got.Fork != tt.want.Fork || got.Settings != tt.want.Settings || got.Dir != h.dir.Root() {
					t.Errorf("opened with %+v", got)
				}
				if v.Parent != tt.want.Resume || v.Session == "" || v.Session == main || v.Model != tt.want.Settings.Model {
					t.Errorf("view: parent %q, session %q, model %q", v.Parent, v.Session, v.Model)
				}
				history, err := h.dir.Read("state/session_history.jsonl")
				testkit.Must(t, err)
				want := "bg_fork"
				if tt.task.Isolated {
					want = "isolated_bg"
				}
				if !strings.Contains(string(history), want) || !strings.Contains(string(history), v.Session) {
					t.Errorf("history: %s", history)
				}
			})
		})
	}
}

func TestOnlyAMainSessionThatTheEngineDoesNotKnowIsLeftOut(t *testing.T) {
	const main = "6f1c0a52-8a63-4a3e-9d1e-0c2b7a9f4e11"
	for name, c := range map[string]struct {
		task  routines.Task
		fails error // of the first open; the second fails with "enough"
		opens []string
		want  string // the error of the run
	}{
		"it has lost the main session": {task(), agent.ErrNoSession, []string{main, ""}, "open a session: enough"},
		"another error":                {task(), errors.New("no disk"), []string{main}, "open a session: no disk"},
		"no history was asked for":     {task(func(t *routines.Task) { t.Isolated = true }), agent.ErrNoSession, []string{""}, "open a session: " + agent.ErrNoSession.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var opens, warned []string
				h := newHarness(t, func(o *Options) {
					o.Warn = func(text string) { warned = append(warned, text) }
					o.Engine = engineFunc(func(_ context.Context, so agent.SessionOptions) (agent.Session, error) {
						if opens = append(opens, so.Resume); len(opens) > 1 || so.Fork != (so.Resume != "") {
							return nil, errors.New("enough")
						}
						return nil, c.fails
					})
				})
				storetest.Put(t, h.dir, "state/sessions.json", main)
				defer h.serve()()
				v, _ := h.m.Do(t.Context(), playing(c.task, "say hello"))
				if v.State != Failed || v.Error != c.want || !slices.Equal(opens, c.opens) {
					t.Errorf("%s with %q, opened with %q", v.State, v.Error, opens)
				}
				var told []string
				if len(c.opens) > 1 {
					told = []string{"Email sweep runs without the conversation's history, because the engine no longer has the main session"}
				}
				page, _ := h.m.Tail(v.ID, 0)
				if noted := len(page.Lines) > 0 && page.Lines[0].Text == textNoHistory; noted != (told != nil) || !slices.Equal(warned, told) {
					t.Errorf("the user is warned of %q, the tail begins with %+v", warned, page.Lines)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		storetest.Put(t, h.dir, "state/sessions.json", "not-a-uuid")
		defer h.serve()()
		v, err := h.m.Do(t.Context(), playing(task(), "say hello"))
		if err != nil || v.State != Done || v.Parent != "" {
			t.Errorf("got %s with parent %q, %v", v.State, v.Parent, err)
		}
	})
}

// M12: thinking_fork was ignored, and each run with a thinking setting other than the
// conversation's paid for its whole history again.
func TestARunThinksAsTheSettingsSay(t *testing.T) {
	for _, c := range []struct {
		name               string
		isolated, thinking bool
		limits             Limits
		want               string
	}{
		{"like the conversation", false, true, Limits{Thinking: "off", Alone: "adaptive"}, "off"},
		{"alone", true, true, Limits{Thinking: "off", Alone: "8000"}, "8000"},
		{"never", false, false, Limits{Thinking: "8000", Alone: "8000"}, "off"},
		{"without settings", false, true, Limits{}, "adaptive"},
	} {
		h := newHarness(t)
		storetest.Put(t, h.dir, "state/sessions.json", "6f1c0a52-8a63-4a3e-9d1e-0c2b7a9f4e11")
		r := h.run(task(func(t *routines.Task) { t.Isolated, t.Thinking = c.isolated, c.thinking }))
		if got := r.options(c.limits).Settings.Thinking; got != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}
