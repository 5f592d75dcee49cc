package core

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/safety/policy"
	"ollimbot/core/work/fork"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

// HeadlineKind is the subject of a headline, most urgent first.
type HeadlineKind uint8

// The kinds of headlines. All but the last need the user's attention.
const (
	Asks         HeadlineKind = iota // a tool call or question is pending
	Proposed                         // the agent's text needs approval
	RunFailed                        // a failed run the user has not looked at
	FileBroken                       // a file has an error
	HeldForMoney                     // tasks do not run because of a spending cap
	Disconnected                     // from Discord, the engine or Google
	NoModel                          // scripted replies answer
	Quiet                            // nothing needs attention
)

// Headline is the one sentence shown first in every view of the bot.
type Headline struct {
	Kind HeadlineKind
	// Item is the subject: the ID of a tool call, a run or a task, or a file; may be empty.
	Item string
	// Lead is the statement, Detail the reason, which may be long. Neither has a final
	// period.
	Lead, Detail string
	// Next describes the next fire and how many pings are left, longest form first.
	Next []string
}

// Urgent reports whether something is wrong or needs the user.
func (h Headline) Urgent() bool { return h.Kind < Quiet }

// Text returns the full headline.
func (h Headline) Text() string { return h.Forms()[0] }

// Forms returns the headline at decreasing lengths. All forms keep the urgent part; if
// nothing is urgent, they keep the next fire.
func (h Headline) Forms() []string {
	lead, detail := h.Lead+".", h.Lead+"."
	if h.Detail != "" {
		detail = h.Lead + ": " + strings.TrimRight(h.Detail, ".")
		if !strings.HasSuffix(detail, "?") {
			detail += "."
		}
		if !h.Urgent() {
			detail = h.Lead + ". " + h.Detail + "."
		}
	}
	if h.Kind == Asks || len(h.Next) == 0 {
		return []string{detail}
	}
	if h.Urgent() {
		var forms []string
		for _, next := range h.Next {
			forms = append(forms, detail+" "+next)
		}
		return append(forms, detail)
	}
	forms := []string{detail + " " + h.Next[0]}
	long := min(4, len(h.Next))
	for _, next := range h.Next[:long] {
		forms = append(forms, lead+" "+next)
	}
	last := h.Next[len(h.Next)-1]
	forms = append(forms, h.Next[long-1:len(h.Next)-1]...)
	return append(forms, lead+" "+last, last)
}

// headlines are the possible headlines, most urgent first. ok is false if one does not
// apply.
var headlines = []struct {
	kind HeadlineKind
	of   func(*Snapshot) (h Headline, ok bool)
}{
	{Asks, (*Snapshot).askedFor},
	{Proposed, (*Snapshot).proposed},
	{RunFailed, (*Snapshot).failed},
	{FileBroken, (*Snapshot).broken},
	{HeldForMoney, (*Snapshot).heldForMoney},
	{Disconnected, (*Snapshot).disconnected},
	{NoModel, (*Snapshot).withoutModel},
	{Quiet, (*Snapshot).allQuiet},
}

// Headline returns the snapshot's headline.
func (s *Snapshot) Headline() Headline {
	for _, row := range headlines {
		if h, ok := row.of(s); ok {
			h.Kind, h.Next = row.kind, s.nextText()
			return h
		}
	}
	return Headline{Kind: Quiet}
}

// askedFor returns the tool call that has been pending longest, or else the question
// about the fork.
func (s *Snapshot) askedFor() (h Headline, ok bool) {
	if len(s.Approvals) == 0 {
		if s.Fork == nil || !s.Fork.Asks {
			return h, false
		}
		return Headline{Lead: "The agent asks", Detail: "save the fork " + cmp.Or(s.Fork.Topic, "that you are in") + "?"}, true
	}
	a := s.Approvals[0]
	h = Headline{Item: a.ID, Lead: "The " + Asker(a) + " asks", Detail: a.Label}
	if n := len(s.Approvals) - 1; n > 0 {
		h.Lead += fmt.Sprintf(" (1 of %d)", n+1)
	}
	return h, true
}

// Asker returns the session that asks.
func Asker(a policy.Approval) string { return cmp.Or(a.Session, "agent") }

// Waiting returns how many files and decisions wait for the user's approval.
func (s *Snapshot) Waiting() (n int) {
	for _, t := range s.Schedule.Tasks {
		if t.Waits != "" || t.Proposed.Version != "" {
			n++
		}
	}
	for _, p := range s.Untold() {
		if p.Waits {
			n++
		}
	}
	return n
}

// proposed returns the agent's first task, edit or other file that needs approval.
func (s *Snapshot) proposed() (h Headline, ok bool) {
	n, noun := 0, "files by the agent"
	add := func(id, name, why string, edit routines.Proposal) {
		if edit.What != "" {
			noun = "decisions"
		}
		if n++; n > 1 {
			return
		}
		h = Headline{Item: id, Lead: name, Detail: clean.Line(why)}
		if edit.Version != "" {
			h.Lead, h.Detail = "An "+edit.Named(name), clean.Line(edit.Why)
		}
		if edit.What != "" {
			h.Lead = "A " + edit.What
		}
	}
	for _, t := range s.Schedule.Tasks {
		if t.Waits != "" || t.Proposed.Version != "" {
			add(t.ID, clean.Line(cmp.Or(t.Title, t.ID)), t.Waits, t.Proposed)
		}
	}
	for _, p := range s.Untold() {
		if p.Waits {
			add(p.File, p.File, "", p.Proposed)
		}
	}
	first := h.Lead
	for _, article := range []string{"An edit ", "A change "} {
		first = strings.Replace(first, article, strings.ToLower(article), 1)
	}
	if h.Lead += " waits for you"; n > 1 {
		h.Lead, h.Detail = fmt.Sprintf("%d %s wait for you, the first is %s", n, noun, first), ""
	}
	return h, n > 0
}

// broken returns the first file with an error; hints do not count.
func (s *Snapshot) broken() (h Headline, ok bool) {
	files := map[string]bool{}
	for _, p := range s.Schedule.Problems {
		if p.Severity != routines.Error {
			continue
		}
		if files[p.File] = true; h.Item == "" {
			h = Headline{Item: p.File, Lead: path.Base(p.File), Detail: clean.Line(p.Message)}
		}
	}
	if n := len(files); n > 1 {
		h.Lead = words.Count(n, "file") + " need fixing, the first " + h.Lead
	} else {
		h.Lead += " has an error"
	}
	return h, len(files) > 0
}

func (s *Snapshot) failed() (h Headline, ok bool) {
	if len(s.Failures) == 0 {
		return h, false
	}
	f := s.Failures[0]
	title, at := clean.Line(cmp.Or(f.Title, f.TaskID)), s.Hour(f.Ended)
	h = Headline{Item: f.ID, Lead: fmt.Sprintf("%s %s at %s", title, failedAs(f.State), at), Detail: clean.Line(f.Error)}
	if n := len(s.Failures); n > 1 {
		h.Lead = fmt.Sprintf("%d runs failed, the last %s at %s", n, title, at)
	}
	return h, true
}

// failedAs returns the verb for a state.
func failedAs(s fork.State) string {
	switch s {
	case fork.TimedOut:
		return "timed out"
	case fork.NoReport:
		return "ended without its report"
	default:
		return "failed"
	}
}

// heldForMoney returns the tasks whose next fires a spending cap holds.
func (s *Snapshot) heldForMoney() (h Headline, ok bool) {
	tasks, first := map[string]bool{}, (*schedule.Entry)(nil)
	for _, list := range [][]schedule.Entry{s.Schedule.Entries, s.Schedule.Day} {
		for i := range list {
			if e := &list[i]; e.Money {
				tasks[e.ID] = true
				if first == nil {
					first = e
				}
			}
		}
	}
	if first == nil {
		return h, false
	}
	who := TitleOf(*first) + " is"
	if n := len(tasks); n > 1 {
		who = words.Count(n, "task") + " are"
	}
	span, of := s.Money.Today, "daily"
	if until := s.Money.Until(first.Cost); !until.IsZero() && until.Equal(s.Money.Month.Ends) && !until.Equal(span.Ends) {
		span, of = s.Money.Month, "monthly"
	}
	h = Headline{Item: first.ID, Lead: who + " held for money"}
	if !span.Ends.IsZero() {
		h.Lead += " until " + s.Hour(span.Ends)
	}
	if span.Capped() {
		h.Detail = fmt.Sprintf("%s of the %s cap of %s is spent", words.Dollars(span.Spent.Dollars()), of, words.Dollars(span.Cap))
	}
	return h, true
}

// setAside returns the runs whose turn has come, and which wait only for money that is set aside for
// others. It is no cause for concern: those end soon.
func (s *Snapshot) setAside() (who string) {
	n, title := 0, ""
	for i := range s.Forks {
		if v := &s.Forks[i]; v.Aside {
			n, title = n+1, clean.Line(cmp.Or(v.Title, v.TaskID))
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return title + " waits: " + words.Dollars(s.Money.Reserved) + " is set aside for runs under way"
	}
	return words.Count(n, "run") + " wait: " + words.Dollars(s.Money.Reserved) + " is set aside for runs under way"
}

func (s *Snapshot) disconnected() (h Headline, ok bool) {
	switch {
	case s.Surface.Name != "" && !s.Surface.OK:
		return Headline{Lead: cmp.Or(s.Surface.Lead, s.Surface.Name+" is not connected"), Detail: clean.Line(s.Surface.State)}, true
	case s.Engine.Name != "" && !s.Engine.OK:
		return Headline{Lead: s.Engine.Name + " cannot answer", Detail: clean.Line(s.Engine.State)}, true
	case s.Google != "":
		return Headline{Lead: "Google is not connected", Detail: clean.Line(s.Google)}, true
	}
	return h, false
}

func (s *Snapshot) withoutModel() (h Headline, ok bool) {
	return Headline{Lead: "No model is connected", Detail: "scripted replies answer"}, s.Engine.Offline
}

func (s *Snapshot) allQuiet() (h Headline, ok bool) {
	h = Headline{Lead: "All quiet"}
	if g := s.Glance(); g.Pings > 0 {
		h.Detail = g.AnsweredText()
	}
	if running, waiting := fork.Count(s.Forks); running > 0 {
		h.Lead = words.Count(running, "run") + " under way"
		if waiting > 0 && s.setAside() == "" {
			h.Lead += fmt.Sprintf(", %d waiting", waiting)
		}
	} else if s.Busy {
		h.Lead = "The bot is answering"
	}
	h.Detail = cmp.Or(s.setAside(), h.Detail)
	return h, true
}

// nextText describes the next fire and how many pings are left.
func (s *Snapshot) nextText() []string {
	o, next := s.Outlook(), s.Glance().Next
	if next == nil {
		return []string{"Nothing is due within a day; " + o.Clause + ".", "Nothing is due."}
	}
	away := words.In(next.FireTime, s.At)
	pings, left := words.Count(o.Now, "ping"), words.Count(o.Now, "ping")+" left"
	if o.Blocked() {
		pings, left = o.Word, o.Word
	}
	short := clean.Cut(TitleOf(*next), 24) + " " + away
	return []string{
		"Next: " + clean.Cut(TitleOf(*next), 40) + " " + away + "; " + o.Clause + ".",
		"Next: " + short + "; " + o.Clause + ".",
		"Next: " + short + "; " + left + ".",
		"Next: " + short + "; " + pings + ".",
		"Next: " + short + ".",
		"Next " + s.Clock(next.FireTime, "15:04") + ".",
	}
}

// TitleOf returns the title of a fire's task on one line, and for a chain which of its checks this is.
func TitleOf(e schedule.Entry) string {
	check := Chain(e.Label)
	if title := clean.Line(cmp.Or(e.Title, e.Description, e.ID)); check != "" && !strings.Contains(title, check) {
		return strings.TrimSuffix(title, ".") + ", " + check
	}
	return clean.Line(cmp.Or(e.Title, e.Description, e.Label, e.ID))
}

// Chain returns "check 2 of 5" for the label of a chain (see routines.Reminder.Label), otherwise nothing.
func Chain(label string) string {
	rest, chained := strings.CutPrefix(label, "Chain reminder (")
	at, of, whole := strings.Cut(strings.TrimSuffix(rest, ")"), "/")
	if !chained || !whole {
		return ""
	}
	return "check " + at + " of " + of
}
