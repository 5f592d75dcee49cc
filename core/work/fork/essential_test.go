package fork

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/routines"
)

func essential(t *routines.Task) { t.Essential, t.Description = true, "Take the pills" }

// broken is an engine that does not answer.
type broken struct{ opened *int }

func (b broken) Open(context.Context, agent.SessionOptions) (agent.Session, error) {
	*b.opened++
	return nil, errors.New("no route to the provider")
}

func TestAnEssentialTaskReachesTheUserWithoutAModel(t *testing.T) {
	for name, tt := range map[string]struct {
		task   routines.Task
		plain  string
		opened int
		state  State
		want   string // what the user gets; empty for nothing
	}{
		"the engine is down":    {task: task(essential), opened: 1, state: Failed, want: "no route to the provider"},
		"there is no money":     {task: task(essential, mode(routines.Always)), plain: "no money until Monday", state: Done, want: "no money until Monday"},
		"any other task is not": {task: task(), opened: 1, state: Failed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opened := 0
				h := newHarness(t, func(o *Options) { o.Engine = broken{&opened} })
				h.drain(0)
				defer h.serve()()
				j := playing(tt.task, "stop")
				j.Plain = tt.plain
				v, err := h.m.Do(t.Context(), j)
				if v.State != tt.state || (err != nil) != (tt.state == Failed) || opened != tt.opened {
					t.Errorf("%s, %v, opened %d times", v.State, err, opened)
				}
				posts := h.sent()
				if tt.want == "" {
					if len(posts) != 1 || !posts[0].Small {
						t.Errorf("%+v", posts)
					}
					return
				}
				if len(posts) != 1 || posts[0].Small || !strings.HasPrefix(posts[0].Text, "Take the pills\n") || !strings.Contains(posts[0].Text, tt.want) || posts[0].Label != "" {
					t.Fatalf("%+v", posts)
				}
				if count := h.o.Tally.At(h.m.o.now()); count.Essential != 1 || v.Pings != 1 {
					t.Errorf("%+v, %+v", count, v)
				}
			})
		})
	}
}

func TestAStoppedEssentialTaskStaysSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		stop := h.serve()
		defer stop()
		done := make(chan View)
		go func() {
			v, _ := h.m.Do(t.Context(), playing(task(essential), "wait 1h"))
			done <- v
		}()
		synctest.Wait()
		testkit.Must(t, h.m.Stop(h.m.Views()[0].ID))
		if v := <-done; v.State != Stopped || len(h.sent()) != 0 {
			t.Errorf("%s, %+v", v.State, h.sent())
		}
	})
}

// A run that only sends its words asks no model, takes no place in the queue, and obeys the rules of a ping.
func TestWordsAreSentWithoutAModelAndWithoutAPlace(t *testing.T) {
	serving(t, func(t *testing.T, h *harness) {
		h.set(func() { h.limits.MaxRunning = 1 })
		done := make(chan View, 1)
		go func() {
			v, _ := h.m.Do(t.Context(), playing(task(), "wait 1h", "say done"))
			done <- v
		}()
		synctest.Wait()
		send := func(words string) View {
			v, err := h.m.Do(t.Context(), Job{Task: task(essential), At: time.Now().Add(-time.Second), Fire: "reminder a " + words, Said: &Said{Text: words, Early: true}})
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		if v := send("Leave now"); v.State != Done || v.Pings != 1 || v.Session != "" || len(h.sent()) != 1 || h.sent()[0].Text != "Leave now" || v.Due.IsZero() {
			t.Errorf("%+v, sent %+v", v, h.sent())
		}
		v, err := h.m.Do(t.Context(), Job{Task: task(func(t *routines.Task) { t.AllowPing = false }), Said: &Said{Text: "Leave now", Early: true}})
		if err != nil || v.State != Done || v.Refused != 1 || len(h.sent()) != 1 {
			t.Errorf("%+v, %v", v, err)
		}
		<-done
	})
}
