package fake

import (
	"encoding/json"
	"net/http"
)

// answer is what a request gets: a status, and a body as a value or as bytes.
type answer struct {
	status int
	body   any
	raw    []byte
	header http.Header
	cut    bool // the connection ends instead
}

func ok(body any) answer { return answer{status: http.StatusOK, body: body} }

func nothing() answer { return answer{status: http.StatusNoContent} }

func notFound() answer {
	return answer{status: http.StatusNotFound, body: object{"message": "404: Not Found", "code": 0}}
}

// Discord's error codes (topics/opcodes-and-status-codes) with the words that
// stand in its documentation.
var codeText = map[int]string{
	10003: "Unknown Channel",
	10008: "Unknown Message",
	10013: "Unknown User",
	10015: "Unknown Webhook",
	10062: "Unknown interaction",
	20028: "The write action you are performing on the channel has hit the write rate limit",
	30046: "Maximum number of edits to messages older than 1 hour reached. Try again later",
	40005: "Request entity too large. Try sending something smaller in size",
	40060: "Interaction has already been acknowledged",
	40094: "This interaction has reached the maximum number of follow-up messages",
	50001: "Missing access",
	50005: "Cannot edit a message authored by another user",
	50006: "Cannot send an empty message",
	50007: "Cannot send messages to this user",
	50013: "You lack permissions to perform that action",
	50027: "Invalid webhook token",
	50035: "Invalid form body",
	50278: "Cannot send messages to this user due to having no mutual guilds",
}

// failure is an error as Discord words it.
func failure(status, code int) answer {
	return answer{status: status, body: object{"message": codeText[code], "code": code}}
}

// invalidForm is 400 50035 with the tree that says where.
func invalidForm(field, why string) *answer {
	at := object{"_errors": []object{{"code": "BASE_TYPE_INVALID", "message": why}}}
	tree := object{}
	if field != "" {
		tree[field] = at
	} else {
		tree = at
	}
	return &answer{status: http.StatusBadRequest, body: object{"message": codeText[50035], "code": 50035, "errors": tree}}
}

// encoded is the body as it goes over the wire.
func (a answer) encoded() json.RawMessage {
	if a.body != nil {
		return encode(a.body)
	}
	return a.raw
}
