package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"ollimbot/core/clean"
	"ollimbot/core/google"
)

const (
	maxMails = 500  // in a list
	maxBody  = 3000 // characters of a mail that are shown
)

type gmailCmds struct {
	Unread gmailUnreadCmd `cmd:""`
	Search gmailSearchCmd `cmd:""`
	Read   gmailReadCmd   `cmd:""`
	Labels gmailLabelsCmd `cmd:""`
	Help   helpOnly       `cmd:"" hidden:"" default:"1"`
}

type gmailUnreadCmd struct {
	Max  int  `default:"20" placeholder:"N" help:"At most so many."`
	JSON bool `name:"json" help:"Answer as JSON."`
}

// Run lists what is unread.
func (c *gmailUnreadCmd) Run(p *process, g *atGoogle) error {
	return p.mails(g, "is:unread", c.Max, c.JSON)
}

type gmailSearchCmd struct {
	Query string `arg:"" help:"What to look for."`
	Max   int    `default:"20" placeholder:"N" help:"At most so many."`
	JSON  bool   `name:"json" help:"Answer as JSON."`
}

// Run lists what a search finds.
func (c *gmailSearchCmd) Run(p *process, g *atGoogle) error {
	if strings.TrimSpace(c.Query) == "" {
		return errors.New(textNoWords)
	}
	return p.mails(g, c.Query, c.Max, c.JSON)
}

func (p *process) mails(g *atGoogle, query string, most int, asJSON bool) error {
	if most < 1 || most > maxMails {
		return fmt.Errorf(textOutOf, "--max", most, maxMails)
	}
	if err := p.warned(textMailIsData); err != nil {
		return err
	}
	return streamed(p, asJSON, "no messages", g.Messages(g, query, most), func(m google.Message) (string, any) {
		m = cleaned(m, g.env.Zone)
		return fmt.Sprintf("  %s  %s  %s  %s", clean.Line(m.ID), mailDate(m.At), sender(m.From), m.Subject), m
	})
}

// cleaned is a mail without what would harm a terminal, in a zone.
func cleaned(m google.Message, zone *time.Location) google.Message {
	m.At, m.Body = m.At.In(zone), clean.Text(m.Body)
	for _, line := range []*string{&m.From, &m.To, &m.Subject} {
		*line = clean.Line(*line)
	}
	for i := range m.Attachments {
		a := &m.Attachments[i]
		a.Name, a.Type = clean.Line(a.Name), clean.Line(a.Type)
	}
	return m
}

func mailDate(at time.Time) string {
	if at.IsZero() {
		return fmt.Sprintf("%-16s", "(no date)")
	}
	return at.Format("2006-01-02 15:04")
}

// sender is the name before the address, or the address.
func sender(from string) string {
	name, _, _ := strings.Cut(from, "<")
	return oneLine(strings.Trim(strings.TrimSpace(name), `"`), from)
}

type gmailReadCmd struct {
	ID   string `arg:"" help:"The id that a list shows."`
	JSON bool   `name:"json" help:"Answer as JSON."`
}

// Run shows one mail.
func (c *gmailReadCmd) Run(p *process, g *atGoogle) error {
	m, err := g.Message(g, c.ID)
	if err != nil {
		return named(err, textNoMail, c.ID)
	}
	if err := p.warned(textMailIsData); err != nil {
		return err
	}
	m = cleaned(m, g.env.Zone)
	body := strings.TrimSpace(m.Body)
	if runes := []rune(body); len(runes) > maxBody {
		body = string(runes[:maxBody]) + "\n... (truncated)"
	}
	m.Body = body
	if c.JSON {
		return p.json(m)
	}
	lines := append(labelled(9, "from", oneLine(m.From, "(unknown)"), "to", oneLine(m.To, "(unknown)"),
		"date", mailDate(m.At), "subject", oneLine(m.Subject, "(no subject)")), "", body)
	if lines[len(lines)-1] = body; body == "" {
		lines[len(lines)-1] = "(no text body)"
	}
	if len(m.Attachments) > 0 {
		lines = append(lines, "", "attachments:")
	}
	for _, a := range m.Attachments {
		lines = append(lines, fmt.Sprintf("  %s (%s, %d bytes)", a.Name, oneLine(a.Type, "unknown"), a.Size))
	}
	return p.lines(lines...)
}

type gmailLabelsCmd struct {
	JSON bool `name:"json" help:"Answer as JSON."`
}

// Run lists the labels.
func (c *gmailLabelsCmd) Run(p *process, g *atGoogle) error {
	labels, err := g.Labels(g)
	if err != nil {
		return err
	}
	return streamed(p, c.JSON, "no labels", func(yield func(google.Label, error) bool) {
		for _, l := range labels {
			if !yield(l, nil) {
				return
			}
		}
	}, func(l google.Label) (string, any) {
		l.Name = clean.Line(l.Name)
		return fmt.Sprintf("  %s  %s", clean.Line(l.ID), l.Name), l
	})
}
