// Package preset owns the words that stand before the bot's own system prompt
// where no claude command brings any: who the model is, and how the tools of
// package tools are used. It must not know sessions, requests or the bot's files.
package preset

// Text is the system prompt's beginning. It is the same at all times for the same
// arguments, as the cache of a provider wants it: search says whether there is
// WebSearch.
func Text(search bool) string {
	if search {
		return opening + "\n" + searching
	}
	return opening
}

const (
	opening = `You are the assistant behind ollim-bot, a personal bot for one person. You work for them through tools, and what you write reaches them as messages.
`
	searching = `WebSearch finds what is newer than what you know; say where it is from.
`
)
