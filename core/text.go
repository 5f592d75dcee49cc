package core

// ChatHere is the name of the surface if there is only the dashboard.
const ChatHere = "the chat here"

// User-visible texts.
const (
	textUnknownCard    = "this version does not know that button: ask for a new card with the command again"
	textNoWeek         = "a week is this one (0) or one of the %d before"
	textPicture        = "Day as a picture"
	textNewReminder    = "New reminder"
	textPingBudget     = "Ping budget"
	textRunHint        = "Run…"
	textRunsAlready    = "%s already runs"
	textFailing        = "%s has failed three times in a row and is paused, so that it spends nothing more: %s"
	textFailingOn      = "%s has failed three times in a row and stays active, because it is critical: %s"
	textFailCard       = "%s keeps failing"
	textStaysPaused    = "it stays paused until you resume it"
	textNoFailure      = "no failure of it is recorded any more"
	textProblems       = "something is wrong with your files; ask me to mend what I may change:\n"
	textNoted          = "noted."
	textNotUseful      = "noted: the agent sees how many of its pings were not useful."
	textNoPing         = "that ping is no longer in the journal, so nothing was changed"
	textNoWords        = "there are no words to be reminded of: fill in what it is about"
	textReminds        = "you will be reminded at %s."
	textRemindsAlready = "that reminder exists already: it comes at %s"
	textTheUser        = "the user"
	textFromPing       = "ping"
	textFromMessage    = "Discord message"

	textPings    = "How many pings fit"
	textMinutes  = "Minutes until one ping is refilled"
	textNoNumber = "%s: write a whole number, not \"%s\""

	textSetupBegun = "Thank you. I continue here, in a message of mine; it has at most four more questions."
	textSetupTwice = "that form was sent already: I have begun with what you wrote"
	textSetupNames = "fill in both names, yours and mine, or leave both empty"
	textSetupQuiet = "Quiet hours are set: %s.\n"
	textSetupNamed = "The names are stored and count after a restart: the user is %s, you are %s.\n"
	textSetupAbout = "About themselves they wrote:\n%s\n"
	textSetupForm  = "\n\nThe user has filled in a form first. Do not ask again for what it has:\n\n%s"

	textCapacityThere = "the capacity is already %d"
	textCapacityMoved = "the capacity has changed to %d since: /status gives you a new card"

	textPromiseTitle = "Shall I remind you?"
	textPromiseAt    = "You wrote: \"%s\". I can remind you at %s."
	textPromise      = "You wrote: \"%s\". When shall I remind you?"
	textPromiseNo    = "noted: you are not asked about that again."
	textPromiseYes   = "Remind me"
	textPromiseOther = "Other time…"
	textNotPromised  = "No"
	textPromiseLate  = "%s has passed; choose another time"
	textPromiseFar   = "%s is more than a year away; choose an earlier time"
	textPromiseRan   = "that reminder has run already"

	textBrought    = "%s was here before this program, and has claude run commands: %s. Look at it before you go on"
	textFileWaits  = " by the agent, for rights it does not have: decide on the card or in the schedule"
	textAnswering  = "the bot is answering"
	textUntrusted  = "%s (made from untrusted text: %s)"
	textNoLogin    = "this engine needs no login"
	textLoggedIn   = "claude is logged in"
	textLogInHere  = "open this address, log in there, and send me the code that it shows: %s"
	textOpenLogin  = "open the address, log in there, and paste the code that it shows"
	textNoShell    = "this program has no command line"
	textReadOnly   = "this viewer is read-only"
	textNotRunning = "the bot is not running here: start it with ollim-bot run"
)

// The texts of a proposed time.
const (
	textZoneTitle   = "Another time zone"
	textZoneWords   = "%s, to %s"
	textZoneMoved   = "This machine is now in %s, where it is %s. Tasks keep the clock of %s until you say otherwise. Should they follow?"
	textZoneTimes   = " The next day, on the clock of %s:"
	textZoneTask    = "%s: at %s as now, at %s if it follows"
	textZoneMore    = "\nand %s"
	textZoneFollow  = "Follow %s"
	textZoneStay    = "Keep %s"
	textZoneStays   = "Tasks keep the clock of %s. To change it at any time: /timezone."
	textZoneFollows = "Tasks follow the clock of %s; the bot restarts for that. To go back: /timezone %s"

	textMoveTitle = "A better time?"
	textMoveYes   = "Change to %s"
	textMoved     = "%s comes at %s from now on."
	textMoveLater = "It stays at %s. I may ask again in four weeks."
	textMoveNever = "It stays at %s. I will not ask about its time again."
	textMoveOther = "the time of %s was changed in the meantime: its cron line is %q now"
)
