package view

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"

	"ollimbot/core/brief/prompt"
	"ollimbot/core/safety/policy"
	"ollimbot/tui/action"
	"ollimbot/tui/widget"
)

// TextReadOnly is the reason why nothing can be changed.
const TextReadOnly = "the dashboard is read-only; start it without --read-only to change things"

// The texts of the frame. Each pane has its own.
const (
	textName   = "ollim-bot"
	textDot    = " · "
	textDetach = "detach"

	textRuns = "Runs" // the page of forks

	textSize = "%s needed, %d×%d here"

	textKeepsRunning = "the bot keeps running" + textDot

	// After a toast that is cut, and after the newest of several.
	textShowsAll = " (%s shows all)"
	textMore     = " (%d more: %s lists them)"
)

// Why an action is off.
const (
	textNoUndo       = "nothing to undo"
	textNoRedo       = "nothing to redo"
	textEmptyMessage = "the message is empty"
	textNoSizes      = "panes can be resized only on a larger screen and when none is zoomed"
	textNoDay        = "needs a 56×20 screen"
	textNoRoom       = "the border cannot move further"
	textInDemo       = "this is the demo"
	textDemoShell    = "not available here; run ollim-bot demo in a shell"
	textSetUpShell   = "not available here; run ollim-bot init in a shell"
)

// The captions of the demo.
const (
	textStoryRuns      = "%s started: a run works in the background, next to the conversation"
	textStoryFailed    = "%s failed: it stays in the top line until you have looked"
	textStoryReports   = "%s ended and left an update: the conversation gets it with your next message"
	textStoryDone      = "%s ended: it had nothing to say, so it cost no ping"
	textStoryNoPing    = "%s ended: its ping was refused, so you heard nothing"
	textStoryPinged    = "%s ended: it has pinged you"
	textStoryLeft      = "%s ended: it left a message without a sound"
	textStoryPings     = "%s pinged: one token spent; %s"
	textStoryEssential = "%s pinged, and it is essential: such a ping costs no token"
	textStoryQuiet     = "%s left a message without a sound, which costs no token"
	textStoryCritical  = "%s pinged, and it was critical: such a ping costs no token"
	textStoryRefused   = "%s wanted to ping and was refused: %s"
	textStoryAsks      = "%s waits for your answer: nothing happens without it"
)

const textTry = "try %s then %s · %s then %s · %s then %s; everything is real except the model"

// held is a no-break space.
const held = "\u00a0"

// tryText suggests keys to try in the demo.
func tryText(keys action.Keys, ascii bool) string {
	name := func(p action.Pane, id action.ID) string {
		return action.Names{Keys: keys, Pane: p, ASCII: ascii}.Name(id)
	}
	return fmt.Sprintf(textTry,
		name(action.Budget, action.Budget.Go()), name(action.Budget, action.CapacityUp),
		name(action.Schedule, action.Schedule.Go()), name(action.Schedule, action.ScheduleFire),
		name(action.Chat, action.Chat.Go()), name(action.Chat, action.ChatWrite))
}

// textZoomed names the key that ends the zoom, or esc, which always does and also leaves a
// page.
func textZoomed(n action.Names, page bool) string {
	if page {
		return "esc goes back"
	}
	return "zoomed, " + cmp.Or(n.Key(action.Zoom), "esc") + " goes back"
}

// Brief is a tool call for a toast: its first line, shortened.
func Brief(a policy.Approval) string {
	call, _, more := strings.Cut(a.Label, " ⏎ ")
	if more {
		call += "…"
	}
	return widget.Cut(call, 72)
}

// interruptHint is the hint for ctrl+c while a pane captures every other key.
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

// zoneWord is the zone's abbreviation as in the bot's timestamps: "PT" or "CET".
func zoneWord(t time.Time) string {
	stamp := prompt.Timestamp(t)
	return strings.Trim(stamp[strings.LastIndexByte(stamp, ' ')+1:], "]")
}
