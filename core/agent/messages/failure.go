package messages

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/web"
)

// failure is a request without an answer.
type failure struct {
	status int
	kind   string // the server's error type
	text   string // one line
	said   string // the server's own words
	// again means that a retry may help; wait is the delay that the server asks for.
	again bool
	wait  time.Duration
	// long means that the prompt does not fit.
	long bool
	// broke means that the account has no money left.
	broke bool
	// away means that every request would currently fail in this way.
	away bool
}

func (f *failure) Error() string { return f.text }

// Is makes an unreachable server an agent.ErrUnavailable.
func (f *failure) Is(target error) bool { return f.away && target == agent.ErrUnavailable }

// spendLimit marks a 429 that waiting does not cure.
const spendLimit = "enforced_spend_limit_reached"

// noCredit is the API's message about an empty account, which arrives as an invalid request.
const noCredit = "credit balance is too low"

// noTools is in Ollama's message about a model that cannot call tools.
const noTools = "does not support tools"

// statusOverloaded is the API's own status for an overloaded server.
const statusOverloaded = 529

// refused parses the answer to a failed request.
func refused(resp *http.Response, body []byte) *failure {
	var said struct {
		Error apiError `json:"error"`
	}
	_ = json.Unmarshal(body, &said) // otherwise only the status is known
	f := &failure{
		status: resp.StatusCode, kind: said.Error.Type, text: short(said.Error.Message),
		wait: web.RetryAfter(resp.Header),
	}
	if f.status/100 == 3 {
		f.text = fmt.Sprintf(textMoved, short(resp.Request.URL.Host))
	}
	return f.judge(string(body), resp.Header.Get("x-should-retry") == "false")
}

// judge classifies the failure by its status and the server's message.
func (f *failure) judge(said string, last bool) *failure {
	spent := strings.Contains(said, spendLimit)
	f.broke = f.status == http.StatusPaymentRequired || f.kind == "billing_error" || strings.Contains(strings.ToLower(f.text), noCredit)
	switch f.status {
	case 0, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		f.again = true
	default:
		f.again = f.status >= http.StatusInternalServerError
	}
	switch f.status {
	case http.StatusRequestEntityTooLarge:
		f.long = true
	case 0, http.StatusBadRequest, http.StatusInternalServerError:
		f.long = tooLong(f.text)
	}
	f.again = f.again && !f.long && !last && !spent
	f.said = f.text
	f.text, f.away = f.sentence(spent), f.isAway(spent)
	return f
}

// isAway reports whether the server or the account is the problem, not the request.
func (f *failure) isAway(spent bool) bool {
	switch f.status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return true
	}
	return f.again || spent || f.broke || f.status >= http.StatusInternalServerError
}

// tooLong recognizes the servers' messages about a prompt that does not fit.
func tooLong(text string) bool {
	text = strings.ToLower(text)
	for _, words := range []string{"prompt is too long", "context length", "context window", "context size", "maximum context", "exceed_context"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// sentence returns the text for the user.
func (f *failure) sentence(spent bool) string {
	said := cmp.Or(f.text, strings.ToLower(http.StatusText(f.status)), fmt.Sprintf(textStatus, f.status))
	switch {
	case f.long:
		return fmt.Sprintf(textLongPrompt, said)
	case spent:
		return fmt.Sprintf(textSpent, said)
	case f.status == http.StatusUnauthorized, f.status == http.StatusForbidden:
		return fmt.Sprintf(textBadKey, said)
	case f.broke:
		return fmt.Sprintf(textNoMoney, said)
	case f.status == http.StatusNotFound:
		return fmt.Sprintf(textNotFound, said)
	case strings.Contains(said, noTools):
		return fmt.Sprintf(textNoToolsHere, said)
	}
	return said
}

// inStream returns an error that arrived instead of the rest of an answer.
func inStream(e *apiError) error {
	if e == nil {
		return errGarbled
	}
	f := &failure{kind: e.Type, text: short(e.Message)}
	for status, kind := range kinds {
		if kind == e.Type {
			f.status = status
		}
	}
	return f.judge(e.Message, false)
}

// kinds are the API's error types.
var kinds = map[int]string{
	http.StatusBadRequest:            "invalid_request_error",
	http.StatusUnauthorized:          "authentication_error",
	http.StatusPaymentRequired:       "billing_error",
	http.StatusForbidden:             "permission_error",
	http.StatusNotFound:              "not_found_error",
	http.StatusRequestEntityTooLarge: "request_too_large",
	http.StatusTooManyRequests:       "rate_limit_error",
	http.StatusInternalServerError:   "api_error",
	statusOverloaded:                 "overloaded_error",
}

// failureOf describes why a request failed. Anything but a server's refusal is a network error and
// worth a retry.
func failureOf(err error) *failure {
	if f := (*failure)(nil); errors.As(err, &f) {
		return f
	}
	text := short(err.Error())
	var at *url.Error
	switch {
	case errors.Is(err, errSilent), errors.Is(err, errCut):
	case errors.Is(err, errGarbled):
		text = textGarbled
	case errors.As(err, &at): // the text already contains the address
		host, why := at.URL, at.Err
		if u, err := url.Parse(at.URL); err == nil {
			host = u.Host
		}
		if call := (*os.SyscallError)(nil); errors.As(err, &call) {
			why = call.Err
		}
		text = fmt.Sprintf(textNoConnection, short(host), short(why.Error()))
	default:
		text = fmt.Sprintf(textLostConnection, text)
	}
	return &failure{text: text, again: true, away: true}
}

// reason returns a short text about why the engine is waiting.
func (f *failure) reason() string {
	switch f.status {
	case statusOverloaded, http.StatusServiceUnavailable:
		return textOverloaded
	case http.StatusTooManyRequests:
		return textRateLimit
	}
	return f.text
}

// short returns a server's text on one line.
func short(s string) string { return clean.Cut(clean.Line(s), 300) }
