package history

import (
	"strings"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/lazyregexp"
	promptwords "ollimbot/core/brief/prompt"
)

var (
	// header starts every message of ours.
	header = lazyregexp.New(`^\[\d{4}-\d\d-\d\d [A-Z][a-z]{2} \d\d:\d\d [AP]M [^\]\s]{1,20}(?: [+-]\d\d:\d\d)?\] ?`)
	// updatesHeading starts the updates that may follow the header. They end at the first
	// blank line, because updates contain none.
	updatesHeading = lazyregexp.New(`^RECENT BACKGROUND UPDATES[^\n]*:\n- `)
	// tagged matches a message of the program.
	tagged = lazyregexp.New(`^\[((?:routine|routine-bg|reminder|reminder-bg|webhook):[^\]\n]{1,300}|` +
		`fork-started|fork-timeout|stale-fork|button|system)\] ?`)
	// noted matches text that the CLI writes in the user's name.
	noted = lazyregexp.New(`^(?:<(?:command-(?:name|message|args)|local-command-[a-z]+|task-notification|system-reminder)>|\[Request interrupted)`)
)

// said is a parsed message to the model.
type said struct {
	role Role
	tag  string // "routine-bg:9a8b7c6d", "button"; empty for a plain message
	text string // cleaned, without header, updates and tag
	// user is true if the user acted, by a message or a button.
	user bool
}

// takeApart determines who wrote a message.
func takeApart(message string) said {
	rest := clean.Text(message)
	if m := header().FindString(rest); m != "" {
		rest = rest[len(m):]
		if updatesHeading().MatchString(rest) {
			_, words, found := strings.Cut(rest, "\n\n")
			if !found { // only updates
				return said{role: Program, tag: "updates", text: rest}
			}
			rest = words
		}
	}
	rest = strings.TrimSpace(rest)
	m := tagged().FindStringSubmatch(rest)
	switch {
	case noted().MatchString(rest):
		return said{role: Program, text: rest}
	case m == nil:
		return said{role: User, text: rest, user: true}
	case m[1] != "fork-started":
		return said{role: Program, tag: m[1], text: rest[len(m[0]):], user: m[1] == "button"}
	}
	return forkStarted(rest, m)
}

// forkStarted parses the start of a fork: with the user's reply, which follows the first
// paragraph, with a click, or with a topic, which the agent may have chosen.
func forkStarted(rest string, tag []string) said {
	if words, ok := strings.CutPrefix(rest, promptwords.ForkReply("")); ok {
		return said{role: User, tag: tag[1], text: strings.TrimSpace(words), user: true}
	}
	first, _, _ := strings.Cut(promptwords.ForkButton("", ""), "\n\n")
	clicked := strings.HasPrefix(rest, first)
	return said{role: Program, tag: tag[1], text: rest[len(tag[0]):], user: clicked}
}

// task returns the id in a task's tag, and whether the task ran in the foreground.
func (s said) task() (kind, id string, foreground bool) {
	kind, id, ok := strings.Cut(s.tag, ":")
	if !ok {
		return "", "", false
	}
	kind, background := strings.CutSuffix(kind, "-bg")
	return kind, clean.Line(id), !background && kind != "webhook"
}
