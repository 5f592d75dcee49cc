package skill

// Problems of a skill's file, with the cure.
const (
	textFolderName    = "the name of the folder cannot be referred to; give it a name of small letters, digits and hyphens"
	textNoDescription = "there is no description; add a line description: with one sentence that says what the skill is for"
	textNameLetters   = "a skill's name has small letters, digits and hyphens only; rename the folder and the name"
	textNoBody        = "the skill has no text and adds nothing to a prompt; write its instructions below the front matter"
	textNotAList      = "allowed-tools must be a list; write each pattern on its own line after a hyphen (the skill is used without tools)"
	textNotAPattern   = "this item of allowed-tools is no tool pattern; write text such as \"Read(./**.md)\" (it is left out)"
	textUnwritable    = "the front matter of a skill must be readable: begin with a line ---, write key: value lines, and end with a line ---"
	textKeyReaches    = "%s in a skill's front matter reaches past the bot's rules, so only the user may write it: leave it out, and say what it would be for"
	textLeftOut       = " (it is left out)"
	textNoName        = "there is no name; add a line name: %q between the dashes"
	textNotText       = "%s must be text; write it in quotes on one line"
	textOtherName     = "the name %q is not that of the folder, %q, by which tasks refer to the skill; make them equal"
	textUnreadable    = "cannot be read (%s); a skill is an ordinary file of up to 256 KiB within the skills folder"
)

// Replacements for a command's output in a prompt.
const (
	textParseError = "[command parse error: %s]"
	textTimedOut   = "[command timed out: %s]"
	textNotFound   = "[command not found: %s]"
	textFailed     = "[command failed (exit %d): %s]"
	textFailedSays = "[command failed (exit %d): %s: %s]"
	textSkipped    = "[command skipped (total timeout): %s]"
	textTruncated  = "[...truncated]"
)
