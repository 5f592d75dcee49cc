package main

import (
	"fmt"
	"strings"
	"time"

	"ollimbot/core/history"
	"ollimbot/core/words"
)

type historySearchCmd struct {
	Words []string `arg:"" help:"All of them must be in one message; upper and lower case are the same."`
	Days  int      `placeholder:"N" help:"Only what was said in the last N days."`
	JSON  bool     `name:"json" help:"Answer as JSON."`
}

// hitAnswer is one place of the JSON answer.
type hitAnswer struct {
	Session string     `json:"session"`
	At      *time.Time `json:"at"`
	Role    string     `json:"role"`
	Excerpt string     `json:"excerpt"`
}

// Run says where words were said, the newest first.
func (c *historySearchCmd) Run(p *process) error {
	at, past, err := p.history()
	if err != nil {
		return err
	}
	since, err := at.since(c.Days)
	if err != nil {
		return err
	}
	if strings.TrimSpace(strings.Join(c.Words, "")) == "" {
		return usagef("%s", textNoWords)
	}
	hits, more, err := past.Search(c.Words, since)
	if err != nil {
		return err
	}
	if c.JSON {
		answer := make([]hitAnswer, 0, len(hits))
		for _, h := range hits {
			answer = append(answer, hitAnswer{h.Session, known(h.At), string(h.Role), h.Excerpt})
		}
		return p.json(map[string]any{"hits": answer, "more": more})
	}
	if len(hits) == 0 {
		return p.lines(textNoHits)
	}
	lines := make([]string, 0, len(hits)+1)
	for _, h := range hits {
		lines = append(lines, fmt.Sprintf("  %-8s  %s  %-4s  %s", short(h.Session), h.At.Format(momentLayout), h.Role, h.Excerpt))
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf(textMoreHits, more))
	}
	return p.lines(lines...)
}

type historyPingsCmd struct {
	Days int  `placeholder:"N" default:"7" help:"How many days back (${default})."`
	JSON bool `name:"json" help:"Answer as JSON."`
}

// pingAnswer is one fire or ping of the JSON answer.
type pingAnswer struct {
	At         *time.Time `json:"at"`
	What       string     `json:"what"`
	Task       string     `json:"task"`
	Title      string     `json:"title"`
	Kind       string     `json:"kind"`
	Background bool       `json:"background"`
	State      string     `json:"state"`
	Pings      int        `json:"pings"`
	Form       string     `json:"form"`
	Critical   bool       `json:"critical"`
	Session    string     `json:"session"`
	Next       *time.Time `json:"next"`
	Minutes    *int       `json:"minutes"`
}

// Run lists fires and pings, oldest first, and when the user moved next.
func (c *historyPingsCmd) Run(p *process) error {
	at, past, err := p.history()
	if err != nil {
		return err
	}
	if c.Days == 0 {
		return usagef(textBadDays, c.Days, maxDays)
	}
	since, err := at.since(c.Days)
	if err != nil {
		return err
	}
	events, more, err := past.Pings(since)
	if err != nil {
		return err
	}
	if c.JSON {
		answer := make([]pingAnswer, 0, len(events))
		for _, e := range events {
			answer = append(answer, answerPing(e))
		}
		return p.json(map[string]any{"days": c.Days, "events": answer, "more": more})
	}
	if len(events) == 0 {
		return p.lines(fmt.Sprintf(textNoEvents, words.Count(c.Days, "day")))
	}
	lines := make([]string, 0, len(events)+1)
	if more > 0 {
		lines = append(lines, fmt.Sprintf(textMoreEvents, more))
	}
	for _, e := range events {
		lines = append(lines, pingLine(e))
	}
	return p.lines(lines...)
}

func answerPing(e history.Event) pingAnswer {
	a := pingAnswer{
		At: known(e.At), What: e.What, Task: e.Task, Title: e.Title, Kind: e.Kind, Background: e.Background, State: e.State,
		Pings: e.Pings, Form: e.Form, Critical: e.Critical, Session: e.Session, Next: known(e.Next),
	}
	if !e.Next.IsZero() {
		minutes := int(e.Next.Sub(e.At).Round(time.Minute) / time.Minute)
		a.Minutes = &minutes
	}
	return a
}

func pingLine(e history.Event) string {
	var facts []string
	add := func(said bool, fact string) {
		if said && fact != "" {
			facts = append(facts, fact)
		}
	}
	add(true, e.Kind)
	add(e.What == history.Fired && !e.Background, "foreground")
	add(true, e.State)
	add(e.Pings > 0, words.Count(e.Pings, "ping"))
	add(e.Form != "" && e.Form != "ping", e.Form)
	add(e.Critical, "critical")
	add(e.Session != "", "session "+short(e.Session))
	line := fmt.Sprintf("  %s  %s  %-8s  %s  (%s)", e.At.Format(momentLayout), e.What, e.Task, e.Title, strings.Join(facts, ", "))
	switch {
	case !e.Next.IsZero():
		return line + "  " + wroteAfter(e.Next.Sub(e.At))
	case e.What == history.Pinged || !e.Background:
		return line + "  " + textNotYet
	}
	return line
}

func wroteAfter(d time.Duration) string {
	if took := words.Span(d); took != "" {
		return fmt.Sprintf(textWroteAfter, took)
	}
	return fmt.Sprintf(textWroteAfter, "less than a minute")
}
