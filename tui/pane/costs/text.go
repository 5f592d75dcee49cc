package costs

import (
	"fmt"

	"ollimbot/core/words"
)

const (
	textToday     = "today "
	textMidnight  = ", by midnight about "
	textMonth     = "this month "
	textADay      = "a day"
	textAMonth    = "a month"
	textNoCap     = "no cap is set"
	textReading   = "reading what the runs have cost…"
	textLifted    = "the caps are lifted until midnight"
	textByTask    = "By task"
	textLastDays  = ", in the last 30 days"
	textTodayTick = "today"
	textCapLine   = "cap "
	textTalk      = "conversation"
	textNoTask    = "no task is selected"
	textRow       = "row"
)

func textCap(dollars float64, per string) string {
	return fmt.Sprintf(" · cap %s %s", words.Dollars(dollars), per)
}

func textReserved(dollars float64) string { return words.Dollars(dollars) + " set aside for runs" }

func textHeld(n int, dollars float64) string {
	return fmt.Sprintf("%s for money, about %s:", words.Count(n, "run")+" held", words.Dollars(dollars))
}

func textMarkedOnly(n int) string { return fmt.Sprintf(", the bars show the %d marked", n) }
