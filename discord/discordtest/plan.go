package discordtest

import (
	"net/http"
	"strconv"
	"time"
)

// Match selects the requests of a fault.
type Match struct {
	Method string // empty: any
	// PathPrefix is compared with the path after /api/vN, such as "/channels/*/messages": a segment * matches any
	// segment. Files have the path "/attachments/…". Empty: any.
	PathPrefix string
	Times      int // number of requests; 0 is one, negative is all
	// AfterStored lets the request take effect before the plan is executed: the message is stored, but the client does
	// not get the answer.
	AfterStored bool
}

// Plan is the answer to a request, real or planned by a test; nil is none. Hold is applied first; without Status or
// Cut, the real answer follows.
type Plan struct {
	Status int
	Body   string
	Cut    bool   // the connection ends without an answer; a file ends in its middle
	Hold   string // the request waits until Release is called with this key

	body   any // sent as JSON instead of Body
	header http.Header
}

func (p *Plan) answers() bool { return p.Status != 0 || p.Cut }

// page is the answer of a proxy in front of Discord, in HTML.
func page(status int, body string) Plan {
	return Plan{Status: status, Body: body, header: http.Header{"Content-Type": {"text/html; charset=UTF-8"}}}
}

// Refused is an error of Discord with this status and code, such as 403 and 50007.
func Refused(status, code int) Plan { return *failure(status, code) }

// Unauthorized is the answer to every request after the token was reset.
func Unauthorized() Plan { return *unauthorized() }

// InvalidForm is 400 50035 about one field.
func InvalidForm(field, why string) Plan { return *invalidForm(field, why) }

// RateLimited is a 429 with this pause.
func RateLimited(wait time.Duration, global bool) Plan { return *limited(wait, global) }

// OldEdits is the 429 with code 30046: too many edits of messages that are
// older than an hour.
func OldEdits(wait time.Duration) Plan {
	a := limited(wait, false)
	a.body = object{"message": codeText[30046], "code": 30046, "global": false, "retry_after": wait.Seconds()}
	return *a
}

// BareRateLimit is a 429 without a body.
func BareRateLimit() Plan { return Plan{Status: http.StatusTooManyRequests} }

// Banned is Cloudflare's 429 after too many invalid requests: HTML, no JSON.
func Banned(wait time.Duration) Plan {
	p := page(http.StatusTooManyRequests, "<!doctype html><title>Access denied</title><h1>Error 1015</h1><p>You are being rate limited.</p>")
	p.header.Set("Retry-After", strconv.Itoa(int(wait.Seconds())))
	return p
}

// Broken is a 5xx from a proxy in front of Discord.
func Broken(status int) Plan {
	return page(status, "<html><head><title>"+strconv.Itoa(status)+" "+http.StatusText(status)+"</title></head></html>")
}

// Lost ends the connection without an answer.
func Lost() Plan { return Plan{Cut: true} }

// Garbled is a 200 whose JSON ends too early.
func Garbled() Plan {
	return Plan{Status: http.StatusOK, header: http.Header{"Content-Type": {"application/json"}}, Body: `{"id":"1","content":`}
}
