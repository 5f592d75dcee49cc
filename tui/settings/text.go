package settings

import "errors"

const (
	textTooLarge   = "the file is larger than %d KiB and was not read"
	textUnreadable = "the file cannot be read: %v"
	textNoWord     = "%s takes a word or a list of words; put signs in quotes"
	textOneValue   = "%s takes one value"
	textUnknown    = "%s is no setting that is known"
	textChoice     = "%s is not possible: it takes %s"
	textNumber     = "%s is not possible: it takes a number from %d to %d"

	textNoAction = "no action is called %s; the palette shows the name of what is marked, docs/keys.md has them all"
	textFixed    = "the key of %s cannot be changed"
	textTaken    = "%q for %s is taken by %s %s; give that one another key first"
	textNoKeys   = "%s needs a key; write [] to take its keys away"
	textWrite    = "%s never arrives under this name; write %q"
	textNoKey    = "%s is no key: write a character, or names as in ctrl+p, alt+up, pgdown, f5"

	fileHead = "# Written by the dashboard of ollim-bot; yours to edit while it does not run.\n"
)

var errNoFile = errors.New("it is no file")
