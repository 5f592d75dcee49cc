package fork

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"ollimbot/core/base/tail"
	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/label"
	"ollimbot/routines"
)

// The sources of a run's label, and what inherits it.
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
			testkit.Must(t, h.o.Sessions.SaveMain(h.o.now(), "main-1"))
			testkit.Must(t, h.o.Sessions.Labels().Read(h.o.now(), "main-1", c.main))
			j := playing(c.task, "call ping_user {\"message\": \"Look.\"}", "call report_updates {\"message\": \"I looked.\"}", "stop")
			j.Label = c.starts
			v := h.does(j)
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
			labels := h.o.Sessions.Labels()
			if got := labels.At(v.Session, v.Queued); got != ran {
				t.Errorf("%s: its session has the label %q", name, got)
			}
			if main, fresh := labels.Of("main-1"), labels.Of(""); main != c.main || fresh != "" {
				t.Errorf("%s: the conversation has the label %q, a new one %q", name, main, fresh)
			}
			list, _, err := h.o.Audit.Read(10)
			testkit.Must(t, err)
			if c.want == "" != (len(list) == 0) || len(list) > 0 && (len(list) != 1 || list[0].Detail != string(c.want)+" → this run" || list[0].Subject != c.task.ID) {
				t.Errorf("%s: the audit log says %+v", name, list)
			}
		})
	}
}

// A run that reads the web midway is the user's own up to that point. After it, neither
// the run nor a reply that continues its session is.
func TestARunThatReadsUntrustedTextOnTheWayIsLimitedFromThere(t *testing.T) {
	for trusted, note := range map[bool]string{false: textLabeled, true: textTrusted} {
		synctest.Test(t, func(t *testing.T) {
			h := newHarness(t)
			h.o.Audit = audit.New(audit.Options{Dir: h.dir})
			h.m = h.manager()
			defer h.serve()()
			j := playing(task(),
				`ask Write {"file_path":"notes.txt","content":"before"}`, `call ping_user {"message":"Look."}`,
				`ask WebFetch {"url":"https://example.com"}`,
				`ask Write {"file_path":"notes.txt","content":"after"}`, `call report_updates {"message":"I looked."}`)
			j.Allowed, j.Trusted = []string{"Write", "WebFetch"}, trusted
			v := h.does(j)
			const web label.Label = "web page"
			ran := web.Via("run " + v.ID)
			if v.Label != web || v.Trusted != trusted || h.posts[0].Label != "" {
				t.Errorf("the run is %+v, its ping before that has the label %q", v, h.posts[0].Label)
			}
			if got := h.o.Sessions.Labels().At(v.Session, v.Queued); got != ran {
				t.Errorf("its session has the label %q", got)
			}
			if u := h.o.Updates.Peek(); u[0].Label != ran.Via("update") || u[0].Message != fmt.Sprintf(reportLabeled, web)+"I looked." {
				t.Errorf("the update is %+v", u)
			}
			list, _, err := h.o.Audit.Read(10)
			testkit.Must(t, err)
			if len(list) != 1 || list[0].Actor != audit.Bot || list[0].From != "run "+v.ID || list[0].Action != audit.InputRead ||
				list[0].Subject != j.Task.ID || list[0].Detail != "web page → this run" {
				t.Errorf("the audit log says %+v", list)
			}
			page, _ := h.m.Tail(v.ID, 0)
			var notes, refusals []string
			for _, l := range page.Lines {
				switch {
				case strings.Contains(l.Text, "untrusted"):
					notes = append(notes, l.Text)
				case l.Kind == tail.Refuse:
					refusals = append(refusals, l.Text)
				}
			}
			if want := fmt.Sprintf(note, web); !slices.Contains(notes, want) {
				t.Errorf("the tail says %q, want %q", notes, want)
			}
			if refused := len(notes)+len(refusals) > 1; refused == trusted {
				t.Errorf("trusted %v: refused is %q, and %q", trusted, refusals, notes)
			}
		})
	}
}

func TestALabelThatCannotBeSavedLimitsTheRunAllTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		h.troubles = []string{"the label of a run's session was not recorded"}
		testkit.Must(t, os.MkdirAll(h.dir.Path("state/.session_labels.lock"), 0o700)) // blocks the lock
		defer h.serve()()
		j := playing(task(), `call ping_user {"message":"Look."}`, `call report_updates {"message":"I looked."}`)
		j.Label = "webhook build"
		v, err := h.m.Do(t.Context(), j)
		if ran := j.Label.Via("run " + v.ID); err != nil || v.Label != j.Label || h.posts[0].Label != ran || h.o.Updates.Peek()[0].Label != ran.Via("update") {
			t.Errorf("%+v, %v; the ping is %+v", v, err, h.posts)
		}
	})
}
