package fork

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/testkit"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/session"
	"ollimbot/routines"
)

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
