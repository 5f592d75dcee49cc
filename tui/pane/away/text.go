package away

import (
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/words"
	"ollimbot/core/safety/audit"
	"ollimbot/core/talk/absence"
	"ollimbot/routines/cron"
)

const (
	textLog     = "audit log"
	textReading = "Reading what happened."
	textNever   = "No absence of 15 minutes or more yet."
	textTeach   = "After an absence, this shows what runs did, by task, and what was missed or answered."
	textQuiet   = "Nothing happened while you were away."
	textNoLog   = "No decisions yet. This lists what was asked, allowed and changed, by whom and from where."
	textNothing = "nothing is selected"
	textDamaged = "%s of the audit log cannot be read and are not shown"
)

// textActions describe the actions of the audit log.
var textActions = map[string]string{
	audit.ApprovalAsked: "asked", audit.ApprovalAnswered: "answered", audit.ToolAlways: "allowed always", audit.ModeChanged: "mode",
	audit.ConfigChanged: "setting", audit.BudgetChanged: "ping budget", audit.MuteChanged: "mute", audit.TaskAdded: "task added",
	audit.TaskHeld: "task held", audit.TaskReleased: "task released", audit.TaskRemoved: "task removed", audit.TaskFired: "fired by hand",
	audit.UpdateDiscarded: "update discarded", audit.UpdateRestored: "update restored", audit.RunStopped: "run stopped",
	audit.RunHeld: "held for money", audit.RunInFront: "in the conversation", audit.FileSent: "file sent",
	audit.NamesChanged: "names", audit.CommandRun: "command", audit.LoginChanged: "login", audit.Noted: "note",
}

// what names a decision's kind in a word or two.
func what(e audit.Entry) string {
	if w, ok := textActions[e.Action]; ok {
		return w
	}
	return strings.ReplaceAll(e.Action, ".", " ")
}

// oneLine returns the subject of a decision.
func oneLine(e audit.Entry) string {
	line, _, _ := strings.Cut(e.Detail, "\n")
	if e.Subject == "" || strings.HasPrefix(line, e.Subject) {
		return line
	}
	return strings.TrimSuffix(e.Subject+": "+line, ": ")
}

// decision returns an entry in full.
func decision(s *core.Snapshot, e audit.Entry) string {
	who := e.Actor
	if e.From != "" {
		who += ", " + e.From
	}
	about := ""
	if e.Subject != "" {
		about = "\nabout    " + e.Subject
	}
	return strings.TrimSpace("when     " + s.Clock(e.At, "Mon 2 Jan 2006 15:04:05") + "\nwho      " + who +
		"\nwhat     " + what(e) + " (" + e.Action + ")" + about + "\n\n" + e.Detail)
}

// textSpan describes a span: "09:12 to 14:00, 4 h 48 min".
func textSpan(s *core.Snapshot, span absence.Span) string {
	moment := func(t time.Time) string { return s.When(t, cron.Layouts{Today: "15:04", Else: "Mon 2 Jan 15:04"}) }
	return moment(span.From) + " to " + moment(span.To) + ", " + words.Long(span.To.Sub(span.From).Truncate(time.Minute))
}

// textBack is shown at the start.
func textBack(r *absence.Report, key string) string {
	said := "While you were away:"
	for _, span := range sum(r) {
		said += span.Text
	}
	if key == "" {
		return said
	}
	return said + ". " + key + " shows them"
}
