package script

import (
	"strconv"
	"strings"

	"ollimbot/core/pattern"
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
	stampForm  = pattern.Lazily(`^\[\d{4}-\d\d-\d\d \S+ \d\d:\d\d [AP]M [^\]\n]*\] ?`)
	tagForm    = pattern.Lazily(`^\[(routine|reminder|webhook)(-bg)?:([^\]\s]+)\]\s*`)
	plainTag   = pattern.Lazily(`^\[(fork-started|fork-timeout|button|system)\]\s*`)
	updateForm = pattern.Lazily(`^- \(([^)]*)\) (.*)$`)
	budgetForm = pattern.Lazily(`Ping budget: (\d+)/\d+`)
	checkForm  = pattern.Lazily(`check (\d+) of (\d+)`)
	toolForm   = pattern.Lazily(`(?m)^\s+- ([A-Za-z0-9_]+(?:\(.*\))?)$`)
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
	start, at := 0, 0
	for {
		end := strings.Index(rest[at:], "\n\n")
		part := rest[at:]
		if end >= 0 {
			part = rest[at : at+end]
		}
		next := len(rest)
		if end >= 0 {
			next = at + end + 2
		}
		if marked(part) && next < len(rest) {
			start = next
		}
		if end < 0 {
			break
		}
		at = next
	}
	body := rest[start:]
	if m := tagForm().FindString(body); m != "" {
		body = body[len(m):]
	}
	return body
}

func marked(part string) bool {
	if strings.HasPrefix(part, "### ") { // a skill's heading
		return true
	}
	for _, m := range preambleMarks {
		if strings.Contains(part, m) {
			return true
		}
	}
	return false
}
