package settings

import "errors"

// Names and values are shortened and quoted: what is wrong with them may be anything.
const (
	textUnreadable = "the file cannot be read: %v"
	textOneValue   = "%.40q takes one value"
	textUnknown    = "%.40q is no setting that is known"
	textChoice     = "%.40q is not possible: it takes %s"
	textNumber     = "%.40q is not possible: it takes a number from %d to %d"

	textNoKeys = "%.40q takes a key or a list of keys, signs in quotes; write [] to take its keys away"
	textNoKey  = "%.40q is no key: write a character, or names as in ctrl+p, alt+up, pgdown, f5"

	fileHead = "# Written by the dashboard of ollim-bot; yours to edit while it does not run.\n"
)

var (
	errNoFile   = errors.New("it is no file")
	errTooLarge = errors.New("it is larger than 16 KiB")
)
