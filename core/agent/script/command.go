package script

import (
	"fmt"
	"strings"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/clean"
)

// maxSummary is what is left of an answer once it was summed up, in characters.
const maxSummary = 200

// obeyCommand answers a message that is a command to the engine itself, as real
// engines do: "/compact", with or without instructions, and "/cost".
func (t *turn) obeyCommand(text string) bool {
	fields := strings.Fields(text)
	switch {
	case len(fields) > 0 && fields[0] == "/compact":
		t.command = true
		t.compactNow()
	case len(fields) == 1 && fields[0] == "/cost":
		t.command = true
		t.say(t.cost())
	}
	return t.command
}

// compactNow sums the history up: the last exchange stays, shortened. A turn
// that is interrupted meanwhile changes nothing.
func (t *turn) compactNow() {
	before := preset + t.in/4
	if !t.emit(agent.Compacting{PreTokens: before}) || !t.wait(1500*time.Millisecond) {
		return
	}
	left := t.history[max(0, len(t.history)-1):]
	short := make([]exchange, 0, len(left))
	after := preset
	for _, e := range left {
		e = exchange{Asked: clean.Cut(e.Asked, maxSummary), Answered: clean.Cut(e.Answered, maxSummary)}
		short = append(short, e)
		after += (len(e.Asked) + len(e.Answered)) / 4
	}
	if !t.emit(agent.Compacting{Done: true, PreTokens: before}) {
		return
	}
	t.history = short
	_, turns := t.s.spent()
	t.rounds = max(1, turns)
	t.lastText = fmt.Sprintf(sayCompacted, before, after)
}

// cost is what the session has used since it was opened.
func (t *turn) cost() string {
	u, turns := t.s.spent()
	n := "1 turn"
	if turns != 1 {
		n = fmt.Sprintf("%d turns", turns)
	}
	return fmt.Sprintf(sayCost, n, u.Tokens(), u.Tokens()-u.OutputTokens, u.CacheRead, u.OutputTokens)
}
