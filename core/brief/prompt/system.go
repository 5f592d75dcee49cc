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

// SystemInput is the complete input of the system prompt. Equal values give equal bytes,
// so that an engine's prompt cache stays valid.
type SystemInput struct {
	UserName string // the user's name; "the user" if empty
	Zone     string // IANA name of the configured zone
	// Identity and User are the contents of IDENTITY.md and USER.md; empty if missing.
	Identity, User string
	Skills         []SkillLine // the user's own, in listing order
	// Google means that the user's account is connected, Webhooks that the bot listens for
	// webhooks. The prompt says so if either is missing.
	Google, Webhooks bool
	NoMail           bool // Google is connected without permission to read mail
	// Promises means that reminders are proposed for the user's promises.
	Promises bool
	// Brief makes the prompt for a model that has little room.
	Brief bool
}

// SkillLine is a skill as listed in the system prompt.
type SkillLine struct{ Name, Description string }

// Limits of user-provided text. The profile and the list are part of every single
// message.
const (
	maxProfile     = 32 << 10 // bytes of each profile file
	briefProfile   = 2 << 10  // the same in a brief prompt
	maxUserName    = 80       // characters
	maxSkills      = 100      // skills listed by name
	maxSkillName   = 64       // characters
	maxSkillAbout  = 200      // characters
	conditionOpen  = " ["     // precedes the condition of a heading
	conditionClose = "]"
)

// System returns the text appended to the engine's preset: the profile, verbatim and
// first, then the sections of working instructions. It takes well under a millisecond.
func System(in SystemInput) string {
	var b strings.Builder
	sections, limit := systemSections(), maxProfile
	if in.Brief {
		sections, limit = briefSections(), briefProfile
	}
	b.Grow(len(systemTemplate) + len(in.Identity) + len(in.User) + 2048)
	writeProfile(&b, in.Identity, "IDENTITY.md", limit)
	writeProfile(&b, in.User, "USER.md", limit)
	values := strings.NewReplacer( // in one pass, so that a name cannot insert another value
		"{{user}}", cmp.Or(clean.Cut(clean.Line(in.UserName), maxUserName), textTheUser),
		"{{zone}}", cmp.Or(clean.Cut(clean.Line(in.Zone), maxUserName), textTheZone),
		"{{skills}}", skillList(in), "{{commands}}", in.commands(),
	)
	for _, s := range sections {
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

// writeProfile writes a profile file unchanged except for characters that are never text:
// escapes, zero bytes, invalid UTF-8. It writes nothing for an empty file.
func writeProfile(b *strings.Builder, text, name string, limit int) {
	text = strings.TrimSpace(keepTabs(text))
	if text == "" {
		return
	}
	if b.Len() > 0 {
		b.WriteString("\n\n")
	}
	b.WriteString(clean.Head(text, limit))
	if len(text) > limit {
		fmt.Fprintf(b, textProfileCut, name)
	}
}

// keepTabs cleans a text but keeps its tabs, which are significant in markdown.
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

// skillList lists the user's skills, one per line.
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

// inline returns one line that cannot end an enclosing code span.
func inline(s string) string { return strings.ReplaceAll(clean.Line(s), "`", "'") }

// commands lists the shell commands shown to the main session, in order.
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

//go:embed templates/brief.md
var briefTemplate string

// systemSection is one section of the template with its condition: "", a word such as
// "google", or "no google".
type systemSection struct{ condition, text string }

// systemSections and briefSections parse the templates, once.
var (
	systemSections = sync.OnceValue(func() []systemSection { return sectionsOf(systemTemplate) })
	briefSections  = sync.OnceValue(func() []systemSection { return sectionsOf(briefTemplate) })
)

func sectionsOf(template string) []systemSection {
	var list []systemSection
	for i, part := range strings.Split(strings.TrimSpace(template), "\n## ") {
		s := systemSection{text: strings.TrimSpace(part)}
		if i > 0 {
			heading, body, _ := strings.Cut(s.text, "\n")
			heading, s.condition = cutCondition(heading)
			s.text = "## " + heading + "\n" + body
		}
		list = append(list, s)
	}
	return list
}

// cutCondition splits "Heading [google]" into the heading and "google".
func cutCondition(heading string) (title, condition string) {
	title, condition, ok := strings.Cut(heading, conditionOpen)
	if !ok {
		return heading, ""
	}
	return title, strings.TrimSuffix(condition, conditionClose)
}

// has reports whether a condition of the template is true. An unknown condition is not.
func (in SystemInput) has(condition string) bool {
	about, missing := strings.CutPrefix(condition, "no ")
	there, known := map[string]bool{"google": in.Google, "mail": in.Google && !in.NoMail, "webhooks": in.Webhooks, "promises": in.Promises}[about]
	return condition == "" || known && there != missing
}

// pick removes the lines for other setups: a line may start with a condition in brackets,
// as in "[google] - …".
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

// The texts of the system prompt that depend on values; the rest is in
// templates/system.md.
const (
	textTheUser    = "the user"
	textTheZone    = "the configured time zone"
	textYourSkills = "Your custom skills:\n"
	textNoSkills   = "There are no custom skills yet."
	textMoreSkills = "\n- and %d more: `ls skills` lists them."
	textProfileCut = "\n\n[%s goes on: read the rest of it in the file.]"
)
