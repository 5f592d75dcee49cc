package script

import (
	"fmt"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/clean"
)

// maxSummary is what is left of an answer once it was summed up, in characters.
const maxSummary = 200

// engineCommand carries out a command of the engine itself; false when there is none.
func (t *turn) engineCommand(c agent.Command) bool {
	switch c {
	case agent.Compact:
		t.command = true
		t.compactNow()
	case agent.Cost:
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
		e.size = len(e.Asked) + len(e.Answered)
		short = append(short, e)
		after += e.size / 4
	}
	if !t.emit(agent.Compacting{Done: true, PreTokens: before}) {
		return
	}
	t.history = short
	_, turns := t.s.spent()
	t.rounds = max(1, turns)
	t.lastText.Reset()
	fmt.Fprintf(&t.lastText, sayCompacted, before, after)
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
