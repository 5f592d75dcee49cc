// Package preset owns the text in front of the bot's own system prompt for engines without the
// claude command: how the model works, and how the tools of package tools behave. It must not know
// sessions, requests or the bot's files.
package preset

import (
	_ "embed"
	"strings"
)

//go:embed preset.md
var text string

//go:embed brief.md
var brief string

//go:embed talk.md
var talk string

// Brief returns the beginning for a model with a narrow window.
func Brief() string { return brief }

// Talk returns the beginning for a model that cannot call tools.
func Talk() string { return talk }

// searching marks the lines that apply only if WebSearch is available.
const searching = "[search] "

// Text returns the beginning of the system prompt. It is constant for a given argument, because a
// provider's cache requires that. search means that WebSearch is available.
func Text(search bool) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		rest, conditional := strings.CutPrefix(line, searching)
		if !conditional || search {
			b.WriteString(rest)
		}
	}
	return b.String()
}
