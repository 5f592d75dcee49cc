package script

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/lazyregexp"
)

// reading is what the offline engine understands of a prompt: the literal tags
// and facts that package prompt writes, and the body that a person wrote.
type reading struct {
	Tag        string // "routine", "reminder-bg", "fork-started"; empty for the user's own words
	ID         string
	Background bool
	Mode       string // always, on_ping, freely, blocked
	Ping       bool   // pings are allowed
	Busy       bool
	Tokens     int // whole tokens of the ping budget, -1 where it is not told
	Check, Of  int // position in a chain, 0 outside of one
	Chain      bool
	Late       bool
	Must       bool // a fork's last notice: it has to end
	Updates    []string
	Tools      []string // patterns that the preamble lists
	Body       string
	Images     int
}

var (
	stampForm  = lazyregexp.Lazily(`^\[\d{4}-\d\d-\d\d \S+ \d\d:\d\d [AP]M [^\]\n]*\] ?`)
	tagForm    = lazyregexp.Lazily(`^\[(routine|reminder|webhook)(-bg)?:([^\]\s]+)\]\s*`)
	plainTag   = lazyregexp.Lazily(`^\[(fork-started|fork-timeout|button|system)\]\s*`)
	updateForm = lazyregexp.Lazily(`^- \(([^)]*)\) (.*)$`)
	budgetForm = lazyregexp.Lazily(`Ping budget: (\d+)/\d+`)
	checkForm  = lazyregexp.Lazily(`check (\d+) of (\d+)`)
	toolForm   = lazyregexp.Lazily(`(?m)^\s+- ([A-Za-z0-9_]+(?:\(.*\))?)$`)
)

// preambleMarks are phrases that only the bot's own sections hold; the body is
// what stands behind the last section.
var preambleMarks = []string{
	"ping_user", "discord_embed", "report_updates", "follow_up_chain", "Ping budget:", "TOOL RESTRICTIONS",
	"mid-conversation", "quiet hours", "Upcoming bg tasks", "No more bg tasks today", "user-proxy", "CHAIN CONTEXT",
	"[late:", "critical=True", "SKILL INSTRUCTIONS:", "main session", "at most 1", "~1 refill", "refills before last task",
	"tools are NOT available", "is NOT available", "discarded", "FINAL check", "[routine-bg:", "[reminder-bg:",
}

func read(prompt string) reading {
	r := reading{Tokens: -1, Mode: "on_ping"}
	rest := strings.ReplaceAll(prompt, "\r\n", "\n")
	rest = strings.TrimPrefix(rest, stampForm().FindString(rest))
	rest = r.takeUpdates(rest)
	if m := tagForm().FindStringSubmatch(rest); m != nil {
		r.Tag, r.Background, r.ID = m[1]+m[2], m[2] != "" || m[1] == "webhook", m[3]
		if !r.Background {
			rest = rest[len(m[0]):]
		}
	} else if m := plainTag().FindStringSubmatch(rest); m != nil {
		r.Tag = m[1]
		rest = r.takeFork(rest[len(m[0]):])
	}
	r.Late = strings.Contains(rest, "[late:")
	if m := checkForm().FindStringSubmatch(rest); m != nil && strings.Contains(rest, "CHAIN CONTEXT") {
		r.Check, _ = strconv.Atoi(m[1])
		r.Of, _ = strconv.Atoi(m[2])
		r.Chain = !strings.Contains(rest, "FINAL check")
	}
	r.Body = rest
	if r.Background || r.Of > 0 || r.Late {
		r.Body = bodyOf(rest)
	}
	if r.Background {
		r.takePreamble(strings.TrimSuffix(rest, r.Body))
	}
	r.Body = strings.TrimSpace(r.Body)
	return r
}

// takeUpdates reads the block of pending updates and returns what follows it.
func (r *reading) takeUpdates(rest string) string {
	if !strings.HasPrefix(rest, "RECENT BACKGROUND UPDATES") {
		return rest
	}
	block, after, _ := strings.Cut(rest, "\n\n")
	for line := range strings.Lines(block) {
		if m := updateForm().FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			r.Updates = append(r.Updates, m[2]+" ("+m[1]+")")
		}
	}
	return after
}

// takePreamble reads the facts of a background preamble.
func (r *reading) takePreamble(p string) {
	r.Ping = !strings.Contains(p, "disabled")
	switch {
	case strings.Contains(p, "optionally"):
		r.Mode = "freely"
	case strings.Contains(p, "silently"), strings.Contains(p, "No summary is passed"):
		r.Mode = "blocked"
	case strings.Contains(p, "MUST") && !strings.Contains(p, "what happened"):
		r.Mode = "always"
	}
	r.Busy = strings.Contains(p, "mid-conversation") || strings.Contains(strings.ToLower(p), "quiet hours")
	if m := budgetForm().FindStringSubmatch(p); m != nil {
		r.Tokens, _ = strconv.Atoi(m[1])
	}
	if _, list, ok := strings.Cut(p, "TOOL RESTRICTIONS"); ok {
		list, _, _ = strings.Cut(list, "\n\n") // what is available comes first
		for _, m := range toolForm().FindAllStringSubmatch(list, -1) {
			r.Tools = append(r.Tools, m[1])
		}
	}
}

// bodyOf is what stands behind the bot's own sections: the paragraphs after
// the last one with a mark of theirs, or the last paragraph of all.
func bodyOf(rest string) string {
	parts := strings.SplitAfter(rest, "\n\n")
	start := 0
	for i, part := range parts[:len(parts)-1] {
		if marked(part) && strings.Join(parts[i+1:], "") != "" {
			start = i + 1
		}
	}
	body := strings.Join(parts[start:], "")
	return strings.TrimPrefix(body, tagForm().FindString(body))
}

// marked knows the bot's own sections, and a skill by its heading.
func marked(part string) bool {
	return strings.HasPrefix(part, "### ") || slices.ContainsFunc(preambleMarks, func(m string) bool { return strings.Contains(part, m) })
}

// The words by which a body's wishes are known.
var (
	wantsPing     = lazyregexp.Lazily(`(?i)\b(ping|nudge|remind|tell me|let me know|alert|call me|wake|time (for|to)|stand up|move|check in)\b`)
	wantsEmbed    = lazyregexp.Lazily(`(?i)\b(list|lay out|overview|summar\w+|plan|review|agenda|table|week)\b`)
	wantsFollow   = lazyregexp.Lazily(`(?i)\b(check|follow up|again|until|whether|did i|have i)\b`)
	wantsUrgent   = lazyregexp.Lazily(`(?i)\b(critical|emergency|devastated|at any cost)\b`)
	wantsTasks    = lazyregexp.Lazily(`(?i)\b(tasks?|to-?dos?)\b`)
	wantsCalendar = lazyregexp.Lazily(`(?i)\b(calendar|meetings?|appointments?|agenda|week)\b`)
	wantsMail     = lazyregexp.Lazily(`(?i)\b(e-?mails?|inbox|gmail)\b`)
	wantsNotes    = lazyregexp.Lazily(`(?i)\b(notes?|file|journal|finished|slipped)\b`)

	// opening is what a person says to the bot before the matter itself.
	opening = lazyregexp.Lazily(`(?i)^(please\s+)?(((ping|nudge|remind|tell|alert|ask) me|let me know|give me a nudge|send me a reminder)` +
		`\s+(to|about|of|that|when|whether|if)?\s*)`)
	minutes = lazyregexp.Lazily(`(?i)\bin (\d{1,4}) ?(min|minutes?|h|hours?)\b`)
)

// sentences cuts a body into its sentences, cleaned and on one line each.
func sentences(body string) (list []string) {
	for part := range strings.SplitSeq(body, "\n\n") {
		for _, s := range sentence().FindAllString(clean.Line(part), -1) {
			if s = strings.TrimSpace(s); s != "" && s != "---" {
				list = append(list, s)
			}
		}
	}
	return list
}

var sentence = lazyregexp.Lazily(`.+?(?:[.!?] |$)`)

// gist is the matter of a body in a few words: "stand up and move for five minutes".
func gist(body string) string {
	list := sentences(body)
	if len(list) == 0 {
		return "this task"
	}
	s := list[0]
	if m := opening().FindString(s); m != "" {
		s = s[len(m):]
	}
	if i := strings.Index(s, ", unless "); i > 0 {
		s = s[:i]
	}
	return clean.Cut(strings.TrimRight(lower(s), " .!?:"), 120)
}

// lower makes a sentence fit into another one; "I" and abbreviations stay.
func lower(s string) string {
	if len(s) > 1 && s[0] >= 'A' && s[0] <= 'Z' && s[1] >= 'a' && s[1] <= 'z' {
		return strings.ToLower(s[:1]) + s[1:]
	}
	return s
}

// addressed turns an instruction into words for the user.
func addressed(body string) string {
	list := sentences(body)
	if len(list) == 0 {
		return "Something is due now."
	}
	first := list[0]
	if m := opening().FindString(first); m != "" {
		what := gist(body)
		if strings.HasSuffix(strings.ToLower(strings.TrimSpace(m)), " to") {
			return "Time to " + yours(what) + "."
		}
		return "A reminder: " + yours(what) + "."
	}
	return yours(first)
}

// yours turns the user's "my" and "me" into words spoken to the user.
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

var person = lazyregexp.Lazily(`\b([Mm]e|[Mm]y|[Mm]ine|I|I'm|I've|[Mm]yself)\b`)

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

// takeFork finds the user's own words in the prompts of interactive forks (spec
// 03.8) and returns them as the body: the topic, the reply, the button's prompt.
// What only the bot says there has no body.
func (r *reading) takeFork(rest string) string {
	rest, _, _ = strings.Cut(rest, "\n\n[stale-fork] ")
	switch r.Tag {
	case "fork-timeout":
		r.Must = strings.Contains(rest, "MUST")
		return ""
	case "system":
		return ""
	case "fork-started":
	default:
		return rest
	}
	_, own, ok := strings.Cut(rest, "\n\n")
	if !ok {
		return rest
	}
	if topic, ok := strings.CutPrefix(own, "Topic: "); ok {
		return upTo(topic, "\n\nRespond to the topic")
	}
	if first, _, _ := strings.Cut(own, "\n"); strings.Contains(first, " clicked a button on your output: ") {
		_, prompt, _ := strings.Cut(own, " clicked a button on your output: ")
		return upTo(prompt, "\n\nAddress their request")
	}
	if strings.HasPrefix(own, "No topic was given") {
		return ""
	}
	return own
}

// upTo is s up to the last occurrence of mark.
func upTo(s, mark string) string {
	if i := strings.LastIndex(s, mark); i >= 0 {
		return s[:i]
	}
	return s
}

// lastAsked is what the user last wrote in this session, or "".
func (t *turn) lastAsked() string {
	for _, v := range slices.Backward(t.history) {
		if asked := strings.TrimSpace(v.Asked); asked != "" {
			return asked
		}
	}
	return ""
}
