package claude

// User-visible errors. Each includes the cure.
const (
	textNotRunning = "the Claude engine is not running: sessions can be opened while the bot runs"
	textInUse      = "the session %s is already open: close it first"

	textSlow     = "claude has not answered for %s: if it stays silent, run \"%s\" in a terminal to see why"
	textOutside  = "%s works outside of the sandbox only (%v): it is a script that starts something else; set OLLIM_CLAUDE to the program that it starts"
	textSilent   = "claude did not answer within %s: run \"%s\" in a terminal to see why"
	textNonsense = "claude ended before it answered and printed no protocol: is %s the Claude command?"
	textAtOnce   = "claude ended before it answered: %w"
	textRefused  = "claude refused to start: %s"

	textGone      = "the Claude process has ended"
	textGoneSaid  = "the Claude process has ended: %s"
	textNoResume  = "the Claude process has ended, and the session could not be resumed: %w"
	textStalled   = "claude said nothing for %s, so the turn was ended: try again"
	textDeaf      = "claude did not stop when it was interrupted, so its process was ended: the next message starts another"
	textTooMuch   = "the Claude process used %s, more than the limit of %s, and was ended: raise it with /config claude_memory_limit"
	textThinking  = "%.40q is not a thinking setting: use off, adaptive or a number of tokens"
	textUntried   = "claude %s is newer than the versions tested with this program (%s to %s): if something goes wrong, install %[3]s"
	textLoggedOut = "not logged in to Claude: log in with its button, or with L in the dashboard"
)

// Texts of the turn's events.
const (
	textBadKey       = "Claude does not accept the credentials: correct ANTHROPIC_API_KEY on the bot's computer, or log in"
	textLongPrompt   = "the conversation is too long for the model: shorten it with /compact"
	textNoMoney      = "the account has no money left: add some in the provider's console (%s)"
	textNoWords      = "Claude ended the turn with an error and gave no reason"
	textNotCompacted = "the history could not be compacted: %s"
	textFallback     = "the model was switched to %s"
	textRefusal      = "the model refused to answer"
	textSubagent     = "subagent"
	textNoConnection = "no connection"
	textStatus       = "status %d"
	textNoReason     = "no reason was given"
)

// reasons maps the CLI's classes of failed requests to plain words.
var reasons = map[string]string{
	"overloaded":            "overloaded",
	"rate_limit":            "rate limit",
	"server_error":          "server error",
	"authentication_failed": "not logged in",
	"billing_error":         "billing",
	"invalid_request":       "request refused",
	"model_not_found":       "no such model",
	"max_output_tokens":     "answer too long",
}

// Texts for the model when a call was refused.
const (
	answerAsk      = "the bot's own rules decide about this call"
	answerNoAsking = "AskUserQuestion does not work here. Ask the question in a message instead, and end your turn to wait for the answer."
	answerTurnEnds = "the turn ended here, as this tool says"
	answerNoText   = "(no text)"
)

// Errors for the CLI's requests that cannot be answered.
const (
	textUnsupported   = "unsupported control request: %s"
	textUnknownServer = "there is no server of this name"
	textNoMethod      = "there is no such method"
	textNoTool        = "there is no tool %s"
	textServerEnded   = "the server has ended"
	textNotGranted    = "this call was not approved"
	textTwice         = "the request id is already in use"
	textUnreadable    = "the message cannot be read"
)

// User-visible texts about the login.
const (
	textNoLogin       = "no login is waiting for a code: start one to get an address"
	textLoginReplaced = "another login was started: use its address"
	textCodeTwice     = "a code was already given: wait for the answer"
	textHalfCode      = "this is not the complete code: copy it in one piece, with the # and what follows it"
	textNoAddress     = "claude printed no login address within %s: run \"claude auth login\" in a terminal to see why"
	textExchangeSlow  = "claude did not exchange the code within %s: check the network and start the login again"
	textLoginFailed   = "%s; start the login again for a new address"
	textLoginEnded    = "claude ended the login and gave no reason: start it again for a new address"
	textStillOut      = "claude accepted the code but is still not logged in: start the login again"
	textAuthSlow      = "claude did not report its login status within %s: run \"claude auth status\" in a terminal to see why"
	textAuthSaid      = "claude did not report its login status: %s"
	textAuthNonsense  = "claude did not report its login status: is this the Claude command?"
)
