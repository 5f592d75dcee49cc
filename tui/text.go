package tui

import (
	"cmp"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"

	"ollimbot/core/base/clean"
	"ollimbot/core/brief/prompt"
	"ollimbot/core/safety/policy"
	"ollimbot/tui/action"
	"ollimbot/tui/widget"
)

// What can be answered where a setting would have a consequence.
const (
	textSetIt   = "set it"
	textLeaveIt = "leave it as it is"
)

// The words of the frame. What a pane says stands with the pane.
const (
	textName   = "ollim-bot"
	textDot    = " · "
	textDetach = "detach"

	textNoModel      = "no model connected"
	textNoModelShort = "no model"
	textFailed       = " failed"
	textAsks         = " asks"
	textForkAsks     = "the agent would like to save the fork"
	textNextFire     = "next "
	textSoFar        = "today "
	textReadOnlyMark = "read-only"
	textZoomedShort  = "zoomed"
	textRuns         = "Runs" // the page of forks
	textTabMuted     = "muted"

	textReadOnly = "the dashboard is read-only; start it without --read-only to change things"
	textNoUndo   = "nothing to undo"
	textGarbled  = "the terminal sent something that cannot be read; it was ignored"
	textNoShell  = "there is no shell to go to: the dashboard goes on"
	textTry      = "try %s then %s · %s then %s · %s then %s; all is real but the model"

	textNothingWritten = "nothing is written"

	textJustEnded = "the answer has just ended; ctrl+c quits in a moment"

	textUndone      = "undone: "
	textUndoneBare  = "undone"
	textInterrupted = "the answer is interrupted"

	textSize   = "%s needed, %d×%d here"
	textNeeded = "%s needed"
	textGoesOn = "the bot keeps running" + textDot
	textOpen   = "open"

	textKeysRead    = "keys.yaml reloaded"
	textThemeIs     = "theme: "
	textLayoutIs    = "layout: "
	textLayoutLater = ", once the screen is large enough"
	textNoSizes     = "panes can be resized only on a larger screen and when none is zoomed"
	textNoDay       = "it needs a screen of 56×20"
	textNoRoom      = "there is no more room to move"

	textNotices   = "Notices, newest first"
	textNoNotices = "Nothing has been said yet. What appears over the panes for a moment is kept here."

	textNotNow = "not now"

	textMouseOn  = "the dashboard has the mouse; %s releases it"
	textMouseOff = "the mouse is released: select text as usual; %s takes it back"
	textNoPaste  = "a paste goes into a message: %s opens the chat, %s writes"
	textUndoKey  = textDot + "%s undoes"

	// Behind a call: that it waits no longer. How it was settled is in the conversation.
	textExpired = " was denied: nobody answered"
	textGone    = " was answered elsewhere or cancelled"

	// Behind a toast that is cut, and behind the newest of several.
	textShowsAll = " (%s shows all)"
	textMore     = " (%d more: %s lists them)"
)

// themeWords name the themes.
var themeWords = map[string]string{
	"auto": "as the terminal's background", "dark": "dark, for dark terminals", "light": "light, for light terminals",
	"contrast": "high contrast", "16": "the terminal's sixteen colours",
}

// quitKey is what quits, with a key or without: ctrl+c is nobody's to change.
func quitKey(n action.Names) string { return cmp.Or(n.Key(action.Quit), "ctrl+c") }

// held is a space at which no line is broken.
const held = "\u00a0"

// tryText names keys to begin the demo with.
func tryText(keys action.Keys, ascii bool) string {
	name := func(p action.Pane, id action.ID) string {
		return action.Names{Keys: keys, Pane: p, ASCII: ascii}.Name(id)
	}
	return fmt.Sprintf(textTry,
		name(action.Budget, action.Budget.Go()), name(action.Budget, action.CapacityUp),
		name(action.Schedule, action.Schedule.Go()), name(action.Schedule, action.ScheduleFire),
		name(action.Chat, action.Chat.Go()), name(action.Chat, action.ChatWrite))
}

// textZoomed names the key that gave the screen, else the one that always goes
// back, as from a page.
func textZoomed(n action.Names, page bool) string {
	if page {
		return "esc goes back"
	}
	return "zoomed, " + cmp.Or(n.Key(action.Zoom), "esc") + " goes back"
}

// asksText says to who looks elsewhere that a tool call waits, in one line: it
// may lie below the card.
func asksText(a policy.Approval, n action.Names) string {
	answers := n.Badges(action.ApprovalAllow, action.ApprovalDeny)
	if len(answers) == 0 {
		answers = []string{n.Name(action.ApprovalAllow)}
	}
	return widget.Cut(brief(a), 28) + " waits for you: " + n.Name(action.Chat.Go()) + ", then " + strings.Join(answers, " or ")
}

// brief is a call for a toast: without the lines that it would write.
func brief(a policy.Approval) string {
	call, _, more := strings.Cut(a.Label, " ⏎ ")
	if more {
		call += "…"
	}
	return widget.Cut(call, 72)
}

// interruptHint is what ctrl+c does while a pane takes every other key.
func interruptHint(busy, remote bool) key.Binding {
	word := "quit"
	switch {
	case busy:
		word = "interrupt"
	case remote:
		word = textDetach
	}
	return key.NewBinding(key.WithHelp("ctrl+c", word))
}

// zoneWord is the zone as the bot writes it everywhere: the last word of its
// timestamps, "PT" or "CET".
func zoneWord(t time.Time) string {
	stamp := prompt.Timestamp(t)
	return strings.Trim(stamp[strings.LastIndexByte(stamp, ' ')+1:], "]")
}

// editorText says why an editor has failed, and what to do.
func editorText(name string, err error) string {
	name = clean.Line(name)
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		return name + " ended with " + clean.Line(ended.String()) + ": look whether the file is as you want it"
	}
	if errors.Is(err, exec.ErrNotFound) {
		return name + " is not installed: set EDITOR to an editor that is"
	}
	return name + " could not be opened: " + clean.Line(err.Error())
}

const textNoFile = "that file is not in the data directory"

// The words of the ways out, where they are not offered or have failed.
const (
	textInDemo      = "this is the demo"
	textDemoShell   = "not offered here; in a shell, ollim-bot demo shows it"
	textSetUpShell  = "not offered here; in a shell, ollim-bot init sets it up"
	textSetUpLeft   = "setup was cancelled; nothing changed"
	textSetUpFailed = "the set-up could not begin: "
)
