package review

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/brief/skill"
	"ollimbot/core/mcp"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/webhook"
	"ollimbot/routines"
)

// idle is a bot in which nothing waits.
type idle struct{}

func (idle) TaskWaits(*routines.Task) string         { return "" }
func (idle) SkillWaits(skill.Skill) string           { return "" }
func (idle) Judge()                                  {}
func (idle) Refresh(...string)                       {}
func (idle) Refuse(routines.Task) ([]byte, error)    { return nil, nil }
func (idle) Offered() map[string]routines.Proposal   { return nil }
func (idle) AllowTools(server, version string) error { return nil }
func (idle) RefuseTools(_, _ string) error           { return nil }

// started runs a start of the program for an hour, and returns the messages that lost their buttons.
func started(t *testing.T, d *store.Dir) (retired []post.MessageID) {
	desk := New(Options{
		Dir: d, Log: slog.New(slog.DiscardHandler), Guard: idle{}, Schedule: idle{}, Tools: idle{}, Servers: mcp.NewEdits(d, nil),
		Files: policy.New(policy.Options{Dir: d}).Provenance(), Index: routines.NewIndex(d, time.UTC), Hooks: webhook.NewIndex(d),
		Note: func(string) {}, Tell: func(string) {}, Changed: func() {}, Ended: func(string) {},
		Post: func(context.Context, post.Post) (post.MessageID, error) { return "", nil },
		Retire: func(_ context.Context, m post.MessageID, _ string) error {
			retired = append(retired, m)
			return nil
		},
	})
	desk.Recover()
	ctx, stop := context.WithTimeout(t.Context(), time.Hour)
	defer stop()
	if err := desk.Run(ctx); err != nil {
		t.Error(err)
	}
	return retired
}

func TestACardThatHasLostItsButtonsIsLeftAloneAfterARestart(t *testing.T) {
	d := storetest.Prepared(t)
	storetest.Put(t, d, ShownFile, `{"cards": [{"version": "decided", "file": "routines/water.md", "message": "m1", "at": "2000-01-01T00:00:00Z"}]}`)
	synctest.Test(t, func(t *testing.T) { // it begins at that time
		if retired := started(t, d); len(retired) != 1 || retired[0] != "m1" {
			t.Errorf("the first start takes the buttons off %q, want those of m1", retired)
		}
		if retired := started(t, d); len(retired) > 0 {
			t.Errorf("the next start does so again: %q", retired)
		}
	})
}
