package script

import (
	"time"

	"ollimbot/core/agent"
)

// perform plays steps until one of them ends the turn, and returns what stands
// behind a stop: it is played when the Stop hook does not let the turn end.
func (t *turn) perform(steps []step) (rest []step) {
	for i, s := range steps {
		if !t.alive() {
			return nil
		}
		switch s.verb {
		case vSay:
			t.say(s.words())
		case vThink:
			t.think(s.words())
		case vCall:
			if a := t.call(s.words(), s.input); a.IsError {
				t.perform(s.refused)
			}
		case vAsk:
			t.ask(s.words(), s.input)
		case vWait:
			t.wait(s.wait)
		case vFail:
			t.fault = s.words()
		case vCompact:
			t.compact()
		case vStop:
			return steps[i+1:]
		}
	}
	return nil
}

// compact pretends that the history grew too long and was summed up.
func (t *turn) compact() {
	tokens := 20_000 + t.in/4
	if t.emit(agent.Compacting{Auto: true, PreTokens: tokens}) && t.wait(2*time.Second) {
		t.emit(agent.Compacting{Done: true, Auto: true, PreTokens: tokens})
	}
}
