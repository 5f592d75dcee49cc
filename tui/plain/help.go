package plain

import (
	"fmt"
	"slices"
	"strings"

	"ollimbot/core/base/words"
	"ollimbot/core/command"
)

// help lists the groups of commands, and explains all commands, those of a group, or one.
func help(about string) string {
	about = strings.ToLower(about)
	c, ok := command.Find(command.InPlain, about)
	switch g := command.Group(about); {
	case about == "":
		return helpText()
	case about == "all":
		return strings.Join(each(command.Groups, groupText), "\n")
	case slices.Contains(command.Groups, g): // before the command with its name
		return groupText(g)
	case !ok:
		names := each(command.Groups, func(g command.Group) string { return string(g) })
		return textError + fmt.Sprintf(textUnknown, about) + textGroups + words.Joined(names...)
	}
	text := shortText(c) + "\n" + c.More
	if len(c.Aliases) > 0 {
		text += "\n" + strings.Join(c.Aliases, " or ") + " means the same"
	}
	return text
}

// helpText is each group in one line, with the names of its commands.
func helpText() string {
	text := textHelpHead
	for _, g := range command.Groups {
		text += "\n" + string(g) + ": " + words.Joined(each(groupOf(g), func(c command.Command) string { return c.Name })...)
	}
	return text + "\n" + textHelpTail
}

func groupOf(g command.Group) []command.Command {
	return slices.DeleteFunc(command.List(command.InPlain), func(c command.Command) bool { return c.Group != g })
}

func groupText(g command.Group) string {
	return g.Title() + ":\n" + strings.Join(each(groupOf(g), shortText), "\n")
}

// shortText is a command in one line with its example.
func shortText(c command.Command) string {
	text := c.Line() + ": " + c.About
	if c.Example != "" {
		text += "; for example " + c.Example
	}
	return text
}
