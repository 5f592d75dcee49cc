package away

import (
	"testing"
	"time"

	"ollimbot/core"
	"ollimbot/core/talk/absence"
	"ollimbot/tui/pane"
)

func TestAnAbsenceInFrontOfTheScreenIsNotGreeted(t *testing.T) {
	now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	watched, away := &core.Snapshot{At: now, Started: now}, &core.Snapshot{At: now, Started: now}
	away.Away = absence.Span{From: now.Add(-time.Hour), To: now}
	p := New()
	if p.Wants(pane.Context{Snap: watched}); p.Wants(pane.Context{Snap: away}).Load != nil {
		t.Error("who has sat here since the start is greeted")
	}
	if New().Wants(pane.Context{Snap: away}).Load == nil {
		t.Error("who returns is not greeted")
	}
}
