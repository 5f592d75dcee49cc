package claudetest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"ollimbot/core/base/clean"
)

// Step is one answer of the API, or one way to fail. Its parts are played in the order of the
// fields; unset fields have no effect.
//
// Error, PromptTooLong, DropAfter and SSEError are its faults. With Times only the first requests
// get them, and later ones get the answer.
type Step struct {
	// When the answer begins.
	DelayMS int    `json:"delay_ms,omitempty"` // milliseconds before anything is sent
	Hold    string `json:"hold,omitempty"`     // a key: nothing is sent before Release(key)

	// A refusal instead of an answer.
	Error         int         `json:"error,omitempty"`           // HTTP status
	ErrMsg        string      `json:"err_msg,omitempty"`         // if empty, the usual message for the status
	RetryAfter    json.Number `json:"retry_after,omitempty"`     // seconds, in the header retry-after
	PromptTooLong bool        `json:"prompt_too_long,omitempty"` // the 400 after which the claude command compacts

	// The answer: thinking, text, the tool call, and then the blocks.
	Thinking  string         `json:"thinking,omitempty"`
	Text      string         `json:"text,omitempty"`
	Tool      string         `json:"tool,omitempty"`
	Input     map[string]any `json:"input,omitempty"`
	Blocks    []Block        `json:"blocks,omitempty"`     // text, thinking and tool_use, in any order and number
	In        int            `json:"in,omitempty"`         // input tokens; if 0, a quarter of the request's bytes
	Out       int            `json:"out,omitempty"`        // output tokens; if 0, a quarter of the answer's bytes
	CacheRead int            `json:"cache_read,omitempty"` // tokens

	// Cached replaces In and CacheRead with the counts of a Cache.
	Cached *Cached `json:"-"`

	// How it streams. Chunks are counted over the whole answer. Effects after more chunks than
	// exist happen at the end.
	Chunk     int    `json:"chunk,omitempty"`      // bytes per delta; if 0, 24, or more for a long block
	HoldAfter int    `json:"hold_after,omitempty"` // Hold applies after this many chunks instead of before the answer
	DropAfter int    `json:"drop_after,omitempty"` // the connection is cut after this many chunks; -1 cuts before the answer begins
	SSEError  string `json:"sse_error,omitempty"`  // an error event of this type ends the stream
	SSEAfter  int    `json:"sse_after,omitempty"`  // after this many chunks; 0 means 1

	Times int `json:"times,omitempty"` // how many requests get the faults, counted by the step itself; 0 means all
}

// Script returns the steps as a script for a prompt. A script may be inside a string of another
// one, as in the prompt of a subagent. A prompt without a script continues the previous script,
// even in a fork, until it has no more steps; after that, the prompt is echoed.
func Script(steps ...Step) string {
	b, err := json.Marshal(steps)
	if err != nil {
		// Only an Input that is not JSON can fail: the server reports it to the test.
		return scriptMark + "[" + err.Error() + "]" + scriptMark
	}
	return scriptMark + string(b) + scriptMark
}

const scriptMark = "@@"

// script finds the last script of a text, because the claude command joins a prompt that failed and
// the next one. An opening mark without a closing one is plain text (a quote of the beginning of a
// prompt), and so is a script with backslashes before its quotes (a quote of the whole script). Any
// other last script that cannot be read is an error, which saves its author a long search.
func script(text string) (steps []Step, found bool, err error) {
	for rest := text; ; {
		at := strings.Index(rest, scriptMark+"[")
		if at < 0 {
			return steps, found, err
		}
		rest = rest[at+len(scriptMark):]
		d := json.NewDecoder(strings.NewReader(rest))
		d.DisallowUnknownFields()
		var list []Step
		if bad := d.Decode(&list); bad != nil {
			if strings.Contains(rest, "]"+scriptMark) && !strings.HasPrefix(rest, `[{\`) {
				err = fmt.Errorf("read the script of the prompt: %w", bad)
			}
			continue
		}
		end := int(d.InputOffset())
		if strings.HasPrefix(rest[end:], scriptMark) {
			steps, found, err = list, true, nil
			rest = rest[end+len(scriptMark):]
		}
	}
}

// fromScript finds the step that a history has reached: it starts at the newest user message with a
// script and advances one step for each answer by the assistant since. Results of tools are never
// read as a script. found is false after the last step.
func fromScript(history []Message) (step Step, found bool, err error) {
	answers := 0
	for _, m := range slices.Backward(history) {
		switch m.Role {
		case "assistant":
			answers++
		case "user":
			steps, found, err := script(m.Text)
			if err != nil {
				return Step{}, false, err
			}
			if found && answers < len(steps) {
				return steps[answers], true, nil
			}
			if found {
				return Step{}, false, nil
			}
		}
	}
	return Step{}, false, nil
}

// unscripted returns a text without its scripts, on one line.
func unscripted(text string) string {
	for {
		from := strings.Index(text, scriptMark+"[")
		to := strings.LastIndex(text, "]"+scriptMark)
		if from < 0 || to < from {
			return strings.Join(strings.Fields(text), " ")
		}
		text = text[:from] + text[to+len("]"+scriptMark):]
	}
}

// content returns the answer's blocks in order, with an ID for every tool call.
func (s Step) content() []Block {
	var out []Block
	if s.Thinking != "" {
		out = append(out, Block{Type: "thinking", Thinking: s.Thinking})
	}
	if s.Text != "" {
		out = append(out, Block{Type: "text", Text: s.Text})
	}
	if s.Tool != "" {
		out = append(out, Block{Type: "tool_use", Name: s.Tool, Input: s.Input})
	}
	out = append(out, s.Blocks...)
	for i := range out {
		if out[i].Type == "tool_use" {
			out[i].ID = cmp.Or(out[i].ID, newID("toolu_"))
		}
	}
	return out
}

// stop returns the stop reason of an answer with these blocks.
func stop(content []Block) string {
	if slices.ContainsFunc(content, func(b Block) bool { return b.Type == "tool_use" }) {
		return "tool_use"
	}
	return "end_turn"
}

// inputJSON returns the input of a tool call in its wire form. "<" and similar characters are not
// escaped, so that a script in a prompt stays readable.
func (b Block) inputJSON() string {
	if len(b.Input) == 0 {
		return "{}"
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(b.Input); err != nil {
		return "{}" // it was decoded from JSON
	}
	return strings.TrimSpace(out.String())
}

// compactMark is the beginning of the claude command's request for a summary of the conversation.
const compactMark = "CRITICAL: Respond with TEXT ONLY"

// textTooLong is the error message on which the claude command compacts the conversation.
const textTooLong = "prompt is too long: 210000 tokens > 200000 maximum"

// reminder matches what the claude command adds to a prompt.
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

// refusal is the type and the message for an HTTP status.
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

// statusOverloaded is the API's own status for an overloaded server.
const statusOverloaded = 529

// refusalFor returns the message for any status, even one that is not in the table.
func refusalFor(status int) refusal {
	if r, ok := refusals[status]; ok {
		return r
	}
	if status < http.StatusInternalServerError {
		return refusals[http.StatusBadRequest]
	}
	return refusals[http.StatusInternalServerError]
}

// statusOf returns the status for an error type, or 500 if it has none.
func statusOf(kind string) int {
	for status, r := range refusals {
		if r.kind == kind {
			return status
		}
	}
	return http.StatusInternalServerError
}
