package fork

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/safety/label"
	"ollimbot/core/talk/post"
	"ollimbot/routines"
)

// What a check has printed is a ping like any other: one token, and refused by all that refuses a
// ping. What is refused is not lost.
func TestASaidMessageIsAPingUnderAllItsRules(t *testing.T) {
	const words = "High tide at 9:40"
	for name, tt := range map[string]struct {
		prepare func(*harness)
		change  func(*Job)
		sent    string // empty if nothing is
		paid    float64
		update  string // in the pending update; empty for none
		state   State
		label   bool
	}{
		"it costs a token, and no money":          {sent: words, paid: 1, update: "without a model: " + words},
		"with a label it says so":                 {change: func(j *Job) { j.Label = label.From("check of routine a1") }, sent: words, paid: 1, update: words, label: true},
		"an empty budget refuses it":              {prepare: func(h *harness) { h.drain(0) }, update: "did not reach the user (no token left): " + words},
		"so do a conversation":                    {prepare: func(h *harness) { h.busy = true }, update: "in conversation"},
		"and quiet hours or a mute":               {prepare: func(h *harness) { h.quiet = time.Now().Add(time.Hour) }, update: "quiet until"},
		"a task that may not report loses it":     {prepare: func(h *harness) { h.drain(0) }, change: func(j *Job) { j.Task.Mode = routines.Blocked }},
		"and reports no message":                  {change: func(j *Job) { j.Task.Mode = routines.Blocked }, sent: words, paid: 1},
		"one that may report does so when unsent": {prepare: func(h *harness) { h.drain(0) }, change: func(j *Job) { j.Task.Mode = routines.Freely }, update: words},
		"and not when sent":                       {change: func(j *Job) { j.Task.Mode = routines.Freely }, sent: words, paid: 1},
		"one that must report does":               {change: func(j *Job) { j.Task.Mode = routines.Always }, sent: words, paid: 1, update: words},
		"an essential one is beside the budget":   {prepare: func(h *harness) { h.drain(0) }, change: func(j *Job) { essential(&j.Task) }, sent: words, update: words},
		"with a label it is not": {
			prepare: func(h *harness) { h.drain(0) }, change: func(j *Job) { essential(&j.Task); j.Label = label.From("check of routine a1") },
			sent: "Take the pills\n", update: words,
		},
		"a script that failed is a run that failed": {change: func(j *Job) { j.Said = &Said{Failed: "exit 2"} }, sent: "Email sweep failed: exit 2", state: Failed},
		"an essential one sends its own words":      {change: func(j *Job) { essential(&j.Task); j.Said = &Said{Failed: "exit 2"} }, sent: "Take the pills\n", state: Failed},
		"one that cannot be delivered is kept": {
			prepare: func(h *harness) { h.failed, h.troubles = post.ErrNoChannel, []string{"the user was not informed"} }, update: "did not reach the user", state: Failed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opened := 0
				h := newHarness(t, func(o *Options) { o.Engine = broken{&opened} })
				if tt.prepare != nil {
					tt.prepare(h)
				}
				before := h.tokens()
				defer h.serve()()
				j := Job{Task: task(func(t *routines.Task) { t.Says = true }), Said: &Said{Text: words}}
				if tt.change != nil {
					tt.change(&j)
				}
				want := tt.state
				if want == "" {
					want = Done
				}
				v, err := h.m.Do(t.Context(), j)
				if v.State != want || (err != nil) != (want == Failed) || opened != 0 || !v.NoModel || v.Model != "" || v.Usage != (agent.Usage{}) {
					t.Errorf("%+v, %v, opened %d times", v, err, opened)
				}
				posts := h.sent()
				if (len(posts) == 1) != (tt.sent != "") || tt.sent != "" && (!strings.HasPrefix(posts[0].Text, tt.sent) || (posts[0].Label != "") != tt.label) {
					t.Errorf("sent %+v", posts)
				}
				if paid := before - h.tokens(); paid != tt.paid {
					t.Errorf("it cost %v tokens", paid)
				}
				pending := h.o.Updates.Peek()
				if (len(pending) == 1) != (tt.update != "") || tt.update != "" && (!strings.Contains(pending[0].Message, tt.update) || pending[0].Label == "" && j.Label != "") {
					t.Errorf("pending %+v", pending)
				}
			})
		})
	}
}

func TestASaidMessageThatMayHaveArrivedCountsAsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		h.failed, h.troubles = errors.Join(post.ErrUnknown), []string{"a ping may not have arrived"}
		defer h.serve()()
		v := h.does(Job{Task: task(), Said: &Said{Text: "High tide"}})
		if v.State != Done || v.Pings != 1 {
			t.Errorf("%+v", v)
		}
	})
}
