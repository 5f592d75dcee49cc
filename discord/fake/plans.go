package fake

import (
	"net/http"
	"strconv"
	"time"
)

// planOf carries out an answer that the fake would give by itself.
func planOf(a answer) Plan {
	p := Plan{Status: a.status, Body: string(a.encoded()), Headers: map[string]string{"Content-Type": "application/json"}}
	for k := range a.header {
		p.Headers[k] = a.header.Get(k)
	}
	return p
}

// Refused is an error of Discord's with this status and code: 403 and 50007.
func Refused(status, code int) Plan { return planOf(failure(status, code)) }

// Unauthorized is what every request gets after the token was reset.
func Unauthorized() Plan {
	return planOf(answer{status: http.StatusUnauthorized, body: object{"message": "401: Unauthorized", "code": 0}})
}

// InvalidForm is 400 50035 about one field.
func InvalidForm(field, why string) Plan { return planOf(*invalidForm(field, why)) }

// RateLimited is a 429 that asks for this pause.
func RateLimited(wait time.Duration, global bool) Plan { return planOf(limited(wait, global)) }

// OldEdits is the 429 with code 30046: too many edits of messages that are
// older than an hour.
func OldEdits(wait time.Duration) Plan {
	a := limited(wait, false)
	a.body = object{"message": codeText[30046], "code": 30046, "global": false, "retry_after": wait.Seconds()}
	return planOf(a)
}

// BareRateLimit is a 429 without a body.
func BareRateLimit() Plan { return Plan{Status: http.StatusTooManyRequests} }

// Banned is Cloudflare's 429 after too many invalid requests: HTML, no JSON.
func Banned(wait time.Duration) Plan {
	return Plan{
		Status: http.StatusTooManyRequests,
		Headers: map[string]string{
			"Content-Type": "text/html; charset=UTF-8", "Server": "cloudflare", "Retry-After": strconv.Itoa(int(wait.Seconds())),
		},
		Body: "<!doctype html><title>Access denied</title><h1>Error 1015</h1><p>You are being rate limited.</p>",
	}
}

// Broken is a 5xx from something in front of Discord.
func Broken(status int) Plan {
	return Plan{
		Status: status, Headers: map[string]string{"Content-Type": "text/html"},
		Body: "<html><head><title>" + strconv.Itoa(status) + " " + http.StatusText(status) + "</title></head></html>",
	}
}

// Lost ends the connection in place of an answer.
func Lost() Plan { return Plan{Cut: true} }

// Slow gives the real answer after a pause.
func Slow(d time.Duration) Plan { return Plan{Delay: d} }

// Held gives the real answer once Release is called with the key.
func Held(key string) Plan { return Plan{Hold: key} }

// Garbled is a 200 whose JSON ends too early.
func Garbled() Plan {
	return Plan{Status: http.StatusOK, Headers: map[string]string{"Content-Type": "application/json"}, Body: `{"id":"1","content":`}
}
