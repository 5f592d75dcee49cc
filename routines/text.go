package routines

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"ollimbot/core/clean"
)

// Every sentence in this file is read by whoever wrote the task's file. It says
// what is wrong and then how to put it right. The other files of this package
// keep their words in text files of their own.

// titleRunes is how long a title may be.
const titleRunes = 60

// title is the description, else the first words of the body, else the id.
func (t Task) title() string {
	if t.Description != "" {
		return clean.Cut(t.Description, titleRunes)
	}
	var b strings.Builder
	for word := range strings.FieldsSeq(t.Body) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
		if b.Len() > 8*titleRunes { // a body may be megabytes
			break
		}
	}
	text := clean.Line(b.String())
	if text == "" {
		return t.ID
	}
	short := clean.Cut(text, titleRunes)
	if i := strings.LastIndexByte(short, ' '); short != text && i > 0 {
		return short[:i] + "…"
	}
	return short
}

// freshID is an id that nobody has: made from the file's name and bytes, so
// that the same file is given the same advice every time.
func freshID(rel string, data []byte) string {
	h := sha256.New()
	_, _ = h.Write([]byte(rel)) // a hash never fails to write
	_, _ = h.Write(data)
	return hex.EncodeToString(h.Sum(nil)[:4])
}

func missingID(rel string, data []byte) string {
	return fmt.Sprintf("there is no id; add a line id: %q between the dashes", freshID(rel, data))
}

func badID(key, text, rel string, data []byte) string {
	if key != "id" {
		return fmt.Sprintf("%s %s is not the id of a reminder; write it as its file does, or delete the line", key, show(text))
	}
	return fmt.Sprintf("id %s cannot be used; an id is one line of 1 to %d visible characters without spaces at its ends, for example %q",
		show(text), MaxID, freshID(rel, data))
}

func neverFires(expr string) string {
	return show(expr) + " never fires: no month it names has that day; write a day that exists"
}

const (
	msgNoCron     = `there is no cron, so it never fires; add a line cron: "0 9 * * 1-5" (minute, hour, day of month, month, day of week)`
	msgNoRunAt    = `there is no run-at, so it never fires; add a line run-at: "2026-11-23T09:40:00-08:00"`
	msgBackground = "background does nothing here, webhooks always run in the background; delete it"
)

func badRunAt(text string, why error) string {
	const write = `; write it as "2026-11-23T09:40:00-08:00" or "2026-11-23 09:40"`
	switch {
	case errors.Is(why, errNoHour):
		return show(text) + " has no time of day" + write
	case errors.Is(why, errNoDay):
		return show(text) + " names a day or hour that does not exist" + write
	case errors.Is(why, errNoYear):
		return fmt.Sprintf("%s is not in the years %d to %d", show(text), firstYear, lastYear) + write
	}
	return show(text) + " is not a time" + write
}

func naiveRunAt(at time.Time) string {
	return fmt.Sprintf("the time has no offset, so it is read in %s; write %q to be exact",
		at.Location(), at.Format(runAtLayout))
}

func depthBeyond(depth, limit int) string {
	return fmt.Sprintf("chain-depth %d is beyond max-chain %d; write a depth from 0 to %d, or a larger max-chain", depth, limit, limit)
}

const (
	msgAgainAlone      = "again does nothing without until: done; add that, or delete again"
	msgUntilForeground = "until: done works in the background only, so this reminder comes once; write background: true, or delete until"
	msgUntilSilent     = "until: done needs pings, so this reminder comes once; delete allow-ping: false, or until"
)

func untilLongID(n int) string {
	return fmt.Sprintf("until: done needs an id of at most %d bytes, this one has %d, so the reminder comes once; "+
		"shorten it, or delete until", longestDone, n)
}

func badFirstAt(text string) string {
	return show(text) + " is not a time; delete the line, the program writes it anew"
}

func emptyBody(kind Kind) string {
	if kind == KindWebhook {
		return "there is no prompt; write below the second --- what the agent should do, with {name} for the field of that name"
	}
	return "there is no prompt; write below the second --- what the agent should do"
}

func unknownKey(key string) string {
	return show(key) + " is no key that webhooks know, and does nothing; correct or delete it"
}

func tooLong(n int) string {
	return fmt.Sprintf("the file has %d lines, and the agent reads all of them at every fire; "+
		"keep it under %d, move background knowledge into a skill", n, longFile)
}

func notUTF8(b byte) string {
	return fmt.Sprintf(`the byte 0x%02x is not UTF-8 text and is shown as "�"; save the file as UTF-8`, b)
}

func controlCharacter(r rune) string {
	return fmt.Sprintf("the invisible character U+%04X is left out; delete it", r)
}

func cleanedField(key string) string {
	return fmt.Sprintf("%s contains invisible characters, which are left out; delete them", key)
}

func notText(key string) string {
	return fmt.Sprintf("%s must be a single value; write it on the same line, as %s: \"…\"", key, key)
}

func notABool(key, text string) string {
	return fmt.Sprintf("%s is %s; write true or false", key, show(text))
}

func quotedFalse(key, text string) string {
	return fmt.Sprintf("%s is %s in quotes, which the original program reads as true; write %s: false without quotes",
		key, strings.ToLower(text), key)
}

func notAChoice(key, text string, accepted []string) string {
	last := len(accepted) - 1
	if last == 0 {
		return fmt.Sprintf("%s is %s; write %s, or delete the line", key, show(text), accepted[0])
	}
	return fmt.Sprintf("%s is %s; write %s or %s", key, show(text), strings.Join(accepted[:last], ", "), accepted[last])
}

const msgMayWait = "may-wait is for routines with background: true and without allowed-tools, whose runs are one request: this one runs at once"

func notAModel(text string) string {
	return fmt.Sprintf("model is %s; write opus, sonnet, haiku or a model with its provider, such as local/qwen3", show(text))
}

func notACount(key, text string) string {
	return fmt.Sprintf("%s is %s; write a whole number from 0 to %d", key, show(text), maxCount)
}

func notAList(key, text string) string {
	if text == "" {
		text = "…"
	}
	return fmt.Sprintf("%s must be a list, each entry on a line of its own below it, as   - %q", key, clean.Cut(clean.Line(text), 40))
}

func notAnItem(key string) string {
	return fmt.Sprintf("an entry of %s is not a text; write it as - \"…\", or delete it", key)
}

func bothToolLists() string {
	return "allowed-tools and disallowed-tools are both given; keep one of them"
}

func foreignKey(key string, kind Kind) string {
	if kind == KindRoutine {
		return key + " belongs to reminders and does nothing in a routine; delete it (a routine fires by its cron)"
	}
	return key + " belongs to routines and does nothing in a reminder; delete it (a reminder fires at its run-at)"
}

func didYouMean(key, meant string) string {
	return fmt.Sprintf("%s is no key that is known; did you mean %s?", show(key), meant)
}

func emptyPattern() string { return "empty tool pattern; write a tool's name, or delete the entry" }

func brokenPattern(pattern string) string {
	return fmt.Sprintf("%s is not a tool pattern; write Name or Name(what), for example Bash(ollim-bot tasks *)", show(pattern))
}

func tooBroad(pattern string) string {
	return fmt.Sprintf("%s is too broad: it allows every command; name the command, for example Bash(ollim-bot tasks *)", show(pattern))
}

func chaining(pattern string) string {
	return fmt.Sprintf("%s allows chaining of commands by ; & or |; write one pattern for each command", show(pattern))
}

func overlyBroad(pattern, name string) string {
	return fmt.Sprintf("%s is overly broad; name the files, for example %s(notes/*.md)", show(pattern), name)
}

func writesState(pattern string) string {
	return fmt.Sprintf("%s could write to state/, which belongs to the bot; name the files, for example Write(notes/**.md)", show(pattern))
}

func unknownKind(kind Kind) string {
	return fmt.Sprintf("a %s has no file of its own here; remove a routine or a reminder", kind)
}

// show quotes what the user wrote, cleaned and cut.
func show(text string) string { return `"` + clean.Cut(clean.Line(text), 60) + `"` }

// The words of the index.
const (
	msgPanic  = "this file makes the parser fail (%v): please simplify it and report this"
	msgDouble = "%s has the same id (%s) as %s, which stays in force: give one of them another id"
	// msgLastGood follows the first problem of a file whose last good version runs.
	msgLastGood = " (until then the version before stays in force)"
)

var errBadName = errors.New("the file's name holds characters that cannot be shown: rename it, for example to water-the-plants.md")

func folderUnreadable(err error) string {
	return "the folder cannot be read (" + err.Error() + "): make it a folder that you may read; what was read before stays in force"
}

func fileUnreadable(err error) string { return "cannot be read: " + err.Error() }
