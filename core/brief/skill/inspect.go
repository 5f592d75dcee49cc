package skill

import (
	"fmt"
	"strings"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/lazyregexp"
	"ollimbot/core/storage/frontmatter"
	"ollimbot/routines"
)

// Inspection describes the active parts of a skill's file.
type Inspection struct {
	// Commands are the commands that Expand would run, and the blocks that an engine runs
	// when it loads the skill, each with its marks.
	Commands []string
	// Mentions are the words after an "@", which make an engine read the file of that name
	// when it loads the skill.
	Mentions []string
	// Problem is why an agent may not write this file as a skill, with the cure: unreadable
	// front matter, keys that exceed the bot's rules, or tools that no skill may have.
	Problem string
	// Head is the parsed front matter, for comparison; "" if it could not be parsed.
	Head string
}

// Inspect examines the bytes of a file, both unchanged and cleaned as in a prompt.
func Inspect(data []byte) Inspection {
	var in Inspection
	body := ""
	doc, err := frontmatter.Parse(data)
	if err == nil {
		body = doc.Body
	}
	for _, text := range []string{string(data), body} {
		_, marks := locate(text)
		in.Commands = append(in.Commands, marks...)
		for _, raw := range []string{text, clean.Text(text)} {
			in.Commands = append(in.Commands, block().FindAllString(raw, -1)...)
			for _, m := range mention().FindAllStringSubmatch(raw, -1) {
				name := strings.Trim(m[1], "\"")
				file, _, _ := strings.Cut(name, "#") // "#L3" is a line in it
				in.Mentions = append(in.Mentions, name, file)
			}
		}
	}
	if in.Problem = textUnwritable; err == nil {
		in.Problem, in.Head = reaches(doc), fmt.Sprintf("%+v", doc.Fields)
	}
	return in
}

var (
	// block matches the start of a code block whose lines an engine runs: "```!". It may
	// occur anywhere in a line.
	block = lazyregexp.New("```+[ \t]*!|~~~+[ \t]*!")
	// mention matches an "@" that is not in the middle of a word, as in an address, nor in
	// back quotes.
	mention = lazyregexp.New("(?:^|[^\\pL\\pN_.+/`-])@(\"[^\"]*\"|[^\\pZ\\s\"`\ufeff]+)")
)

// reaches returns the first key or pattern of the front matter that exceeds what a skill
// may do.
func reaches(doc frontmatter.Document) string {
	for _, f := range doc.Fields {
		switch key := strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(clean.Line(f.Key))); key {
		case "hooks", "mcpservers", "permissionmode", "<<":
			return fmt.Sprintf(textKeyReaches, clean.Cut(clean.Line(f.Key), 40))
		case "allowedtools", "tools":
			if f.Value.Kind != frontmatter.List && f.Value.Kind != frontmatter.Null {
				return textNotAList
			}
			for _, item := range f.Value.Items {
				if severity, message := routines.CheckTool(clean.Line(item.Text)); item.Kind != frontmatter.Scalar || severity == routines.Error {
					return clean.Line(message + textLeftOut)
				}
			}
		}
	}
	return ""
}
