package stream

import (
	"fmt"
	"strings"
	"time"

	"ollimbot/core/clean"
)

// The words that the user reads, apart from the answer itself.
const (
	textThinking = "Thinking"
	textNoAnswer = "no answer came; try again."
	// For an answer of too many messages.
	textWritingOn = "writing on: the whole answer comes as a file"
	textInFile    = "-# *the whole answer is in the file*"
)

const (
	// maxLabel is how much of a label is shown, in characters.
	maxLabel = 200
	// maxRow is how many tools that follow each other are shown by name, so that a
	// busy turn does not fill the screen.
	maxRow = 5
)

// escaped makes a label fit to stand between asterisks.
var escaped = strings.NewReplacer("*", `\*`, "_", `\_`)

// tidy makes a label from outside one harmless line.
func tidy(label string) string { return clean.Cut(clean.Line(label), maxLabel) }

// subtext is a line in small italics.
func subtext(s string) string { return "-# *" + s + "*" }

// statusText is a status that has stood for some time: seconds are told from
// the first one on.
func statusText(label string, stood time.Duration) string {
	s := escaped.Replace(label) + "..."
	if n := int(stood / time.Second); n > 0 {
		s += fmt.Sprintf(" (%ds)", n)
	}
	return subtext(s)
}

// rowText are tools that were called one after another.
func rowText(row []tool) string {
	var b strings.Builder
	denied := 0
	for i, t := range row {
		label := escaped.Replace(t.label)
		if t.denied {
			label = "~~" + label + "~~ — denied"
		}
		if i < maxRow {
			b.WriteString("\n" + subtext(label) + "\n")
		} else if t.denied {
			denied++
		}
	}
	if more := len(row) - maxRow; more > 0 {
		s := fmt.Sprintf("+%d more", more)
		if denied > 0 {
			s += fmt.Sprintf(" · %d denied", denied)
		}
		b.WriteString("\n" + subtext(s) + "\n")
	}
	return b.String()
}

// text is what a compaction says: while it runs, and for good.
func (c *compaction) text(now time.Time) string {
	tokens := ""
	if c.tokens > 0 {
		tokens = fmt.Sprintf("%dk tokens", (c.tokens+500)/1000)
	}
	if c.end.IsZero() {
		label := "Compacting"
		if c.auto {
			label = "Auto-compacting"
		}
		return statusText(strings.TrimSpace(label+" "+tokens), now.Sub(c.start))
	}
	s := "compacted"
	if c.auto {
		s = "auto-compacted"
	}
	if tokens != "" {
		s += " · " + tokens
	}
	if n := int(c.end.Sub(c.start) / time.Second); n > 0 {
		s += fmt.Sprintf(" · %ds", n)
	}
	return subtext(s)
}
