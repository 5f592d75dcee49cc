package chat

import (
	"strings"

	"ollimbot/core/transcript"
)

// maxHistory is how many lines can be called back.
const maxHistory = 200

// history is what the user has sent, so that it can be called back: "up" on the
// first line goes to what was sent before, "down" on the last one comes back to
// what was being written.
type history struct {
	lines  []string // oldest first
	at     int      // of them, which is shown; len(lines) is the draft
	draft  string
	seeded bool
}

// seed begins with what the user has said before the dashboard opened.
func (h *history) seed(chat []transcript.Entry) {
	if h.seeded || len(chat) == 0 {
		return
	}
	h.seeded = true
	for _, e := range chat {
		if e.Role == transcript.User {
			h.add(e.Text)
		}
	}
}

// add remembers a line that was sent; one that is sent twice in a row counts once.
func (h *history) add(text string) {
	text = strings.TrimSpace(text)
	if n := len(h.lines); text != "" && (n == 0 || h.lines[n-1] != text) {
		h.lines = append(h.lines, text)
	}
	if n := len(h.lines) - maxHistory; n > 0 {
		h.lines = h.lines[n:]
	}
	h.at, h.draft = len(h.lines), ""
}

// step goes to an older line (-1) or a newer one (1). now is what is being
// written. It is false at either end.
func (h *history) step(by int, now string) (text string, ok bool) {
	to := h.at + by
	if to < 0 || to > len(h.lines) {
		return "", false
	}
	if h.at == len(h.lines) {
		h.draft = now
	}
	if h.at = to; to == len(h.lines) {
		return h.draft, true
	}
	return h.lines[to], true
}
