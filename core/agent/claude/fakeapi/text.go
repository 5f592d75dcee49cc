package fakeapi

import (
	"fmt"
	"net/http"
	"regexp"

	"ollimbot/core/clean"
)

// compactMark is how the claude command begins to ask for a summary of the
// conversation.
const compactMark = "CRITICAL: Respond with TEXT ONLY"

// textTooLong is the message by which the claude command knows that it must
// compact the conversation.
const textTooLong = "prompt is too long: 210000 tokens > 200000 maximum"

// reminder is what the claude command adds to a prompt by itself.
var reminder = regexp.MustCompile(`(?s)<system-reminder>.*?</system-reminder>`)

// echo answers a prompt without a script.
func echo(r Request) string {
	return "I heard: " + clean.Cut(unscripted(reminder.ReplaceAllString(r.Prompt(), " ")), 80)
}

// summary answers the request for a summary.
func summary(r Request) string {
	return fmt.Sprintf("<analysis>\nRead from the first message to the last.\n</analysis>\n\n"+
		"<summary>\nA conversation of %d messages, summed up by the fake API.\n</summary>", len(r.Messages))
}

// refusal is the type and the sentence that go with an HTTP status.
type refusal struct{ kind, text string }

var refusals = map[int]refusal{
	http.StatusBadRequest:            {"invalid_request_error", "The request is not valid"},
	http.StatusUnauthorized:          {"authentication_error", "invalid x-api-key"},
	http.StatusPaymentRequired:       {"billing_error", "Your credit balance is too low"},
	http.StatusForbidden:             {"permission_error", "This key may not do that"},
	http.StatusNotFound:              {"not_found_error", "Not found"},
	http.StatusRequestEntityTooLarge: {"request_too_large", "Request exceeds the maximum size"},
	http.StatusTooManyRequests:       {"rate_limit_error", "This request would exceed your rate limit"},
	http.StatusInternalServerError:   {"api_error", "Internal server error"},
	statusOverloaded:                 {"overloaded_error", "Overloaded"},
}

// statusOverloaded is the API's own status for too much to do.
const statusOverloaded = 529

// refusalFor finds the words for a status that is in the table or not.
func refusalFor(status int) refusal {
	if r, ok := refusals[status]; ok {
		return r
	}
	if status < http.StatusInternalServerError {
		return refusals[http.StatusBadRequest]
	}
	return refusals[http.StatusInternalServerError]
}

// statusOf is the status that goes with the type of an error; 500 where none does.
func statusOf(kind string) int {
	for status, r := range refusals {
		if r.kind == kind {
			return status
		}
	}
	return http.StatusInternalServerError
}
