package core

import (
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/command"
	"ollimbot/routines/cron"
)

// mostSuggestions is the maximum number of results of Suggest: the limit of Discord's
// list.
const mostSuggestions = 25

// suggestedTimes are offered until a valid time has been typed.
var suggestedTimes = []string{
	"20 minutes", "1 hour", "3 hours", "18:00", "this evening", "tomorrow 9:00", "tomorrow evening", "monday 9:00", "friday noon",
}

// Suggest lists times or titles that match the text typed into a field of /remind. It
// uses only data in memory.
func (b *Bot) Suggest(name, option, typed string) []string {
	if name != "remind" {
		return nil
	}
	if option == "when" {
		return suggestTimes(typed, b.now())
	}
	var list []string
	if typed = strings.TrimSpace(typed); typed != "" {
		list = append(list, typed)
	}
	set := b.index.Set()
	var titles []string
	for _, r := range set.RemindersByTime() {
		titles = append(titles, r.Title())
	}
	for _, r := range set.Routines {
		titles = append(titles, r.Title())
	}
	return append(list, matching(titles, typed)...)
}

// suggestTimes offers a typed time once it is valid, with the moment it means.
func suggestTimes(typed string, now time.Time) []string {
	if at, ok := command.ReadMoment(typed, now); ok && at.After(now) {
		return append([]string{typed}, cron.DayClock(at, now))
	}
	return matching(suggestedTimes, typed)
}

// matching returns the texts that contain the typed text, in any case.
func matching(list []string, typed string) (out []string) {
	for _, s := range list {
		if s = clean.Line(s); strings.Contains(strings.ToLower(s), strings.ToLower(typed)) && len(out) < mostSuggestions {
			out = append(out, s)
		}
	}
	return out
}
