package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/command"
	"ollimbot/core/storage/frontmatter"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/proposals"
	"ollimbot/routines"
	duetimes "ollimbot/routines/account"
	"ollimbot/routines/habits"
	"ollimbot/routines/leeway"
)

// KindTime is the kind of proposal to move a routine to the time at which the user does
// it.
const KindTime = "time"

const (
	// firstLook is the delay after the start before the bot first looks for a routine that
	// the user always moves: a laptop may never be on for an hour. lookEach is the interval
	// after that.
	firstLook = time.Minute
	lookEach  = time.Hour
	// timesEach is the minimum time between two proposals, notNowFor the time until a
	// postponed or unanswered one may be repeated.
	timesEach = 7 * 24 * time.Hour
	notNowFor = 28 * 24 * time.Hour
	// asksFrom and asksUntil are the hours between which a time may be proposed.
	asksFrom, asksUntil = 9, 20
)

// The buttons of a proposed time.
const (
	timeChanges = "change"
	timeNotNow  = "later"
	timeNever   = "never"
)

// movedTime is the proposed change.
type movedTime struct {
	Task string `json:"task"`
	From string `json:"from"` // the current schedule
	To   string `json:"to"`
	Old  string `json:"old"` // the current times of day, for people
	New  string `json:"new"`
}

// watchHabits proposes a better time for a routine, at most one per week. Nothing changes
// until the user agrees.
func watchHabits(ctx context.Context, b *Bot) error {
	for pause := firstLook; ; pause = lookEach {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		now := b.now()
		busy, quiet := b.attention.Busy()
		if !b.settings.Load().Learning || busy || !quiet.IsZero() || now.Hour() < asksFrom || now.Hour() >= asksUntil || !mayPropose(b.offers.Of(KindTime), now) {
			continue
		}
		if err := proposeTime(b, now); err != nil {
			b.log.Warn("no better time was looked for", "error", err)
		}
	}
}

// mayPropose reports whether no time was proposed within a week. Open proposals are never
// older than that.
func mayPropose(before []proposals.Proposal, now time.Time) bool {
	return !slices.ContainsFunc(before, func(p proposals.Proposal) bool { return now.Sub(p.Made).Abs() < timesEach })
}

// waits reports whether a proposal with these words was postponed, or not answered, too
// recently.
func waits(before []proposals.Proposal, words string, now time.Time) bool {
	return slices.ContainsFunc(before, func(p proposals.Proposal) bool {
		at := p.Answered
		if at.IsZero() {
			at = p.Made
		}
		return p.Words == words && p.Answer != timeChanges && now.Sub(at).Abs() < notNowFor
	})
}

// proposeTime proposes a time for the first routine that the user always moves, if any.
func proposeTime(b *Bot, now time.Time) error {
	asks, err := asksByTask(b, now)
	if err != nil {
		return err
	}
	before := b.offers.Of(KindTime)
	for _, r := range b.index.Set().Routines {
		p, ok := timeFor(r, asks[r.ID], now)
		if !ok || waits(before, p.Words, now) {
			continue
		}
		switch _, err := b.asks.Propose(p); {
		case errors.Is(err, proposals.ErrRefused), errors.Is(err, proposals.ErrTaken):
		default:
			return err
		}
	}
	return nil
}

// asksByTask returns the sent pings and snoozed fires of each task.
func asksByTask(b *Bot, now time.Time) (map[string][]habits.Ask, error) {
	pings, err := b.journal.All()
	if err != nil {
		return nil, fmt.Errorf("read the journal of pings: %w", err)
	}
	past, err := duetimes.New(b.dir).Read(now)
	if err != nil {
		return nil, fmt.Errorf("read the account of due times: %w", err)
	}
	by := map[string][]habits.Ask{}
	for _, a := range budget.Asks(pings) {
		by[a.Task] = append(by[a.Task], a)
	}
	for _, row := range past.Rows {
		if row.Fate == duetimes.Held && !row.Until.IsZero() && row.Why == duetimes.Paused {
			by[row.ID] = append(by[row.ID], habits.Ask{Task: row.ID, At: row.Due, Acted: row.Until, Snoozed: true})
		}
	}
	return by, nil
}

// timeFor returns the proposal for a routine with a single time of day that the user
// always moves.
func timeFor(r *routines.Routine, asks []habits.Ask, now time.Time) (p proposals.Proposal, ok bool) {
	hour, minute, single := r.Schedule.Cron.Daily()
	if !single || r.Schedule.Zone != nil || !r.AllowPing || r.Waits != "" || r.Proposed.Version != "" || r.Leeway != (leeway.Rule{}) {
		return p, false
	}
	m, ok := habits.FindMove(asks, r.ID, hour*60+minute, now, now.Location())
	if !ok {
		return p, false
	}
	to, err := r.Schedule.AtTime(m.To/60, m.To%60)
	if err != nil {
		return p, false
	}
	change := movedTime{
		Task: r.ID, From: r.Schedule.String(), To: to.String(), Old: habits.Clock(m.From), New: habits.Clock(m.To),
	}
	p = proposals.Proposal{
		Kind: KindTime, Words: "the time of " + r.ID, Title: textMoveTitle, Text: m.Question(clean.Cut(clean.Line(r.Title()), 60)),
		Buttons: []proposals.Button{
			{ID: timeChanges, Label: fmt.Sprintf(textMoveYes, change.New), Style: "success"},
			{ID: timeNotNow, Label: "Not now", Style: "secondary"},
			{ID: timeNever, Label: "Never ask", Style: "secondary", Never: true},
		},
	}
	p.Change, _ = json.Marshal(change) // strings can always be encoded
	return p, true
}

// timeMover carries out the answers.
type timeMover struct {
	index *routines.Index
	do    func(context.Context, command.Value) (command.Outcome, error)
}

// answer changes the time in the routine's file, or keeps it.
func (m timeMover) answer(ctx context.Context, p proposals.Proposal, b proposals.Button, _ string) (proposals.Done, error) {
	c, err := proposals.ChangeOf[movedTime](p)
	if err != nil {
		return proposals.Done{}, err
	}
	switch b.ID {
	case timeNever:
		return proposals.Done{Message: fmt.Sprintf(textMoveNever, c.Old)}, nil
	case timeNotNow:
		return proposals.Done{Message: fmt.Sprintf(textMoveLater, c.Old)}, nil
	}
	title, err := m.move(ctx, c.Task, c.From, c.To)
	return proposals.Done{Message: fmt.Sprintf(textMoved, title, c.New), Result: c.Task}, err
}

// undo restores the previous time.
func (m timeMover) undo(ctx context.Context, p proposals.Proposal) error {
	c, err := proposals.ChangeOf[movedTime](p)
	if err != nil {
		return err
	}
	_, err = m.move(ctx, c.Task, c.To, c.From)
	return err
}

// move replaces a routine's cron line unless that was already done: an answer may be
// carried out twice.
func (m timeMover) move(ctx context.Context, id, from, to string) (title string, err error) {
	r, ok := m.index.Set().RoutineByID(id)
	switch {
	case !ok:
		return "", fmt.Errorf(command.TextNoTask, id)
	case r.Schedule.String() == to:
		return r.Title(), nil
	case r.Schedule.String() != from:
		return "", fmt.Errorf(textMoveOther, r.Title(), r.Cron)
	}
	_, err = m.do(ctx, command.EditTask{ID: id, Version: r.Digest, Edit: routines.Edit{Set: []frontmatter.Entry{{Key: "cron", Value: to}}}})
	return r.Title(), err
}
