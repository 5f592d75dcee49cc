package fork

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"ollimbot/core/brief/toolset"
	"ollimbot/core/safety/label"
	"ollimbot/routines"
)

func TestARunStopsItsOwnRoutineUnlessItHasReadUntrustedText(t *testing.T) {
	for name, tt := range map[string]struct {
		change  func(*Job)
		fails   error
		refused string // part of the answer; empty if it is done
		stops   int    // how often the bot is asked to
	}{
		"its own":              {stops: 1},
		"after untrusted text": {change: func(j *Job) { j.Label = label.From("mail") }, refused: "has read untrusted text (mail)"},
		"that its file trusts": {change: func(j *Job) { j.Label, j.Trusted = label.From("mail"), true }, refused: "has read untrusted text (mail)"},
		"a reminder":           {change: func(j *Job) { j.Task.Kind = routines.KindReminder }, refused: "only available in a background run of a routine"},
		"the bot refuses":      {fails: errors.New("it is essential"), refused: "was not stopped: it is essential", stops: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness(t)
				h.unstopped = tt.fails
				r := h.run(task(), func(j *Job) {
					if tt.change != nil {
						tt.change(j)
					}
				})
				a := r.tools.Stop(t.Context(), toolset.Stop{Reason: "done"})
				if a.IsError != (tt.refused != "") || !strings.Contains(a.Text, tt.refused) || len(h.stops) != tt.stops {
					t.Errorf("%+v, asked %q", a, h.stops)
				}
				done := tt.refused == ""
				said := []string{"note It paused itself: done"}
				if !done {
					said = []string{"refuse stop_routine refused: " + a.Text}
				}
				if v := r.status.snapshot(); (v.Stopped == "paused itself") != done || (len(h.o.Updates.Peek()) == 1) != done || len(h.sent()) != 0 ||
					!slices.Equal(tailOf(r), said) {
					t.Errorf("%+v, pending %+v, sent %+v, the tail is %q", v, h.o.Updates.Peek(), h.sent(), tailOf(r))
				}
				if tt.stops == 1 && h.stops[0] != "a1b2c3d4 done false" {
					t.Errorf("asked to stop %q", h.stops)
				}
			})
		})
	}
}
