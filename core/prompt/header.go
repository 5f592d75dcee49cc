// Package prompt owns every word that is sent to the agent: the
// header of a message, the tags, the preamble of background runs, the forward
// schedule, the chain context. All of it is pure functions of values; nothing
// here reads a file, a clock or a configuration, and nobody else puts words
// into the agent's prompt.
package prompt

import (
	"fmt"
	"strings"
	"time"

	"ollimbot/core/clean"
	"ollimbot/core/updates"
	"ollimbot/core/words"
	"ollimbot/routines/cron"
)

// Timestamp begins every message: "[2026-02-24 Tue 02:30 PM PT]", in now's zone.
func Timestamp(now time.Time) string {
	var b strings.Builder
	writeTimestamp(&b, now)
	return b.String()
}

func writeTimestamp(b *strings.Builder, now time.Time) {
	var stamp [48]byte
	b.Write(now.AppendFormat(stamp[:0], "[2006-01-02 Mon 03:04 PM "))
	b.WriteString(zoneWord(now))
	b.WriteString(cron.Offset(now))
	b.WriteByte(']')
}

// clockOn is a time of day, with the date where t is not on now's day: a reminder may
// be days late.
func clockOn(t, now time.Time) string {
	t = t.In(now.Location())
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return cron.Clock(t)
	}
	return fmt.Sprintf(textClockOn, cron.Clock(t), t.Format("Mon 2006-01-02"))
}

// Main is a message to the main session: the timestamp, the updates that this
// turn delivers, and the message.
func Main(now time.Time, list []updates.Update, message string) string {
	return headed(now, textUpdatesMain, list, message)
}

// Peeked is a message to a fork, which sees the updates without taking them.
func Peeked(now time.Time, list []updates.Update, message string) string {
	return headed(now, textUpdatesFork, list, message)
}

func headed(now time.Time, heading string, list []updates.Update, message string) string {
	var b strings.Builder
	b.Grow(64 + len(heading) + len(message))
	writeHeader(&b, now, heading, list)
	if message != "" {
		if len(list) == 0 {
			b.WriteByte(' ')
		} else {
			b.WriteString("\n\n")
		}
		b.WriteString(message)
	}
	return b.String()
}

// writeHeader writes the timestamp and the updates, without anything behind.
func writeHeader(b *strings.Builder, now time.Time, heading string, list []updates.Update) {
	writeTimestamp(b, now)
	if len(list) == 0 {
		return
	}
	b.WriteByte(' ')
	b.WriteString(heading)
	for _, u := range list {
		b.WriteString("\n- (")
		b.WriteString(words.Ago(now.Sub(u.At)))
		b.WriteString(") ")
		writeIndented(b, u.Message)
	}
}

// writeIndented writes text whose second and later lines are indented, blank
// ones left out: no text can forge another update, a tag or a heading, all of
// which begin in the first column.
func writeIndented(b *strings.Builder, text string) {
	first := true
	for line := range strings.SplitSeq(clean.Text(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if !first {
			b.WriteString("\n  ")
		}
		b.WriteString(line)
		first = false
	}
}

// zoneWord is the last word of a timestamp: the US zones print
// their generic form, the same in summer and winter; every other zone prints
// its abbreviation at that moment, or its offset where it has none.
func zoneWord(t time.Time) string {
	abbreviation, _ := t.Zone()
	if generic, ok := genericWords[abbreviation]; ok && isUS(t.Location().String()) {
		return generic
	}
	if abbreviation == "" || strings.ContainsAny(abbreviation, " \t\r\n]") {
		return t.Format("-0700")
	}
	return abbreviation
}

var genericWords = map[string]string{
	"PST": "PT", "PDT": "PT", "MST": "MT", "MDT": "MT",
	"CST": "CT", "CDT": "CT", "EST": "ET", "EDT": "ET",
}

// isUS reports whether a zone of the tz database lies in the United States. It
// goes by name, because China, Cuba and Canada share the abbreviations.
func isUS(name string) bool {
	if usZones[name] {
		return true
	}
	for _, folder := range usFolders {
		if strings.HasPrefix(name, folder) {
			return true
		}
	}
	return false
}

var usFolders = []string{"US/", "America/Indiana/", "America/Kentucky/", "America/North_Dakota/"}

var usZones = map[string]bool{
	"America/Los_Angeles": true, "America/Denver": true, "America/Boise": true, "America/Phoenix": true,
	"America/Shiprock": true, "America/Chicago": true, "America/Menominee": true, "America/New_York": true,
	"America/Detroit": true, "America/Indianapolis": true, "America/Fort_Wayne": true,
	"America/Knox_IN": true, "America/Louisville": true, "Navajo": true,
	"PST8PDT": true, "MST7MDT": true, "CST6CDT": true, "EST5EDT": true,
}

// Delivery is a message to the main session that hands it updates at once,
// without words of the user: the header of Main and nothing behind it.
func Delivery(now time.Time, list []updates.Update) string { return Main(now, list, "") }
