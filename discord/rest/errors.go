package rest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/web"
)

// What a caller can tell apart, with errors.Is.
var (
	// ErrAuth: the token is refused. Every later call fails with it at once.
	ErrAuth = errors.New(textAuth)
	// ErrCannotDM: the user's settings keep the bot out, until the user acts.
	ErrCannotDM = errors.New(textCannotDM)
	// ErrGone: what was named does not exist any more.
	ErrGone = errors.New(textGone)
	// ErrNoChannel: the channel does not exist any more, or never did. A message that
	// was to be changed there may exist elsewhere: it says nothing about that.
	ErrNoChannel = errors.New(textNoChannel)
	// ErrExpired: the interaction's time is over, or it was answered already; for a
	// download, its address is too old.
	ErrExpired = errors.New(textExpired)
	// ErrInvalid: the request itself is wrong; sending it again cannot help.
	ErrInvalid = errors.New(textInvalid)
	// ErrForbidden: the bot lacks a permission.
	ErrForbidden = errors.New(textForbidden)
	// ErrOldEdit: edits of messages older than an hour have a limit of their own;
	// a new message goes through.
	ErrOldEdit = errors.New(textOldEdit)
	// ErrLimited: a limit asks for more patience than the call has; the error is a
	// *LimitedError.
	ErrLimited = errors.New(textLimited)
	// ErrTransient: the network or Discord failed, several times where repeating
	// was safe. A request that must not be repeated may have been carried out.
	ErrTransient = errors.New(textTransient)
	// ErrUnknown stands beside another error of Send: a try was sent and got no
	// answer, so that the message may be there.
	ErrUnknown = errors.New(textUnknown)
	// ErrTooLarge: a download is larger than its caller allows.
	ErrTooLarge = errors.New(textTooLarge)
)

// unknownError is an ErrUnknown in the words of its cause.
type unknownError struct{ error }

// Unknown makes an error an ErrUnknown.
func Unknown(err error) error { return unknownError{err} }

func (unknownError) Is(target error) bool { return target == ErrUnknown }

// Unwrap is the cause.
func (e unknownError) Unwrap() error { return e.error }

// LimitedError says after which time a call can go through: a limit of
// Discord's, or one that concerns every call, since this machine's address is
// turned away or the client itself has stopped asking.
type LimitedError struct {
	After time.Duration
	why   string // with a place for the time; empty is textLimitedFor
}

func (e *LimitedError) Error() string {
	return fmt.Sprintf(cmp.Or(e.why, textLimitedFor), (e.After + time.Second - 1).Truncate(time.Second)) // nobody is told "0s" for a wait
}

// Unwrap makes it an ErrLimited.
func (e *LimitedError) Unwrap() error { return ErrLimited }

// APIError is a refusal in Discord's own words. It unwraps to one of this
// package's errors.
type APIError struct {
	Status int // HTTP
	Code   int // Discord's; 0 where it gave none
	// Message is Discord's sentence, Fields what is wrong with which field
	// ("embeds[0].title: ..."). Both are cleaned and hold no secret.
	Message string
	Fields  []string
	kind    error
}

func (e *APIError) Error() string {
	said := e.Message
	if len(e.Fields) > 0 {
		said = strings.Join(e.Fields, "; ")
	}
	where := "status " + strconv.Itoa(e.Status)
	if e.Code != 0 {
		where = "code " + strconv.Itoa(e.Code)
	}
	if said == "" {
		return fmt.Sprintf("%v (%s)", e.kind, where)
	}
	return fmt.Sprintf("%v (%s: %s)", e.kind, where, said)
}

// Unwrap is the kind.
func (e *APIError) Unwrap() error { return e.kind }

// kinds gives Discord's codes their meaning.
// What is missing is told by its status.
var kinds = map[int]error{
	discordgo.ErrCodeUnknownChannel: ErrNoChannel,
	discordgo.ErrCodeUnknownMessage: ErrGone,

	discordgo.ErrCodeUnknownWebhook:                        ErrExpired, // an interaction's token is over
	discordgo.ErrCodeInvalidWebhookTokenProvided:           ErrExpired,
	discordgo.ErrCodeUnknownInteraction:                    ErrExpired, // more than three seconds old
	discordgo.ErrCodeInteractionHasAlreadyBeenAcknowledged: ErrExpired,
	40094: ErrExpired, // too many follow-ups: a message is the way

	discordgo.ErrCodeCannotSendMessagesToThisUser: ErrCannotDM,
	50278: ErrCannotDM, // no server in common

	discordgo.ErrCodeThisActionCannotBePerformedDueToSlowmodeRateLimit: ErrLimited,
	discordgo.ErrCodeChannelHasHitWriteRateLimit:                       ErrLimited,
	discordgo.ErrCodeOpeningDirectMessagesTooFast:                      ErrLimited,
	40062: ErrLimited, // service resource

	discordgo.ErrCodeMaximumNumberOfEditsToMessagesOlderThanOneHourReached: ErrOldEdit,
	discordgo.ErrCodeAPIResourceIsCurrentlyOverloaded:                      ErrTransient,

	discordgo.ErrCodeUnauthorized:              ErrAuth,
	discordgo.ErrCodeRequestEntityTooLarge:     ErrInvalid,
	discordgo.ErrCodeCannotSendEmptyMessage:    ErrInvalid,
	discordgo.ErrCodeInvalidFormBody:           ErrInvalid,
	discordgo.ErrCodeMissingAccess:             ErrForbidden,
	discordgo.ErrCodeCannotEditFromAnotherUser: ErrForbidden,
	discordgo.ErrCodeMissingPermissions:        ErrForbidden,
}

// refusal reads an answer of the 400s.
func refusal(r reply, bare bool, hide func(string) string) error {
	var said struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Errors  json.RawMessage `json:"errors"`
	}
	// What stands before Discord answers in HTML: the status is all there is then.
	_ = json.Unmarshal(r.body, &said)
	kind := kinds[said.Code]
	switch {
	case errors.Is(kind, ErrLimited):
		return &LimitedError{After: max(web.RetryAfter(r.header), 5*time.Second)}
	case kind != nil && (!bare || !errors.Is(kind, ErrAuth)):
	case r.status == 401: // only an interaction's token comes here
		kind = ErrExpired
	case r.status == 403:
		kind = ErrForbidden
	case r.status == 404 && said.Code != 0:
		kind = ErrGone
	default:
		kind = ErrInvalid
	}
	tidy := func(s string) string { return clean.Cut(clean.Line(hide(s)), 200) }
	e := &APIError{Status: r.status, Code: said.Code, Message: tidy(said.Message), kind: kind}
	for _, f := range fields("", said.Errors, 0) {
		if len(e.Fields) == maxFields {
			e.Fields = append(e.Fields, textAndMore)
			break
		}
		e.Fields = append(e.Fields, tidy(f))
	}
	return e
}

const (
	maxFields = 5  // of a refusal are told
	maxDepth  = 16 // of Discord's nesting is looked into
)

// fields walks Discord's tree of form errors, whose leaves are "_errors", and
// gives each leaf the path to it.
func fields(path string, raw json.RawMessage, depth int) []string {
	var node map[string]json.RawMessage
	if depth > maxDepth || len(raw) == 0 || json.Unmarshal(raw, &node) != nil {
		return nil
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(node)) {
		if name != "_errors" {
			out = append(out, fields(join(path, name), node[name], depth+1)...)
			continue
		}
		var leaves []struct {
			Message string `json:"message"`
		}
		if json.Unmarshal(node[name], &leaves) != nil {
			continue
		}
		for _, leaf := range leaves {
			out = append(out, strings.TrimPrefix(path+": "+leaf.Message, ": "))
		}
	}
	return out
}

func join(path, name string) string {
	if _, err := strconv.Atoi(name); err == nil {
		return path + "[" + name + "]"
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

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
	textStoppedFor = "the bot has stopped asking Discord, which refused 500 requests within ten minutes: again in %s"
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
