package discord

// Texts for the user. Notices are short, in lower case and without jargon.
const (
	textNoToken    = "the Discord token is missing: put it into .env as DISCORD_TOKEN (ollim-bot init asks for it)"
	textBadOwnerID = "OLLIM_OWNER_ID is not a user ID: in Discord turn on Settings > Advanced > Developer Mode, " +
		"then right-click your own name > Copy User ID"
	textNoOwner = "Discord does not say who owns the bot's application: put your own user ID into .env as OLLIM_OWNER_ID, " +
		"and restart the bot"
	textWrongOwner = "Discord cannot open direct messages with user %s: check OLLIM_OWNER_ID in .env, and restart the bot"

	textHello    = "%s is here."
	textFarewell = "%s is going offline."

	textConnecting = "connecting"
	textUp         = "up"
	textUpIn       = "up %d ms"
	textDown       = "down since "
	textDownSince  = textDown + "%s: %s"
	textTrying     = "; the bot keeps trying"
	textStopped    = "stopped: %s"
	textBusy       = "your DMs (busy with one)"
	textMuted      = "the clock: pings are muted until %s"
	textNoAnswer   = "it does not answer"
	textLooking    = "Discord cannot be reached"

	textEmptyPost  = "there is nothing to send"
	textStoppedAt  = "discord has stopped (%s)"
	textLargeFile  = "%s has %.1f MB, but Discord accepts 10 MB a file. Send a smaller one, or put it where the user can download it"
	textNoFile     = "%s can no longer be read: %w"
	textNotAsked   = "\n-# *no longer asked: the bot was restarted*"
	textCutShort   = "\n-# *cut short: the bot was ended here. ask again for the rest.*"
	textAnswerFile = "answer.md"
	textCutAnswer  = "\n-# cut here; the dashboard has the full text"
	textLostWords  = "that message could not be received: %s"
	textMissed     = "messages from while I was away could not be read: %s"
	textRival      = "Another program uses the bot's token" // a headline
	textRivalCure  = "stop the other program, or give it its own bot"
	textRivalFirst = "another program has used the bot's token since %s, so this one is quiet: stop that one and restart this one, " +
		"or give one of them its own bot"
	textUnread     = "one of your messages has a form that this version cannot read: send it again in other words"
	textLoginWrong = "the login did not work: %s"
	textLogIn      = "Log in"

	textNotAuthorized = "not authorized."
	textNotHere       = "only in our direct messages."
	textTooMuch       = "too much at once: try again in a moment."
	textStopping      = "the bot is stopping: try again when it is back."
	textNotInVersion  = "/%s is not in this version yet."
	textKeyFirst      = "choose a key for that value."
	textCorrect       = "Correct it…"
	textUndo          = "Undo"
	textNotUndone     = "that can no longer be undone with this button, because much has happened since: " +
		"/status and /config show how things are now, and change them"
	textFormGone    = "what was typed into that form is no longer there: open it again, with /setup, /config, /remind or a button of /status"
	textDone        = "done."
	textTooLate     = "%s did not arrive in time and was not carried out: try again."
	textNotPromised = "%s could not be answered (%s) and was not carried out: try again."
	textLateReply   = "%s: %s"
	textAButton     = "that button"
	textAForm       = "that form"
	textAboutHint   = "what you want to be reminded of"
	textOdd         = "something went wrong"

	textForwardedLabel = "a forwarded message" // begins a label
	textNotHeard       = "[not transcribed: %s]"
	textHeardLater     = "[its words are still being transcribed; they follow as a message]"
	textLaterWords     = "[the words of the earlier voice message]\n"
	textTellNotHeard   = "your voice message was saved, but not transcribed: %s."

	textLeftOut      = "\n[attachment %s was left out: %s]"
	textTooManyFiles = "\n[%d more attachments were left out: a message may have %d]"
	whyLarge         = "it is larger than 25 MB"
	whyTogether      = "the attachments are larger than 50 MB together"
	whyForeign       = "its address is not one of Discord's"
	whyExpired       = "Discord no longer has it"
	whyNetwork       = "the download failed"
)

// Findings of a check, and what to do about them.
const (
	textCheckToken          = "the token could not be checked: %s"
	textCheckRefused        = "Discord does not know this token"
	textCheckApp            = "the bot's application could not be looked up: %s"
	textCheckBot            = "the bot is %q, of the application %q"
	textCheckUserInstall    = "users can install its commands"
	textCheckNoUserInstall  = "users cannot install its commands, so /model and the others stay hidden"
	textCheckNoGuildInstall = "it cannot be added to a server, and it must share one with its owner to write to them"
	textCheckPublic         = "anyone may add the bot to a server, but it obeys only its owner"
	textCheckGateway        = "the gateway, which delivers messages, cannot be used: %s"
	textCheckFewStarts      = "only %d of the day's session starts are left: after the last one Discord resets the token"
	textCheckGatewayFine    = "the gateway answers; %d session starts are left today"
	textCheckNoOwner        = "the owner of the bot is unknown, and it obeys only its owner"
	textCheckOwner          = "it obeys the user %s, who owns the application"
	textCheckTeamOwner      = "it obeys the user %s, who owns the application's team"
	textCheckChosenOwner    = "it obeys the user %s, as OLLIM_OWNER_ID says"
	textCheckShutOut        = "the bot may not write to its owner"
	textCheckNobody         = "no user has the owner's ID"
	textCheckDM             = "the direct messages with the owner could not be opened: %s"
	textCheckWrote          = "it has written to its owner"
	textCheckOpened         = "the direct messages with its owner are open; to test whether it may write there, run ollim-bot init --hello"

	textNewToken = "Developer Portal (https://discord.com/developers/applications) > your application > Bot > Reset Token, " +
		"then copy the new token"
	textTryAgain        = "check the network and try again"
	textAddUserInstall  = "Developer Portal > your application > Installation: tick User Install"
	textAddGuildInstall = "Developer Portal > your application > Installation: tick Guild Install"
	textMakePrivate     = "to keep others from adding it: Developer Portal > your application > Installation > Install Link: None, Save Changes; " +
		"then Bot > Public Bot: off, Save Changes"
	textWaitFor     = "wait %s before starting the bot again"
	textShareServer = "add the bot to one of your private servers with the link below, allow direct messages from that server's members " +
		"(server name > Privacy Settings), and write to it once"
)
