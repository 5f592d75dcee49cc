package widget

import (
	"fmt"
	"slices"
	"strings"

	"ollimbot/core/base/words"
	"ollimbot/tui/action"
)

const (
	// textBefore marks a line whose start is scrolled out of view.
	textBefore = "‹"
)

// The words of a filter.
const (
	textFromWarn   = "debug and info hidden"
	textEndsFilter = "Esc removes the filter."
	textNextLevel  = " shows the next level."
)

// textQueryHelp says what can be written in a filter, in as many words as there is room for.
var textQueryHelp = []string{
	`words, "a phrase", tuesday, 21 nov, is:failed, !not`, `words, "a phrase", tuesday, is:failed`, "words, tuesday, is:failed", "words, is:failed",
}

// TextNoMatch are the sentences of a list of which a filter leaves nothing.
func TextNoMatch(n int, noun string) []string {
	return []string{"No match in " + words.Grouped(uint64(n), noun) + ".", textEndsFilter}
}

// textStates names the states that a filter finds.
func textStates(states []string) string {
	if len(states) == 0 {
		return "no row has a state"
	}
	return "is:" + strings.Join(states, " ")
}

func textHits(at, of int) string {
	if of == 0 {
		return "no match"
	}
	if at == 0 {
		return words.Thousands(uint64(of)) + " found"
	}
	return fmt.Sprintf("%s of %s", words.Thousands(uint64(at)), words.Thousands(uint64(of)))
}

func textCopied(n, of int) string {
	if n < of {
		return fmt.Sprintf("copied the newest %s of %s", words.Thousands(uint64(n)), words.Grouped(uint64(of), "line"))
	}
	return "copied " + words.Grouped(uint64(n), "line")
}

const (
	textOtherHits  = "previous, next match"
	textNothing    = "nothing to copy"
	textWrapped    = "long lines are wrapped"
	textNoFind     = "no search: %s starts one"
	textNotWrapped = "long lines are cut; %s shows the rest"
	textNoSideways = "long lines are wrapped: %s cuts them"
)

// textSearchKeys are the keys of a search that was entered.
func textSearchKeys(n action.Names) string {
	keys := slices.Concat(n.Say(action.TailNext, "%s next"), n.Say(action.TailPrevious, "%s previous"), []string{"esc ends"})
	return strings.Join(keys, " · ")
}
