package widget

import "fmt"

const (
	textFollowing = "following"
	textPaused    = "paused"
	textNoMatch   = "no match"
	textFindKeys  = "n next · N previous · esc ends"
)

// The words of a filter.
const (
	textAllLevels   = "all levels"
	textFromInfo    = "info and above"
	textFromWarn    = "warnings and errors"
	textErrors      = "errors only"
	textFiltered    = "filtered"
	textNoLine      = "no line"
	textFilterHelp  = "a word; !word leaves out"
	textKeepsFilter = "keep the filter"
	textAllLines    = "every line again"
	textNotThese    = "in front: leave these out"
)

func textShown(n, of int) string {
	return fmt.Sprintf("%s of %s", Thousands(uint64(n)), Count(uint64(of), "line"))
}

func textNew(n uint64) string { return Thousands(n) + " new" }

func textHits(at, of int) string {
	if of == 0 {
		return textNoMatch
	}
	if at == 0 {
		return Thousands(uint64(of)) + " found"
	}
	return fmt.Sprintf("%s of %s", Thousands(uint64(at)), Thousands(uint64(of)))
}

func textLost(n uint64, begun bool) string {
	if !begun {
		return Count(n, "earlier line") + " no longer kept"
	}
	return Count(n, "line") + " came too fast to keep"
}

func textCopied(n, of int) string {
	if n < of {
		return fmt.Sprintf("copied the newest %s of %s", Thousands(uint64(n)), Count(uint64(of), "line"))
	}
	return "copied " + Count(uint64(n), "line")
}

const (
	textKeeps      = "keep the search"
	textEnds       = "end it"
	textOtherHits  = "previous, next match"
	textNothing    = "nothing to copy"
	textOneCopied  = "copied the line"
	textNoFind     = "no search: / starts one"
	textWrapped    = "long lines are wrapped"
	textNotWrapped = "long lines are cut; ← → show the rest"
	textNoSideways = "long lines are wrapped: w cuts them, then ← → show the rest"
)
