package fork

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/safety/label"
	"ollimbot/routines"
)

func essential(t *routines.Task) { t.Essential, t.Description = true, "Take the pills" }

// broken is an engine that does not answer, and counts.
func broken(opened *int) func(*Options) {
	return opening(func(context.Context, agent.SessionOptions) (agent.Session, error) {
		*opened++
		return nil, errors.New("no route to the provider")
	})
}

// A run that may contain a stranger's words pays for its ping, and if that is refused the user gets the text of the file.
func TestAnEssentialTaskReachesTheUserWithoutAModel(t *testing.T) {
	freely, mail := mode(routines.Freely), func(j *Job) { j.Label = label.From("mail") }
	const spam = `call ping_user {"message":"Buy pills at evil.example"}`
	for name, c := range map[string]struct {
		task  routines.Task
		lines string // empty for an engine that is down
		job   func(*Job)
		state State
		why   string // in the words of the file; empty if they are not sent
		sent  int
	}{
		"the engine is down":         {task(essential), "", nil, Failed, "open a session: no route to the provider", 1},
		"it takes too long":          {task(essential), "wait 1h", nil, TimedOut, "timed out after 30 minutes", 1},
		"any other task":             {task(), "", nil, Failed, "", 1},
		"there is no money":          {task(essential, mode(routines.Always)), "", func(j *Job) { j.Plain = "no money" }, Done, "no money", 1},
		"its ping is refused":        {task(essential, freely), spam, mail, Done, "its ping was refused: no token left", 1},
		"it does not want to ping":   {task(essential, freely), "say all is settled", nil, Done, "", 0},
		"it fails after its ping":    {task(essential, freely), `call ping_user {"message":"Two pills"}` + "\nfail out of order", nil, Failed, "", 2},
		"its user stops it":          {task(essential), "wait 1h", func(j *Job) { j.Note = "stopped" }, Stopped, "", 0},
		"the bot stops":              {task(essential), "wait 1h", func(j *Job) { j.Note = "shut down" }, Interrupted, "", 0},
		"another task's is not sent": {task(freely), spam, mail, Done, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			opened := 0
			served(t, func(t *testing.T, h *harness) {
				h.drain(0)
				if c.lines == "" {
					broken(&opened)(&h.m.o)
				}
				j := playing(c.task, strings.Split(c.lines, "\n")...)
				if c.job != nil {
					c.job(&j)
				}
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				if j.Note != "" {
					go func() {
						time.Sleep(time.Minute)
						if j.Note == "shut down" {
							leave()
							return
						}
						if err := h.m.Stop(h.m.Views()[0].ID); err != nil {
							t.Error(err)
						}
					}()
				}
				v, err := h.m.Do(ctx, j)
				if asked := map[bool]int{true: 1}[c.lines == "" && j.Plain == ""]; opened != asked || v.State != c.state ||
					(err != nil) != (c.state == Failed || c.state == Interrupted) {
					t.Errorf("%s, %v, opened %d times", v.State, err, opened)
				}
				posts, free := h.sent(), h.o.Tally.At(h.m.o.now()).Essential
				if len(posts) != c.sent || free != v.Essential || c.why == "" && v.Essential != v.Pings {
					t.Fatalf("%+v, %+v", posts, v)
				}
				for _, p := range posts {
					if own := strings.Contains(p.Text, "words of the file"); own != (c.why != "") || p.Small == own && p.Text != "Two pills" {
						t.Errorf("sent %+v", p)
					}
				}
				if c.why == "" {
					return
				}
				if p := posts[0]; p.Text != fmt.Sprintf(textPlain, "Take the pills", c.why) || p.Label != "" || v.Pings != 1 || free != 1 {
					t.Errorf("%+v, %+v", p, v)
				}
				if lines := h.lines(v.ID); !slices.Contains(lines, "note "+fmt.Sprintf(textSendsPlain, c.why)) {
					t.Errorf("the tail is %q", lines)
				}
			})
		})
	}
}

// A run that only sends its words asks no model, takes no place in the queue, and obeys the rules of a ping.
func TestWordsAreSentWithoutAModelAndWithoutAPlace(t *testing.T) {
	served(t, func(t *testing.T, h *harness) {
		h.limits.MaxRunning = 1
		waits := h.start(playing(task(), "wait 1h", "say done"))
		defer func() { _, _ = waits() }()
		early := func(t routines.Task) Job {
			return Job{Task: t, At: time.Now().Add(-time.Second), Fire: "reminder a", Said: &Said{Text: "Leave now", Early: true}}
		}
		if v := h.done(early(task(essential))); v.Pings != 1 || v.Session != "" || len(h.sent()) != 1 || h.sent()[0].Text != "Leave now" ||
			!v.Due.Equal(time.Now().Add(-time.Second)) {
			t.Errorf("%+v, sent %+v", v, h.sent())
		}
		if v := h.done(early(task(essential, noPing))); v.Refused != 1 || len(h.sent()) != 1 {
			t.Errorf("%+v, sent %+v", v, h.sent())
		}
		h.set(func() { h.failed = errors.New("no route") })
		h.troubles = []string{"the user was not informed of a failed run"}
		if v, err := h.m.Do(t.Context(), early(task())); v.State != Failed || err == nil || !strings.Contains(v.Error, "no route") {
			t.Errorf("%+v, %v", v, err)
		}
	})
}
