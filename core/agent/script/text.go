package script

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

// What the offline engine says of its own. %s is the text of the task.
const (
	sayNoModel    = "No model is connected, so I cannot think about this. I only play scripts: a fenced block marked script."
	sayOwnWords   = " (No model is connected: these are the task's own words.)"
	sayOnlyScript = "The script" // instead of the text of a task that has none
	reportDone    = "%s: done."
	reportNoModel = "%s: no model is connected, so this was not thought about."
	sayCompacted  = "History summarized: about %d tokens became %d."
)
