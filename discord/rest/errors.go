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

// Errors that callers distinguish with errors.Is.
var (
	// ErrAuth: the token was refused. Every later call fails with it at once.
	ErrAuth = errors.New(textAuth)
	// ErrCannotDM: the user's settings exclude the bot until the user changes them.
	ErrCannotDM = errors.New(textCannotDM)
	// ErrGone: the message or reaction no longer exists.
	ErrGone = errors.New(textGone)
	// ErrNoChannel: the channel does not exist. A message to edit there may still exist in
	// another one.
	ErrNoChannel = errors.New(textNoChannel)
	// ErrExpired: the interaction has expired or was answered already; for a download, its
	// address has expired.
	ErrExpired = errors.New(textExpired)
	// ErrInvalid: the request itself is wrong; repeating it cannot help.
	ErrInvalid = errors.New(textInvalid)
	// ErrForbidden: the bot lacks a permission.
	ErrForbidden = errors.New(textForbidden)
	// ErrOldEdit: edits of messages older than an hour have their own limit; a new message
	// can be sent.
	ErrOldEdit = errors.New(textOldEdit)
	// ErrLimited: a rate limit lasts longer than the call may wait. The error is a *LimitedError.
	ErrLimited = errors.New(textLimited)
	// ErrTransient: the network or Discord failed, repeatedly if repeating was safe. A request that must not be repeated
	// may have been executed.
	ErrTransient = errors.New(textTransient)
	// ErrUnknown accompanies another error of Send: a try was sent and not answered, so the
	// message may exist.
	ErrUnknown = errors.New(textUnknown)
	// ErrTooLarge: a download is larger than the caller allows.
	ErrTooLarge = errors.New(textTooLarge)
)

// unknownError is an ErrUnknown with the text of its cause.
type unknownError struct{ error }

// Unknown marks an error as ErrUnknown.
func Unknown(err error) error { return unknownError{err} }

func (unknownError) Is(target error) bool { return target == ErrUnknown }

// Unwrap returns the cause.
func (e unknownError) Unwrap() error { return e.error }

// LimitedError says when a call can succeed. The limit is Discord's, or applies to all calls because Discord has
// blocked this machine's address or the client has stopped itself.
type LimitedError struct {
	After time.Duration
	why   string // format with a place for the time; empty is textLimitedFor
}

func (e *LimitedError) Error() string {
	return fmt.Sprintf(cmp.Or(e.why, textLimitedFor), (e.After + time.Second - 1).Truncate(time.Second)) // rounded up: "0s" would be odd
}

// Unwrap makes it an ErrLimited.
func (e *LimitedError) Unwrap() error { return ErrLimited }

// APIError is a refusal with Discord's own message. It unwraps to one of this package's
// errors.
type APIError struct {
	Status int // HTTP
	Code   int // Discord's; 0 if there is none
	// Message is Discord's sentence, Fields its messages about form fields
	// ("embeds[0].title: ..."). Both are cleaned and contain no secret.
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

// Answered reports whether an interaction already had an answer. If this was the first try, another program sent that
// answer.
func Answered(err error) bool {
	var said *APIError
	return errors.As(err, &said) && said.Code == discordgo.ErrCodeInteractionHasAlreadyBeenAcknowledged
}

// Unwrap returns the kind.
func (e *APIError) Unwrap() error { return e.kind }

// kinds maps Discord's error codes. The status decides about all others.
var kinds = map[int]error{
	discordgo.ErrCodeUnknownChannel: ErrNoChannel,
	discordgo.ErrCodeUnknownMessage: ErrGone,

	discordgo.ErrCodeUnknownWebhook:                        ErrExpired, // an interaction's token is over
	discordgo.ErrCodeInvalidWebhookTokenProvided:           ErrExpired,
	discordgo.ErrCodeUnknownInteraction:                    ErrExpired, // more than three seconds old
	discordgo.ErrCodeInteractionHasAlreadyBeenAcknowledged: ErrExpired,
	40094: ErrExpired, // too many follow-ups: send a message instead

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

// refusal reads an answer with a status of the 400s.
func refusal(r reply, bare bool, hide func(string) string) error {
	var said struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Errors  json.RawMessage `json:"errors"`
	}
	// A proxy in front of Discord answers in HTML: then only the status is known.
	_ = json.Unmarshal(r.body, &said)
	kind := kinds[said.Code]
	switch {
	case errors.Is(kind, ErrLimited):
		return &LimitedError{After: max(web.RetryAfter(r.header), 5*time.Second)}
	case kind != nil && (!bare || !errors.Is(kind, ErrAuth)):
	case r.status == 401: // only an interaction's token can be refused here
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
	maxFields = 5  // shown of a refusal
	maxDepth  = 16 // of Discord's nested errors
)

// fields walks Discord's tree of form errors and prefixes each message, a leaf below
// "_errors", with its path.
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

// Errors in OLLIM_DISCORD_API.
const (
	textBadBase    = "not an address: write https://HOST/api/v10, or http://127.0.0.1:PORT/api/v10"
	textOpenBase   = "the bot's token would be sent unencrypted: use https, or a loopback address such as 127.0.0.1"
	textBaseScheme = "the address begins with %q: it must be https, or http for a loopback address"
)

// Discord's refusals, for the user.
const (
	textAuth = "the bot's token was refused: open the Developer Portal > your application > Bot > Reset Token, " +
		"set DISCORD_TOKEN in .env to the new token, and restart the bot"
	textCannotDM = "unblock the bot, or share a server with it and allow direct messages from that server's members " +
		"(server name > Privacy Settings); then send it a message: Discord does not let it write to you"
	textGone      = "the message no longer exists"
	textNoChannel = "the channel no longer exists"
	textExpired   = "too late: it has expired or was already answered"
	textLinkGone  = "the attachment's address has expired: fetch its message again for a new one"
	textInvalid   = "not accepted by Discord"
	textForbidden = "not allowed by Discord"
	textOldEdit   = "edits of messages older than an hour are limited: send a new one"
	textTransient = "the connection to Discord failed"
	textUnknown   = "it is unknown whether Discord carried it out"
	textLimited   = "the rate limit of Discord was reached"
	textTooLarge  = "the file is larger than allowed"

	textLimitedFor = "Discord's rate limit was reached: retrying is possible in %s"
	textStoppedFor = "the bot paused its requests because Discord refused 500 of them within ten minutes: it resumes in %s"
	textBannedFor  = "Discord has blocked this machine's address: retrying is possible in %s"

	textNoAnswer    = "no answer within %s"
	textStatus      = "answered with status %d"
	textNotJSON     = "the answer has an unexpected form"
	textLongAnswer  = "the answer is longer than %d bytes"
	textCutAnswer   = "the answer was cut off"
	textNoCause     = "the connection failed"
	textAndMore     = "and more"
	textNoFileThere = "no file exists at this address"
	textForeign     = "attachments are downloaded only from Discord's own addresses"
	textNoID        = "an ID is missing or invalid"
	textNoFile      = "read %s: %w"
	textFilesLarge  = "the files of one message may have at most 25 MB together"
)
