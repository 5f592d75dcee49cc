package attach

// Texts for viewers.
const (
	textNoForwarding = "this server forwards nothing"
	textManySessions = "this connection has too many sessions"
	textBusy         = "ollim-bot is busy: too many connections at once; try again in a few seconds"
	textManyViewers  = "%d viewers are attached already: close one first"
	textLess         = "your key may do less now than when you attached; attach again"
	textNoCommand    = "choose dashboard (the default), plain or status [--json]; the first two take --read-only, the dashboard --theme NAME"
	textNoTerminal   = "the dashboard needs a terminal: leave -T out, or ask for plain"
	textDumb         = "TERM=dumb: this terminal cannot show the dashboard; ask for plain"
	textEnded        = "ollim-bot: the bot has ended"
	textBroke        = "ollim-bot: internal fault, this viewer has ended; the bot keeps running, and its log has the details"
)
