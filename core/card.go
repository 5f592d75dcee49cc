package core

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/talk/post"
)

const (
	// cardFires and cardRuns are the numbers of fires and runs on the card of /status.
	cardFires = 3
	cardRuns  = 5
	// muteFor is the duration of the card's mute button.
	muteFor = time.Hour
)

// Card returns the snapshot as a card for a phone: the headline, the next fires, running
// tasks, pings and money, with buttons. The buttons' IDs contain everything that a click
// needs, so they work after a restart.
func (s *Snapshot) Card() *post.Embed {
	e := &post.Embed{Title: "Status", Description: post.Phone(s.Headline().Text()), Color: "blue"}
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
	e.Buttons = []post.Button{
		mute,
		{Label: "+1 ping", Style: "secondary", Action: post.CardCapacity + ":" + more},
		{Label: textPicture, Style: "secondary", Action: post.CardPicture + ":" + post.PictureDay},
		{Label: textNewReminder, Style: "secondary", Action: post.RemindNew + ":"},
		{Label: textPingBudget, Style: "secondary", Action: fmt.Sprintf("%s:%d.%d", post.BudgetType, s.Budget.State.Capacity, s.Budget.State.RefillRateMinutes)},
	}
	if run := s.cardRun(); len(run.Choices) > 0 {
		e.Selects = []post.Select{run}
	}
	return e
}

// cardNext lists the next fires that are not held, one per line.
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

// cardRunning lists the current runs, one per line.
func (s *Snapshot) cardRunning() string {
	var lines []string
	for _, v := range s.Forks {
		if v.Live() && !v.Started.IsZero() && len(lines) < cardRuns {
			lines = append(lines, clean.Cut(clean.Line(v.Title), 60)+", since "+s.Hour(v.Started))
		}
	}
	return strings.Join(lines, "\n")
}

// cardRun is the menu of tasks that can be run now.
func (s *Snapshot) cardRun() post.Select {
	run := post.Select{Action: post.CardRun + ":", Hint: textRunHint}
	for _, v := range s.Schedule.Tasks {
		run.Choices = append(run.Choices, post.Choice{Label: clean.Cut(clean.Line(v.Title), 60), Value: v.ID, About: v.When})
	}
	return run
}
