package script

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
