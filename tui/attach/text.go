package attach

// Words for people who attach.
const (
	textLocal        = "this machine"
	textNoForwarding = "this is a dashboard: nothing is forwarded here"
	textManySessions = "this connection has enough sessions"
	textBusy         = "ollim-bot is busy: too many connections at once; try again in a few seconds"
	textManyViewers  = "%d viewers have attached already: close one"
	textNoCommand    = "there is: dashboard (or nothing), plain, status [--json]; the first two take --read-only, the dashboard --theme NAME"
	textNoTheme      = "--theme takes %s"
	textNoTerminal   = "the dashboard needs a terminal: leave -T out, or ask for plain"
	textDumb         = "TERM=dumb: this terminal cannot show the dashboard; ask for plain"
	textEnded        = "ollim-bot: the bot has ended"
	textBroke        = "ollim-bot: internal fault, this viewer has ended; the bot keeps running, and its log has the details"
)
