package gateway

import (
	"fmt"
	"strings"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/web"
)

// Texts for the user.
const (
	textLost        = "the connection to Discord was lost (%s)"
	textSilent      = "Discord did not let the bot in within %v"
	textZombie      = "Discord did not answer a heartbeat: the connection is dead"
	textReconnect   = "Discord asked the bot to reconnect"
	textInvalid     = "Discord no longer knows the session"
	textNonsense    = "Discord sent invalid data (%s)"
	textUnreachable = "Discord cannot be reached (%s)"
	textLeft        = "the bot has left Discord"
	textClosed      = "Discord closed the connection (%d%s)"

	textManyStarts = "Discord refused several sessions in a row: the next one starts a little later"
	textApart      = "a new session starts five seconds after the last one"
	textFewStarts  = "Discord allows only %d more session starts today: waiting for its daily reset"

	textBadProxy = "HTTPS_PROXY is not a valid address"
	textPlain    = "the gateway's address is not encrypted"

	textBadAddress = "the gateway's address is invalid"

	textNoGreeting = "it did not answer like a gateway"

	textBadHello  = "its greeting asks for a heartbeat every %d ms"
	textBadPacket = "a malformed packet"
	textTooLong   = "a packet of more than %d bytes"
)

// textWatching is shown below the bot's name.
const textWatching = "your DMs"

// textCustom is the required name of a custom status, which is not shown.
const textCustom = "Custom Status"

// stopSentences are the messages for permanent close codes: what to change, and where.
var stopSentences = map[int]string{
	4004: "Discord refuses the bot's token (4004). In the Developer Portal open the application, Bot > Reset Token, " +
		"set DISCORD_TOKEN in .env to the new token, and restart the bot",
	4010: "Discord refuses the bot's shard number (4010). This is a bug in the program: update it, and report it if that does not help",
	4011: "Discord requires sharding (4011), because the bot is on more than 2,500 servers. " +
		"Remove the bot from servers in their Server Settings > Integrations; one private server is enough",
	4012: "Discord no longer accepts the bot's gateway version (4012): update the program",
	4013: "Discord does not understand the bot's intents (4013). " +
		"This is a bug in the program: update it, and report it if that does not help",
	4014: "Discord does not grant one of the bot's intents (4014). In the Developer Portal open the application, " +
		"Bot > Privileged Gateway Intents, switch on Message Content Intent, and restart the bot",
}

// codeNames are the meanings of the other close codes, from Discord's table.
var codeNames = map[int]string{
	4000: "unknown error",
	4001: "unknown opcode",
	4002: "decode error",
	4003: "not authenticated",
	4005: "already authenticated",
	4007: "invalid sequence",
	4008: "sent too fast",
	4009: "session timed out",
}

func closeSentence(code int) string {
	if s, ok := stopSentences[code]; ok {
		return s
	}
	name := codeNames[code]
	if name != "" {
		name = ", " + name
	}
	return fmt.Sprintf(textClosed, code, name)
}

// briefRunes limits the shown part of an error.
const briefRunes = 160

// brief shortens an error for people.
func brief(err error) string {
	if words := web.Trouble(err); words != "" {
		return words
	}
	text := clean.Line(err.Error())
	if i := strings.LastIndex(text, ": "); i >= 0 && len(text) > briefRunes {
		text = text[i+2:]
	}
	return clean.Cut(text, briefRunes)
}
