package claude

// What the model reads when a call was refused.
const (
	answerNoRun     = "This call was refused: the session is not ready yet."
	answerGarbled   = "This call was refused: its input could not be read."
	answerFault     = "This call was refused: the check that stands before it failed."
	answerSlow      = "This call was refused: the check that stands before it took too long. Go on without it."
	answerCancelled = "This call was refused: the turn was interrupted."
	answerNobody    = "This call was refused: nobody can be asked for permission here."
	answerAsk       = "the bot's own rules decide about this call"
	answerNoReason  = "This call was refused."
	answerNoAsking  = "AskUserQuestion does not work here. Ask the question in a message instead, and end your turn to wait for the answer."
	answerToolFault = "Error: %s failed inside the bot; nothing is known of what it has done."
	answerNoTool    = "Error: there is no tool %s."
	answerTurnEnds  = "the turn ended here, as this tool says"
	answerNoText    = "(no text)"
)

// What the CLI is told of requests that cannot be answered.
const (
	textUnsupported   = "unsupported control request: %s"
	textUnknownServer = "there is no server of this name"
	textNotConnected  = "the server was not initialized"
	textServerEnded   = "the server has ended"
	textTwice         = "the request id is already in use"
	textUnreadable    = "the message cannot be read"
)

// Words for people about the login.
const (
	textNoLogin       = "no login waits for a code: begin one to get an address"
	textLoginReplaced = "another login was begun: use its address"
	textCodeTwice     = "the code was given already: wait for the answer"
	textHalfCode      = "this is not the whole code: copy it in one piece, with the # and what follows it"
	textNoAddress     = "claude gave no address to log in at within %s: run \"claude auth login\" in a terminal to see why"
	textExchangeSlow  = "claude has not traded the code in within %s: check the network and begin the login again"
	textLoginFailed   = "%s; begin the login again for a new address"
	textLoginEnded    = "claude has ended the login without a word: begin it again for a new address"
	textStillOut      = "claude took the code but is still not logged in: begin the login again"
	textAuthSlow      = "claude did not say within %s how it is logged in: run \"claude auth status\" in a terminal to see why"
	textAuthSaid      = "claude did not say how it is logged in: %s"
	textAuthNonsense  = "claude did not say how it is logged in: is this the Claude command?"
)
