package task

import (
	"fmt"

	"ollimbot/core/base/words"
)

const (
	textGone  = "This task no longer exists: it has run, or its file was removed."
	textNoRun = "no finished runs yet"

	textRuns       = "runs"
	textCost       = "cost"
	textPings      = "pings"
	textNext       = "next"
	textAlso       = "also sent"
	textSkips      = "skipped"
	textNever      = "it never fires again"
	textBackground = "in the background, may ping"
	textSays       = "sends what its check prints, without a model"
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
