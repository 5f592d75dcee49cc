package main

import (
	"fmt"
	"strings"
	"time"
)

// shellWord is a text as one word of a shell's command line.
func shellWord(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@", r)
	}
	if text != "" && strings.TrimLeftFunc(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// count says how many of something there are: "1 file", "3 files".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// in says how far away a moment is: "in 2h 05m", "45m ago", "now".
func in(d time.Duration) string {
	ago := d < 0
	words := span(d.Abs())
	switch {
	case words == "":
		return "now"
	case ago:
		return words + " ago"
	default:
		return "in " + words
	}
}

// span is a duration in two units at most; empty when it is under a minute.
func span(d time.Duration) string {
	m := int(d.Round(time.Minute) / time.Minute)
	switch {
	case m < 1:
		return ""
	case m < 60:
		return fmt.Sprintf("%dm", m)
	case m < 48*60:
		return fmt.Sprintf("%dh %02dm", m/60, m%60)
	default:
		return fmt.Sprintf("%dd", m/(24*60))
	}
}
