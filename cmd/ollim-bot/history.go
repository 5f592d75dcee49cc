package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/cmd/internal/console"
	"ollimbot/core/agent/claude/sessionfile"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/talk/history"
	"ollimbot/core/work/budget"
)

type historyCmds struct {
	List   historyListCmd   `cmd:"" default:"withargs"`
	Show   historyShowCmd   `cmd:""`
	Search historySearchCmd `cmd:""`
	Pings  historyPingsCmd  `cmd:""`
}

// maxDays is longer than the age of any of these files.
const maxDays = 36_500

// history opens the earlier sessions, those of the claude command with the environment that the bot's own have. since
// is the time that many days ago; 0 days means no limit.
func (p *process) history(days int) (past *history.History, since time.Time, err error) {
	at, err := p.Open()
	switch {
	case err != nil:
		return nil, since, err
	case days < 0 || days > maxDays:
		return nil, since, console.Usagef(textBadDays, days, maxDays)
	case days > 0:
		since = at.Now.Add(-time.Duration(days) * 24 * time.Hour)
	}
	env := p.EngineEnviron(at)
	return history.New(history.Options{
		Dir: at.Dir, ConfigDir: sessionfile.ConfigDir(env), Zone: at.Env.Zone, Log: p.Log(),
	}), since, nil
}

// reads returns a function that records that a model is about to read text of a session from a given time.
func (p *process) reads(past *history.History) func(id string, at time.Time) {
	if p.Served == nil {
		return func(string, time.Time) {}
	}
	labels := past.Labels()
	return func(id string, at time.Time) { p.Served.By.Reads(labels(id, at).Via("history")) }
}

type historyListCmd struct {
	Days int  `placeholder:"N" help:"Only sessions that changed in the last N days."`
	All  bool `help:"Sessions of every directory, not just this data directory."`
	Old  *int `name:"n" hidden:"" now:"history list --number 50"`
	N    int  `name:"number" short:"n" default:"50" placeholder:"N" help:"How many to show at most, 1 to 10000 (${default})."`
	console.AsJSON
}

// Run lists sessions.
func (c *historyListCmd) Run(p *process) error {
	if c.Old != nil {
		c.N = *c.Old
	}
	past, since, err := p.history(c.Days)
	if err != nil {
		return err
	}
	if c.N < 1 || c.N > 10_000 {
		return console.Usagef(textBadCount, c.N)
	}
	list, more, err := past.List(history.Query{Since: since, All: c.All, Limit: c.N})
	if err != nil {
		return err
	}
	reads := p.reads(past)
	for _, s := range list {
		reads(s.ID, s.Started)
	}
	lines := console.OrNone(console.Each(list, sessionLine), textNoSessions)
	if more > 0 {
		lines = append(lines, fmt.Sprintf(textMoreSessions, more))
	}
	return p.Answer(c.JSON, map[string]any{"sessions": append([]history.Session{}, list...), "more": more}, lines)
}

// sessionLine formats one session of the list: the start of its ID, which is enough for show, and the data available
// without reading it.
func sessionLine(s history.Session) string {
	began := "-"
	if !s.Started.IsZero() {
		began = s.Started.Format(console.MomentLayout)
	}
	return fmt.Sprintf("  %-8s  %-10s  %s  %8s  %6s  %s",
		short(s.ID), s.Kind, began, tookOf(s), messages(s), cmp.Or(s.Title, s.Words))
}

// short returns the part of a session's ID shown in lists.
func short(id string) string {
	if len(id) == len("00000000-0000-0000-0000-000000000000") {
		return id[:8]
	}
	return id
}

func messages(s history.Session) string {
	if s.Exact {
		return strconv.Itoa(s.Messages)
	}
	return "~" + strconv.Itoa(s.Messages)
}

func tookOf(s history.Session) string {
	if s.Started.IsZero() {
		return "-"
	}
	return words.Minutes(s.Last.Sub(s.Started))
}

type historyShowCmd struct {
	ID string `arg:"" complete:"session" help:"The session's id or its beginning, from ollim-bot history list."`
	console.AsJSON
	Full bool `help:"Nothing cut: long texts, tool results, and what a fork has copied."`
}

// Run shows one session.
func (c *historyShowCmd) Run(p *process) error {
	past, _, err := p.history(0)
	if err != nil {
		return err
	}
	limits := history.Brief()
	if c.Full {
		limits = history.Full()
	}
	s, err := past.Show(c.ID, limits)
	if errors.Is(err, history.ErrNoSession) {
		return fmt.Errorf(textNoSession, clean.Cut(clean.Line(c.ID), 60))
	}
	if err != nil {
		return err
	}
	s.Entries = append([]history.Entry{}, s.Entries...)
	reads := p.reads(past)
	for _, e := range s.Entries {
		reads(s.ID, e.At)
	}
	return p.Answer(c.JSON, s, conversationLines(s))
}

func conversationLines(s history.Conversation) []string {
	lines := []string{
		fmt.Sprintf("session %s, %s, %s", s.ID, s.Kind, words.Count(s.Messages, "message")),
	}
	if s.Copied > 0 {
		lines = append(lines, fmt.Sprintf(textCopied, s.Copied, cmp.Or(short(s.Parent), "another session")))
	}
	if s.Earlier > 0 {
		lines = append(lines, fmt.Sprintf(textEarlier, s.Earlier))
	}
	for _, e := range s.Entries {
		lines = append(lines, spokenLine(e))
	}
	return lines
}

// spokenLine is one entry. Only its first line starts in the first column, so that no text can imitate another entry.
func spokenLine(e history.Entry) string {
	at := strings.Repeat(" ", len(time.DateTime))
	if !e.At.IsZero() {
		at = e.At.Format(time.DateTime)
	}
	words := e.Text
	if e.Tag != "" {
		words = "[" + e.Tag + "] " + words
	}
	if e.Failed {
		words = "failed: " + words
	}
	if e.Copied {
		words = "(copied) " + words
	}
	first := fmt.Sprintf("%s  %-7s  ", at, e.Role)
	words = strings.ReplaceAll(words, "\n", "\n"+strings.Repeat(" ", len(first)))
	return first + strings.TrimRight(words, " \n")
}

type historySearchCmd struct {
	Words []string `arg:"" help:"All of them must be in one message; upper and lower case are the same."`
	Days  int      `placeholder:"N" help:"Only what was said in the last N days."`
	console.AsJSON
}

// Run searches past conversations, newest match first.
func (c *historySearchCmd) Run(p *process) error {
	past, since, err := p.history(c.Days)
	if err != nil {
		return err
	}
	if strings.TrimSpace(strings.Join(c.Words, "")) == "" {
		return console.Usagef("%s", console.TextNoWords)
	}
	hits, more, err := past.Search(c.Words, since)
	if err != nil {
		return err
	}
	reads := p.reads(past)
	for _, h := range hits {
		reads(h.Session, h.At)
	}
	lines := console.OrNone(console.Each(hits, func(h history.Hit) string {
		return fmt.Sprintf("  %-8s  %s  %-4s  %s", short(h.Session), h.At.Format(console.MomentLayout), h.Role, h.Excerpt)
	}), textNoHits)
	if more > 0 {
		lines = append(lines, fmt.Sprintf(textMoreHits, more))
	}
	return p.Answer(c.JSON, map[string]any{"hits": append([]history.Hit{}, hits...), "more": more}, lines)
}

type historyPingsCmd struct {
	Days int `placeholder:"N" default:"7" help:"How many days back (${default})."`
	console.AsJSON
}

// Run lists fires and pings, oldest first, and the user's next activity after each.
func (c *historyPingsCmd) Run(p *process) error {
	past, since, err := p.history(c.Days)
	if err != nil {
		return err
	}
	if c.Days == 0 {
		return console.Usagef(textBadDays, c.Days, maxDays)
	}
	events, more, err := past.Pings(since)
	if err != nil {
		return err
	}
	lines := console.OrNone(console.Each(events, pingLine), fmt.Sprintf(textNoEvents, words.Count(c.Days, "day")))
	if more > 0 {
		lines = slices.Insert(lines, 0, fmt.Sprintf(textMoreEvents, more))
	}
	tasks, err := past.Answers(since)
	if err != nil {
		return err
	}
	if len(tasks) > 0 {
		lines = append(append(lines, textAnswers), console.Each(tasks, pingedLine)...)
	}
	return p.Answer(c.JSON, map[string]any{
		"days": c.Days, "events": append([]history.Event{}, events...), "more": more, "tasks": append([]history.Summary{}, tasks...),
	}, lines)
}

// pingedLine is how the pings of a task were answered, in a line.
func pingedLine(s history.Summary) string {
	line := fmt.Sprintf("  %-8s  %s: %s", s.Task, s.Title, words.Count(s.Answers.Pings, "ping"))
	if s.Rate.Runs > 0 {
		line += fmt.Sprintf(" (%.1f per run)", s.Rate.PerRun())
	}
	line += fmt.Sprintf(", %d answered (%.0f %%)", s.Answers.Answered, 100*s.Answers.Rate())
	if s.Answers.Answered > 0 {
		line += ", usually after " + words.Minutes(s.Answers.Median)
	}
	if s.Answers.Useless > 0 {
		line += fmt.Sprintf(", %d %s", s.Answers.Useless, budget.TextUseless)
	}
	return line
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
	add(e.Quiet, "quiet")
	add(e.Session != "", "session "+short(e.Session))
	line := fmt.Sprintf("  %s  %s  %-8s  %s  (%s)", e.At.Format(console.MomentLayout), e.What, e.Task, e.Title, strings.Join(facts, ", "))
	switch {
	case !e.Next.IsZero() && e.What == history.Pinged:
		return line + "  " + fmt.Sprintf(textAnswered, words.Minutes(e.Next.Sub(e.At)), e.How)
	case !e.Next.IsZero():
		return line + "  " + fmt.Sprintf(textWroteAfter, words.Minutes(e.Next.Sub(e.At)))
	case e.What == history.Pinged:
		return line + "  " + textNotAnswered
	case !e.Background:
		return line + "  " + textNotYet
	}
	return line
}
