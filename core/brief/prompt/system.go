package prompt

import (
	"cmp"
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"ollimbot/core/base/clean"
	"ollimbot/core/safety/policy"
)

// SystemInput is all that the system prompt depends on. Equal values give equal
// bytes, so that an engine's prompt cache holds.
type SystemInput struct {
	UserName string // what the user is called; "the user" where it is empty
	Zone     string // IANA name of the configured zone
	// Identity and User are IDENTITY.md and USER.md as they stand in the data
	// directory; empty where there is none.
	Identity, User string
	Skills         []SkillLine // those that the user wrote, in the order to list them
	// Google says that the user's account is connected here, Webhooks that the bot
	// listens for them. What is not there is described as not there.
	Google, Webhooks bool
	NoMail           bool // Google is connected, and reading mail is not allowed
	// Promises says that reminders are proposed of what the user promises.
	Promises bool
}

// SkillLine is a skill as the system prompt lists it.
type SkillLine struct{ Name, Description string }

// Limits of what comes from outside. The profile and the list go along with
// every single message.
const (
	maxProfile     = 32 << 10 // bytes of each profile file
	maxUserName    = 80       // characters
	maxSkills      = 100      // skills that are listed by name
	maxSkillName   = 64       // characters
	maxSkillAbout  = 200      // characters
	conditionOpen  = " ["     // before the condition of a heading
	conditionClose = "]"
)

// System is the text that is appended to the engine's preset: the
// profile, verbatim and first, then the sections of how to work here. It costs
// well under a millisecond.
func System(in SystemInput) string {
	var b strings.Builder
	b.Grow(len(systemTemplate) + len(in.Identity) + len(in.User) + 2048)
	writeProfile(&b, in.Identity, "IDENTITY.md")
	writeProfile(&b, in.User, "USER.md")
	values := strings.NewReplacer( // one pass: a name cannot bring in another one
		"{{user}}", cmp.Or(clean.Cut(clean.Line(in.UserName), maxUserName), textTheUser),
		"{{zone}}", cmp.Or(clean.Cut(clean.Line(in.Zone), maxUserName), textTheZone),
		"{{skills}}", skillList(in), "{{commands}}", in.commands(),
	)
	for _, s := range systemSections() {
		if !in.has(s.condition) {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(values.Replace(in.pick(s.text)))
	}
	return b.String()
}

// writeProfile writes a profile file as it stands, without what is never text:
// escapes, zero bytes, broken UTF-8. An empty one leaves nothing behind.
func writeProfile(b *strings.Builder, text, name string) {
	text = strings.TrimSpace(keepTabs(text))
	if text == "" {
		return
	}
	if b.Len() > 0 {
		b.WriteString("\n\n")
	}
	b.WriteString(clean.Head(text, maxProfile))
	if len(text) > maxProfile {
		fmt.Fprintf(b, textProfileCut, name)
	}
}

// keepTabs cleans a text but for its tabs, which mean something in markdown.
func keepTabs(text string) string {
	if !strings.Contains(text, "\t") {
		return clean.Text(text)
	}
	parts := strings.Split(text, "\t")
	for i, p := range parts {
		parts[i] = clean.Text(p)
	}
	return strings.Join(parts, "\t")
}

// skillList lists the user's skills, one a line.
func skillList(in SystemInput) string {
	var b strings.Builder
	for i, s := range in.Skills {
		if i == maxSkills {
			fmt.Fprintf(&b, textMoreSkills, len(in.Skills)-maxSkills)
			break
		}
		name := clean.Cut(inline(s.Name), maxSkillName)
		fmt.Fprintf(&b, "\n- `%s`: %s", name, clean.Cut(inline(s.Description), maxSkillAbout))
	}
	if b.Len() == 0 {
		return textNoSkills
	}
	return textYourSkills + b.String()
}

// inline is one line that cannot end the code span that it may stand in.
func inline(s string) string { return strings.ReplaceAll(clean.Line(s), "`", "'") }

// commands are the shell commands of the main session's list that it is told of, in
// its own order.
func (in SystemInput) commands() string {
	var list []string
	for _, p := range policy.Told(policy.MainTools(), policy.Main, in.Google) {
		command, ok := strings.CutPrefix(p, "Bash(")
		if !ok {
			continue
		}
		command = strings.TrimSuffix(command, ")")
		list = append(list, "`"+strings.Replace(command, " *", " …", 1)+"`")
	}
	return strings.Join(list, ", ")
}

//go:embed templates/system.md
var systemTemplate string

// systemSection is one section of the template with the condition under which
// it is there: "", a word such as "google", or "no google".
type systemSection struct{ condition, text string }

// systemSections takes the template apart, once.
var systemSections = sync.OnceValue(func() []systemSection {
	var list []systemSection
	for i, part := range strings.Split(strings.TrimSpace(systemTemplate), "\n## ") {
		s := systemSection{text: strings.TrimSpace(part)}
		if i > 0 {
			heading, body, _ := strings.Cut(s.text, "\n")
			heading, s.condition = cutCondition(heading)
			s.text = "## " + heading + "\n" + body
		}
		list = append(list, s)
	}
	return list
})

// cutCondition parts "Heading [google]" into the heading and "google".
func cutCondition(heading string) (title, condition string) {
	title, condition, ok := strings.Cut(heading, conditionOpen)
	if !ok {
		return heading, ""
	}
	return title, strings.TrimSuffix(condition, conditionClose)
}

// has reports whether a condition of the template holds. One that nobody knows
// does not.
func (in SystemInput) has(condition string) bool {
	about, missing := strings.CutPrefix(condition, "no ")
	there, known := map[string]bool{"google": in.Google, "mail": in.Google && !in.NoMail, "webhooks": in.Webhooks, "promises": in.Promises}[about]
	return condition == "" || known && there != missing
}

// pick leaves out the lines that are for another setup: a line may begin with
// the condition in brackets, as "[google] - …".
func (in SystemInput) pick(text string) string {
	if !strings.Contains(text, "\n[") {
		return text
	}
	lines := strings.Split(text, "\n")
	kept := lines[:0]
	for _, line := range lines {
		if rest, ok := strings.CutPrefix(line, "["); ok {
			condition, rest, _ := strings.Cut(rest, "] ")
			if !in.has(condition) {
				continue
			}
			line = rest
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "\n")
}

// The words of the system prompt that depend on values; the rest of it is
// templates/system.md.
const (
	textTheUser    = "the user"
	textTheZone    = "the configured time zone"
	textYourSkills = "Your custom skills:\n"
	textNoSkills   = "There are no custom skills yet."
	textMoreSkills = "\n- and %d more: `ls skills` lists them."
	textProfileCut = "\n\n[%s goes on: read the rest of it in the file.]"
)
