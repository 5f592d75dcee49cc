package history

import (
	"strings"

	"ollimbot/core/clean"
	"ollimbot/core/pattern"
	promptwords "ollimbot/core/prompt"
)

// Role says whose an entry is.
type Role string

// The roles of an entry.
const (
	User    Role = "user"
	Bot     Role = "bot"
	Program Role = "program" // ollim-bot or the CLI spoke to the model: a task, a note
	Call    Role = "call"    // the model called a tool
	Result  Role = "result"  // and that is what the tool gave
)

var (
	// header begins every message of ours.
	header = pattern.Lazily(`^\[\d{4}-\d\d-\d\d [A-Z][a-z]{2} \d\d:\d\d [AP]M [^\]\s]{1,20}(?: [+-]\d\d:\d\d)?\] ?`)
	// updatesHeading begins the updates that may stand behind it. They end with the
	// first blank line, since no update holds one.
	updatesHeading = pattern.Lazily(`^RECENT BACKGROUND UPDATES[^\n]*:\n- `)
	// tagged is a message of the program's.
	tagged = pattern.Lazily(`^\[((?:routine|routine-bg|reminder|reminder-bg|webhook):[^\]\n]{1,300}|` +
		`fork-started|fork-timeout|stale-fork|button|system)\] ?`)
	// noted is what the CLI says in the user's place.
	noted = pattern.Lazily(`^(?:<(?:command-(?:name|message|args)|local-command-[a-z]+|task-notification|system-reminder)>|\[Request interrupted)`)
)

// said is one message to the model, taken apart.
type said struct {
	role Role
	tag  string // "routine-bg:9a8b7c6d", "button"; empty for plain words
	text string // cleaned, without header, updates and tag
	// user is true where it was the user who moved: by words, or by a button.
	user bool
}

// takeApart finds out who speaks in a message.
func takeApart(message string) said {
	rest := clean.Text(message)
	if m := header().FindString(rest); m != "" {
		rest = rest[len(m):]
		if updatesHeading().MatchString(rest) {
			_, words, found := strings.Cut(rest, "\n\n")
			if !found { // updates alone: nobody has said a word
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

// forkStarted tells how a fork began: with a reply of the user's, whose words
// stand behind the first paragraph, with a click, or with a topic, which the
// agent may have chosen.
func forkStarted(rest string, tag []string) said {
	if words, ok := strings.CutPrefix(rest, promptwords.ForkReply("")); ok {
		return said{role: User, tag: tag[1], text: strings.TrimSpace(words), user: true}
	}
	first, _, _ := strings.Cut(promptwords.ForkButton("", ""), "\n\n")
	clicked := strings.HasPrefix(rest, first)
	return said{role: Program, tag: tag[1], text: rest[len(tag[0]):], user: clicked}
}

// task is the id behind a task's tag, and whether it ran in the foreground.
func (s said) task() (kind, id string, foreground bool) {
	kind, id, ok := strings.Cut(s.tag, ":")
	if !ok {
		return "", "", false
	}
	kind, background := strings.CutSuffix(kind, "-bg")
	return kind, clean.Line(id), !background && kind != "webhook"
}
