package script

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/lazyregexp"
)

// message is a prompt without what the bot writes before it.
type message struct {
	tag        string // "routine", "reminder", "webhook", "fork-timeout", ...; empty for the user's own words
	background bool   // no user reads the answer
	body       string // what a person wrote
}

var (
	stampForm = lazyregexp.New(`^\[\d{4}-\d\d-\d\d \S+ \d\d:\d\d [AP]M [^\]\n]*\] ?`)
	tagForm   = lazyregexp.New(`^\[(routine|reminder|webhook|fork-started|fork-timeout|button|system)(-bg)?(?::[^\]\s]+)?\]\s*`)
	// ourSection matches how the bot's sections begin that may be the last before a task's body.
	ourSection = lazyregexp.New(`^(?:CHAIN CONTEXT:|TOOL RESTRICTIONS:|If a tool that you need is missing|For preference decisions,|### )`)
	// wantsPing matches the words of a task that asks for a ping.
	wantsPing = lazyregexp.New(`(?i)\b(ping|nudge|remind|tell|alert|call|wake) (me|the user)\b`)
)

// read splits a prompt into the header that the bot writes and the body. A task's body
// is the last paragraph, because the bot's own sections precede it; a fork's is the second, its topic.
func read(prompt string) message {
	rest := strings.ReplaceAll(prompt, "\r\n", "\n")
	rest = strings.TrimPrefix(rest, stampForm().FindString(rest))
	if strings.HasPrefix(rest, "RECENT BACKGROUND UPDATES") {
		_, rest, _ = strings.Cut(rest, "\n\n")
	}
	tag := tagForm().FindStringSubmatch(rest)
	if tag == nil {
		return message{body: strings.TrimSpace(rest)}
	}
	m := message{tag: tag[1], background: tag[2] != "" || tag[1] == "webhook", body: rest[len(tag[0]):]}
	switch m.tag {
	case "routine", "reminder", "webhook":
		at := fence().FindStringIndex(m.body)
		scripted := at != nil
		if scripted { // what follows is for this program alone
			m.body = m.body[:at[0]]
		}
		m.body = strings.TrimSpace(m.body)
		m.body = m.body[strings.LastIndex(m.body, "\n\n")+1:]
		if m.background && scripted && ourSection().MatchString(strings.TrimSpace(m.body)) {
			m.body = "" // the task is only a script
		}
	case "fork-started":
		_, m.body, _ = strings.Cut(m.body, "\n\n")
		m.body, _, _ = strings.Cut(m.body, "\n\n")
		m.body = strings.TrimPrefix(m.body, "Topic: ")
	}
	m.body = strings.TrimSpace(m.body)
	return m
}

// unscripted plays a prompt without a script. The engine says that it has none. A reminder, and a task
// whose words ask for a ping, get one in their own words.
func (t *turn) unscripted(m message) []step {
	steps := []step{{verb: vWait, wait: 800 * time.Millisecond}} // as a model would take
	words := clean.Cut(clean.Line(m.body), 300)
	talk := t.s.engine.o.Talk
	switch {
	case m.background && t.offers("ping_user") && (m.tag == "reminder" || wantsPing().MatchString(m.body)):
		return append(steps, call("ping_user", words+sayOwnWords), say(sayNoModel))
	case m.background:
	case m.tag == "routine" || m.tag == "reminder":
		steps = append(steps, say(words))
	case talk != nil:
		if m.tag != "" && (m.tag != "fork-started" || strings.HasPrefix(m.body, "No topic")) {
			m.body = "[" + m.tag + "]"
		}
		more, err := parse(talk(m.body), false)
		if err != nil {
			t.fault = err.Error()
		}
		return append(steps, more...)
	case t.s.engine.o.Offline != "" && !t.saidOffline():
		return append(steps, say(t.s.engine.o.Offline))
	}
	return append(steps, say(sayNoModel))
}

func (t *turn) offers(tool string) bool {
	return slices.ContainsFunc(t.s.o.Tools, func(o agent.Tool) bool { return o.Name == tool })
}

// saidOffline reports whether the session has already said that no model is connected.
func (t *turn) saidOffline() bool {
	return slices.ContainsFunc(t.history, func(e exchange) bool { return strings.Contains(e.Answered, t.s.engine.o.Offline) })
}

// obey does what the Stop hook asks for.
func obey(reason, report string) []step {
	if strings.Contains(reason, "report_updates") {
		return []step{call("report_updates", report)}
	}
	return []step{say(clean.Cut(clean.Line(reason), 200))}
}

func say(text string) step { return step{verb: vSay, text: text} }

// call returns a step that calls one of the bot's tools with a message.
func call(tool, message string) step {
	data, _ := json.Marshal(map[string]string{"message": message}) // words can always be written
	return step{verb: vCall, text: tool, input: data}
}
