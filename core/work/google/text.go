package google

import "fmt"

// sentence is an error that people read as it stands.
type sentence string

func (s sentence) Error() string { return string(s) }

// says is an error in the words of this file.
func says(format string, args ...any) error { return sentence(fmt.Sprintf(format, args...)) }

// Words for people.
const (
	textNotLoopback = "OLLIM_GOOGLE_API %q is not an address of this machine: it is for tests; leave it out"
	textNoApp       = "there is no %s: make a client of your own at console.cloud.google.com, as ollim-bot help google explains, " +
		"and give its file to ollim-bot auth google --client FILE"
	textBadApp      = "%s is not a client file of Google's (%s): download it again, as ollim-bot help google explains"
	textWrongApp    = "%s is a client of the kind %q: make one of the type \"Desktop app\", as ollim-bot help google explains"
	textLogIn       = "log in with ollim-bot auth google"
	textDamaged     = "%s is damaged: log in again with ollim-bot auth google"
	textLapsed      = "Google takes the login no more (it was revoked, or it is too old): log in again with ollim-bot auth google"
	textNoClient    = "Google does not know the client any more: make a new one (ollim-bot help google) and log in again with ollim-bot auth google"
	textReach       = "Google cannot be reached (%s): see whether this machine is on the net; it is tried again with the next command"
	textPatience    = "Google asks to wait %s: try again then"
	textNotAllowed  = "you have not allowed this for %s: ollim-bot auth google%s asks you"
	textSwitchedOff = "this API is not switched on in your Google project: enable it at console.cloud.google.com (ollim-bot help google)"
	textQuota       = "the quota of your Google project is used up: try again tomorrow"
	textRefused     = "Google refused it (%d): %s"
	textLost        = "the answer was lost, and whether it was done is not known: look before you repeat it (%w)"
	textCalendar    = "calendar %s: %w"
	textNoLogin     = "no login is under way, or this one is over: begin with ollim-bot auth google"
	textNotOurs     = "this is not the address that Google sent the browser to: copy all of it, from http://127.0.0.1 on"
	textSaidNo      = "the login was ended at Google (%s): nothing was changed"
	textNoRefresh   = "Google gave no lasting login: remove the access of this client at myaccount.google.com/connections, then log in again"
	textCode        = "Google did not take the code of this login (%s): begin anew with ollim-bot auth google"
	textNotRevoked  = "the login was removed here; Google could not be told (%s): end it at myaccount.google.com/connections"

	pageDone   = "Authentication complete. You can close this page."
	pageFailed = "Authentication failed. ollim-bot says why."
)
