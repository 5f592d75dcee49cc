package control

// Errors for the caller. Each includes the cure.
const (
	textGarbage  = "this is not a request: only the ollim-bot command makes requests"
	textTooLarge = "the command line is longer than %d KiB: shorten it"
	textSlow     = "no request arrived within %s"
	textUnknown  = "this session has ended or is unknown: commands work while their session is open"
	textNoWay    = "this session does not accept commands"
	textFault    = "the command failed with an internal fault: see the bot's log"

	textGone     = "the session has ended or its bot has stopped, so its commands cannot run: start the bot again (%w)"
	textNoAnswer = "the bot did not answer: it stopped, or the command took longer than %s (%w)"
	textBadWords = "the bot's answer could not be read: the command and the bot may have different versions (%w)"

	textNoPlace = "no folder is suitable for the sockets of commands: set TMPDIR to a folder on a local disk, with a short path"
)
