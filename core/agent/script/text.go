package script

import "ollimbot/core/base/lazyregexp"

// Script errors. Each says how to correct the mistake.
const (
	textUnknown      = "unknown command %q; use say, think, call, ask, refused, wait, fail, stop, compact or repeat … end"
	textNoText       = "%s needs a text, such as: %s Good morning"
	textWait         = "%q is not a duration between 0s and 1h; write for example: wait 2s"
	textNothingAfter = "%s takes no argument; remove the text after it"
	textToolForm     = "%s needs a tool and its arguments, such as: %s ping_user {\"message\": \"hello\"}"
	textToolInput    = "the arguments of %s are not a JSON object on one line: %v"
	textRepeat       = "repeat needs a number from 1 to %d, such as: repeat 3"
	textNested       = "a repeat cannot contain another repeat; write the inner lines out"
	textNoEnd        = "this repeat has no end; add a line with: end"
	textStrayEnd     = "this end has no repeat; remove it"
	textTooLong      = "the script has more than %d steps; repeat less"
	textUnclosed     = "the script has no closing fence; end it with a line of three backticks"
)

// Results of tool calls.
const (
	textNoTool       = "there is no tool %s; there are: %s"
	textNoPermission = "no one is here to give permission"
	textNotRun       = "(offline engine: allowed, but there is nothing here that could run it)"
)

// What the offline engine thinks and says. %s is the subject of the task.
const (
	thinkTask    = "The task is: %s. What would be missed if I stayed silent?"
	thinkNoPing  = "Nothing here needs the user now; no reason to interrupt."
	thinkRegret  = "Would the user regret missing this? Yes, it is due now."
	thinkRefused = "Refused. It goes into the report instead; no second try."
	thinkForgot  = "Right, the report is still missing."
	thinkMain    = "They say: %s. Short and kind."

	sayDone    = "That is all for this run."
	reportTask = "%s: looked at it, nothing else is open."

	sayUpdates   = "While you were away: %s"
	sayForkHello = "I am here. What is on your mind?"
	sayForkIdle  = "Are you still there? Send a message to continue; otherwise I will close this fork soon."
	sayForkOver  = "You have left, so I am closing this fork."
	sayForkTold  = "Reported to the main session. See you there."
	reportFork   = "Talked in a fork about: %s."
	reportEmpty  = "A fork ended without a message from the user."
	sayEncourage = "One small step is enough to start. Tell me when it is done, and we will pick the next."
	sayPicture   = "I got your picture, but the offline engine cannot see. Describe it in words."
	sayListed    = "That is the current list."
	sayCancelled = "If it existed, it is cancelled now."
	sayWhen      = "Gladly. When? Say it like this: remind me to water the plants in 20 minutes."
	sayReminded  = "Set: I will remind you to %s."
	sayPromised  = "Good plan."
	sayNoted     = "I hear you: %s. Shall I remind you of it? Say: remind me to … in 20 minutes."
	sayQuestion  = "I cannot look that up without a model, and I would rather not guess. What I can do offline: set, list and " +
		"cancel reminders, and tell you what happened in the background."
	sayCompacted = "History summarized: about %d tokens became %d."
)

// replies are the answers to some words, tried in order; {model} is the model's name.
var replies = []struct {
	when lazyregexp.Pattern
	line string
}{
	{
		lazyregexp.New(`(?i)\b(who|what) (are|r) (you|u)\b|\b(which|what) (model|engine)\b|\bare you (real|an? (ai|model|bot))\b`),
		"I am the offline engine, without a model (the name in use is {model}). I look for words in a prompt and use the " +
			"same tools and rules as a model, so that you can try the bot without an account.",
	},
	{
		lazyregexp.New(`(?i)^(hi|hello|hey|good (morning|afternoon|evening)|moin|hallo)\b`),
		"Hello! Good to hear from you. What is the one thing on your mind?",
	},
	{lazyregexp.New(`(?i)\b(thanks|thank you|thx|cheers)\b`), "You are welcome."},
	{
		lazyregexp.New(`(?i)\b(overwhelmed|stressed|too much|tired|exhausted|stuck|can'?t focus|anxious)\b`),
		"That sounds like a lot. Put one thing aside on purpose, then take the smallest piece of what is left: five " +
			"minutes, nothing more. I can nudge you when they are over. Say: remind me to take a breath in 5 minutes.",
	},
	{lazyregexp.New(`(?i)\b(done|finished|completed|did it)\b`), "Well done. Take a second to enjoy it before the next one."},
	{
		lazyregexp.New(`(?i)\b(help|what can you do)\b`),
		"Offline I can set reminders (remind me to … in 20 minutes), list them, cancel one by its id, tell you what " +
			"the background runs found, and play a script: a fenced block marked script.",
	},
}
