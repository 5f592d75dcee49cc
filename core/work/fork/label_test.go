package fork

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/label"
	"ollimbot/routines"
)

// audited gives a harness an audit log.
func audited(o *Options) { o.Audit = audit.New(audit.Options{Dir: o.Dir}) }

// The sources of a run's label, and what inherits it.
func TestARunPassesItsLabelOn(t *testing.T) {
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
		served(t, func(t *testing.T, h *harness) {
			testkit.Must(t, h.o.Sessions.SaveMain(h.o.now(), "main-1"))
			testkit.Must(t, h.o.Sessions.Labels().Read(h.o.now(), "main-1", c.main))
			j := playing(c.task, "call ping_user {\"message\": \"Look.\"}", "call report_updates {\"message\": \"I looked.\"}", "stop")
			j.Label = c.starts
			v := h.done(j)
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
		}, audited)
	}
}

// A run that reads the web midway is the user's own up to that point. After it, neither
// the run nor a reply that continues its session is.
func TestARunThatReadsUntrustedTextOnTheWayIsLimitedFromThere(t *testing.T) {
	for trusted, note := range map[bool]string{false: textLabeled, true: textTrusted} {
		served(t, func(t *testing.T, h *harness) {
			j := playing(task(),
				`ask Write {"file_path":"notes.txt","content":"before"}`, `call ping_user {"message":"Look."}`,
				`ask WebFetch {"url":"https://example.com"}`,
				`ask Write {"file_path":"notes.txt","content":"after"}`, `call report_updates {"message":"I looked."}`)
			j.Allowed, j.Trusted = []string{"Write", "WebFetch"}, trusted
			v := h.done(j)
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
			lines := h.lines(v.ID)
			refused := slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "refuse Write") })
			if !slices.Contains(lines, "note "+fmt.Sprintf(note, web)) || refused == trusted {
				t.Errorf("trusted %v: the tail is %q", trusted, lines)
			}
		}, audited)
	}
}

func TestALabelThatCannotBeSavedLimitsTheRunAllTheSame(t *testing.T) {
	served(t, func(t *testing.T, h *harness) {
		h.troubles = []string{"the label of a run's session was not recorded"}
		testkit.Must(t, os.MkdirAll(h.dir.Path("state/.session_labels.lock"), 0o700)) // blocks the lock
		j := playing(task(), `call ping_user {"message":"Look."}`, `call report_updates {"message":"I looked."}`)
		j.Label = "webhook build"
		v := h.done(j)
		if ran := j.Label.Via("run " + v.ID); v.Label != j.Label || h.posts[0].Label != ran || h.o.Updates.Peek()[0].Label != ran.Via("update") {
			t.Errorf("%+v; the ping is %+v", v, h.posts)
		}
	})
}
