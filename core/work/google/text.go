package google

import "fmt"

// sentence is an error written for people.
type sentence string

func (s sentence) Error() string { return string(s) }

// says makes an error of a text in this file.
func says(format string, args ...any) error { return sentence(fmt.Sprintf(format, args...)) }

// User-visible texts.
const (
	// textCharset precedes a text whose characters are not known.
	textCharset = "[The charset of this text is not known (%s), so some characters may be wrong.]\n"

	textNotLoopback = "OLLIM_GOOGLE_API %q is not an address of this machine; it is for tests only, so unset it"
	textNoApp       = "there is no client: create your own client at console.cloud.google.com and connect it on the bot's machine, " +
		"as its guide to Google explains"
	textBadApp      = "this is not a Google client file (%s): download it again"
	textWrongApp    = "this is a client of type %q: create one of type \"Desktop app\""
	textLogIn       = "log in with /google-auth"
	textDamaged     = "the login is damaged: log in again with /google-auth"
	textLapsed      = "Google no longer accepts the login (it was revoked or has expired): log in again with /google-auth"
	textNoClient    = "Google no longer knows the client: create a new one, as its guide to Google explains, and log in again with /google-auth"
	textReach       = "Google cannot be reached (%s): check this machine's internet connection; the next command tries again"
	textStranger    = "something else answered in place of Google (%s): this network may want you to log in to it first, in a browser"
	textPatience    = "Google asks you to wait %s; try again then"
	textNotAllowed  = "you have not allowed access to %s: allow it with /google-auth%s"
	textSwitchedOff = "this API is not enabled in your Google project: enable it at console.cloud.google.com"
	textQuota       = "the quota of your Google project is used up: try again tomorrow"
	textRefused     = "Google refused the request (%d): %s"
	textLost        = "the answer of Google was lost, so the change may or may not have been made; check before you repeat it (%w)"
	textCalendar    = "calendar %s: %w"
	textNotThere    = "Google has no such calendar, or this account may not see it"
	textNotAmong    = "is not among the calendars of the setting google_calendars (%s); write one of these names, or the calendar's id"
	textNoLogin     = "no login is in progress, or it has expired: start one with /google-auth"
	textNotOurs     = "this is not the address that Google sent the browser to: copy all of it, starting with http://127.0.0.1"
	textSaidNo      = "the login was cancelled at Google (%s); nothing changed"
	textNoRefresh   = "Google granted no permanent login: remove this client's access at myaccount.google.com/connections, then log in again"
	textCode        = "Google did not accept the code of this login (%s): start again with /google-auth"
	textNotRevoked  = "the login was removed here, but Google could not be informed (%s): remove it at myaccount.google.com/connections"

	pageDone   = "Authentication complete. You can close this page."
	pageFailed = "Authentication failed. ollim-bot shows the reason."
)

// Text of the Account.
const (
	textDayFailed    = "the day at Google is not all there: %v"
	textEventDeleted = "Button: the user deleted the event %q."
	textGoogleFailed = "google auth failed: %v"
	textGoogleGone   = "it no longer exists"
	textGoogleIs     = "google %s."
	textTasksOff     = "there is no connection to Google Tasks: connect it with /google-auth"
	textTaskAdded    = "added to your tasks: %s"
	textNoTaskWords  = "that message has no words to make a task of"
	textForeignNotes = "[untrusted: not the user's own words]\n"
	textTaskThere    = "that task exists already: %s"
	textGoogleFirst  = "Google is not set up yet: create your own client there once, on the computer of the bot, as its guide to Google explains " +
		"(ten minutes). Then send /google-auth again."
	textGoogleOff  = "google is not connected (%s)"
	textGoogleOpen = "Open this address and say yes, within five minutes: %s\n\n" +
		"If the browser ends on a page that it cannot open, send me the address of that page."
	textTaskDeleted = "Button: the user deleted the task %q."
	textTaskDone    = "Button: the user completed the task %q."
)
