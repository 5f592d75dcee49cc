package dispatch

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/webhook"
	"ollimbot/routines"
)

// purse has no money for the first run; it is also that run.
type purse struct {
	Runs
	tried, settled []string
}

func (p *purse) Do(_ context.Context, j fork.Job) (fork.View, error) {
	if p.tried = append(p.tried, string(j.Ticket)); len(p.tried) == 1 {
		return fork.View{}, &fork.NoMoneyError{Why: "the cap of the day is reached"}
	}
	return fork.View{}, nil
}

func (p *purse) Afford(context.Context, routines.Task) (string, bool) { return "second", true }

func (p *purse) Settle(ticket string) { p.settled = append(p.settled, ticket) }

func TestADeliveryThatWaitsForMoneyGivesBackWhatWasReservedBefore(t *testing.T) {
	d, log, p := storetest.Prepared(t), slog.New(slog.DiscardHandler), &purse{}
	guard := policy.New(policy.Options{Dir: d, Zone: time.UTC, Log: log, Base: func() []string { return nil }})
	dispatcher := New(Options{
		Zone: time.UTC, Log: log, Runs: p, Money: p, Guard: guard, Prompts: &Prompts{Skills: &Skills{Dir: d, Log: log, Guard: guard}},
	})
	if err := dispatcher.FireWebhook(t.Context(), webhook.Job{Ticket: "first"}); err != nil {
		t.Fatal(err)
	}
	both := []string{"first", "second"}
	if !slices.Equal(p.tried, both) || !slices.Equal(p.settled, both) {
		t.Errorf("tried with %q and gave back %q, want both tickets each", p.tried, p.settled)
	}
}
