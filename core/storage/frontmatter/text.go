package frontmatter

// Messages about a file, for the user.
const (
	msgNoFrontMatter = "no front matter: begin the file with a line of three dashes, " +
		"then `key: value` lines such as id: \"a1b2c3d4\", then three dashes again, then the text"
	msgUnclosed        = "the front matter is not closed: put a line of three dashes between the keys and the text"
	msgFileSize        = "the file is larger than 64 KiB: remove what does not belong in it"
	msgFrontMatterSize = "the front matter is larger than 64 KiB: close it with a line of three dashes, " +
		"and move long text below it"
	msgNotUTF8   = "a byte that is not UTF-8 text, as in files saved as Latin-1 or Windows-1252: save the file as UTF-8"
	msgUTF16     = "the file is saved as UTF-16: save it as UTF-8"
	msgOnlyCR    = "the lines end with CR alone, as on old Macs: save the file with LF or CRLF at the ends of its lines"
	msgMerge     = "two versions of this file are in it, between the marks <<<<<<< and >>>>>>> of a merge: keep one of them, and remove the marks"
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
	msgDropped     = "%s is a comment in YAML and not part of the value; put the value of %s in quotes, or the comment on a line of its own"
	msgAlias       = "anchors and aliases (& and *) are not supported: write the value itself, in quotes"
	msgComplexKey  = "this key is not a plain word: write `key: value`"
	msgTooDeep     = "values are nested too deeply: write them flatter"
	msgTooLong     = "front matter must not exceed 2,000 lines: move long text below the closing dashes"
	msgTwoDocs     = "a second document begins here: indent the dashes or put the value in quotes"
	msgYAML        = "the front matter cannot be read (%s): put values with special characters in quotes"
	msgUnreadable  = "the front matter cannot be read: write one `key: value` on each line, values in quotes"

	msgMoreJSON = "there is text behind the last }: remove it"
	msgJSONEnds = "the file ends before its last }: a bracket is missing"
	msgDeepJSON = "it is nested more than %d deep"

	msgSpliceFlow = "the keys are not on lines of their own: write one `key: value` on each line first"
)

// hints map words in the YAML library's messages to a message with the cure.
var hints = []struct{ has, message string }{
	{"could not find end character", "a quote that is opened here is never closed: close it on the same line"},
	{"found character '\t'", msgTab},
	{"after document separator", "three dashes must be alone on their line: move the text below them"},
	{"mapping value is not allowed", "a colon where none can be: put the value in quotes"},
	{"value is not allowed in this context", "this line does not belong to the key above it: " +
		"begin keys in the first column, or put the value in quotes"},
	{"unexpected key name", "a key is expected here: write `key: value`"},
	{"non-map value is specified", msgNoColon},
	{"sequence end token ']' not found", "a [ that is opened here is never closed: add ]"},
	{"could not find flow map", "a { that is opened here is never closed: add }"},
	{"invalid header option", "after | or > only a line break can follow: begin the text on the next line"},
}
