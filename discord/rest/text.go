package rest

// What is wrong with an address for OLLIM_DISCORD_API.
const (
	textBadBase    = "not an address: write https://HOST/api/v10, or http://127.0.0.1:PORT/api/v10"
	textOpenBase   = "the bot's token would travel unencrypted: use https, or a loopback address such as 127.0.0.1"
	textBaseScheme = "the address begins with %q: it must be https, or http for a loopback address"
)

// What Discord's refusals mean for the user.
const (
	textAuth = "the bot's token was refused: open the Developer Portal > your application > Bot > Reset Token, " +
		"put the new one into .env as DISCORD_TOKEN, and start the bot again"
	textCannotDM = "unblock the bot, or share a server with it and allow direct messages from that server's members " +
		"(server name > Privacy Settings); then send it a message: Discord does not let it write to you"
	textGone      = "the message is not there any more"
	textNoChannel = "the channel is not there any more"
	textExpired   = "too late: it has expired, or was answered already"
	textLinkGone  = "the attachment's address has expired: fetch its message again for a new one"
	textInvalid   = "not accepted by Discord"
	textForbidden = "not allowed by Discord"
	textOldEdit   = "changes to messages older than an hour are limited: send a new one"
	textTransient = "no good connection to Discord"
	textUnknown   = "nobody knows whether it was carried out"
	textLimited   = "fewer requests are wanted"
	textTooLarge  = "the file is larger than allowed"

	textLimitedFor = "Discord wants fewer requests: again in %s"
	textStoppedFor = "the bot has stopped asking Discord, which refused %d requests within ten minutes: again in %s"
	textBannedFor  = "Discord turns away this machine's address: again in %s"

	textNoAnswer    = "no answer within %s"
	textStatus      = "answered with status %d"
	textNotJSON     = "the answer is not what was asked for"
	textLongAnswer  = "the answer is longer than %d bytes"
	textCutAnswer   = "the answer was cut off"
	textNoCause     = "the connection failed"
	textAndMore     = "and more"
	textNoFileThere = "there is no file at this address"
	textForeign     = "attachments are taken from Discord's own addresses only"
	textNoID        = "an id is missing or is none"
	textNoFile      = "read %s: %w"
	textFilesLarge  = "files of more than 25 MB together do not fit into a message"
)
