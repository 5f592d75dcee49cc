// Package preset owns the words that stand before the bot's own system prompt
// where no claude command brings any: how the model works, and how the tools of
// package tools behave. It must not know sessions, requests or the bot's files.
package preset

import (
	_ "embed"
	"strings"
)

//go:embed preset.md
var text string

// searching are the lines that hold only where there is WebSearch.
const searching = "[search] "

// Text is the system prompt's beginning. It is the same at all times for the same
// argument, as the cache of a provider wants it: search says whether there is
// WebSearch.
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
