package core

import (
	"slices"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/talk/notice"
	"ollimbot/core/talk/transcript"
	"ollimbot/routines"
	"ollimbot/routines/when"
	"ollimbot/routines/zones"
)

// MainSession returns the id of the main session, or "".
func (b *Bot) MainSession() string { return b.sessions.Main() }

// maxRecent is the maximum length of Recent, in characters.
const maxRecent = 6000

// Recent returns the latest messages of the user and the bot, for an engine that takes
// over from an unavailable one.
func (b *Bot) Recent() string {
	var lines []string
	size := 0
	for _, e := range slices.Backward(b.book.Entries()) {
		who := map[transcript.Role]string{transcript.User: "The user", transcript.Bot: "You"}[e.Role]
		if who == "" || len(lines) == 0 && e.Role == transcript.User {
			continue // the message about to be sent
		}
		line := who + ": " + clean.Cut(e.Text, 2000)
		if size += len(line); size > maxRecent {
			break
		}
		lines = append(lines, line)
	}
	slices.Reverse(lines)
	return strings.Join(lines, "\n\n")
}

// Tell shows the user a notice.
func (b *Bot) Tell(text string) { b.notices.Add(notice.Info, text) }

// ZoneData says which time zone data the bot's zone and those of tasks come from.
func (b *Bot) ZoneData(now time.Time) zones.Report {
	return zones.Default().Report(now, append(routines.Zones(b.index.Set().Routines), b.zone.String())...)
}

// now returns the current time in the configured zone.
func (b *Bot) now() time.Time { return time.Now().In(b.zone) }

// times reads times as the user says them.
func (b *Bot) times() when.Reader { return when.Reader{Now: b.now(), Day: b.settings.Load().Day()} }
