package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/safety/policy"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/schedule"
)

// preamble returns the part before the task: the sections in order, separated by blank
// lines.
func (b Background) preamble() string {
	t := b.Task
	list := []string{textDiscarded + textNoPing, b.reporting()}
	if t.AllowPing {
		list[0] = textDiscarded + textPing + textPingFile
		if slices.Contains(b.Disallowed, toolset.Prefix+toolset.SendFile) {
			list[0] = textDiscarded + textPing + textPingCard
		}
		if b.Task.Essential {
			list = append(list, textEssential)
		} else if b.Busy || !b.QuietUntil.IsZero() {
			list = append(list, b.hold())
		}
		list = append(list, b.budget())
	}
	switch allowed := b.available(); {
	case b.Allowed == nil: // no restrictions
	case len(allowed) == 0:
		list = append(list, textNoTools)
	default:
		list = append(list, tools(textOnlyTools, allowed))
	}
	if denied := policy.Merge(b.Disallowed); len(denied) > 0 {
		list = append(list, tools(textDeniedTools, denied))
	}
	if t.Mode != routines.Blocked {
		list = append(list, textMissingTool)
	}
	if b.GoogleTrouble != "" {
		list = append(list, textGoogleTrouble+clean.Line(b.GoogleTrouble))
	}
	if b.canDelegate() {
		list = append(list, textUserProxy)
	}
	return strings.Join(list, "\n\n")
}

// reporting describes what the main session gets to know.
func (b Background) reporting() (text string) {
	ping := b.Task.AllowPing
	switch b.Task.Mode {
	case routines.Blocked:
		if ping {
			return textBlockedPing
		}
		return textBlockedSilent
	case routines.Always:
		text = textAlways
	case routines.Freely:
		text = textFreely
		if ping {
			text += textFreelyPinged
		}
	default: // on_ping, and any unknown value in a file
		text = textOnPing
		if ping {
			text += textOnPingMust
		}
		text += textOnPingSilent
	}
	return text + textQuality
}

// hold tells the run to hold pings back while the user talks or sleeps.
func (b Background) hold() (text string) {
	switch quiet := !b.QuietUntil.IsZero(); {
	case b.Busy && quiet:
		text = textBusyBefore + textAnd + textQuietBefore + cron.ClockOn(b.QuietUntil, b.Now)
	case b.Busy:
		text = textBusyBefore
	default:
		text = strings.ToUpper(textQuietBefore[:1]) + textQuietBefore[1:] + cron.ClockOn(b.QuietUntil, b.Now)
	}
	text += "." + textHold
	if b.mayBeQuiet() {
		text += textHoldButQuiet
	}
	switch {
	case b.Task.Mode == routines.Blocked:
		return text + textHoldBlocked
	case b.Busy:
		return text + textHoldBusy
	}
	return text + textHoldQuiet
}

// mayBeQuiet reports whether the run may send a silent message. A conversation holds those
// too.
func (b Background) mayBeQuiet() bool { return b.QuietLeft > 0 && !b.Busy }

// budget describes what a ping costs now, what is coming up, and when to ping.
func (b Background) budget() string {
	var w strings.Builder
	w.WriteString(textBudget + b.Budget.Status(b.Now) + ".\n")
	rate := b.Budget.RefillRateMinutes
	if b.Budget.Capacity == 0 {
		rate = 0 // a muted bucket never refills
	}
	if b.Habits != "" {
		w.WriteString(textHabits + b.Habits + ".\n")
	}
	writeSchedule(&w, b.Forward, b.Now, rate)
	w.WriteString("\n" + textAtMost)
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
	if b.mayBeQuiet() {
		fmt.Fprintf(&w, textQuietLeft, b.QuietLeft)
	}
	w.WriteString(textOneThing)
	writeSent(&w, b.Sent, b.Now)
	return w.String()
}

// writeSent quotes earlier messages. Those made from untrusted text are marked.
func writeSent(b *strings.Builder, sent []budget.Ping, now time.Time) {
	for i, p := range sent {
		if i == 0 {
			b.WriteString(textSent)
		}
		b.WriteString("\n- (" + words.Ago(now.Sub(p.At)) + ") ")
		if p.Label != "" {
			fmt.Fprintf(b, textSentFrom, p.Label.Origin())
		}
		if p.Text == "" {
			b.WriteString(textSentWithheld)
			continue
		}
		b.WriteString(strconv.Quote(clean.Line(p.Text)))
	}
}

// tools lists patterns under a heading.
func tools(heading string, patterns []string) string {
	for _, p := range patterns {
		heading += "\n  - " + clean.Line(p)
	}
	return heading
}

// available returns the list of tools to show: the allowed ones, without those that the
// task's file denies or its other settings disable, plus the bot's own tools that the
// settings enable.
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
		{toolset.StopRoutine, t.Kind == routines.KindRoutine && !t.Essential && !t.Critical},
	}
	list := policy.Told(policy.Merge(b.Allowed), policy.Background, b.Google)
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

// canDelegate reports whether the run may use the user-proxy.
func (b Background) canDelegate() bool {
	if b.Allowed == nil {
		return !slices.Contains(b.Disallowed, "Task") && !slices.Contains(b.Disallowed, "Agent")
	}
	return policy.DelegatesTo(policy.Rules{Allowed: b.Allowed, Disallowed: b.Disallowed}, policy.UserProxy)
}

// writeSchedule writes the forward schedule for an agent, with the refills until its last
// task at one per rate minutes. Foreground tasks are left out. Times are in now's zone.
// There is no final line break.
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

// writeEntry writes one line. Its texts come from a user's file.
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
	if quoted := cmp.Or(e.Prompt, e.Description); quoted != e.Label {
		b.WriteString(" — \"")
		b.WriteString(clean.Line(quoted))
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

// Background is the input of a background run's prompt.
type Background struct {
	Now  time.Time // in the configured zone, which is used for all times
	Task routines.Task
	// Busy means that the user is mid-conversation. QuietUntil is the end of current quiet
	// hours, or zero.
	Busy       bool
	QuietUntil time.Time
	Budget     budget.State
	QuietLeft  int // silent messages that may still be sent today
	// Habits describes when the user answers pings, in a few words; empty if unknown.
	Habits  string
	Forward schedule.Forward
	// Allowed is the merged list of tool patterns; nil means no restrictions. Disallowed is
	// the task file's list.
	Allowed, Disallowed []string
	// Google means that the account is connected. Without it, its commands do not exist and
	// are not listed.
	Google bool
	// GoogleTrouble describes a problem with the login and its cure, or "".
	GoogleTrouble string
	Late          time.Time // when it should have run; zero if it is on time
	Chain         *Chain    // nil outside of chains
	Updates       []updates.Update
	Skills        []Skill
	// Sent are the last pings of the task, oldest first; a withheld text is empty.
	Sent []budget.Ping
}

// BackgroundPrompt returns the whole message of a background run: header, tag, late
// notice, preamble, skills, chain context, and the unchanged body. An isolated task sees
// no updates.
func BackgroundPrompt(b Background) string {
	var list []updates.Update
	if !b.Task.Isolated {
		list = b.Updates
	}
	return assemble(assembly{
		now: b.Now, heading: textUpdatesFork, updates: list,
		task: b.Task, background: true, late: b.Late,
		preamble: b.preamble(), skills: b.Skills, chain: b.Chain,
	})
}
