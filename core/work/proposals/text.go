package proposals

// User-visible texts.
const (
	textAnswered  = "you have answered that already: %s, at %s"
	textFooter    = "%s, at %s"
	textGone      = "that is not open any more: it was closed after a week, or never asked"
	textWithdrawn = "no longer applies"
	textReopened  = "the question is open again"
)
