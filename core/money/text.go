package money

// Words for people.
const textMost = "%s of the %s that %s may cost are spent: at the cap background runs are held, and the conversation asks you"

var textSpans = map[string]string{"day": "today", "month": "this month"}

const (
	problemLine = "this is no price: write dollars for a million tokens of input, output, read and written cache, " +
		"and of cache written for an hour where that differs, such as sonnet: 2 10 0.1 2.5 4"
	problemNumber = "%q is no price: give dollars for a million tokens, from 0 on"
	problemTwice  = "%q has a price on line %d already: remove one of the two"
	problemFile   = "it cannot be read: %v; the built-in prices count"
)
