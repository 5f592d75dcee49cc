package budget

import (
	"fmt"
	"math"
	"strconv"
)

const (
	textMuteTitle = "Mute pings that are not critical until"
	textMutedHelp = "Only critical pings arrive. %s raises the capacity."
	textQuiet     = "quiet"
	textEssential = "essential"
	textRefusal   = "refused"

	textMessages = "Messages"
	textHeat     = "Answered pings by weekday and hour"
)

func textRate(minutes int) string { return fmt.Sprintf("1 every %d min", minutes) }

// Tokens formats the available tokens with one decimal, rounded down, so that a partial token never looks complete.
func Tokens(available float64) string {
	return strconv.FormatFloat(math.Floor(max(available, 0)*10+1e-9)/10, 'f', -1, 64)
}
