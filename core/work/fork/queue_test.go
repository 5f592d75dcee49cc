package fork

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/routines"
)

func titled(title string) routines.Task {
	return task(func(t *routines.Task) { t.Description = title })
}

// states formats the views as "title state", with the position in the queue.
func states(m *Manager) []string {
	var list []string
	for _, v := range m.Views() {
		s := v.Title + " " + string(v.State)
		if v.Position > 0 {
			s += fmt.Sprint(" ", v.Position)
		}
		list = append(list, s)
	}
	return list
}

// ignoring has sessions that ignore interrupts.
func ignoring(o *Options) {
	o.Engine = engineFunc(func(context.Context, agent.SessionOptions) (agent.Session, error) {
		return &rude{closed: make(chan struct{})}, nil
	})
}

// The steps are separated by "; ": "do 1 wait 1m" begins the run 1 with this script, "see" compares the list of runs, "got 1" how the
// run 1 has ended, and when.
func TestRunsWaitForTheirTurnAndCanBeStopped(t *testing.T) {
	const both = "do 0 wait 20m; do 1 wait 20m; "
	soon := fmt.Sprint(lookAgain + time.Second)
	for _, s := range []struct {
		name, steps string
		engine      func(*Options)
	}{
		{"in their order, no more than the limit at once",
			"limit 2; do 0 wait 1m; do 1 wait 1m; do 2 wait 1m; do 3 wait 1m; do 4 wait 1m; " +
				"see 0 running, 1 running, 2 waiting 1, 3 waiting 2, 4 waiting 3; sleep 61s; see 2 running, 3 running, 4 waiting 1, …; " +
				"got 0 done after 1m0s; got 4 done after 3m0s; see …done, …done, …done, …done, …done", nil},
		{"four at once without a limit",
			"do 0 wait 1m; do 1 wait 1m; do 2 wait 1m; do 3 wait 1m; do 4 wait 1m; do 5 wait 1m; " +
				"" + "see 0 running, 1 running, 2 running, 3 running, 4 waiting 1, 5 waiting 2", nil},
		{"a raised limit starts them at once", "limit 1; " + both + "limit 2; sleep " + soon + "; see 0 running, 1 running", nil},
		{"a waiting one that is stopped leaves the queue",
			"limit 1; do 0 wait 1m; do 1 say never; stop 1; see 0 running, 1 stopped; got 1 stopped after 0s; posts 0", nil},
		{"a running one is interrupted at once",
			"do 0 wait 20m; sleep 1m; stop 0; got 0 stopped after 1m0s; cannot stop 0: already ended; cannot stop ffffffff: no run ffffffff", nil},
		{"one that ignores it is closed after a while", "do 0 stop; stop 0; got 0 stopped after " + fmt.Sprint(grace), ignoring},
		{"and does not hold up the program", "do 0 stop; end; got 0 interrupted after " + fmt.Sprint(partingGrace) + ", stopping", ignoring},
		{"at the end none is begun, running ones are interrupted, and the user is not told",
			"limit 1; " +
				both + "end; got 0 interrupted after …, stopping; got 1 …, stopping; do 2 stop; got 2 …, stopping; posts 0; ledger 0 interrupted",
			nil},
	} {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness(t, func(o *Options) {
					if s.engine != nil {
						s.engine(o)
					}
				})
				var wg sync.WaitGroup
				stop := h.serve()
				defer wg.Wait()
				defer stop()
				ended := map[string]chan string{}
				for step := range strings.SplitSeq(s.steps, "; ") {
					verb, rest, _ := strings.Cut(step, " ")
					name, more, _ := strings.Cut(rest, " ")
					switch verb {
					case "do":
						ended[name] = make(chan string, 1)
						wg.Go(func() {
							begin := time.Now()
							v, err := h.m.Do(context.Background(), playing(titled(name), more))
							how := fmt.Sprint(v.State, " after ", time.Since(begin).Truncate(time.Second))
							if errors.Is(err, ErrStopping) {
								how += ", stopping"
							} else if err != nil {
								how += ": " + err.Error()
							}
							ended[name] <- how
						})
					case "limit":
						h.set(func() { _, _ = fmt.Sscan(rest, &h.limits.MaxRunning) })
					case "sleep":
						d, err := time.ParseDuration(rest)
						testkit.Must(t, err)
						time.Sleep(d)
					case "stop":
						testkit.Must(t, h.m.Stop(h.idOf(name)))
					case "cannot":
						id, why, _ := strings.Cut(more, ": ")
						if err := h.m.Stop(h.idOf(id)); err == nil || !strings.Contains(err.Error(), why) {
							t.Errorf("%s: %v", step, err)
						}
					case "end":
						stop()
					case "see":
						wantText(t, step, rest, strings.Join(states(h.m), ", "))
					case "got":
						wantText(t, step, more, <-ended[name])
					case "posts":
						wantText(t, step, rest, fmt.Sprint(len(h.sent())))
					case "ledger":
						list, err := Ledger(h.dir, 10)
						if testkit.Must(t, err); len(list) != 1 || list[0].Title+" "+string(list[0].State) != rest {
							t.Errorf("%s: %+v", step, list)
						}
					}
					synctest.Wait()
				}
			})
		})
	}
}

// idOf returns the id of the run with a title, or the text itself.
func (h *harness) idOf(title string) string {
	for _, v := range h.m.Views() {
		if v.Title == title {
			return v.ID
		}
	}
	return title
}
