package prompt

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/clean"
	"ollimbot/core/policy"
	"ollimbot/core/toolset"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/schedule"
)

// section writes one section of the preamble and reports nothing: a section
// that does not apply is not called.
type section func(*strings.Builder)

// writePreamble writes what a background run must know before its task (spec
// 03.5): the sections in their order, a blank line between them.
func (b Background) writePreamble(w *strings.Builder) {
	for i, s := range b.sections() {
		if i > 0 {
			w.WriteString("\n\n")
		}
		s(w)
	}
}

func (b Background) sections() []section {
	t := b.Task
	list := append(make([]section, 0, 9), b.writePing, b.writeReporting)
	if t.AllowPing && (b.Busy || !b.QuietUntil.IsZero()) {
		list = append(list, b.writeBusy)
	}
	if t.AllowPing {
		list = append(list, b.writeBudget)
	}
	switch allowed := b.available(); {
	case b.Allowed == nil: // nothing is restricted
	case len(allowed) == 0:
		list = append(list, func(w *strings.Builder) { w.WriteString(textNoTools) })
	default:
		list = append(list, func(w *strings.Builder) { writeTools(w, textOnlyTools, allowed) })
	}
	if denied := policy.Merge(b.Disallowed); len(denied) > 0 {
		list = append(list, func(w *strings.Builder) { writeTools(w, textDeniedTools, denied) })
	}
	if t.Mode != routines.Blocked {
		list = append(list, func(w *strings.Builder) { w.WriteString(textMissingTool) })
	}
	if b.GoogleTrouble != "" {
		list = append(list, func(w *strings.Builder) { w.WriteString(textGoogleTrouble + clean.Line(b.GoogleTrouble)) })
	}
	if b.canDelegate() {
		list = append(list, func(w *strings.Builder) { w.WriteString(textUserProxy) })
	}
	return list
}

// writePing says how the user can be reached, or that they cannot.
func (b Background) writePing(w *strings.Builder) {
	w.WriteString(textDiscarded)
	if b.Task.AllowPing {
		w.WriteString(textPing)
	} else {
		w.WriteString(textNoPing)
	}
}

// writeReporting says what the main session gets to know.
func (b Background) writeReporting(w *strings.Builder) {
	ping := b.Task.AllowPing
	switch b.Task.Mode {
	case routines.Blocked:
		if ping {
			w.WriteString(textBlockedPing)
		} else {
			w.WriteString(textBlockedSilent)
		}
		return
	case routines.Always:
		w.WriteString(textAlways)
	case routines.Freely:
		w.WriteString(textFreely)
		if ping {
			w.WriteString(textFreelyPinged)
		}
	default: // on_ping, and whatever a file says that we do not know
		w.WriteString(textOnPing)
		if ping {
			w.WriteString(textOnPingMust)
		}
		w.WriteString(textOnPingSilent)
	}
	w.WriteString(textQuality)
}

// writeBusy holds pings back while the user talks or sleeps.
func (b Background) writeBusy(w *strings.Builder) {
	until := ""
	if !b.QuietUntil.IsZero() {
		until = clockOn(b.QuietUntil, b.Now)
	}
	switch {
	case b.Busy && until != "":
		w.WriteString(textBusyBefore + textAnd + textQuietBefore + until + ".")
	case b.Busy:
		w.WriteString(textBusyBefore + ".")
	default:
		w.WriteString(capital(textQuietBefore) + until + ".")
	}
	w.WriteString(textHold)
	switch {
	case b.Task.Mode == routines.Blocked:
		w.WriteString(textHoldBlocked)
	case b.Busy:
		w.WriteString(textHoldBusy)
	default:
		w.WriteString(textHoldQuiet)
	}
}

// writeBudget tells what a ping costs now, what is coming, and when to ping.
func (b Background) writeBudget(w *strings.Builder) {
	w.WriteString(textBudget + b.Budget.Status(b.Now) + ".\n")
	rate := b.Budget.RefillRateMinutes
	if b.Budget.Capacity == 0 {
		rate = 0 // nothing refills a muted bucket
	}
	writeSchedule(w, b.Forward, b.Now, rate)
	w.WriteByte('\n')
	w.WriteString(textAtMost)
	if b.Budget.Capacity == 0 {
		w.WriteString(textMuted)
	}
	w.WriteString(textRegret)
	if b.Task.Mode == routines.Blocked {
		w.WriteString(textRegretBlocked)
	} else {
		w.WriteString(textRegretReport)
	}
	w.WriteString(textCritical)
}

// writeTools lists patterns under a heading.
func writeTools(w *strings.Builder, heading string, patterns []string) {
	w.WriteString(heading)
	for _, p := range patterns {
		w.WriteString("\n  - ")
		w.WriteString(clean.Line(p))
	}
}

// available is the list that is shown: what is allowed, less what the task's
// file denies and what its other settings close, and the bot's own tools that
// they open.
func (b Background) available() []string {
	t := b.Task
	own := []struct {
		name string
		open bool
	}{
		{"ping_user", t.AllowPing},
		{"discord_embed", t.AllowPing},
		{"send_file", t.AllowPing},
		{"report_updates", t.Mode != routines.Blocked},
		{"follow_up_chain", b.Chain != nil && !b.Chain.final()},
	}
	list := policy.Merge(b.Allowed)
	if !b.Google {
		list = slices.DeleteFunc(list, needsGoogle)
	}
	all := slices.Contains(list, toolset.Prefix+"*")
	for _, o := range own {
		switch name := toolset.Prefix + o.name; {
		case !o.open:
			list = slices.DeleteFunc(list, func(p string) bool { return p == name })
		case !all && !slices.Contains(list, name):
			list = append(list, name)
		}
	}
	return slices.DeleteFunc(list, func(p string) bool { return slices.Contains(b.Disallowed, p) })
}

// canDelegate reports whether the run may ask the user-proxy.
func (b Background) canDelegate() bool {
	if b.Allowed == nil {
		return !slices.Contains(b.Disallowed, "Task") && !slices.Contains(b.Disallowed, "Agent")
	}
	return policy.DelegatesTo(policy.Rules{Allowed: b.Allowed, Disallowed: b.Disallowed}, policy.UserProxy)
}

// capital makes the first letter of an ASCII text a capital.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func placeInChain(c Chain) string {
	return "check " + strconv.Itoa(c.Depth+1) + " of " + strconv.Itoa(max(c.Max, c.Depth)+1)
}

// writeSchedule writes the forward schedule as an agent reads it, with the
// refills until its last task at rate minutes each. Foreground tasks are left
// out. Times are in now's zone. There is no line break at its end.
func writeSchedule(b *strings.Builder, f schedule.Forward, now time.Time, rate int) {
	empty := true
	for _, e := range f.Entries {
		if e.Foreground {
			continue
		}
		if empty {
			b.WriteString(textUpcoming + f.Window(now) + "):")
			empty = false
		}
		b.WriteByte('\n')
		writeEntry(b, e, now.Location())
	}
	if empty {
		b.WriteString(textNoTasks)
		return
	}
	if line := f.RefillLine(now, rate); line != "" {
		b.WriteByte('\n')
		b.WriteString(line)
	}
}

// writeEntry writes one line. Everything in it comes from a user's file.
func writeEntry(b *strings.Builder, e schedule.Entry, zone *time.Location) {
	var clock [16]byte
	b.WriteString("- ")
	at := e.FireTime.In(zone)
	b.Write(at.AppendFormat(clock[:0], "3:04 PM"))
	b.WriteString(cron.Offset(at))
	b.WriteString(": ")
	b.WriteString(clean.Line(e.Label))
	if e.Silent {
		b.WriteString(textSilent)
	}
	if e.Description != e.Label { // a routine with a description is labelled by it
		b.WriteString(" — \"")
		b.WriteString(clean.Line(e.Description))
		b.WriteByte('"')
	}
	b.WriteString(" (")
	b.WriteString(clean.Line(e.FilePath))
	b.WriteByte(')')
	if e.Tag != "" {
		b.WriteString(" [")
		b.WriteString(e.Tag)
		b.WriteByte(']')
	}
}
