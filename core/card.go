package core

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/command"
	"ollimbot/core/talk/post"
)

const (
	// cardFires is how many fires the card of /status shows, cardRuns how many runs.
	cardFires = 3
	cardRuns  = 5
	// muteFor is how long its button mutes.
	muteFor = time.Hour
)

// Card is the snapshot as a card for a phone: the headline, what comes next, what runs, pings
// and money, with buttons. Their IDs say all that a click needs, also after a restart.
func (s *Snapshot) Card() *post.Embed {
	e := &post.Embed{Title: "Status", Description: s.Headline().Text(), Color: "blue"}
	if s.Headline().Urgent() {
		e.Color = "yellow"
	}
	add := func(name, value string) {
		if value != "" {
			e.Fields = append(e.Fields, post.Field{Name: name, Value: value})
		}
	}
	add("Next", s.cardNext())
	add("Running", s.cardRunning())
	for _, f := range s.Facts() {
		switch f.Name {
		case "budget":
			add("Pings", f.Text)
		case "today":
			add("Today", f.Text)
		}
	}
	mute := post.Button{Label: "Mute 1 h", Style: "secondary", Action: post.CardMute + ":" + post.MuteHour}
	if !s.Budget.Muted.IsZero() {
		mute.Label, mute.Action = "End the mute", post.CardMute+":"+post.MuteOff
	}
	more := strconv.Itoa(s.Budget.State.Capacity + 1)
	e.Buttons = []post.Button{mute, {Label: "+1 ping", Style: "secondary", Action: post.CardCapacity + ":" + more}}
	return e
}

// cardNext are the next fires that are not held, a line each.
func (s *Snapshot) cardNext() string {
	var lines []string
	for _, e := range s.Schedule.Entries {
		if e.Held || !e.FireTime.After(s.At) || len(lines) == cardFires {
			continue
		}
		lines = append(lines, s.Hour(e.FireTime)+" "+clean.Cut(TitleOf(e), 60))
	}
	return strings.Join(lines, "\n")
}

// cardRunning are the runs under way, a line each.
func (s *Snapshot) cardRunning() string {
	var lines []string
	for _, v := range s.Forks {
		if v.Live() && !v.Started.IsZero() && len(lines) < cardRuns {
			lines = append(lines, clean.Cut(clean.Line(v.Title), 60)+", since "+s.Hour(v.Started))
		}
	}
	return strings.Join(lines, "\n")
}

// pocket carries out the buttons of the card.
type pocket struct {
	snapshot func() Snapshot
	do       func(context.Context, command.Value) (command.Outcome, error)
}

// press carries out a button, unless what it asks for is already so.
func (p pocket) press(ctx context.Context, action, data string) (command.Outcome, error) {
	s := p.snapshot()
	var out command.Outcome
	var err error
	if action == post.CardMute {
		out, err = p.mute(ctx, &s, data)
	} else {
		out, err = p.capacity(ctx, &s, data)
	}
	if err != nil {
		return out, err
	}
	s = p.snapshot()
	out.Card = s.Card()
	return out, nil
}

func (p pocket) mute(ctx context.Context, s *Snapshot, data string) (command.Outcome, error) {
	switch {
	case data == post.MuteOff:
		return p.do(ctx, command.MuteUntil{})
	case data != post.MuteHour:
		return command.Outcome{}, errors.New(textUnknownCard)
	case !s.Budget.Muted.IsZero():
		return command.Outcome{Message: s.MutedText()}, nil
	}
	return p.do(ctx, command.MuteUntil{Until: s.At.Add(muteFor)})
}

func (p pocket) capacity(ctx context.Context, s *Snapshot, data string) (command.Outcome, error) {
	want, err := strconv.Atoi(data)
	have := s.Budget.State.Capacity
	switch {
	case err != nil:
		return command.Outcome{}, errors.New(textUnknownCard)
	case want == have:
		return command.Outcome{Message: fmt.Sprintf(textCapacityThere, have)}, nil
	case want != have+1:
		return command.Outcome{}, fmt.Errorf(textCapacityMoved, have)
	}
	return p.do(ctx, command.SetBudget{Capacity: &want})
}
