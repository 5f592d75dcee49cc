package core

// Words for people.
const (
	textAsBatch          = "handed in as a batch: its report comes within a day"
	textFiredAsBatch     = "%s is handed in as a batch: its report arrives within a day"
	textTaskGone         = "its task was deleted or no longer allows waiting"
	textBatchFailed      = "%s has no answer: %s"
	textScreenNoTools    = "do not use tools; answer with the JSON object only"
	textNoWebhook        = "no webhook has the id %q: ollim-bot webhook list shows the ids"
	textFileWaits        = "%s is on hold until you approve it: %s Press y on it in the schedule, or run `ollim-bot allow`."
	textWaitsAgain       = "%s waits for you again"
	textOtherVersion     = "%s has changed since you saw it: look again before you allow it"
	textNotWaiting       = "%s does not wait for you"
	textAllowed          = "%s may do what its file says"
	textNothingWaits     = "nothing named %q is waiting for approval; `ollim-bot allow` lists what is"
	textWaits            = "waits for you: %s"
	textSkillWaits       = "this skill is not used until you approve it: %s. Press y on it in the schedule, or run `ollim-bot allow`."
	textWebhookWaits     = "webhook %s waits for its user: %s"
	textNoLogin          = "this engine needs no login"
	textLoggedIn         = "claude is logged in"
	textOpenLogin        = "open the address, log in there, and paste the code that it shows"
	textChatHere         = "chat here"
	textRunHeld          = "%s: held until %s"
	textForegroundFailed = "%q could not finish: %v"
	textReadOnly         = "this viewer is read-only: nothing can be changed here"
	textNotRunning       = "the bot does not run here: start it with ollim-bot run"

	textToday      = "today"
	textThisMonth  = "this month"
	textCapSpent   = "%s of your %s cap for %s is used"
	textCapAsk     = "Keep going past the cap today?"
	textCapAskMore = "%s. Allow: the conversation goes on for today. Deny: it waits until the cap is over. " +
		"Background runs are held either way; /lift lets them go on too."
	textCapNo         = "%s, and you said that the conversation waits: /lift goes on above the cap today, /config daily_cap and /config monthly_cap change it"
	textCapUnanswered = "%s, and you did not answer: send another message to be asked again"
	textNoCaps        = "there are no caps: /config daily_cap 5 sets one"
	textLifted        = "the caps are lifted for today"
	textCapsBack      = "spending caps are active again"
	textCapBelow      = "%s has cost %s, and the cap would be %s: background runs would be held until %s but critical ones, " +
		"and the conversation would ask"

	textGoogleOff    = "google is not connected (%s)"
	textGoogleGone   = "it no longer exists"
	textDayFailed    = "the day at Google is not all there: %v"
	textGoogleIs     = "google %s."
	textGoogleFailed = "google auth failed: %v"
	textGoogleOpen   = "Open this address and say yes, within five minutes: %s\n\n" +
		"If the browser ends on a page that it cannot open, send me the address of that page."
	textTheUser      = "The user"
	textAnswered     = "%s (%s)"
	textNoLonger     = "no longer pending"
	textLastTime     = "this was the last reminder"
	textNever        = "it never reached the user"
	textSinceFirst   = "it reached the user %d times since %s"
	textStopped      = "The reminder %q (%s) was not done and has stopped coming back: %s. Ask whether it still matters, and propose another time."
	textOpenAgain    = "The reminder %q (%s) is pending again: it was restored."
	textTaskDone     = "Button: the user completed the task %q."
	textTaskDeleted  = "Button: the user deleted the task %q."
	textEventDeleted = "Button: the user deleted the event %q."

	// What is done to the schedule and the budget from a dashboard.
	textNothingPending = "no update is pending: there is nothing to deliver"
	textDirBack        = "the data directory is back; the bot goes on"
)

// What the model reads of runs that may wait.
const (
	promptMayWait = "\n\nThis run may wait and is one request: you have no tools and nobody answers. " +
		"Whatever is said above about tools, pings and reports does not count here. What you write now is the report, all of it; begin with what matters most."
	updateFromBatch = "%s (handed in %s, answered as a batch): %s"
)
