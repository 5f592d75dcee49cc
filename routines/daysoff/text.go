package daysoff

// Why a calendar cannot be read, to follow its name.
const (
	textNoFile     = "is not in the data directory; put it there, or take it out of skip"
	textNoCalendar = "is no calendar; save one as an .ics file"
	textLarge      = "has %s; a calendar of at most %s is read"
	textManyRules  = "has %d repeated events; at most %d are read"
	textManyDays   = "takes more than %d days; shorten it"
	textLong       = "has repeated events that go too far back; shorten it"
	textNested     = "has parts within parts, too deep to read; save it again"
	textCutOff     = "ends in the middle; save it again"
)

// textOdd names a rule of a calendar that is not understood.
const textOdd = "%s has %s that cannot be read, of which only the first day counts: %s"

const (
	// textNotRead is why a calendar of Google is not known, to follow its name.
	textNotRead = "has not been read yet: the bot reads it once a day, when it is connected to Google"
	// textOldCopy names a calendar of Google whose days are those from before.
	textOldCopy = "%s could not be read again, so the days from before count: %s"
)
