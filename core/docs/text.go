package docs

// What the agent reads about the tools.
const (
	aboutList   = "List the pages of ollim-bot's own documentation, each with what it is about."
	aboutSearch = "Find the sections of ollim-bot's own documentation that fit some words, the best first."
	aboutRead   = "Read one page of ollim-bot's own documentation."
)

// Answers of the tools.
const (
	textNoLibrary   = "Error: %s. The documentation cannot be used; say so."
	textNoQuery     = "Error: query is empty. Give a few words to look for."
	textBadLimit    = "Error: limit must be a whole number from 1 to %d."
	textNoHits      = "Nothing in the documentation fits %s. Try other words, or list the pages."
	textNoPageGiven = "Error: page is empty. The pages are: %s."
	textNoPage      = "Error: there is no page %s. The pages are: %s."
	textBadOffset   = "Error: offset lies outside of the page, which has %d bytes."
	textGoesOn      = "\n[The page goes on: read it again with offset %d.]"
	textCut         = "\n[The rest is left out.]"
	textLarge       = "Error: the arguments are larger than %d KiB. Shorten them."
	textUnreadable  = "Error: the arguments cannot be read (%s). Send one JSON object."
)
