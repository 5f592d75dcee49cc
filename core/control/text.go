package control

// What a caller is told. Each says what to do.
const (
	textGarbage  = "this is no request: the socket is for the ollim-bot command"
	textTooLarge = "the command line is longer than %d KiB: shorten it"
	textSlow     = "no request came within %s"
	textUnknown  = "this session has ended, or never was one: commands work while the session that they were started in is open"
	textUnbound  = "this session has not begun yet: try again when it has"
	textNoWay    = "this session takes no commands"
	textFault    = "the command failed with an internal fault: the bot's log says more"

	textGone     = "the bot that started this session has ended, so its commands cannot be run: start the bot again (%w)"
	textNoAnswer = "the bot did not answer: it has ended in the meantime, or the command took longer than %s (%w)"
	textBadWords = "the bot's answer could not be read: is the command as new as the bot? (%w)"

	textNoPlace = "no folder has a path that is short enough for a socket: set TMPDIR to a short one"
)
