package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/clean"
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

// LimitedError says after which time a call can go through.
type LimitedError struct {
	After time.Duration
	// Stopped is true when the client itself stops, because too many requests were
	// refused: Discord bans an address at ten thousand within ten minutes.
	Stopped bool
}

func (e *LimitedError) Error() string {
	if e.Stopped {
		return fmt.Sprintf(textStoppedFor, maxRefused, seconds(e.After))
	}
	return fmt.Sprintf(textLimitedFor, seconds(e.After))
}

// Unwrap makes it an ErrLimited.
func (e *LimitedError) Unwrap() error { return ErrLimited }

// BanError is a refusal by what stands before Discord: it concerns this
// machine's address, and every call fails with it until After has passed.
type BanError struct{ After time.Duration }

func (e *BanError) Error() string { return fmt.Sprintf(textBannedFor, seconds(e.After)) }

// seconds rounds up, so that nobody is told "0s" for a wait.
func seconds(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}

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
	10003: ErrNoChannel,
	10008: ErrGone, // unknown message

	10015: ErrExpired, // unknown webhook: the interaction's token is over
	10062: ErrExpired, // unknown interaction: more than three seconds old
	40060: ErrExpired, // already acknowledged
	50027: ErrExpired, // invalid webhook token
	40094: ErrExpired, // too many follow-ups: a message is the way, too

	50007: ErrCannotDM,
	50278: ErrCannotDM, // no server in common

	20016:  ErrLimited, // slow mode
	20028:  ErrLimited, // the channel's write limit
	30046:  ErrOldEdit,
	40003:  ErrLimited, // opens direct messages too fast
	40062:  ErrLimited,
	130000: ErrTransient, // overloaded

	40001: ErrAuth,    // unauthorized
	40005: ErrInvalid, // the request is too large
	50001: ErrForbidden,
	50005: ErrForbidden, // a message of somebody else
	50006: ErrInvalid,   // empty
	50013: ErrForbidden,
	50035: ErrInvalid,
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
		return &LimitedError{After: max(retryAfter(r), 5*time.Second)}
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
