package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"
)

// advise wraps an error of the file system and says what to do about it.
func advise(doing string, err error) error {
	err = Bare(err)
	for _, a := range cures {
		for _, target := range a.errs {
			if errors.Is(err, target) {
				return fmt.Errorf("%s: %w: %s", doing, err, a.cure)
			}
		}
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// full are the errors of a disk without room. EFBIG is a disk quota of the
// process (ulimit -f), which looks like a full disk to whoever meets it.
var full = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}

// Full reports whether an error came from a disk without room.
func Full(err error) bool {
	return slices.ContainsFunc(full, func(target error) bool { return errors.Is(err, target) })
}

// cures is what a user can do about an error.
var cures = []struct {
	errs []error
	cure string
}{
	{full, cureFull},
	{[]error{syscall.EROFS, fs.ErrPermission}, cureReadOnly},
	{[]error{errNotDirectory, syscall.ENOTDIR}, cureNotDirectory},
	{[]error{syscall.EISDIR}, cureIsDirectory},
	{[]error{syscall.ENAMETOOLONG}, cureLongName},
	{[]error{syscall.ELOOP}, cureLoop},
	{[]error{syscall.ENXIO}, cureNotFile},
	{[]error{syscall.EMFILE, syscall.ENFILE}, cureHandles},
}

// Bare takes the operation and the absolute path out of a path error: the
// wrapper names the file already, relative to the directory.
func Bare(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err
	}
	return err
}

// Every word of this package that a user may read.
const (
	msgNoFrontMatter = "no front matter: begin the file with a line of three dashes, " +
		"then `key: value` lines such as id: \"a1b2c3d4\", then three dashes again, then the text"
	msgUnclosed        = "the front matter is not closed: put a line of three dashes between the keys and the text"
	msgFileSize        = "the file is larger than 64 KiB: leave out what it need not hold"
	msgFrontMatterSize = "the front matter is larger than 64 KiB: close it with a line of three dashes, " +
		"and move long text below it"
	msgNotUTF8   = "a byte that is not UTF-8 text: save the file as UTF-8"
	msgControl   = "a control character that cannot be in front matter: remove it"
	msgDuplicate = "the key %s is already set in line %d: remove one of the two"
	msgNotMap    = "the front matter is %s: write one `key: value` on each line" + exampleID
	exampleID    = ", such as id: \"a1b2c3d4\""

	msgNoColon     = "this line is not `key: value`: add a colon and a space after the key, or remove the line"
	msgNoSpace     = "put a space after the colon: `%s: …`"
	msgQuoteOpen   = "the quote that opens here is never closed: end the value with %s on the same line"
	msgAfterQuote  = "text after the closing quote: put the whole value in one pair of quotes"
	msgColonInside = "a value with a colon and a space in it must be in quotes: `%s: \"…\"`"
	msgFirstChar   = "a value that begins with %s must be in quotes: `\"%s…\"`"
	msgInlineDash  = "a list begins on the line below its key, each item as `- item`; or write [one, two] here"
	msgListOpen    = "the [ that opens here is never closed: end the list with ] on the same line"
	msgIndented    = "this line does not belong to the value above it: begin keys in the first column"
	msgTab         = "a tab cannot indent front matter: use spaces"
	msgAlias       = "anchors and aliases (& and *) are not read here: write the value itself, in quotes"
	msgComplexKey  = "this key is not a plain word: write `key: value`"
	msgTooDeep     = "values are nested too deeply: write them flatter"
	msgTooLong     = "front matter of more than 2,000 lines is not read: move long text below the closing dashes"
	msgTwoDocs     = "a second document begins here: indent the dashes or put the value in quotes"
	msgYAML        = "the front matter cannot be read (%s): put values with special characters in quotes"
	msgUnreadable  = "the front matter cannot be read: write one `key: value` on each line, values in quotes"

	msgIsFile        = "%s is a file, not a directory: move it away, or give another directory with --data-dir"
	msgUnreadableDir = "%s may not be read by you: make it yours (chmod -R u+rwX), or give another directory with --data-dir"
	msgParent        = "%s cannot be made: %s is not writable for you (%w); make it writable, or give another directory with --data-dir"

	msgNoRoot     = "no data directory: give --data-dir or set OLLIM_DATA_DIR"
	msgRunning    = "ollim-bot is already running in %s: stop it first, or use another directory with --data-dir"
	msgRunningPID = "ollim-bot is already running in %s (pid %d): stop it first (kill %d), " +
		"or use another directory with --data-dir"
	msgTurn = "another ollim-bot process holds %s for more than %s: stop it and try again"

	msgForeign     = "%s belongs to another user (uid %d), who can change what the bot does: commands of skills do not run; chown it: sudo chown -R $(id -u) '%s'"
	msgWritable    = "others can write to %s (mode %04o) and change what the bot does: chmod go-w '%s'"
	msgWasWritable = "everybody could write to %s (mode %04o); that is over now. Look through routines/, reminders/ and skills/ for what is not yours"

	msgGitBusy = "another git is at work or the user is in the middle of something (%s): changes are recorded " +
		"when it is over; if no git runs, remove it: rm -r '%s'"

	msgMountPoint    = "%s is a place where a disk is mounted, and cannot be exchanged as a whole: name a folder in it, such as %s/ollim-bot"
	msgNotEmpty      = "%s is not empty any more: something has written there meanwhile; nothing was changed"
	msgNoSwap        = "the file system of %s cannot exchange two directories in one step: move that one away yourself, then try again"
	cureFull         = "free some space and try again; nothing that was stored is harmed"
	cureReadOnly     = "make the data directory writable for your user (chmod -R u+rwX), or choose another with --data-dir"
	cureNotDirectory = "a file stands where a directory must be; move it away, or choose another data directory with --data-dir"
	cureIsDirectory  = "a directory stands where a file must be; move it away"
	cureLongName     = "the name is too long; choose a shorter one"
	cureLoop         = "this is a link that leads back to itself: remove it"
	cureNotFile      = "a pipe or device stands where a file must be: remove it"
	cureHandles      = "too many files are open: close other programs or raise the limit (ulimit -n); it goes on by itself then"

	msgSpliceFlow = "the keys are not on lines of their own: write one `key: value` on each line first"
)

// hints translate the YAML library's words, found in its message, into a cure.
var hints = []struct{ has, message string }{
	{"could not find end character", "a quote that is opened here is never closed: close it on the same line"},
	{"found character '\t'", msgTab},
	{"found invalid token", "a character that cannot begin a value: put the value in quotes"},
	{"after document separator", "three dashes stand alone on their line: move the text below them"},
	{"mapping value is not allowed", "a colon where none can be: put the value in quotes"},
	{"value is not allowed in this context", "this line does not belong to the key above it: " +
		"begin keys in the first column, or put the value in quotes"},
	{"unexpected key name", "a key is expected here: write `key: value`"},
	{"non-map value is specified", msgNoColon},
	{"sequence end token ']' not found", "a [ that is opened here is never closed: add ]"},
	{"sequence was used where mapping", "a list item where a key is expected: write `key: value`"},
	{"could not find flow map", "a { that is opened here is never closed: add }"},
	{"could not find flow mapping end", "a { that is opened here is never closed: add }"},
	{"invalid header option", "after | or > only a line break can follow: begin the text on the next line"},
	{"already defined", "this key is already set: remove one of the two"},
}
