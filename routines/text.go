package routines

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"ollimbot/core/base/clean"
)

// The author of the task's file reads every message in this file. Each states the
// problem, then the fix. Subpackages have text files of their own.

// titleRunes is the longest title, in runes.
const titleRunes = 60

// Title returns the task's display name: the description, or else the first words of the
// body, at most 60 runes, or else the id.
func (t Task) Title() string {
	if t.Description != "" {
		return clean.Cut(t.Description, titleRunes)
	}
	head := Opening(t.Body)
	head = head[:min(len(head), 16*titleRunes)] // a body may be megabytes
	text := clean.Line(strings.Join(strings.Fields(strings.ToValidUTF8(head, "")), " "))
	if t.Kind == KindWebhook { // its placeholders, as words
		text = strings.NewReplacer("{{", "", "}}", "").Replace(text)
	}
	short := clean.Cut(text, titleRunes)
	if i := strings.LastIndexByte(short, ' '); short != text && i > 0 {
		return short[:i] + "…"
	}
	return cmp.Or(short, t.ID)
}

// Opening returns the words of a body in front of its first fenced block, such as a script, or all of a body that begins with one.
func Opening(body string) string {
	if strings.HasPrefix(body, "```") {
		return body
	}
	words, _, _ := strings.Cut(body, "\n```")
	return strings.TrimSpace(words)
}

// freshID returns an unused id derived from the file's name and bytes, so that the same
// file always gets the same advice.
func (p *File) freshID() string {
	sum := sha256.Sum256(append([]byte(p.rel), p.data...))
	return hex.EncodeToString(sum[:4])
}

const (
	msgMissingID  = "there is no id; add a line id: %q between the dashes"
	msgBadID      = "id %s cannot be used; an id is one line of 1 to %d visible characters without spaces at its ends, for example %q"
	msgBadOtherID = "%s %s is not the id of a reminder; copy the id from its file, or delete the line"

	msgNoCron     = `there is no cron, so it never fires; add a line cron: "0 9 * * 1-5" (minute, hour, day of month, month, day of week)`
	msgNeverFires = "%s never fires: none of its months has that day; write a day that exists"

	msgNoRunAt         = `there is no run-at, so it never fires; add a line run-at: "2026-11-23T09:40:00-08:00"`
	msgBadRunAt        = `%s %v; write it as "2026-11-23T09:40:00-08:00" or "2026-11-23 09:40"`
	msgNaiveRunAt      = "the time has no offset, so it is read in %s; write %q to be exact"
	msgEveryFrom       = "every counts from %s, because there is no from; add the first day, such as from: %q"
	msgCalendar        = "skip: %s; until then it fires on these days too"
	msgLateRange       = "write 1 minute to 31 days, such as 2 hours"
	msgLateAlone       = "late has no effect without missed: run; add that, or delete late"
	msgBadLeeway       = "%s %s %v"
	msgShortWindow     = "the window %s is shorter than the jitter of %s; write a longer window, or a jitter of at most %s"
	msgCronInWindow    = "cron does not fire at %d:%02d, where the window starts; write cron: %q, whose time of day is the window's start"
	msgOftenJitter     = "cron fires every %s, which is not longer than the jitter of %s; write a jitter below %s"
	msgRunAtOutside    = "run-at is not at %d:%02d, where the window starts, so the reminder fires at exactly that time; write run-at: %q, or delete window"
	msgDepthBeyond     = "chain-depth %d is beyond max-chain %d; write a depth from 0 to %d, or a larger max-chain"
	msgAgainAlone      = "again has no effect without until: done; add that, or delete again"
	msgUntilForeground = "until: done works in the background only, so this reminder fires once; write background: true, or delete until"
	msgUntilSilent     = "until: done needs pings, so this reminder fires once; delete allow-ping: false, or until"
	msgUntilLongID     = "until: done needs an id of at most %d bytes, this one has %d, so the reminder fires once; shorten it, or delete until"
	noteAhead          = "the original program ignores ahead and fires only at the time itself"
	msgAheadSilent     = "ahead sends pings, so it has no effect here; delete allow-ping: false, or ahead"
	msgAheadTwice      = "ahead has %s and %s at one minute, so only one is sent; delete one of them"
	msgBadFirstAt      = "%s is not a time; delete the line and the program writes it again"

	msgEmptyBody    = "there is no prompt; write below the second --- what the agent should do"
	msgEmptyWebhook = ", with {name} for the field of that name"
	msgTooLong      = "the file has %d lines, and the agent reads all of them each time it fires; " +
		"keep it under %d, move background knowledge into a skill"
	msgNotUTF8 = `the byte 0x%02x is not UTF-8 text, as in files saved as Latin-1, and is shown as "�"; save the file as UTF-8`
	msgControl = "the invisible character U+%04X is left out; delete it"

	msgCleanedField  = "%s contains invisible characters, which are left out; delete them"
	msgNotText       = "%s must be a single value on the same line; write %s: \"…\""
	msgNotABool      = "%s is %s; write true or false"
	msgQuotedFalse   = "%s is %s in quotes, which counts as true in the original program; write %s: false without quotes"
	msgNotAChoice    = "%s is %s; write %s"
	msgEssential     = "essential is for tasks that ping, so it has no effect here; write background: true and delete allow-ping: false, or delete essential"
	msgCheckEmpty    = "check is empty, so every fire runs; write a command whose exit status decides, or delete check"
	msgCheckFront    = "check works in the background only, so every fire runs; write background: true, or delete check"
	msgCheckTool     = "check is %s, which calls no tool; write a command, or as mcp__SERVER__TOOL {\"argument\": \"value\"}"
	msgSayAlone      = "say: check sends what the check prints, and there is no check; add a line check: \"./bin/message.sh\", or delete say"
	msgSayFront      = "say: check works in the background only; write background: true, or delete say"
	msgSaySilent     = "say: check sends a ping, which allow-ping: false forbids; delete one of them"
	msgSayModel      = "%s is for a model, and say: check asks none; delete %s, or delete say"
	msgSayOurs       = "the original program ignores say and runs the prompt with a model"
	msgNotAModel     = "model is %s; write opus, sonnet, haiku or a model with its provider, such as local/qwen3"
	msgNotACount     = "%s is %s; write a whole number from 0 to %d"
	msgNotAList      = "%s must be a list with each entry on its own line below it, for example   - %q"
	msgNotAnItem     = "an entry of %s is not text; write it as - \"…\", or delete it"
	msgBothToolLists = "allowed-tools and disallowed-tools are both given; keep one of them"

	msgBackground = "background has no effect here because webhooks always run in the background; delete it"
	msgSecretKey  = "a secret does not belong into this file, which git keeps: delete the key %s, put a new secret into the bot's environment, " +
		"as NAME_SECRET=value, and write secret-env: NAME_SECRET here"
	msgUnknownKey = "webhooks have no key %s, so it does nothing; correct or delete it"
	msgForeignKey = "%s is a key of %ss and has no effect in a %s; delete it (a %s fires %s)"
	msgDidYouMean = "%s is not a known key; did you mean %s?"

	msgEmptyPattern  = "empty tool pattern; write a tool's name, or delete the entry"
	msgBrokenPattern = "%s is not a tool pattern; write Name or Name(what), for example Bash(ollim-bot tasks *)"
	msgTooBroad      = "%s is too broad: it allows every command; name the command, for example Bash(ollim-bot tasks *)"
	msgChaining      = "%s allows chaining of commands by ; & or |; write one pattern for each command"
	msgOverlyBroad   = "%s is overly broad; name the files, for example %s(notes/*.md)"
	msgWritesState   = "%s could write to the bot's own files; name the files, for example Write(notes/**.md)"
)

// msgRemovedKeys are the keys of earlier versions, with what replaces them.
var msgRemovedKeys = map[string]string{
	"may-wait": "may-wait was removed, and the routine runs when it is due; delete the line",
}

// firesBy describes what makes a task fire.
var firesBy = map[Kind]string{KindRoutine: "by its cron", KindReminder: "at its run-at"}

// orList lists the accepted values in words.
func orList(accepted []string) string {
	last := len(accepted) - 1
	if last == 0 {
		return accepted[0] + ", or delete the line"
	}
	return strings.Join(accepted[:last], ", ") + " or " + accepted[last]
}

// show quotes the user's text, cleaned and cut.
func show(text string) string { return `"` + clean.Cut(clean.Line(text), 60) + `"` }

// Messages of the index.
const (
	msgPanic       = "this file makes the parser fail (%v): please simplify it and report this"
	msgSubFolder   = "the files in this folder are ignored: move them to %s/ itself"
	msgOtherEnding = "this file is ignored, because only files that end in .md are read: name it %s.md"
	msgDouble      = "%s has the same id (%s) as %s, which stays active: give one of them another id"
	// msgLastGood and msgKept are appended to the first problem of a file whose last good version
	// stays active. msgKept names the day on which it was kept.
	msgLastGood = " (until then the previous version stays active)"
	msgKept     = " (until then the version of %s stays active)"

	msgFolderUnreadable = "the folder cannot be read (%v): make it a readable folder; until then its previous files stay active"
)

var errBadName = errors.New("the file's name contains characters that cannot be shown; rename it, for example to water-the-plants.md")
