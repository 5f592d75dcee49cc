package budget

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"ollimbot/core/base/words"
)

const (
	textMuteTitle = "Mute pings that are not critical until"
	textMutedHelp = "Only critical pings arrive. %s raises the capacity."
	textRefusal   = "refused"
	textExpected  = "at the usual rate of pings"
	textWorst     = "if every task pings"

	textHeat         = "Answered pings by weekday and hour"
	textFirstRefusal = "if every task pings, first refusal "
)

func textFullAt(at string) string { return "full " + at }

func textRate(minutes int) string { return fmt.Sprintf("1 every %d min", minutes) }

func textReserved(n int) string { return fmt.Sprintf("%d on its way", n) }

func textNoRefusal(until string) string { return "none until " + until }

func textCapacity(n int) string { return words.Count(n, "token") }

func textAnswered(after time.Duration) string { return "after " + words.Minutes(after) }

func textShown(n, of int) string { return fmt.Sprintf("newest %d of %d", n, of) }

func textAnsweredOf(n, of int) string {
	return fmt.Sprintf("%d of %s answered", n, words.Count(of, "ping"))
}

// Tokens formats the available tokens with one decimal, rounded down, so that a part of a
// token never looks whole.
func Tokens(available float64) string {
	return strconv.FormatFloat(math.Floor(max(available, 0)*10+1e-9)/10, 'f', -1, 64)
}
