package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/storage/config"
	"ollimbot/core/work/proposals"
	"ollimbot/routines"
	"ollimbot/routines/zones"
)

// KindZone is the kind of proposal to let tasks follow the machine into another time zone.
const KindZone = "zone"

const (
	// zoneLook is the interval between two looks at the machine's zone.
	zoneLook = time.Minute
	// zoneGrace is the time between a change of the zone and the restart that applies it: for the answer to reach the user.
	zoneGrace = 3 * time.Second
	// zonesPerDay is the maximum number of questions per day: of a machine that keeps changing its zone.
	zonesPerDay = 3
	// zoneTasks is how many tasks a question lists.
	zoneTasks = 5
)

// The buttons of the question.
const (
	zoneFollows = "follow"
	zoneStays   = "stay"
)

// zoneChange is the stored change of a proposal.
type zoneChange struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// traveller keeps the zone in use over restarts, asks once whether tasks follow a machine whose zone has changed, and
// restarts the program when the user has changed the zone.
type traveller struct {
	b *Bot
	// machine returns the name of the machine's zone; nil if another zone is set for this bot.
	machine func() string
	wake    chan struct{} // capacity 1
}

// signal makes Run look now.
func (t *traveller) signal() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// run looks at the zones until ctx ends.
func (t *traveller) run(ctx context.Context) error {
	if t.b.o.Env.ZoneFixed != "" {
		return nil
	}
	var since time.Time // when another zone was found set
	for {
		t.keep()
		t.ask(ctx)
		pause := zoneLook
		switch now := time.Now(); {
		case !t.moved() || t.b.o.Restart == nil:
			since = time.Time{}
		case since.IsZero():
			since, pause = now, zoneGrace
		case now.Sub(since) >= zoneGrace:
			t.b.log.Info("restarting for another time zone", "zone", t.b.settings.Load().Timezone)
			t.b.o.Restart()
			return nil
		default:
			pause = zoneGrace - now.Sub(since)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		case <-t.wake:
		}
	}
}

// keep records the machine's zone as the one in use if none is recorded.
func (t *traveller) keep() {
	if t.machine == nil || t.b.settings.Load().Timezone != "" {
		return
	}
	if err := t.set(t.machine()); err != nil {
		t.b.log.Warn("the time zone in use was not recorded", "error", err)
	}
}

// moved reports whether the user has set another zone than the one that the bot runs with.
func (t *traveller) moved() bool {
	want := t.b.settings.Load().Timezone
	return want != "" && want != t.b.zone.String()
}

// ask asks whether tasks follow the machine, once for each change of its zone. A question that no longer applies is closed.
func (t *traveller) ask(ctx context.Context) {
	if t.machine == nil {
		return
	}
	if t.moved() {
		return // another bot asks, after the restart
	}
	used, machine := t.b.zone.String(), t.machine()
	before := t.b.offers.Of(KindZone)
	if n := len(before); n > 0 {
		last := before[n-1]
		c, err := proposals.ChangeOf[zoneChange](last)
		switch {
		case err == nil && c.To == machine && (machine != used || last.Answer != ""):
			return
		case last.Result == "":
			if err := t.b.asks.Withdraw(ctx, last.ID); err != nil {
				t.b.log.Warn("an outdated question was not closed", "error", err)
			}
		}
	}
	zone, err := zones.Load(machine)
	if err != nil || zones.SameClock(zone, t.b.zone, t.b.now()) {
		return
	}
	if _, err := t.b.asks.Propose(t.question(zone)); err != nil && !errors.Is(err, proposals.ErrEnough) {
		t.b.log.Warn("whether tasks follow the machine's time zone was not asked", "error", err)
	}
}

// question is the question whether tasks follow the machine into its zone.
func (t *traveller) question(to *time.Location) proposals.Proposal {
	now := t.b.now()
	from := now.Location()
	text := fmt.Sprintf(textZoneMoved, to, now.In(to).Format("15:04"), from)
	if lines := nextDay(t.b.index.Set().Routines, now, to); len(lines) > 0 {
		more := ""
		if n := len(lines) - zoneTasks; n > 0 {
			lines, more = lines[:zoneTasks], fmt.Sprintf(textZoneMore, words.Count(n, "more task"))
		}
		text += fmt.Sprintf(textZoneTimes, to) + "\n" + strings.Join(lines, "\n") + more
	}
	p := proposals.Proposal{
		// With the time, because each change is a question of its own.
		Kind: KindZone, Words: fmt.Sprintf(textZoneWords, now.Format("2 Jan 15:04"), to), Title: textZoneTitle, Text: text,
		Buttons: []proposals.Button{
			{ID: zoneFollows, Label: fmt.Sprintf(textZoneFollow, to), Style: "success"},
			{ID: zoneStays, Label: fmt.Sprintf(textZoneStay, from), Style: "secondary"},
		},
	}
	p.Change, _ = json.Marshal(zoneChange{From: from.String(), To: to.String()}) // strings can always be encoded
	return p
}

// nextDay lists the next fire of each routine within a day, as the clock of another zone shows it: first if nothing changes,
// then if tasks follow that clock. Tasks with a zone of their own stay.
func nextDay(list []*routines.Routine, now time.Time, to *time.Location) (lines []string) {
	for _, r := range list {
		stays := r.Schedule.Next(now)
		if r.Schedule.Zone != nil || stays.IsZero() || stays.Sub(now) > 24*time.Hour {
			continue
		}
		wall := r.Schedule.Next(now.In(to))
		lines = append(lines, fmt.Sprintf(textZoneTask, clean.Cut(clean.Line(r.Title()), 40), stays.In(to).Format("15:04"), wall.Format("15:04")))
	}
	slices.Sort(lines)
	return lines
}

// answer lets tasks follow, or not.
func (t *traveller) answer(_ context.Context, p proposals.Proposal, b proposals.Button, _ string) (proposals.Done, error) {
	c, err := proposals.ChangeOf[zoneChange](p)
	if err != nil {
		return proposals.Done{}, err
	}
	if b.ID != zoneFollows {
		return proposals.Done{Message: fmt.Sprintf(textZoneStays, c.From)}, nil
	}
	return proposals.Done{Message: fmt.Sprintf(textZoneFollows, c.To, c.From), Result: c.To}, t.set(c.To)
}

// undo goes back to the zone before.
func (t *traveller) undo(_ context.Context, p proposals.Proposal) error {
	c, err := proposals.ChangeOf[zoneChange](p)
	if err != nil {
		return err
	}
	return t.set(c.From)
}

// set changes the zone in use. It takes effect with the restart that follows.
func (t *traveller) set(zone string) error {
	r, _, err := config.Set(t.b.dir, config.KeyZone, zone)
	if err == nil {
		t.b.settings.Set(&r)
	}
	return err
}
