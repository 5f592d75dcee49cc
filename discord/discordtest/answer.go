package discordtest

import (
	"maps"
	"math"
	"net/http"
	"strconv"
	"time"
)

func respond(status int, body any) *Plan {
	return &Plan{Status: status, body: body, header: http.Header{}}
}

func ok(body any) *Plan { return respond(http.StatusOK, body) }

func nothing() *Plan { return respond(http.StatusNoContent, nil) }

// encoded returns the body as sent over the wire.
func (p *Plan) encoded() []byte {
	if p.body != nil {
		return encode(p.body)
	}
	return []byte(p.Body)
}

// Discord's error codes (topics/opcodes-and-status-codes) as
// documented.
var codeText = map[int]string{
	10003: "Unknown Channel",
	10008: "Unknown Message",
	10015: "Unknown Webhook",
	10062: "Unknown interaction",
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

// failure returns an error with Discord's wording.
func failure(status, code int) *Plan {
	return respond(status, object{"message": codeText[code], "code": code})
}

func unauthorized() *Plan {
	return respond(http.StatusUnauthorized, object{"message": "401: Unauthorized", "code": 0})
}

// invalidForm returns 400 50035 with the tree of form errors.
func invalidForm(field, why string) *Plan {
	tree := object{"_errors": []object{{"code": "BASE_TYPE_INVALID", "message": why}}}
	if field != "" {
		tree = object{field: tree}
	}
	return respond(http.StatusBadRequest, object{"message": codeText[50035], "code": 50035, "errors": tree})
}

// limited returns Discord's 429, with whole seconds in the header and milliseconds in the body.
func limited(wait time.Duration, global bool) *Plan {
	a := respond(http.StatusTooManyRequests, object{
		"message": "You are being rate limited.", "code": 0, "global": global, "retry_after": math.Ceil(wait.Seconds()*1000) / 1000,
	})
	a.header.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	a.header.Set("X-RateLimit-Scope", "user")
	if global {
		a.header.Set("X-RateLimit-Global", "true")
		a.header.Set("X-RateLimit-Scope", "global")
	}
	return a
}

func (p *Plan) deliver(w http.ResponseWriter) {
	if p.Cut {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		reset(c)
		return
	}
	maps.Copy(w.Header(), p.header)
	raw := p.encoded()
	if w.Header().Get("Content-Type") == "" && len(raw) > 0 {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(p.Status)
	_, _ = w.Write(raw) // the client may have disconnected
}
