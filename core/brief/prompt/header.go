// Package prompt owns all text sent to the agent: the header of a message, the tags, the
// preamble of background runs, the forward schedule, the chain context. All of it is pure
// functions of values. The package reads no file, clock or configuration, and no other
// package adds text to the agent's prompt.
package prompt

import (
	"fmt"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/updates"
	"ollimbot/routines/cron"
)

// Timestamp returns the start of every message: "[2026-02-24 Tue 02:30 PM PT]", in now's
// zone.
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

// Main returns a message to the main session: the timestamp, the updates delivered in
// this turn, and the message.
func Main(now time.Time, list []updates.Update, message string) string {
	return headed(now, textUpdatesMain, list, message)
}

// Peeked returns a message to a fork, which sees the updates without claiming them.
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

// writeHeader writes the timestamp and the updates, without a trailing separator.
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
		if u.Dropped > 0 {
			b.WriteString(textDropped)
		}
	}
}

// writeIndented writes text with the second and later lines indented and without blank
// lines, so that it cannot forge another update, a tag or a heading, all of which start
// in the first column.
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

// zoneWord returns the last word of a timestamp: US zones use their generic form, the
// same in summer and winter; all others use their abbreviation at that moment, or the
// offset if they have none.
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

// isUS reports whether a zone of the tz database is in the United States. It goes by
// name, because China, Cuba and Canada share the abbreviations.
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

// Delivery returns a message that delivers updates to the main session at once, without a
// message of the user: the header of Main and nothing after it.
func Delivery(now time.Time, list []updates.Update) string { return Main(now, list, "") }

// maxQuoted is the maximum length of a quoted message, in characters.
const maxQuoted = 500

// ForkStarted returns the first message of an interactive fork. Without a topic the user
// leads.
func ForkStarted(topic string) string {
	topic = strings.TrimSpace(clean.Text(topic))
	if topic == "" {
		return textForkStarted + textForkNoTopic
	}
	return textForkStarted + textForkTopic + topic + textForkTalk
}

// ForkReply returns the first message of an interactive fork that resumes a background
// run because the user replied to one of its messages.
func ForkReply(message string) string { return textForkReplied + "\n\n" + message }

// ForkButton returns the first message of an interactive fork that resumes a background
// run because the user clicked one of its buttons; inquiry is the button's stored prompt.
func ForkButton(userName, inquiry string) string {
	name := clean.Line(userName)
	return textForkResumed + "\n\n" + name + textForkClicked + strings.TrimSpace(clean.Text(inquiry)) +
		"\n\n" + textForkAddress + "\n\n" + textForkStay + name + textForkAsks
}

// Stale returns the notice for the end of the first message to a resumed session, after a
// blank line. It says how long ago the session ended.
func Stale(age time.Duration) string { return fmt.Sprintf(textStale, words.Ago(age)) }

// ForkIdle returns the message to a fork in which no one has written for some time: a
// soft one first, a hard one if the fork did not end after that.
func ForkIdle(idle time.Duration, hard bool) string {
	if hard {
		return fmt.Sprintf(textIdleHard, minutesOf(idle))
	}
	return fmt.Sprintf(textIdleSoft, minutesOf(idle))
}

// minutesOf formats a duration in whole minutes, at least one: "1 minute", "20 minutes".
func minutesOf(d time.Duration) string { return words.Count(max(1, int(d/time.Minute)), "minute") }

// ForkReport returns the message that the Report button sends to the fork.
func ForkReport() string { return textForkReport }

// Button formats the stored prompt of a button that belongs to no fork.
func Button(prompt string) string { return "[button] " + strings.TrimSpace(clean.Text(prompt)) }

// Instruction formats an instruction by the program itself.
func Instruction(text string) string { return "[system] " + strings.TrimSpace(clean.Text(text)) }

// Quote puts the message that the user replies to in front of their own, cut and with ">
// " before each line. If there is nothing to quote, the message is returned unchanged.
func Quote(replied, message string) string {
	replied = strings.TrimSpace(clean.Text(replied))
	if replied == "" {
		return message
	}
	var b strings.Builder
	for line := range strings.SplitSeq(cutQuote(replied), "\n") {
		b.WriteString("> " + line + "\n")
	}
	return b.String() + "\n" + message
}

// cutQuote keeps the first characters, and adds dots if there were more.
func cutQuote(s string) string {
	n := 0
	for i := range s {
		if n == maxQuoted {
			return s[:i] + "..."
		}
		n++
	}
	return s
}

// QuoteEmbed returns an embed's text for Quote: title, description, fields.
func QuoteEmbed(e post.Embed) string {
	var lines []string
	if e.Title != "" {
		lines = append(lines, "**"+e.Title+"**")
	}
	if e.Description != "" {
		lines = append(lines, e.Description)
	}
	for _, f := range e.Fields {
		lines = append(lines, "**"+f.Name+"**: "+f.Value)
	}
	return strings.Join(lines, "\n")
}
