package settings

import "errors"

// Names and values are shortened and quoted: what is wrong with them may be anything.
const (
	textUnreadable = "the file cannot be read: %v"
	textNoWord     = "%.40q takes a word or a list of words; put signs in quotes"
	textOneValue   = "%.40q takes one value"
	textUnknown    = "%.40q is no setting that is known"
	textChoice     = "%.40q is not possible: it takes %s"
	textNumber     = "%.40q is not possible: it takes a number from %d to %d"

	textNoKeys = "%.40q needs a key; write [] to take its keys away"
	textWrite  = "%.40q never arrives under this name; write %q"
	textNoKey  = "%.40q is no key: write a character, or names as in ctrl+p, alt+up, pgdown, f5"

	fileHead = "# Written by the dashboard of ollim-bot; yours to edit while it does not run.\n"
)

var (
	errNoFile   = errors.New("it is no file")
	errTooLarge = errors.New("it is larger than 16 KiB")
)
