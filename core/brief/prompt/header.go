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

	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/updates"
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
		if u.Dropped > 0 {
			b.WriteString(textDropped)
		}
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

// maxQuoted is how much of a message is quoted, in characters.
const maxQuoted = 500

// ForkStarted begins an interactive fork. Without a topic the user
// leads.
func ForkStarted(topic string) string {
	topic = strings.TrimSpace(clean.Text(topic))
	if topic == "" {
		return textForkStarted + textForkNoTopic
	}
	return textForkStarted + textForkTopic + topic + textForkTalk
}

// ForkReply begins an interactive fork that resumes a background run because
// the user answered one of its messages.
func ForkReply(message string) string { return textForkReplied + "\n\n" + message }

// ForkButton begins an interactive fork that resumes a background run because
// the user clicked one of its buttons; inquiry is the button's stored prompt.
func ForkButton(userName, inquiry string) string {
	name := clean.Line(userName)
	return textForkResumed + "\n\n" + name + textForkClicked + strings.TrimSpace(clean.Text(inquiry)) +
		"\n\n" + textForkAddress + "\n\n" + textForkStay + name + textForkAsks
}

// Stale is the notice that stands behind a blank line at the end of the first
// message to a resumed session that ended so long ago.
func Stale(age time.Duration) string { return fmt.Sprintf(textStale, words.Ago(age)) }

// ForkIdle speaks to a fork that nobody has written to for so long: softly the
// first time; hard when it did not end after that.
func ForkIdle(idle time.Duration, hard bool) string {
	if hard {
		return fmt.Sprintf(textIdleHard, minutesOf(idle))
	}
	return fmt.Sprintf(textIdleSoft, minutesOf(idle))
}

// minutesOf is a duration in whole minutes, at least one: "1 minute", "20 minutes".
func minutesOf(d time.Duration) string { return words.Count(max(1, int(d/time.Minute)), "minute") }

// ForkReport is what the Report button says to the fork.
func ForkReport() string { return textForkReport }

// Button is the stored prompt of a button that belongs to no fork.
func Button(prompt string) string { return "[button] " + strings.TrimSpace(clean.Text(prompt)) }

// Instruction is a text that the program itself gives the agent to follow.
func Instruction(text string) string { return "[system] " + strings.TrimSpace(clean.Text(text)) }

// Quote puts a message that the user replies to in front of their own, cut and
// with "> " before each line. Nothing to quote leaves the message
// as it is.
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

// cutQuote keeps the first characters, and says by dots that there were more.
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

// QuoteEmbed is an embed's text as Quote takes it: title, description, fields.
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
