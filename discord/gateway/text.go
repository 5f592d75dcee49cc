package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/gorilla/websocket"

	"ollimbot/core/base/clean"
)

// Every word of this package that a person may read.
const (
	textLost        = "the connection to Discord was lost (%s)"
	textSilent      = "Discord did not let the bot in within %v"
	textZombie      = "Discord did not answer a heartbeat: the connection is dead"
	textReconnect   = "Discord asked the bot to reconnect"
	textInvalid     = "Discord no longer knows the session"
	textNonsense    = "Discord sent something that makes no sense (%s)"
	textUnreachable = "Discord cannot be reached (%s)"
	textLeft        = "the bot has left Discord"
	textClosed      = "Discord closed the connection (%d%s)"

	textManyStarts = "Discord refused several sessions in a row: the next one is started a little later"
	textFewStarts  = "only %d of the day's session starts are left at Discord: waiting until it counts anew"

	textNoName    = "its address cannot be looked up; is this machine online?"
	textRefused   = "connection refused"
	textNoNetwork = "there is no way to it; is this machine online?"
	textHandshake = "it did not answer like a Discord gateway"
	textTimeout   = "it does not answer"
	textBadProxy  = "HTTPS_PROXY is no address"
	textPlain     = "the gateway's address is not encrypted"

	textBadAddress = "the gateway's address is none"

	textNoGreeting = "its answer is not a gateway's"

	textBadHello  = "its greeting asks for a heartbeat every %d ms"
	textBadPacket = "a packet is not what it should be"
	textTooLong   = "a packet of more than %d bytes"
)

// textWatching is what stands below the bot's name.
const textWatching = "your DMs"

// stopSentences say for each permanent close code what to change, and where.
var stopSentences = map[int]string{
	4004: "Discord refuses the bot's token (4004). In the Developer Portal open the application, Bot > Reset Token, " +
		"put the new one into DISCORD_TOKEN in .env, and start the bot again",
	4010: "Discord refuses the shard that the bot names (4010). This is a fault of the program: update it, and report it if that does not help",
	4011: "Discord wants the bot to be split into shards (4011), which happens beyond 2,500 servers. " +
		"Remove the bot from servers in their Server Settings > Integrations; one private server is enough",
	4012: "Discord no longer accepts the gateway version that the bot speaks (4012): update the program",
	4013: "Discord does not understand the intents that the bot asks for (4013). " +
		"This is a fault of the program: update it, and report it if that does not help",
	4014: "Discord does not grant an intent that the bot asks for (4014). In the Developer Portal open the application, " +
		"Bot > Privileged Gateway Intents, switch on Message Content Intent, and start the bot again",
}

// codeNames say what the other close codes mean, as Discord's table does.
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

// briefRunes is what a person reads of an error at most.
const briefRunes = 160

// brief is an error in a few words.
func brief(err error) string {
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		return textNoName
	case errors.Is(err, syscall.ECONNREFUSED):
		return textRefused
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return textNoNetwork
	case errors.Is(err, websocket.ErrBadHandshake):
		return textHandshake
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return textTimeout
	}
	text := clean.Line(err.Error())
	if i := strings.LastIndex(text, ": "); i >= 0 && len(text) > briefRunes {
		text = text[i+2:]
	}
	return clean.Cut(text, briefRunes)
}
