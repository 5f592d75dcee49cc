// Package post holds the values that the bot says to its user: texts, embeds
// and buttons, as any surface (the dashboard's transcript, Discord) renders
// them. It knows no surface.
package post

import "errors"

// ErrNoChannel says that there is nobody to send to: a surface that has stopped,
// or that knows no user yet, answers with it.
var ErrNoChannel = errors.New("no active channel")

// ErrUnknown says that no answer came, so that nobody knows whether the message
// was delivered. Its sender counts it as sent.
var ErrUnknown = errors.New("it is not known whether it arrived")

// MessageID is a surface's own id of a message.
type MessageID string

// Post is one message to the user.
type Post struct {
	// Nonce makes sending idempotent: the same nonce is delivered once.
	Nonce string
	Text  string
	Embed *Embed
	// Small marks a framework notice (Discord's "-# " subtext).
	Small bool
	// Context is "", "bg" or "fork": where the words come from.
	Context string
	// Source names the task or run for people: "Email sweep".
	Source string
	// Critical marks a message that bypassed the ping budget.
	Critical bool
	// Files are the absolute paths of files to attach. They were checked when the
	// message was made; a surface that cannot read one any more fails as a whole.
	Files []string
	// Before must be called, through Begin, by every surface: once, right before the message leaves: not while a network
	// or a limit is waited for. Its error means that nothing is sent, and is among
	// those of the surface's answer. It may take the time of a write. Nil is fine.
	Before func() error
}

// Begin calls Before, where there is one.
func (p *Post) Begin() error {
	if p.Before == nil {
		return nil
	}
	return p.Before()
}

// Embed is a card with title, text, fields and buttons.
type Embed struct {
	Title       string   `json:"title"`
	Description string   `json:"description,omitempty"`
	Color       Color    `json:"color,omitempty"`
	Fields      []Field  `json:"fields,omitempty"`
	Buttons     []Button `json:"buttons,omitempty"`
	Footer      string   `json:"footer,omitempty"`
}

// Color is one of blue, green, red, yellow, purple; anything else reads as blue.
type Color string

// Field is a named value of an embed.
type Field struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Inline bool   `json:"inline"`
}

// Button is a labelled action of an embed. Action is "task_done:<id>",
// "task_del:<id>", "event_del:<id>", "agent:<prompt>" or "dismiss:".
type Button struct {
	Label  string `json:"label"`
	Style  string `json:"style,omitempty"` // primary, secondary, success, danger
	Action string `json:"action"`
}
