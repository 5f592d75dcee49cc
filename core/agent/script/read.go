package script

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/lazyregexp"
)

// message is what the offline engine understands of a prompt.
type message struct {
	tag        string   // "routine", "reminder", "webhook", "fork-timeout", ...; empty for the user's own words
	background bool     // no user reads the answer
	mustLeave  bool     // an idle fork's last notice
	updates    []string // what happened in the background
	body       string   // what a person wrote
	images     int
}

var (
	stampForm  = lazyregexp.New(`^\[\d{4}-\d\d-\d\d \S+ \d\d:\d\d [AP]M [^\]\n]*\] ?`)
	tagForm    = lazyregexp.New(`^\[(routine|reminder|webhook|fork-started|fork-timeout|button|system)(-bg)?(?::[^\]\s]+)?\]\s*`)
	updateForm = lazyregexp.New(`(?m)^- \(([^)]*)\) (.*)$`)
)

// read splits a prompt into the header that the bot writes and the body. A task's body
// is the last paragraph, because the bot's own sections precede it.
func read(prompt string) message {
	var m message
	rest := strings.ReplaceAll(prompt, "\r\n", "\n")
	rest = strings.TrimPrefix(rest, stampForm().FindString(rest))
	if strings.HasPrefix(rest, "RECENT BACKGROUND UPDATES") {
		block, after, _ := strings.Cut(rest, "\n\n")
		for _, u := range updateForm().FindAllStringSubmatch(block, -1) {
			m.updates = append(m.updates, u[2]+" ("+u[1]+")")
		}
		rest = after
	}
	tag := tagForm().FindStringSubmatch(rest)
	if tag == nil {
		m.body = strings.TrimSpace(rest)
		return m
	}
	m.tag, m.background = tag[1], tag[2] != "" || tag[1] == "webhook"
	rest = rest[len(tag[0]):]
	switch m.tag {
	case "routine", "reminder", "webhook":
		if at := fence().FindStringIndex(rest); at != nil { // what follows is for this program alone
			rest = rest[:at[0]]
		}
		m.body = strings.TrimSpace(rest)
		m.body = m.body[strings.LastIndex(m.body, "\n\n")+1:]
	case "fork-timeout":
		m.mustLeave = strings.Contains(rest, "MUST")
	case "fork-started":
		m.body = forkTopic(rest)
	case "system":
	default:
		m.body = rest
	}
	m.body = strings.TrimSpace(m.body)
	return m
}

// forkTopic returns the user's words in the prompt that starts an interactive fork: the
// topic, the reply, or the text of a button. They are its second paragraph.
func forkTopic(prompt string) string {
	_, rest, _ := strings.Cut(prompt, "\n\n")
	own, _, _ := strings.Cut(rest, "\n\n")
	if _, button, ok := strings.Cut(own, " clicked a button on your output: "); ok {
		return button
	}
	if strings.HasPrefix(own, "No topic was given") {
		return ""
	}
	return strings.TrimPrefix(own, "Topic: ")
}

// The words that make a run ping.
var (
	wantsPing   = lazyregexp.New(`(?i)\b(ping|nudge|remind|tell me|let me know|alert|call me|wake|time (for|to)|stand up|move|check in)\b`)
	wantsUrgent = lazyregexp.New(`(?i)\b(critical|emergency|devastated|at any cost)\b`)

	// opening precedes the subject of a request.
	opening = lazyregexp.New(`(?i)^(please\s+)?(((ping|nudge|remind|tell|alert|ask) me|let me know|give me a nudge|send me a reminder)` +
		`\s+(to|about|of|that|when|whether|if)?\s*)`)
	minutes = lazyregexp.New(`(?i)\bin (\d{1,4}) ?(min|minutes?|h|hours?)\b`)

	sentence = lazyregexp.New(`^.+?(?:[.!?] |$)`)
)

// firstSentence returns the first sentence of a body, cleaned and on one line.
func firstSentence(body string) string {
	paragraph, _, _ := strings.Cut(body, "\n\n")
	return strings.TrimSpace(sentence().FindString(clean.Line(paragraph)))
}

// gist returns the subject of a body: "stand up and move for five minutes".
func gist(body string) string {
	s := firstSentence(body)
	if s == "" {
		return "this task"
	}
	if m := opening().FindString(s); m != "" {
		s = s[len(m):]
	}
	if i := strings.Index(s, ", unless "); i > 0 {
		s = s[:i]
	}
	return clean.Cut(strings.TrimRight(lower(s), " .!?:"), 120)
}

// lower makes a sentence fit into another; "I" and abbreviations keep their case.
func lower(s string) string {
	if len(s) > 1 && s[0] >= 'A' && s[0] <= 'Z' && s[1] >= 'a' && s[1] <= 'z' {
		return strings.ToLower(s[:1]) + s[1:]
	}
	return s
}

// addressed turns an instruction into a message for the user.
func addressed(body string) string {
	first := firstSentence(body)
	if first == "" {
		return "Something is due now."
	}
	if m := opening().FindString(first); m != "" {
		what := gist(body)
		if strings.HasSuffix(strings.ToLower(strings.TrimSpace(m)), " to") {
			return "Time to " + yours(what) + "."
		}
		return "A reminder: " + yours(what) + "."
	}
	return yours(first)
}

// yours turns the user's "my" and "me" into "your" and "you".
func yours(s string) string {
	return person().ReplaceAllStringFunc(s, func(w string) string {
		you, ok := personal[strings.ToLower(w)]
		if !ok {
			return w
		}
		if w[0] >= 'A' && w[0] <= 'Z' && w != "I" {
			return strings.ToUpper(you[:1]) + you[1:]
		}
		return you
	})
}

var person = lazyregexp.New(`\b([Mm]e|[Mm]y|[Mm]ine|I|I'm|I've|[Mm]yself)\b`)

var personal = map[string]string{
	"me": "you", "my": "your", "mine": "yours", "i": "you", "i'm": "you're", "i've": "you've", "myself": "yourself",
}

// delay finds "in 20 minutes" in a text.
func delay(text string) (time.Duration, bool) {
	m := minutes().FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(m[1])
	if err != nil || n < 1 {
		return 0, false
	}
	if strings.HasPrefix(strings.ToLower(m[2]), "h") {
		return time.Duration(n) * time.Hour, true
	}
	return time.Duration(n) * time.Minute, true
}

// lastAsked returns the user's last message in this session, or "".
func (t *turn) lastAsked() string {
	for _, v := range slices.Backward(t.history) {
		if asked := strings.TrimSpace(v.Asked); asked != "" {
			return asked
		}
	}
	return ""
}
