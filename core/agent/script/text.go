package script

import "ollimbot/core/base/lazyregexp"

// Words of script errors: each says what is wrong and how to cure it.
const (
	textUnknown      = "there is no command %q; use say, think, call, ask, wait, fail, stop, compact or repeat … end"
	textNoText       = "%s needs a text behind it, such as: %s Good morning"
	textWait         = "%q is no waiting time between 0s and 1h; write it as in: wait 2s"
	textNothingAfter = "%s stands alone; remove what follows it"
	textToolForm     = "%s needs a tool and its arguments, such as: %s ping_user {\"message\": \"hello\"}"
	textToolInput    = "the arguments of %s are not a JSON object on one line: %v"
	textRepeat       = "repeat needs a number from 1 to %d, such as: repeat 3"
	textNested       = "a repeat cannot stand inside another one; write the inner lines out"
	textNoEnd        = "this repeat has no end; add a line that says end"
	textStrayEnd     = "this end has no repeat before it; remove it"
	textTooLong      = "the script has more than %d steps; repeat less"
	textUnclosed     = "the script has no closing fence; end it with a line of three backticks"
)

// Words that answer a tool call.
const (
	textNoTool       = "there is no tool %s; there are: %s"
	textNoPermission = "nobody can be asked for permission here"
	textNotRun       = "(offline engine: allowed, but there is nothing here that could run it)"
)

// What the offline engine thinks and says. %s is the task's matter in a few
// words unless a line says otherwise.
const (
	thinkTask      = "The task is: %s. Who would miss what if I stayed silent?"
	thinkNoPing    = "Nothing here needs an answer today; no reason to interrupt."
	thinkRegret    = "Would it be regretted if this were missed? Yes: it belongs to this hour."
	thinkLate      = "This comes late; say so, and do not pretend otherwise."
	thinkForbidden = "Pings are disabled for this task, so it stays in the report or in silence."
	thinkBusy      = "This is no moment to interrupt. It can wait for the end of the conversation."
	thinkEmpty     = "No token is left. A report will do."
	thinkRefused   = "Refused. Then it goes into the report instead of a second try."
	thinkForgot    = "Right, the report is still missing."
	thinkMain      = "They say: %s. Short and kind."

	sayMatter    = "What matters here: %s."
	sayDone      = "That is all for this run."
	sayLastCheck = "This was check %d of %d, the last one of the chain."
	sayFollowUp  = "Check %d of %d: still open, I look again in %d minutes."
	reportTask   = "%s: looked at it, nothing else is open."
	reportCheck  = " (check %d of %d)"

	embedText   = "Laid out so that one look is enough."
	embedStep   = "Step %d"
	embedButton = "Help me start"

	sayUpdates   = "While you were away: %s"
	sayForkHello = "I am here. What is on your mind?"
	sayForkIdle  = "Are you still there? Write a line and we go on; otherwise I close this branch before long."
	sayForkOver  = "Nobody is here any more, so I close this branch."
	sayForkTold  = "Told the main session. See you there."
	reportFork   = "Talked in a fork about: %s."
	reportEmpty  = "A fork ended without a word from the user."
	sayLate      = "This one comes late, because I was not running when it was due."
	sayEncourage = "One small step is enough to begin with. Tell me when it is done, and we pick the next."
	sayPicture   = "I got your picture, but the offline engine cannot see. Tell me in words what is on it."
	sayListed    = "That is the list as it stands."
	sayCancelled = "If it was there, it is gone now."
	sayWhen      = "Gladly. When? Say it like this: remind me to water the plants in 20 minutes."
	sayReminded  = "Set: I will remind you to %s."
	sayNoted     = "I hear you: %s. Shall I remind you of it? Say: remind me to … in 20 minutes."
	sayQuestion  = "I cannot look that up without a model, and I would rather not guess. What I can do offline: set, list and " +
		"cancel reminders, and tell you what happened in the background."
	sayCost      = "Cost: $0.00, the offline engine is free. %s, about %d tokens: %d read, %d of them from the cache, and %d written."
	sayCompacted = "History summed up: about %d tokens became %d."
)

// replies are what it answers to some words, tried in order; {model} becomes the
// model's name.
var replies = []struct {
	when lazyregexp.Pattern
	line string
}{
	{
		lazyregexp.Lazily(`(?i)\b(who|what) (are|r) (you|u)\b|\b(which|what) (model|engine)\b|\bare you (real|an? (ai|model|bot))\b`),
		"I am the offline engine: no model stands behind me (the name in use is {model}). I read the words of a prompt " +
			"and play along, through the same tools and rules as a real one, so that you can see the bot live without an account.",
	},
	{
		lazyregexp.Lazily(`(?i)^(hi|hello|hey|good (morning|afternoon|evening)|moin|hallo)\b`),
		"Hello! Good to hear from you. What is the one thing on your mind?",
	},
	{lazyregexp.Lazily(`(?i)\b(thanks|thank you|thx|cheers)\b`), "You are welcome."},
	{
		lazyregexp.Lazily(`(?i)\b(overwhelmed|stressed|too much|tired|exhausted|stuck|can'?t focus|anxious)\b`),
		"That sounds like a lot. Put one thing aside on purpose, then take the smallest piece of what is left: five " +
			"minutes, nothing more. I can nudge you when they are over – say: remind me to take a breath in 5 minutes.",
	},
	{lazyregexp.Lazily(`(?i)\b(done|finished|completed|did it)\b`), "Well done. Take a second to enjoy it before the next one."},
	{
		lazyregexp.Lazily(`(?i)\b(help|what can you do)\b`),
		"Offline I can set reminders (remind me to … in 20 minutes), list them, cancel one by its id, tell you what " +
			"the background runs found, and play a script: a block fenced as script.",
	},
}
