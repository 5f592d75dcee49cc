package command

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Saved is an inverse (Outcome.Undo) as JSON, for a surface that offers it after a restart, too.
type Saved struct {
	Type  string          `json:"type"` // a key of savable
	Value json.RawMessage `json:"value"`
}

// savable reads the inverses of what a surface without a screen can do.
var savable = map[string]func(data []byte) (Value, error){
	"AddTask": read[AddTask], "AllowTask": read[AllowTask], "AnswerProposal": read[AnswerProposal], "DeleteTask": read[DeleteTask],
	"LiftCaps": read[LiftCaps], "MuteUntil": read[MuteUntil], "RemoveTask": read[RemoveTask], "ReopenProposal": read[ReopenProposal],
	"RestoreBudget": read[RestoreBudget], "RestoreTask": read[RestoreTask], "RevertTask": read[RevertTask], "SetConfig": read[SetConfig],
	"Snooze": read[Snooze],
}

func read[T Value](data []byte) (Value, error) {
	var v T
	err := json.Unmarshal(data, &v)
	return v, err
}

// Save returns an inverse as JSON; false for nil and for a command of another type.
func Save(v Value) (Saved, bool) {
	s := Saved{Type: strings.TrimPrefix(fmt.Sprintf("%T", v), "command.")}
	if savable[s.Type] == nil {
		return s, false
	}
	data, err := json.Marshal(v)
	s.Value = data
	return s, err == nil
}

// Load returns the command; false if this version cannot read it.
func (s Saved) Load() (Value, bool) {
	load := savable[s.Type]
	if load == nil {
		return nil, false
	}
	v, err := load(s.Value)
	return v, err == nil
}
