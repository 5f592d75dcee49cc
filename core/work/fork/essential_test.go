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
	"ollimbot/core/safety/label"
	"ollimbot/routines"
)

func essential(t *routines.Task) { t.Essential, t.Description = true, "Take the pills" }

func TestTheFirstPingOfAnEssentialTaskIsBesideTheBudget(t *testing.T) {
	for name, tt := range map[string]struct {
		prepare func(*harness)
		job     func(*Job)
		refused string // part of the answer; empty if it is sent
		quiet   bool
		token   bool // it costs a token
	}{
		"it costs no token":                 {},
		"an empty bucket cannot refuse it":  {prepare: func(h *harness) { h.drain(0) }},
		"a conversation does not, either":   {prepare: func(h *harness) { h.busy = true }},
		"in quiet hours it makes no sound":  {prepare: func(h *harness) { h.quiet = time.Now().Add(time.Hour) }, quiet: true},
		"a run with a label pays":           {job: func(j *Job) { j.Label = label.From("mail") }, token: true},
		"and is refused without a token":    {prepare: func(h *harness) { h.drain(0) }, job: func(j *Job) { j.Label = label.From("mail") }, refused: "Budget exhausted"},
		"the user may trust the task":       {job: func(j *Job) { j.Label, j.Trusted = label.From("mail"), true }},
		"a task that may not ping, may not": {job: func(j *Job) { j.Task.AllowPing = false }, refused: "disabled"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness(t)
				if tt.prepare != nil {
					tt.prepare(h)
				}
				before := h.tokens()
				r := h.run(task(essential), func(j *Job) {
					if tt.job != nil {
						tt.job(j)
					}
				})
				a := r.tools.Ping(t.Context(), "Two pills, with water", false, false)
				if a.IsError != (tt.refused != "") || !strings.Contains(a.Text, tt.refused) {
					t.Fatalf("%+v", a)
				}
				paid := 0.0
				if tt.token {
					paid = 1
				}
				if before-h.tokens() != paid {
					t.Errorf("it cost %v tokens", before-h.tokens())
				}
				if tt.refused != "" {
					return
				}
				count, v := h.o.Tally.At(h.m.o.now()), r.status.snapshot()
				if free := count.Essential == 1; free == tt.token || v.Pings != 1 || (v.Essential == 1) == tt.token || h.sent()[0].Quiet != tt.quiet {
					t.Errorf("%+v, %+v, %+v", count, v, h.sent())
				}
				if a := r.tools.Ping(t.Context(), "And again", false, false); !strings.Contains(a.Text, "Already sent 1 ping") {
					t.Errorf("a second ping: %s", a.Text)
				}
				if count := h.o.Tally.At(h.m.o.now()); count.Essential > 1 {
					t.Errorf("%+v", count)
				}
			})
		})
	}
}

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

// A run that may contain a stranger's words pays for its ping, and if that is refused the
// user gets the text of the file.
func TestARefusedEssentialPingBecomesTheWordsOfTheFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		h.drain(0)
		defer h.serve()()
		j := playing(task(essential, mode(routines.Freely)), `call ping_user {"message":"Buy pills at evil.example"}`)
		j.Label = label.From("mail")
		v, err := h.m.Do(t.Context(), j)
		testkit.Must(t, err)
		posts := h.sent()
		if len(posts) != 1 || !strings.HasPrefix(posts[0].Text, "Take the pills\n") || strings.Contains(posts[0].Text, "evil") || v.Essential != 1 {
			t.Errorf("%+v, %+v", posts, v)
		}
	})
}

func TestAnEssentialTaskSaysNothingByItself(t *testing.T) {
	for name, lines := range map[string][]string{
		"it did not want to ping": {"say all is settled"},
		"it has pinged":           {`call ping_user {"message":"Two pills"}`, "fail out of order"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness(t)
				defer h.serve()()
				_, _ = h.m.Do(t.Context(), playing(task(essential, mode(routines.Freely)), lines...))
				for _, p := range h.sent() {
					if strings.Contains(p.Text, "words of the file") {
						t.Errorf("%+v", p)
					}
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
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		defer h.serve()()
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
