package fork

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/agent"
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

func TestTheMessagesOfARunThatSucceededLeadBackToItsSession(t *testing.T) {
	for name, tt := range map[string]struct {
		task   routines.Task
		parent string
	}{
		"forked":   {task(), mainSession},
		"isolated": {task(func(t *routines.Task) { t.Isolated = true }), ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := remembering(t)
				defer h.serve()()
				var wg sync.WaitGroup
				var v View
				wg.Go(func() {
					var err error
					v, err = h.m.Do(t.Context(), playing(tt.task, `call ping_user {"message":"hi"}`,
						`call discord_embed {"title":"card","critical":true}`, `call report_updates {"message":"done"}`, "wait 1m"))
					if err != nil {
						t.Error(err)
					}
				})
				time.Sleep(30 * time.Second)
				if got, standing := h.lookup("1"); standing != session.Unknown {
					t.Errorf("while the run goes on: %+v", got)
				}
				wg.Wait()
				if v.State != Done || v.Session == "" || len(h.sent()) != 2 {
					t.Fatalf("%+v, %d messages", v, len(h.sent()))
				}
				for _, id := range []post.MessageID{"1", "2"} {
					got, standing := h.lookup(id)
					want := session.ForkMessage{ID: id, Session: v.Session, Parent: tt.parent, At: got.At}
					if diff := cmp.Diff(want, got); diff != "" || standing != session.Live {
						t.Errorf("message %s: %v\n%s", id, standing, diff)
					}
				}
				if _, standing := h.lookup("3"); standing != session.Unknown {
					t.Error("a message that nobody sent is known")
				}
			})
		})
	}
}

func TestARunThatDidNotSucceedIsNothingToGoOnWith(t *testing.T) {
	for name, tt := range map[string]struct {
		lines []string
		stop  bool
		want  State
	}{
		"failed":    {[]string{`call ping_user {"message":"hi"}`, "fail no more credit"}, false, Failed},
		"timed out": {[]string{`call ping_user {"message":"hi"}`, "wait 1h"}, false, TimedOut},
		"stopped":   {[]string{`call ping_user {"message":"hi"}`, "wait 1h"}, true, Stopped},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := remembering(t)
				defer h.serve()()
				var wg sync.WaitGroup
				var v View
				wg.Go(func() { v, _ = h.m.Do(t.Context(), playing(task(), tt.lines...)) })
				time.Sleep(time.Minute)
				if tt.stop {
					if err := h.m.Stop(h.m.Views()[0].ID); err != nil {
						t.Error(err)
					}
				}
				wg.Wait()
				if v.State != tt.want || v.Pings != 1 {
					t.Fatalf("%+v", v)
				}
				if _, err := h.dir.Read("state/fork_messages.json"); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("something was recorded: %v", err)
				}
			})
		})
	}
}

func TestOnlyMessagesThatReachedTheUserAreRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := remembering(t)
		r := h.run(task())
		r.status.view.Session, r.status.view.Parent = "fork-1", "main-1"
		h.set(func() { h.failed = errors.New("gateway timeout") })
		if a := r.tools.Ping(t.Context(), "lost", false, false); !a.IsError {
			t.Error(a.Text)
		}
		h.set(func() { h.failed = nil })
		if a := r.tools.Embed(t.Context(), post.Embed{Title: "arrives"}, false); a.IsError {
			t.Error(a.Text)
		}
		if a := r.tools.Ping(t.Context(), "one too many", false, false); !a.IsError {
			t.Error(a.Text)
		}
		if diff := cmp.Diff([]post.MessageID{"1"}, r.tools.sent); diff != "" {
			t.Error(diff)
		}
		r.remember()
		if got, standing := h.lookup("1"); standing != session.Live || got.Session != "fork-1" || got.Parent != "main-1" {
			t.Errorf("%+v, %v", got, standing)
		}
	})
}

func TestAMessageStillOnItsWayWhenTheRunEndsIsRecordedToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := remembering(t)
		h.poster = func(ctx context.Context, p post.Post) (post.MessageID, error) {
			time.Sleep(3 * time.Second)
			return h.post(ctx, p)
		}
		r := h.run(task())
		r.status.view.Session = "fork-1"
		var wg sync.WaitGroup
		wg.Go(func() { r.tools.Ping(t.Context(), "hi", false, false) })
		synctest.Wait()
		r.remember()
		wg.Wait()
		if got, standing := h.lookup("1"); standing != session.Live || got.Session != "fork-1" {
			t.Errorf("%+v, %v", got, standing)
		}
	})
}

func TestASurfaceThatHangsHoldsNoEndedRunBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := remembering(t)
		h.poster = func(ctx context.Context, _ post.Post) (post.MessageID, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}
		r := h.run(task())
		r.status.view.Session = "fork-1"
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { r.tools.Ping(ctx, "hi", false, false) })
		synctest.Wait()
		begin := time.Now()
		r.remember()
		if took := time.Since(begin); took != grace {
			t.Errorf("waited %s, want %s", took, grace)
		}
		cancel()
		wg.Wait()
	})
}

// moving is a session whose id changes during its turn, as after a compaction.
type moving struct {
	rude
	ids []string
}

func (s *moving) ID() string { return s.ids[0] }

func (s *moving) Send(context.Context, agent.Message) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		if !yield(agent.Text{Delta: "la"}, nil) {
			return
		}
		s.ids = s.ids[1:]
		yield(agent.Result{SessionID: s.ids[0]}, nil)
	}
}

func TestTheSessionOfARunIsTheNewestOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, func(o *Options) {
			o.Engine = engineFunc(func(context.Context, agent.SessionOptions) (agent.Session, error) {
				return &moving{rude: rude{closed: make(chan struct{})}, ids: []string{"before", "after"}}, nil
			})
		})
		defer h.serve()()
		v, err := h.m.Do(t.Context(), playing(task(), "stop"))
		if err != nil || v.Session != "after" {
			t.Errorf("session %q, %v", v.Session, err)
		}
	})
}

func TestARecordThatCannotBeWrittenIsLoggedAndNoFailureOfTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := remembering(t)
		logged := &bytes.Buffer{}
		h.m.o.Log = slog.New(slog.NewTextHandler(logged, nil))
		r := h.run(task())
		r.status.view.Session = "--no-session"
		r.tools.sent = append(r.tools.sent, "1")
		r.end(t.Context(), nil)
		if v := r.status.snapshot(); v.State != Done || v.Error != "" {
			t.Errorf("%+v", v)
		}
		if !strings.Contains(logged.String(), "replies will quote them") {
			t.Errorf("logged %s", logged)
		}
	})
}
