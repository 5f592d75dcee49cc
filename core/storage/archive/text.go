package archive

// User-visible texts.
const (
	textNoDir     = "there is no data directory at %s; give another one with --data-dir"
	textFileThere = "%s already exists; choose another file, or remove it first"
	textInside    = "%s is in the data directory (%s), so the export would contain itself; choose a file elsewhere"
	textRestless  = "the bot's files kept changing for %s; try again when it is less busy, or stop it"
	textFull      = "free some space and try again; nothing was changed"

	textNoPassphrase    = "the export is encrypted; enter its passphrase"
	textWrongPassphrase = "that is not the passphrase of this export, or the export is damaged"
	textNoExport        = "this is not an export of ollim-bot; `ollim-bot export FILE` makes one"
	textNewer           = "the export was made by a newer ollim-bot (%s); update this one, then import it"
	textCutOff          = "the export is incomplete; copy it here again"
	textDamaged         = "the export is damaged (%w); copy it here again"
	textMissing         = "%q is missing from the export; copy it here again, or make a new export"
	textChanged         = "%q is damaged in the export; copy it here again, or make a new export"
	textBehind          = "there is data after the end of the export; it is damaged or was modified"
	textUnknown         = "the export contains %q, which its list of files lacks; it was modified"
	textOutside         = "the export contains %q, which is outside the data directory or not a valid name; it was not made by ollim-bot"
	textLink            = "the export contains %q, a link; only files and folders are allowed"
	textDevice          = "the export contains %q, which is neither file nor folder"
	textTwice           = "the export contains %q twice, or as a file and a folder; it was not made by ollim-bot"
	textUnwanted        = "the export contains %q, which does not belong in it; it was not made by ollim-bot"
	textTooMany         = "the export contains more than %d files; it was not made by ollim-bot"
	textBomb            = "the export unpacks to more than %d times its size; it was not made by ollim-bot"

	textNoSource   = "%s cannot be read: %v"
	textNoDataDir  = "%s is not a data directory: it has no state/, routines/, reminders/ or IDENTITY.md"
	textSourceRuns = "a bot is running on %s (process %d); stop it first, or its later changes are not imported"
	textSame       = "one of %s and the data directory %s contains the other; choose another data directory with --data-dir"

	textRuns      = "a bot is running on %s (process %d); stop it first"
	textDangling  = "%s is a link without a target; remove it, or create its target folder"
	textNotEmpty  = "%s is not empty; --replace replaces it and keeps the old one next to it; --data-dir imports elsewhere (%s stays)"
	textHoldsHome = "%s is your home directory, or contains it, and cannot be replaced; choose a separate folder with --data-dir"
	textNoRoom    = "the import needs %s on the disk of %s, which has %s free; free some space; nothing was changed"

	textMountPoint = "%s is a mount point and cannot be replaced; choose a folder in it, such as %s/ollim-bot"
	textRefilled   = "%s is no longer empty because another program wrote there; nothing was changed"
	textNoSwap     = "the file system of %s cannot swap two directories in one step; move that one away yourself, then try again"
)
