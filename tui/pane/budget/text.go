package budget

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/words"
	"ollimbot/routines/cron"
)

const (
	textName = "Budget   "

	stateMuted = "muted"
	stateQuiet = "quiet"
	stateEmpty = "empty"

	textMuteTitle  = "Mute pings that are not critical until"
	textMuted      = "muted: the capacity is 0"
	textMutedHelp  = "Only critical pings arrive. %s raises the capacity."
	textFull       = "full"
	textEmpty      = "empty: pings wait for the next token"
	textOnly       = "critical only"
	textNow        = "now"
	textPing       = "ping"
	textRefusal    = "refused"
	textQuietHours = "quiet hours"
	textExpected   = "at the usual rate of pings"
	textWorst      = "if every task pings"
	textMayDry     = "may run short at "
	textLikelyDry  = "likely out of pings at "
	textIfAll      = ", if every task pings"
	textEvenIfAll  = ", even if every task pings"

	textMessages     = "Today"
	textHeat         = "Answered pings by weekday and hour"
	textNoMessages   = "no pings yet"
	textNotAnswered  = "not answered"
	textFirstRefusal = "first refusal "
	textAtOnce       = "at once"
)

func textNext(d time.Duration) string { return "next in " + words.Minutes(d) }

func textFullAt(at string) string { return "full " + at }

func textRate(minutes int) string { return fmt.Sprintf("1 every %d min", minutes) }

func textReserved(n int) string { return fmt.Sprintf("%d on its way", n) }

func textQuiet(until string) string { return "quiet until " + until }

func textMutedUntil(at string) string { return "muted until " + at }

// textDry says when the first task would find no whole token, and which.
func textDry(how, at, task string) string {
	return strings.TrimSuffix(how+at+": "+task, ": ")
}

// textShort is the short form of textDry.
func textShort(at string) string { return "short " + at }

func textNoRefusal(until string) string { return "none until " + until }

func textCapacity(n int) string { return words.Count(n, "token") }

func textAnswered(after time.Duration) string { return "after " + words.Minutes(after) }

func textShown(n, of int) string { return fmt.Sprintf("newest %d of %d", n, of) }

func textEnoughUntil(at string) string { return "enough until " + at }

func textAnsweredOf(n, of int) string {
	return fmt.Sprintf("%d of %s answered", n, words.Count(of, "ping"))
}

func textToday(n int) string { return fmt.Sprintf("today %d", n) }

func textCritical(n int) string { return fmt.Sprintf("critical %d", n) }

// Tokens formats the available tokens with one decimal, rounded down, so that a part of a
// token never looks whole.
func Tokens(available float64) string {
	return strconv.FormatFloat(math.Floor(max(available, 0)*10+1e-9)/10, 'f', -1, 64)
}

// clock formats a moment of the next hours: the time, with the day if it is not today.
func clock(s *core.Snapshot, t time.Time) string {
	return s.When(t, cron.Layouts{Today: "15:04", Else: "Mon 15:04"})
}
