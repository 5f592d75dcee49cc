package fork

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/agent"
	"ollimbot/core/agent/script"
	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/label"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/session"
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
			var opens, warned, warning []string
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
				warning = []string{"Email sweep runs without the conversation's history, because the engine no longer has the main session"}
			}
			if noted := h.lines(v.ID)[0] == "note "+textNoHistory; noted != (warning != nil) || !slices.Equal(warned, warning) {
				t.Errorf("%s: the user is warned of %q, the tail is %q", name, warned, h.lines(v.ID))
			}
		})
	}
}

const mainSession = "6f1c0a52-8a63-4a3e-9d1e-0c2b7a9f4e11"

// remembering adds a message map and a main session to the harness.
func remembering(t *testing.T) *harness {
	t.Helper()
	h := newHarness(t, func(o *Options) { o.Messages = session.NewForkMessages(o.Dir, slog.New(slog.DiscardHandler)) })
	testkit.Must(t, h.o.Sessions.SaveMain(time.Now(), mainSession))
	return h
}

func (h *harness) lookup(id post.MessageID) (session.ForkMessage, session.Standing) {
	return h.o.Messages.Lookup(h.m.o.now(), id)
}

func isolated(t *routines.Task) { t.Isolated = true }

func TestTheMessagesOfARunThatSucceededLeadBackToItsSession(t *testing.T) {
	for name, c := range map[string]struct {
		task   routines.Task
		parent string
	}{
		"forked":    {task(), mainSession},
		"isolated":  {task(isolated), ""},
		"no report": {task(mode(routines.Always)), mainSession},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := remembering(t)
			defer h.serve()()
			lines := []string{
				`call ping_user {"message":"hi"}`, `call discord_embed {"title":"card","critical":true}`, `call report_updates {"message":"done"}`, "wait 1m",
			}
			if c.task.Mode == routines.Always {
				lines = append(lines[:2], "wait 1m", "stop", "say no", "stop")
			}
			end := h.start(playing(c.task, lines...))
			time.Sleep(30 * time.Second)
			if got, standing := h.lookup("1"); standing != session.Unknown {
				t.Errorf("%s: during the run %+v", name, got)
			}
			v, err := end()
			if err != nil || v.State.Failed() != (c.task.Mode == routines.Always) || v.Session == "" || len(h.sent()) != 2 {
				t.Fatalf("%s: %+v, %v, %d messages", name, v, err, len(h.sent()))
			}
			for _, id := range []post.MessageID{"1", "2"} {
				got, standing := h.lookup(id)
				want := session.ForkMessage{ID: id, Session: v.Session, Parent: c.parent, At: got.At}
				if diff := cmp.Diff(want, got); diff != "" || standing != session.Live {
					t.Errorf("%s: message %s: %v\n%s", name, id, standing, diff)
				}
			}
			if _, standing := h.lookup("3"); standing != session.Unknown {
				t.Error("a message that was not sent is known")
			}
		})
	}
}

func TestOnlyMessagesThatReachedTheUserAreRecorded(t *testing.T) {
	h := remembering(t)
	r := h.run(task())
	r.status.view.Session, r.status.view.Parent = "fork-1", "main-1"
	h.failed = errors.New("gateway timeout")
	lost := r.tools.Ping(t.Context(), "lost", false, false)
	h.failed = nil
	arrives, more := r.tools.Embed(t.Context(), post.Embed{Title: "arrives"}, false), r.tools.Ping(t.Context(), "one too many", false, false)
	if diff := cmp.Diff([]post.MessageID{"1"}, r.tools.sent); diff != "" || !lost.IsError || arrives.IsError || !more.IsError {
		t.Error(diff, lost, arrives, more)
	}
	r.remember()
	if got, standing := h.lookup("1"); standing != session.Live || got.Session != "fork-1" || got.Parent != "main-1" {
		t.Errorf("%+v, %v", got, standing)
	}
}

func TestAMessageStillOnItsWayWhenTheRunEndsIsWaitedForButNotForEver(t *testing.T) {
	for name, c := range map[string]struct {
		takes, waits time.Duration
		standing     session.Standing
	}{
		"a slow surface": {3 * time.Second, 3 * time.Second, session.Live},
		"one that hangs": {time.Hour, grace, session.Unknown},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := remembering(t)
			h.poster = func(ctx context.Context, p post.Post) (post.MessageID, error) {
				time.Sleep(c.takes)
				return h.post(ctx, p)
			}
			r := h.run(task())
			r.status.view.Session = "fork-1"
			var wg sync.WaitGroup
			wg.Go(func() { r.tools.Ping(t.Context(), "hi", false, false) })
			synctest.Wait()
			begin := time.Now()
			r.remember()
			if took := time.Since(begin); took != c.waits {
				t.Errorf("%s: waited %s, want %s", name, took, c.waits)
			}
			wg.Wait()
			if got, standing := h.lookup("1"); standing != c.standing || standing == session.Live && got.Session != "fork-1" {
				t.Errorf("%s: %+v, %v", name, got, standing)
			}
		})
	}
}

func TestARecordThatCannotBeWrittenIsLoggedAndNoFailureOfTheRun(t *testing.T) {
	h := remembering(t)
	logged := &bytes.Buffer{}
	h.m.o.Log = slog.New(slog.NewTextHandler(logged, nil))
	r := h.run(task())
	r.status.view.Session = "--no-session"
	r.tools.sent = append(r.tools.sent, "1")
	r.end(t.Context(), nil)
	if v := r.status.snapshot(); v.State != Done || v.Error != "" || !strings.Contains(logged.String(), "replies will quote them") {
		t.Errorf("%+v, logged %s", v, logged)
	}
}

// audited gives a harness an audit log.
func audited(o *Options) { o.Audit = audit.New(audit.Options{Dir: o.Dir}) }

// The sources of a run's label, and what inherits it.
func TestARunPassesItsLabelOn(t *testing.T) {
	for name, c := range map[string]struct {
		main   label.Label // of the main session
		starts label.Label // of the job
		task   routines.Task
		want   label.Label
	}{
		"nothing untrusted":          {"", "", task(), ""},
		"a webhook":                  {"", "webhook build", task(), "webhook build"},
		"a labeled conversation":     {"mail → update", "", task(), "mail → update → main conversation"},
		"a webhook, also branched":   {"mail → update", "webhook build", task(), "webhook build"},
		"isolated from conversation": {"mail → update", "", task(isolated), ""},
	} {
		served(t, func(t *testing.T, h *harness) {
			testkit.Must(t, h.o.Sessions.SaveMain(h.o.now(), "main-1"))
			testkit.Must(t, h.o.Sessions.Labels().Read(h.o.now(), "main-1", c.main))
			j := playing(c.task, "call ping_user {\"message\": \"Look.\"}", "call report_updates {\"message\": \"I looked.\"}", "stop")
			j.Label = c.starts
			v := h.done(j)
			ran := c.want.Via("run " + v.ID)
			if v.Label != c.want || v.Pings != 1 || v.Reports != 1 {
				t.Errorf("%s: the run is %+v", name, v)
			}
			if u := h.o.Updates.Peek(); u[0].Label != ran.Via("update") || strings.Contains(u[0].Message, "untrusted") != (c.want != "") {
				t.Errorf("%s: the update is %+v", name, u)
			}
			if h.posts[0].Label != ran {
				t.Errorf("%s: the ping has the label %q", name, h.posts[0].Label)
			}
			labels := h.o.Sessions.Labels()
			if got := labels.At(v.Session, v.Queued); got != ran {
				t.Errorf("%s: its session has the label %q", name, got)
			}
			if main, fresh := labels.Of("main-1"), labels.Of(""); main != c.main || fresh != "" {
				t.Errorf("%s: the conversation has the label %q, a new one %q", name, main, fresh)
			}
			list, _, err := h.o.Audit.Read(10)
			testkit.Must(t, err)
			if c.want == "" != (len(list) == 0) || len(list) > 0 && (len(list) != 1 || list[0].Detail != string(c.want)+" → this run" || list[0].Subject != c.task.ID) {
				t.Errorf("%s: the audit log says %+v", name, list)
			}
		}, audited)
	}
}

// A run that reads the web midway is the user's own up to that point. After it, neither
// the run nor a reply that continues its session is.
func TestARunThatReadsUntrustedTextOnTheWayIsLimitedFromThere(t *testing.T) {
	for trusted, note := range map[bool]string{false: textLabeled, true: textTrusted} {
		served(t, func(t *testing.T, h *harness) {
			j := playing(task(),
				`ask Write {"file_path":"notes.txt","content":"before"}`, `call ping_user {"message":"Look."}`,
				`ask WebFetch {"url":"https://example.com"}`,
				`ask Write {"file_path":"notes.txt","content":"after"}`, `call report_updates {"message":"I looked."}`)
			j.Allowed, j.Trusted = []string{"Write", "WebFetch"}, trusted
			v := h.done(j)
			const web label.Label = "web page"
			ran := web.Via("run " + v.ID)
			if v.Label != web || v.Trusted != trusted || h.posts[0].Label != "" {
				t.Errorf("the run is %+v, its ping before that has the label %q", v, h.posts[0].Label)
			}
			if got := h.o.Sessions.Labels().At(v.Session, v.Queued); got != ran {
				t.Errorf("its session has the label %q", got)
			}
			if u := h.o.Updates.Peek(); u[0].Label != ran.Via("update") || u[0].Message != fmt.Sprintf(reportLabeled, web)+"I looked." {
				t.Errorf("the update is %+v", u)
			}
			list, _, err := h.o.Audit.Read(10)
			testkit.Must(t, err)
			if len(list) != 1 || list[0].Actor != audit.Bot || list[0].From != "run "+v.ID || list[0].Action != audit.InputRead ||
				list[0].Subject != j.Task.ID || list[0].Detail != "web page → this run" {
				t.Errorf("the audit log says %+v", list)
			}
			lines := h.lines(v.ID)
			refused := slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "refuse Write") })
			if !slices.Contains(lines, "note "+fmt.Sprintf(note, web)) || refused == trusted {
				t.Errorf("trusted %v: the tail is %q", trusted, lines)
			}
		}, audited)
	}
}

func TestALabelThatCannotBeSavedLimitsTheRunAllTheSame(t *testing.T) {
	served(t, func(t *testing.T, h *harness) {
		h.troubles = []string{"the label of a run's session was not recorded"}
		testkit.Must(t, os.MkdirAll(h.dir.Path("state/.session_labels.lock"), 0o700)) // blocks the lock
		j := playing(task(), `call ping_user {"message":"Look."}`, `call report_updates {"message":"I looked."}`)
		j.Label = "webhook build"
		v := h.done(j)
		if ran := j.Label.Via("run " + v.ID); v.Label != j.Label || h.posts[0].Label != ran || h.o.Updates.Peek()[0].Label != ran.Via("update") {
			t.Errorf("%+v; the ping is %+v", v, h.posts)
		}
	})
}
