package policy

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAnInterruptCancelsTheQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := newGuard(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		d := g.Session(Scope{Mode: func() Mode { return Ask }}).Permission(ctx, bash("date"))
		if d.Allow || !strings.Contains(d.Reason, "cancelled") || len(g.Approvals().Pending()) > 0 {
			t.Errorf("%+v, pending %v", d, g.Approvals().Pending())
		}
	})
}

func TestAFaultInsideIsADenial(t *testing.T) {
	var said strings.Builder
	g, _ := newGuard(t)
	g.o.Log = slog.New(slog.NewTextHandler(&said, nil))
	d := g.Session(Scope{Mode: func() Mode { panic("no mode") }}).Permission(t.Context(), bash("date"))
	if d.Allow || d.Reason == "" || !strings.Contains(said.String(), "no mode") {
		t.Errorf("%+v, log %s", d, said.String())
	}
	g.o.Dir = nil // so that the validator cannot read the file
	d = g.Session(Scope{}).PreTool(t.Context(), toolUse("Edit", fields{"file_path": "routines/a.md", "old_string": "a", "new_string": "b"}))
	if d.Allow || d.Reason == "" {
		t.Errorf("hook: %+v", d)
	}
	synctest.Test(t, func(t *testing.T) {
		g, _ := newGuard(t)
		g.Approvals().OnChange(func(Approval) { panic("no surface") })
		d := g.Session(Scope{Mode: func() Mode { return Ask }}).Permission(t.Context(), bash("date"))
		if d.Allow || len(g.Approvals().Pending()) > 0 {
			t.Errorf("%+v, pending %v", d, g.Approvals().Pending())
		}
	})
}
