package settings

import "errors"

// Names and values are shortened and quoted, because they may be anything.
const (
	textUnreadable = "the file cannot be read: %v"
	textOneValue   = "%.40q takes one value"
	textUnknown    = "%.40q is not a known setting"
	textChoice     = "%.40q is invalid: choose %s"
	textNumber     = "%.40q is invalid: enter a number from %d to %d"

	textNoKeys = "%.40q takes a key or a list of keys, signs in quotes; write [] to take its keys away"
	textNoKey  = "%.40q is not a key: write a character, or names as in ctrl+p, alt+up, pgdown, f5"

	fileHead = "# Written by the dashboard of ollim-bot; yours to edit while it does not run.\n"
)

var (
	errNoFile   = errors.New("it is not a regular file")
	errTooLarge = errors.New("it is larger than 16 KiB")
)
