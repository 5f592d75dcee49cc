package when

import (
	"errors"
	"fmt"
	"strings"

	"ollimbot/core/base/clean"
	"ollimbot/routines/cron"
	"ollimbot/routines/recur"
)

// Every refusal is one sentence: what is wrong, and the nearest thing that works.
const (
	textNearMoment   = "say a time such as 18:30, tomorrow 9:00, in 2 hours or 24 dec 9am"
	textNearSchedule = "say weekdays at 9, every morning or every 2 hours, or write cron such as 0 9 * * 1-5"
	textNearSpan     = "say a length such as 20 minutes, 1h 30m or 2 days"

	textEmpty      = "there is no time; " + textNearMoment
	textNoSchedule = "there is no schedule; " + textNearSchedule
	textUnknown    = `I do not understand "%s"; %s`
	textMeant      = `I do not understand "%s"; did you mean %s?`
	textIncomplete = `something is missing after "%s"; %s`
	textForeign    = "times are read in English; %s"

	textZero       = "that is no time ahead; say in 1 minute, or more"
	textTooMuch    = "that is more than can be counted; say a date such as 24 dec 2027"
	textHalfMonth  = "half a month or year cannot be counted; say 1 month and 15 days, or a date"
	textNoLength   = "months have no fixed length; say days or weeks"
	textBare       = `"%s" can be an hour or minutes; say %s:00 or %[1]s minutes`
	textNoClock    = "there is no %s; a day goes from 0:00 to 23:59"
	textTwelve     = "there is no %d%s; say %s"
	textNoMonthDay = "%s has no %s; the last day is %d %[1]s"
	textLeapDay    = "29 February exists only in leap years; the last day of February %d is the 28th"
	textNoMonth    = "there is no month %d; say the name, such as 24 dec"
	textSlash      = "%s can be two days; say %d %s or %d %s"
	textWrongDay   = "%s is a %s, not a %s; leave one of them out"
	textTwo        = "that names two %s; say one"

	textPassedToday = "%s today has passed; say tomorrow %[1]s"
	textPassed      = "%s has passed; %s"
	textYesterday   = "yesterday has passed; say today or tomorrow"
	textMixed       = "a length of time and a date do not go together; say in 2 days at 9, or a date"
	textRepeats     = "that repeats, and this takes one time; say tomorrow 9:00, or make a routine"
	textOnce        = "that is one time, and a routine repeats; say every day at 9, or make a reminder"

	textSmallHours = "it is after midnight, so tomorrow is %s; say today for %s"

	textUneven    = "%d minutes do not divide an hour; say every %s minutes"
	textUnevenDay = "%d hours do not divide a day; say every %s hours"
	textTwoClocks = "one schedule has the same minutes in each of its hours, so %s and %s need two routines; say %[1]s and %[3]s for one"
	textHalfHours = "a schedule covers whole hours; say from %s to %s"
	textNight     = "that passes midnight; say from %s to %s"
	textHowOften  = "say how often: every 15 minutes from 9 to 17"
	textWhichDay  = "say which day: every monday at 9"
	textEveryN    = "a schedule cannot count %s; say %s"
	textEveryZero = "every 0 is never; say every 2 weeks, or every day"
	textEveryDays = "weekdays cannot be counted; say every 2 days, or every other monday"
	textLast      = "say what is last: the last friday, the last weekday or the last day of the month"
	textBothDays  = "a date and a weekday cannot go together; say on the 13th of every month, and also every friday"
	textNever     = "%s has no %s, so it would never fire; the last day is %d %[1]s"
	textBeginDay  = "say the first day: from 1 december, from monday or from march"
	textEndDay    = "say the last day: until 24 dec or until march; for hours, say from 9 to 17"
	textExcept    = "say which days are left out: except 24 dec to 2 jan"
	textExceptDay = "a day of the week is left out by naming the others: tuesday to sunday at 9"
	textHowMany   = "a schedule has 1 to %d times; leave the number out if it has no end"
	textNoZone    = `there is no zone "%s"; say its city, such as in Berlin time, or Europe/Berlin`
	textNoAhead   = "there is no length of time; " + textNearAhead
	textNearAhead = "say a day, an hour or 10 minutes before, or 1 hour: Leave now"
	textAheadNow  = "that is the moment itself; say 1 minute, or more"
	textAheadFar  = "that is too long before; say at most %d days"
	textSeconds   = "a schedule counts minutes; say every minute"
	textManyTimes = "say the times: at 8:00 and 20:00"
)

// Error is the reason why a text is not a time: one sentence.
type Error struct {
	text    string
	telling bool // the text is clearly meant as a time
}

func (r *Error) Error() string { return r.text }

func sentence(format string, args ...any) string {
	for i, a := range args {
		if s, ok := a.(string); ok {
			args[i] = clean.Cut(clean.Line(s), 80)
		}
	}
	return fmt.Sprintf(format, args...)
}

// refuse refuses a text that is clearly meant as a time.
func refuse(format string, args ...any) error {
	return &Error{sentence(format, args...), true}
}

// Meant reports whether a refused text was clearly meant as a time or schedule.
func Meant(err error) bool {
	r, ok := errors.AsType[*Error](err)
	_, expression := errors.AsType[*cron.Error](err)
	return ok && r.telling || expression
}

// foreign are words about time in other languages.
var foreign = strings.Fields(`morgen heute abend mittag uhr jeden jede stunde stunden minuten woche montag dienstag mittwoch donnerstag freitag samstag sonntag
	demain aujourd'hui soir matin midi tous chaque lundi mardi mercredi jeudi vendredi samedi dimanche heure heures semaine
	mañana hoy noche tarde cada lunes martes miércoles jueves viernes sábado domingo hora horas semana
	domani oggi stasera mattina ogni lunedì martedì mercoledì giovedì venerdì sabato domenica ore
	amanhã hoje noite segunda terça quarta quinta sexta завтра сегодня jutro dziś`)

func isForeign(word string) bool {
	for _, c := range word {
		if c > 0x7f && c != '…' {
			return true
		}
	}
	for _, w := range foreign {
		if w == word {
			return true
		}
	}
	return false
}

// textKeys say what each key of a file takes.
var textKeys = map[string]string{
	recur.KeyEvery: "write days, weeks, months or years: 2 weeks. Hours belong in cron",
	recur.KeyDays:  "write which day of the month, such as last friday, second tuesday, first weekday or last day; a date belongs into cron",
	recur.KeyFrom:  "write the first day with its year, such as 2026-12-01",
	recur.KeyUntil: "write the last day with its year, such as 2027-02-28",
	recur.KeyTimes: "write a whole number from 1 to 1000, or delete the line",
	recur.KeySkip:  "write days or ranges, such as 24 Dec to 2 Jan, 2027-04-02, or a calendar, such as holidays.ics or calendar \"Holidays\"",
	recur.KeyZone:  "no such time zone is known; write its name, such as Europe/Berlin",
}
