package prompt

import (
	"strings"
	"time"

	"ollimbot/core/clean"
	"ollimbot/routines/cron"
	"ollimbot/routines/schedule"
)

// Schedule is the forward schedule as an agent reads it, with the
// refills until its last task at rate minutes each. Foreground tasks are left
// out. Times are in now's zone. There is no line break at its end.
func Schedule(f schedule.Forward, now time.Time, rate int) string {
	var b strings.Builder
	b.Grow(64 + 120*len(f.Entries))
	writeSchedule(&b, f, now, rate)
	return b.String()
}

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
