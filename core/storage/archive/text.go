package archive

// Words for people.
const (
	textNoDir     = "there is no data directory at %s: --data-dir names another one"
	textFileThere = "%s is there already: name another file, or remove it first"
	textInside    = "%s lies in the data directory (%s), so it would have to hold itself: name a file elsewhere"
	textRestless  = "the files of the bot have not stood still for a moment in %s: try again when it does less, or end it"
	textFull      = "free some space and try again; nothing was changed"

	textNoPassphrase    = "the export is encrypted: its passphrase is needed"
	textWrongPassphrase = "that is not the passphrase of this export, or its beginning is damaged"
	textNoExport        = "this is no export of ollim-bot's: `ollim-bot export FILE` makes one"
	textNewer           = "the export was made by a newer ollim-bot (%s): update this one, then import it"
	textCutOff          = "the export is cut off: copy it here again, as a whole"
	textDamaged         = "the export is damaged (%w): copy it here again"
	textMissing         = "the export lacks %q, which it names: copy it here again, or export anew"
	textChanged         = "the export is damaged in %q: copy it here again, or export anew"
	textBehind          = "something stands behind the end of the export: it is damaged, or another hand has changed it"
	textUnknown         = "the export holds %q, which it does not name: another hand has changed it"
	textOutside         = "the export holds %q, which leads out of the data directory or can be no file's name: it is not ours"
	textLink            = "the export holds %q, a link: exports hold files and folders only"
	textDevice          = "the export holds %q, which is neither file nor folder: exports hold nothing else"
	textTwice           = "the export holds %q twice, or as a file and a folder: it is not ours"
	textUnwanted        = "the export holds %q, which no export like this one holds: it is not ours"
	textTooMany         = "the export holds more than %d files: it is not ours"
	textBomb            = "the export unpacks to more than %d times its size: it is not ours"

	textNoSource   = "%s cannot be read: %v"
	textNoDataDir  = "%s is no data directory: it has neither state/ nor routines/ nor reminders/ nor IDENTITY.md"
	textSourceRuns = "a bot runs on %s (process %d): end it first, or what it does from now on stays behind"
	textSame       = "%s and the data directory %s lie within each other: name another place with --data-dir"

	textRuns      = "a bot runs on %s (process %d): end it first"
	textDangling  = "%s is a link that leads nowhere: remove it, or make the folder that it names"
	textNotEmpty  = "%s is not empty: --replace puts the import in its place and keeps what is there beside it; --data-dir imports elsewhere (%s stays)"
	textHoldsHome = "%s is your home directory, or holds it, and cannot be replaced: name a folder of the bot's own with --data-dir"
	textNoRoom    = "the import needs %s on the disk of %s, where %s are free: free some space; nothing was changed"

	textMountPoint = "%s is a mount point and cannot be replaced: name a folder in it, such as %s/ollim-bot"
	textRefilled   = "%s is no longer empty: another program has written there; nothing was changed"
	textNoSwap     = "the file system of %s cannot exchange two directories in one step: move that one away yourself, then try again"
)
