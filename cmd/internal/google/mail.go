package google

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"ollimbot/cmd/internal/console"
	"ollimbot/core/base/clean"
	"ollimbot/core/work/google"
)

const (
	maxMails = 500  // in a list
	maxBody  = 3000 // characters of a body
)

// MailCmd is the commands of Gmail.
type MailCmd struct {
	Unread gmailUnreadCmd `cmd:""`
	Search gmailSearchCmd `cmd:""`
	Read   gmailReadCmd   `cmd:""`
	Labels gmailLabelsCmd `cmd:""`
}

type gmailUnreadCmd struct {
	atMost
}

// Run lists unread mail.
func (c *gmailUnreadCmd) Run(p *console.Process, g *At) error {
	return c.mails(p, g, "is:unread")
}

type gmailSearchCmd struct {
	Query string `arg:"" help:"Gmail search query."`
	atMost
}

// Run lists the results of a search.
func (c *gmailSearchCmd) Run(p *console.Process, g *At) error {
	if strings.TrimSpace(c.Query) == "" {
		return console.Usagef("%s", console.TextNoWords)
	}
	return c.mails(p, g, c.Query)
}

// atMost are the flags of lists of mails.
type atMost struct {
	Max int `name:"number" aliases:"max" short:"n" default:"20" placeholder:"N" help:"How many messages to show at most (${default})."`
	console.AsJSON
}

func (c atMost) mails(p *console.Process, g *At, query string) error {
	if c.Max < 1 || c.Max > maxMails {
		return console.Usagef(textOutOf, "--number", c.Max, maxMails)
	}
	found, err := g.Mail.Search(g, query, c.Max)
	if err != nil {
		return err
	}
	if said := partOf(c.Max, found); said != "" && !c.JSON {
		err = p.Lines(said)
	}
	if err = errors.Join(err, warned(p, TextMailIsData)); err != nil {
		return err
	}
	return streamed(p, c.JSON, "no messages", found.Mails, func(m google.Message) (string, any) {
		m = cleaned(m, g.Env.Zone)
		return fmt.Sprintf("  %s  %s  %s  %s", clean.Line(m.ID), mailDate(m.At), sender(m.From), m.Subject), m
	})
}

// partOf says how many mails a list leaves out, or "".
func partOf(listed int, found google.Found) string {
	switch {
	case found.More && listed < maxMails:
		return fmt.Sprintf(textOfMore, listed, found.Total, maxMails)
	case found.More:
		return fmt.Sprintf(textMost, listed)
	case found.Total > listed:
		return fmt.Sprintf(textPart, listed, found.Total, found.Total)
	}
	return ""
}

// cleaned is a mail that is safe for a terminal, with its time in a zone.
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

type gmailReadCmd struct{ ofID }

// Run shows one mail.
func (c *gmailReadCmd) Run(p *console.Process, g *At) error {
	m, err := g.Mail.Get(g, c.ID)
	if err != nil {
		return named(err, textNoMail, c.ID)
	}
	if err := warned(p, TextMailIsData); err != nil {
		return err
	}
	m = cleaned(m, g.Env.Zone)
	m.Body = strings.TrimSpace(m.Body)
	if runes := []rune(m.Body); len(runes) > maxBody {
		m.Body = string(runes[:maxBody]) + "\n... (truncated)"
	}
	lines := append(labelled(9, "from", oneLine(m.From, "(unknown)"), "to", oneLine(m.To, "(unknown)"),
		"date", mailDate(m.At), "subject", oneLine(m.Subject, "(no subject)")), "", cmp.Or(m.Body, "(no text body)"))
	if len(m.Attachments) > 0 {
		lines = append(lines, "", "attachments:")
	}
	for _, a := range m.Attachments {
		lines = append(lines, fmt.Sprintf("  %s (%s, %d bytes)", a.Name, oneLine(a.Type, "unknown"), a.Size))
	}
	return p.Answer(c.JSON, m, lines)
}

type gmailLabelsCmd struct{ console.AsJSON }

// Run lists the labels.
func (c *gmailLabelsCmd) Run(p *console.Process, g *At) error {
	labels, err := g.Mail.Labels(g)
	if err != nil {
		return err
	}
	lines := console.Each(labels, func(l google.Label) string { return "  " + clean.Line(l.ID) + "  " + clean.Line(l.Name) })
	return p.Answer(c.JSON, console.Each(labels, func(l google.Label) google.Label {
		l.Name = clean.Line(l.Name)
		return l
	}), console.OrNone(lines, "no labels"))
}
