package tui

import (
	"errors"
	"os/exec"
	"strings"

	"ollimbot/core/base/clean"
	"ollimbot/core/safety/policy"
	"ollimbot/tui/action"
	"ollimbot/tui/view"
	"ollimbot/tui/widget"
)

// The words of the frame. What a pane says stands with the pane.
const (
	textDot = " · "

	textForAgent = "%v. Send it to the agent as a message?"
	textForkAsks = "the agent would like to save the fork"

	textGarbled = "unreadable input from the terminal was ignored"
	textNoShell = "there is no shell to return to; the dashboard keeps running"
	textPaused  = "ollim-bot: the bot is paused until fg"

	textJustEnded = "the answer has just ended; press ctrl+c again in a moment to quit"

	textInterrupted = "the answer was interrupted"

	textLayoutLater = ", once the screen is large enough"

	textNotices   = "Notices, newest first"
	textNoNotices = "No notices yet. Messages that appear for a moment are kept here."

	textDelete     = "Delete %s? Its file %s is removed; %s restores it within a day."
	textUndoMade   = "Undo would remove %s, which you wrote."
	textUndoEdited = "%s was edited since. Undo would remove it, edits included."

	textMouseOn  = "the dashboard uses the mouse; %s releases it"
	textMouseOff = "the mouse is released: select text as usual; %s takes it back"
	textNoKey    = "%s does nothing here; %s shows the keys"
	textNoPaste  = "you can paste into a message: %s opens the chat, %s writes"
	textUndoKey  = textDot + "%s undoes"
	textRedoKey  = textDot + "%s redoes"

	textForkEnded = "the fork has ended: you are in the main conversation"

	// After a call: that it no longer waits. How it was settled is in the conversation.
	textExpired           = "denied, because you did not answer in time: "
	textAnsweredElsewhere = "answered elsewhere or cancelled: "
	textTooLate           = "nothing waits for that answer any more; press it again for its other meaning"
)

// asksText says to who looks elsewhere that a tool call waits, in one line: it
// may lie below the card.
func asksText(a policy.Approval, n action.Names) string {
	answers := n.Badges(action.ApprovalAllow, action.ApprovalDeny)
	if len(answers) == 0 {
		answers = []string{n.Name(action.ApprovalAllow)}
	}
	return widget.Cut(view.Brief(a), 28) + " needs your answer: " + n.Name(action.Chat.Go()) + ", then " + strings.Join(answers, " or ")
}

// editorText says why an editor has failed, and what to do.
func editorText(name string, err error) string {
	name = clean.Line(name)
	if ended, ok := errors.AsType[ExitError](err); ok {
		return name + " ended with " + clean.Line(ended.Error()) + ": check the file"
	}
	if errors.Is(err, exec.ErrNotFound) {
		return name + " is not installed: set EDITOR to an editor that is"
	}
	return name + " could not be opened: " + clean.Line(err.Error())
}

const textNoFile = "that file is not in the data directory"

// The words of the ways out, where they are not offered or have failed.
const (
	textSetUpLeft   = "setup was cancelled; nothing changed"
	textSetUpFailed = "the setup could not start: "
)
