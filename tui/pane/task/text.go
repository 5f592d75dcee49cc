package task

import (
	"fmt"

	"ollimbot/core/base/words"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
)

const (
	textGone  = "This task no longer exists: it has run, or its file was removed."
	textNoRun = "no finished runs yet"

	textRuns       = "runs"
	textCost       = "cost"
	textPings      = "pings"
	textNext       = "next"
	textNever      = "it never fires again"
	textBackground = "in the background, may ping"
	textSilent     = "in the background, never pings"
	textForeground = "in the conversation"
	textBringBack  = "%s restores the last deleted task."
)

func textLast(n, of int) string {
	if of > n {
		return fmt.Sprintf("the last %d of %s", n, words.Grouped(uint64(of), "run"))
	}
	return words.Count(n, "run")
}

func textRate(r fork.Rate) string {
	return fmt.Sprintf("%d in %s", r.Pings, words.Grouped(uint64(max(0, r.Runs)), "run"))
}

func textNoneAnswered(n int) string { return fmt.Sprintf("none of the last %d answered", n) }

func textAnswers(a budget.Answers) string {
	return fmt.Sprintf("%d of %d answered, mostly after %s", a.Answered, a.Pings, words.Minutes(a.Median))
}

func textLines(from, to, of int) string { return fmt.Sprintf("%d-%d of %d", from, to, of) }
