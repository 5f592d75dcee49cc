// Package post represents the bot's messages to its user: texts, embeds and buttons. It
// owns their limits and the ids of buttons. It must not know the surfaces that render
// them.
package post

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"

	"ollimbot/core/safety/label"
)

// ErrNoChannel is returned by a surface that has stopped, or does not know its user yet.
var ErrNoChannel = errors.New("no active channel")

// ErrUnknown is returned for a message that got no answer and may have been delivered.
// The sender counts it as sent.
var ErrUnknown = errors.New("it is not known whether it arrived")

// MessageID is a surface's own message id.
type MessageID string

// Post is one message to the user.
type Post struct {
	// Nonce makes sending idempotent: the same nonce is delivered once.
	Nonce string
	Text  string
	Embed *Embed
	// Buttons appear below a text without an embed, on surfaces that support that.
	Buttons []Button
	// Small marks a framework notice (Discord's "-# " subtext).
	Small bool
	// Context is "", "bg" or "fork": the kind of session that sent it.
	Context string
	// Source is the name of the task or run, for people: "Email sweep".
	Source string
	// Label is the label of the session that wrote it.
	Label label.Label
	// Critical marks a message that bypassed the ping budget.
	Critical bool
	// Quiet marks a silent message.
	Quiet bool
	// Kind decides whether the message rings; a Quiet one is a KindQuiet. Cause says what a KindNews is about.
	Kind  Kind
	Cause string
	// Files are the absolute paths of files to attach. They were checked when the
	// message was made; if a surface can no longer read one, the whole message fails.
	Files []string
	// Whole is all of a text of which Text shows a part. A surface that can attaches it as a file.
	Whole string
	// Before is called by every surface, through Begin, once and right before the message is
	// sent, after any wait for a network or a limit. If it returns an error, nothing is sent
	// and the surface returns the error. It may take as long as a write. May be nil.
	Before func() error
}

// Begin calls Before, if it is set.
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
	Selects     []Select `json:"selects,omitempty"`
	Footer      string   `json:"footer,omitempty"`
	// Back is when the subject of the card repeats, if the footer says so. A surface that
	// can shows the time relative to now instead.
	Back time.Time `json:"back,omitzero"`
}

// Color is one of blue, green, red, yellow, purple; anything else counts as blue.
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

// The actions of a reminder's buttons; their data is the reminder's id.
const (
	RemindDone     = "remind_done"
	RemindLater    = "remind_later"
	RemindNotToday = "remind_not_today"
)

// The actions of the buttons for a pending edit of the agent; their data is the beginning
// of its version.
const (
	EditAllow  = "edit_allow"
	EditRefuse = "edit_refuse"
)

// The actions of the buttons on the card of an open fork.
const (
	ForkSave   = "fork_save"
	ForkReport = "fork_report"
	ForkExit   = "fork_exit"
)

// Fleeting reports whether a button does nothing after a restart: the fork that it would leave, or
// the message that it would send again, is gone.
func (b Button) Fleeting() bool {
	action, _, _ := strings.Cut(strings.TrimPrefix(b.Action, prefix), ":")
	return slices.Contains([]string{ForkSave, ForkReport, ForkExit, TryAgain}, action)
}

// The actions of the buttons below an answer, and below the notice that there is none.
const (
	StopAnswer = "stop"
	TryAgain   = "again"
	LogIn      = "log_in" // begins a login to the engine's account
)

// The actions of the buttons on the card of /status. The data of CardMute is MuteHour or
// MuteOff, that of CardCapacity is the new capacity, so that pressing it twice has no
// further effect.
const (
	CardMute     = "card_mute"
	CardCapacity = "card_capacity"
	CardPicture  = "card_picture" // its data is the name of a picture

	MuteHour = "hour"
	MuteOff  = "off"
)

// The names of the pictures.
const (
	PictureDay      = "day" // the day around now
	PictureWeek     = "week"
	PictureLastWeek = "last-week"
)

// Remind returns the buttons of a reminder that repeats until done.
func Remind(id string) []Button {
	return []Button{
		{Label: "Done", Style: "success", Action: RemindDone + ":" + id},
		{Label: "Later", Style: "secondary", Action: RemindLater + ":" + id},
		{Label: "Not today", Style: "secondary", Action: RemindNotToday + ":" + id},
	}
}

// AskAgent is the action that sends the agent a prompt, which is stored under an id.
const AskAgent = "agent"

const prefix = "act:"

// maxCustomID is Discord's limit on a button's id, in UTF-16 units.
const maxCustomID = 100

var (
	// errNoAction is the error for a malformed action.
	errNoAction = errors.New("a button's action is a name of small letters, a colon and its data, such as task_done:<task_id>")
	// errLongAction is the error for an action too long for a button's id.
	errLongAction = fmt.Errorf("a button's action is too long: with its data it has at most %d characters", maxCustomID-len(prefix))
)

// agentActions are the actions allowed on the agent's cards. The bot's own buttons have
// others, which the agent must not forge.
var agentActions = []string{AskAgent, "dismiss", "event_del", "task_del", "task_done"}

// CustomID returns the id under which a surface sends the button. A click is understood
// from it alone, even after a restart. register stores the prompt of an agent:<prompt>
// action and returns its id; it is not called for other actions. An empty prompt is
// replaced by the label. The errors are errNoAction, errLongAction and those of register;
// the button is then left out.
func (b Button) CustomID(register func(prompt string) (id string, err error)) (string, error) {
	action, data, _ := strings.Cut(b.Action, ":")
	if action == AskAgent {
		prompt := strings.TrimSpace(data)
		prompt = cmp.Or(prompt, b.Label)
		id, err := register(prompt)
		if err != nil {
			return "", fmt.Errorf("keep the prompt of the button %q: %w", b.Label, err)
		}
		data = id
	}
	if !isAction(action) || strings.ContainsFunc(data, unicode.IsControl) {
		return "", errNoAction
	}
	data = cmp.Or(data, "_")
	id := prefix + action + ":" + data
	if len(utf16.Encode([]rune(id))) > maxCustomID {
		return "", errLongAction
	}
	return id, nil
}

// ParseCustomID splits a button's id into its action and data, "_" if it has none. It
// returns false for any other id.
func ParseCustomID(id string) (action, data string, ok bool) {
	rest, ours := strings.CutPrefix(id, prefix)
	action, data, found := strings.Cut(rest, ":")
	if !ours || !found || !isAction(action) || strings.ContainsFunc(data, unicode.IsControl) {
		return "", "", false
	}
	data = cmp.Or(data, "_")
	return action, data, true
}

func isAction(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") == ""
}

// CheckAgent returns an error for a button of the agent whose action is not allowed or
// too long.
func (b Button) CheckAgent() error {
	action, _, _ := strings.Cut(b.Action, ":")
	if !slices.Contains(agentActions, action) {
		return errNoAction
	}
	_, err := b.CustomID(func(string) (string, error) { return "00000000", nil })
	return err
}
