package fork

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/safety/label"
	"ollimbot/core/talk/post"
	"ollimbot/routines"
)

// What a check has printed is a ping like any other: one token, and refused by all that refuses a
// ping. What is refused is not lost.
func TestASaidMessageIsAPingUnderAllItsRules(t *testing.T) {
	const words = "High tide at 9:40"
	said, hook := fmt.Sprintf(updateSaid, words), func(j *Job) { j.Label = label.From("check of routine a1") }
	unsaid := func(why any) string { return fmt.Sprintf(updateUnsaid, why, words) }
	in := func(m routines.Mode) func(*Job) { return func(j *Job) { j.Task.Mode = m } }
	pills, failed := func(j *Job) { essential(&j.Task) }, func(j *Job) { j.Said = &Said{Failed: "exit 2"} }
	both := func(one, two func(*Job)) func(*Job) { return func(j *Job) { one(j); two(j) } }
	for name, c := range map[string]struct {
		when   string // one of the circumstances
		fails  error  // of the surface
		change func(*Job)
		sent   string // how it begins; empty if nothing is
		paid   float64
		update string // pending; empty for none
		state  State
	}{
		"it costs a token, and no money":            {sent: words, paid: 1, update: said},
		"with a label it says so":                   {change: hook, sent: words, paid: 1, update: said},
		"an empty budget refuses it":                {when: "no token", update: unsaid(briefExhausted)},
		"so do a conversation":                      {when: "a conversation", update: unsaid(briefBusy)},
		"and quiet hours or a mute":                 {when: "a mute", update: unsaid("quiet until 01:00")},
		"a task that may not report loses it":       {when: "no token", change: in(routines.Blocked)},
		"and reports no message":                    {change: in(routines.Blocked), sent: words, paid: 1},
		"one that may report does so when unsent":   {when: "no token", change: in(routines.Freely), update: unsaid(briefExhausted)},
		"and not when sent":                         {change: in(routines.Freely), sent: words, paid: 1},
		"one that must report does":                 {change: in(routines.Always), sent: words, paid: 1, update: said},
		"an essential one is beside the budget":     {when: "no token", change: pills, sent: words, update: said},
		"with a label it is not":                    {when: "no token", change: both(pills, hook), sent: "Take the pills\n", update: unsaid(briefExhausted)},
		"a script that failed is a run that failed": {change: failed, sent: "Email sweep failed: exit 2", state: Failed},
		"an essential one sends its own words":      {change: both(pills, failed), sent: "Take the pills\n", state: Failed},
		"one that cannot be delivered is kept":      {fails: post.ErrNoChannel, update: unsaid(post.ErrNoChannel), state: Failed},
		"one that may have arrived counts as sent":  {fails: errUnknown, paid: 1, update: said},
	} {
		t.Run(name, func(t *testing.T) {
			opened := 0
			served(t, func(t *testing.T, h *harness) {
				if c.when != "" {
					circumstances[c.when](h)
				}
				if h.failed = c.fails; c.fails != nil {
					h.troubles = []string{map[bool]string{true: "the user was not informed", false: "a ping may not have arrived"}[c.state == Failed]}
				}
				before := h.tokens()
				j := Job{Task: task(func(t *routines.Task) { t.Says = true }), Said: &Said{Text: words}}
				if c.change != nil {
					c.change(&j)
				}
				v, err := h.m.Do(t.Context(), j)
				if v.State != cmp.Or(c.state, Done) || (err != nil) != (c.state == Failed) || opened != 0 || !v.NoModel || v.Model != "" || v.Usage != (agent.Usage{}) {
					t.Errorf("%+v, %v, opened %d times", v, err, opened)
				}
				posts, own := h.sent(), c.sent != words
				if (len(posts) == 1) != (c.sent != "") ||
					len(posts) == 1 && (!strings.HasPrefix(posts[0].Text, c.sent) || (posts[0].Label == "") != (j.Label == "" || own)) {
					t.Errorf("sent %+v", posts)
				}
				if paid := before - h.tokens(); paid != c.paid || c.paid > 0 && v.Pings != 1 {
					t.Errorf("it cost %v tokens", paid)
				}
				want := c.update
				if j.Label != "" {
					want = fmt.Sprintf(reportLabeled, j.Label) + want
				}
				pending := h.o.Updates.Peek()
				if (len(pending) == 1) != (c.update != "") || len(pending) == 1 && (pending[0].Message != want || (pending[0].Label == "") != (j.Label == "")) {
					t.Errorf("pending %+v, not %q", pending, want)
				}
				note := textNoModel
				if j.Label != "" {
					note = fmt.Sprintf(textLabeledSaid, j.Label)
				}
				if lines := h.lines(v.ID); lines[0] != "note "+textNoModel || !slices.Contains(lines, "note "+note) {
					t.Errorf("the tail is %q", lines)
				}
			}, broken(&opened))
		})
	}
}
