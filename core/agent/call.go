package agent

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
)

// ToolUse is one tool call as hooks and the permission callback see it: the tool and its arguments
// exactly as they would run.
type ToolUse struct {
	ID    string
	Name  string // "Bash", "Write", "mcp__discord__ping_user"
	Input json.RawMessage
}

// Digest identifies what a call does: its tool and its arguments, whatever the order of their names
// and the blanks between them.
func (u ToolUse) Digest() string {
	input := []byte(u.Input)
	d := json.NewDecoder(bytes.NewReader(u.Input))
	d.UseNumber() // as they are written
	var value any
	if d.Decode(&value) == nil && !d.More() {
		if sorted, err := json.Marshal(value); err == nil {
			input = sorted
		}
	}
	sum := sha256.Sum256(append([]byte(u.Name+"\x00"), input...))
	return hex.EncodeToString(sum[:])
}

// Allowed returns the decision that lets exactly this call run.
func (u ToolUse) Allowed() Decision { return Decision{Allow: true, Digest: u.Digest()} }

// Decision answers a permission request or a PreTool hook.
type Decision struct {
	Allow bool
	// Digest is that of the call that was judged, or shown to the user. An allowed call must have
	// it, and no other call may run with it.
	Digest string
	Reason string // shown to the model if the call is denied
	// Ask is for PreTool hooks that allow a call: Permission must be called even if the engine
	// would allow it.
	Ask bool
}

// Approved is a call that may run. Only Approve makes one, and what executes a call takes nothing else,
// so that no other bytes can run than those that were judged. The zero Approved is no call.
type Approved struct{ use ToolUse }

// Approve returns the record of a call that a decision allows. ok is false if it allows nothing, or
// another call.
func Approve(u ToolUse, d Decision) (a Approved, ok bool) {
	if !d.Allow || d.Digest != u.Digest() {
		return Approved{}, false
	}
	u.Input = slices.Clone(u.Input)
	return Approved{u}, true
}

// Use returns the call.
func (a Approved) Use() ToolUse { return a.use }

// Input returns the arguments as they were approved.
func (a Approved) Input() json.RawMessage { return a.use.Input }
