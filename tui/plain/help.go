package plain

import (
	"fmt"
	"slices"
	"strings"

	"ollimbot/core/base/words"
	"ollimbot/core/command"
)

// help explains all commands, those of one group, or one of them.
func help(about string) (kind, text string) {
	about = strings.ToLower(about)
	c, ok := command.Find(command.InPlain, about)
	switch g := command.Group(about); {
	case about == "":
		return kindHelp, helpText()
	case slices.Contains(command.Groups, g): // before the command with its name
		return kindHelp, groupText(g)
	case !ok:
		names := each(command.Groups, func(g command.Group) string { return string(g) })
		return kindError, fmt.Sprintf(textUnknown, about) + textGroups + words.Joined(names...)
	}
	text = shortText(c) + "\n" + c.More
	if len(c.Aliases) > 0 {
		text += "\n" + strings.Join(c.Aliases, " or ") + " means the same"
	}
	return kindHelp, text
}

// helpText is every command in its group, each in one line.
func helpText() string {
	text := textHelpHead
	for _, g := range command.Groups {
		text += "\n" + groupText(g)
	}
	return text + "\n" + textHelpTail
}

func groupText(g command.Group) string {
	text := g.Title() + ", group " + string(g) + ":"
	for _, c := range command.List(command.InPlain) {
		if c.Group == g {
			text += "\n" + shortText(c)
		}
	}
	return text
}

// shortText is a command in one line with its example.
func shortText(c command.Command) string {
	text := c.Line() + ": " + c.About
	if c.Example != "" {
		text += "; for example " + c.Example
	}
	return text
}
