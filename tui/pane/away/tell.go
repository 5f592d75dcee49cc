package away

import (
	"ollimbot/core"
	"ollimbot/core/base/words"
	"ollimbot/core/talk/absence"
	"ollimbot/tui/widget/query"
)

// Told is a line of the page, as it is told where there is no screen.
type Told struct {
	Text  string
	Whole string      // a decision in full
	Facts query.Facts // what a filter finds it by
}

// Tell tells of an absence: its time and its sums, then each task and what happened beside
// them.
func Tell(s *core.Snapshot, r *absence.Report) (head string, lines []Told) {
	switch {
	case r.From.IsZero():
		return textNever, nil
	case r.Sum.Runs+len(r.Held)+len(r.Front)+len(r.Notes)+len(r.Answers) == 0:
		return textSpan(s, r.Span) + ". " + textQuiet, nil
	}
	head = textSpan(s, r.Span) + ": "
	for _, span := range sum(r) {
		head += span.Text
	}
	p := &Page{snap: s}
	for _, row := range tasksOf(r) {
		lines = append(lines, Told{Text: row.told(s), Facts: p.facts(row)})
	}
	return head, lines
}

// told is a line of the upper half in words.
func (r row) told(s *core.Snapshot) string {
	if r.entry != nil {
		return words.Joined(s.Moment(r.entry.At), what(*r.entry), oneLine(*r.entry))
	}
	failed := ""
	if r.Failed > 0 {
		failed = words.Count(r.Failed, "failure")
	}
	cost := ""
	if r.Dollars > 0 {
		cost = words.Dollars(r.Dollars)
	}
	return words.Joined(r.Title, words.Count(r.Runs, "run"), failed, words.Some(r.Pings, "ping", ""), words.Some(r.Refused, "ping", " refused"),
		words.Some(r.Reports, "report", ""), cost, r.Why)
}

// TellLog tells of the decisions in a report, newest first.
func TellLog(s *core.Snapshot, r *absence.Report) (lines []Told) {
	p := &Page{snap: s}
	for _, row := range entriesOf(r.Log) {
		e := row.entry
		text := words.Joined(s.Moment(e.At), e.Actor, what(*e), oneLine(*e))
		lines = append(lines, Told{text, decision(s, *e), p.facts(row)})
	}
	return lines
}
