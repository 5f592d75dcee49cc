package prompt

import (
	"fmt"
	"strings"
	"time"

	"ollimbot/core/clean"
	"ollimbot/core/post"
	"ollimbot/core/words"
)

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
