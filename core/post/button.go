package post

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
)

// AskAgent is the action that asks the agent something; what it asks is kept
// elsewhere, under an id.
const AskAgent = "agent"

const prefix = "act:"

// maxCustomID is Discord's limit on a button's id, in UTF-16 units.
const maxCustomID = 100

var (
	// ErrNoAction says that a button's action is no action at all.
	ErrNoAction = errors.New("a button's action is a name of small letters, a colon and its data, such as task_done:<task_id>")
	// ErrLongAction says that an action does not fit into a button's id.
	ErrLongAction = fmt.Errorf("a button's action is too long: with its data it has at most %d characters", maxCustomID-len(prefix))
)

// agentActions are the actions that a card of the agent may have (spec
// 06.1.2). The bot's own buttons have others, which the agent must not forge.
var agentActions = []string{AskAgent, "dismiss", "event_del", "task_del", "task_done"}

// CustomID is the id under which a surface sends the button, by which alone a
// click is understood, also after a restart. The prompt of an
// agent:<prompt> action goes through register, which answers the id that it is
// kept under; it is not called for other actions. An empty prompt asks what the
// label says. Errors are ErrNoAction, ErrLongAction and those of register: such
// a button is left away.
func (b Button) CustomID(register func(prompt string) (id string, err error)) (string, error) {
	action, data, _ := strings.Cut(b.Action, ":")
	if action == AskAgent {
		prompt := strings.TrimSpace(data)
		if prompt == "" {
			prompt = b.Label
		}
		id, err := register(prompt)
		if err != nil {
			return "", fmt.Errorf("keep what the button %q asks: %w", b.Label, err)
		}
		data = id
	}
	if !isAction(action) || strings.ContainsFunc(data, unicode.IsControl) {
		return "", ErrNoAction
	}
	if data == "" {
		data = "_"
	}
	id := prefix + action + ":" + data
	if len(utf16.Encode([]rune(id))) > maxCustomID {
		return "", ErrLongAction
	}
	return id, nil
}

// ParseCustomID takes a button's id apart: the action and its data, "_" where
// it has none. It is false for an id that is no button of ours.
func ParseCustomID(id string) (action, data string, ok bool) {
	rest, ours := strings.CutPrefix(id, prefix)
	action, data, found := strings.Cut(rest, ":")
	if !ours || !found || !isAction(action) || strings.ContainsFunc(data, unicode.IsControl) {
		return "", "", false
	}
	if data == "" {
		data = "_"
	}
	return action, data, true
}

func isAction(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") == ""
}

// CheckAgent says what is wrong with a button that the agent made: an action
// that is not in its gift, or one that fits into no button. Nil when nothing is.
func (b Button) CheckAgent() error {
	action, _, _ := strings.Cut(b.Action, ":")
	if !slices.Contains(agentActions, action) {
		return ErrNoAction
	}
	_, err := b.CustomID(func(string) (string, error) { return "00000000", nil })
	return err
}
