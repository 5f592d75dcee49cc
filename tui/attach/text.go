package attach

// Texts for viewers.
const (
	textManyViewers  = "%d viewers are attached already: close one first"
	textOtherVersion = "the bot is version %s and this program is version %s: restart the bot"
	textNotOurs      = "the bot, version %s, does not understand this program: restart the bot"
	textOldBot       = "the bot is of an earlier version, and this program is version %s: restart the bot"
	textOtherUser    = "the bot belongs to another user"
	textNoToken      = "the token is wrong: the bot may just have started; try again"
	textNoTerminal   = "this is no terminal: use --plain for lines"
	textDumb         = "TERM=dumb: this terminal cannot show the dashboard; use --plain for lines"
	textEnded        = "the bot has ended"
	textBroke        = "internal fault, this viewer has ended; the bot keeps running, and its log has the details"
	textLooksOnly    = "a viewer that may only look opens nothing"

	textPaused = "ollim-bot: suspended until fg; the bot keeps running\r\n"
	textLost   = "ollim-bot: the connection to %s is lost; ctrl+c stops reconnecting\n"
	textWaits  = "\r\x1b[Kollim-bot: reconnecting in %d s, r to retry now"
)
