package fork

import (
	"strings"
	"testing"
	"testing/synctest"

	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/label"
	"ollimbot/routines"
)

// Where a run's label comes from, and what carries it on.
func TestARunPassesItsLabelOn(t *testing.T) {
	isolated := func(t *routines.Task) { t.Isolated = true }
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
		synctest.Test(t, func(t *testing.T) {
			h := newHarness(t)
			h.o.Audit = audit.New(audit.Options{Dir: h.dir})
			h.m = h.manager()
			defer h.serve()()
			must(t, h.o.Sessions.SaveMain(h.o.now(), "main-1"))
			must(t, h.o.Sessions.Labels().Read(h.o.now(), "main-1", c.main))
			j := playing(c.task, "call ping_user {\"message\": \"Look.\"}", "call report_updates {\"message\": \"I looked.\"}", "stop")
			j.Label = c.starts
			v, err := h.m.Do(t.Context(), j)
			must(t, err)
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
			if got := h.o.Sessions.Labels().At(v.Session, v.Queued); got != ran {
				t.Errorf("%s: its session has the label %q", name, got)
			}
			list, _, err := h.o.Audit.Read(10)
			must(t, err)
			if c.want == "" != (len(list) == 0) || len(list) > 0 && (len(list) != 1 || list[0].Detail != string(c.want)+" → this run" || list[0].Subject != c.task.ID) {
				t.Errorf("%s: the audit log says %+v", name, list)
			}
		})
	}
}
