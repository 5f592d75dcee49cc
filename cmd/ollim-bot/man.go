package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

type manCmd struct{}

// Run prints the manual page, for man.
func (manCmd) Run(p *process) error {
	parser, err := newParser(&cli{}, p, "") // the parsed tree holds only the path to its command
	if err != nil {
		return err
	}
	return p.Lines(strings.TrimSuffix(manPage(parser.Model.Node), "\n"))
}

// roff escapes a text for the page's source.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(strings.TrimSpace(text))
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}

// manPage renders the command tree, whose descriptions come from the command table.
func manPage(root *kong.Node) string {
	var b strings.Builder
	// Where a date is usual: groff 1.23 warns if it is empty.
	fmt.Fprintf(&b, ".TH OLLIM\\-BOT 1 \"version %s\" \"ollim\\-bot\" \"User Commands\"\n", roff(version))
	b.WriteString(".SH NAME\nollim\\-bot \\- a personal assistant that reaches out, run from a terminal dashboard\n")
	b.WriteString(".SH SYNOPSIS\n.B ollim\\-bot\n[\\fIcommand\\fR] [\\fIflags\\fR]\n")
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s\nWithout a command the dashboard opens, with the bot inside.\n", roff(textDescription))
	b.WriteString(".SH FLAGS OF ALL COMMANDS\n")
	manFlags(&b, root.Flags)
	b.WriteString(".SH COMMANDS\n")
	manCommands(&b, root, "")
	b.WriteString(".SH DOCUMENTATION\nAll pages are in the program: \\fBollim\\-bot help topics\\fR lists them,\n")
	b.WriteString("\\fBollim\\-bot help environment\\fR all variables.\n")
	b.WriteString(".SH EXIT STATUS\n0 if the command did what was asked, 1 if it failed, 2 for wrong usage.\n")
	b.WriteString(".SH FILES\n.TP\n.I ~/.ollim\\-bot\nthe data directory: tasks, skills, settings and what the program keeps\n")
	b.WriteString(".SH ENVIRONMENT\n.TP\n.B OLLIM_DATA_DIR\nthe data directory\n.TP\n.B OLLIM_TIMEZONE\nthe time zone\n")
	return b.String()
}

// manCommands describes the commands below a node, each with its flags.
func manCommands(b *strings.Builder, n *kong.Node, path string) {
	for _, child := range n.Children {
		name := strings.TrimSpace(path + " " + child.Name)
		usage := "ollim-bot " + name
		for _, arg := range child.Positional {
			usage += " " + arg.Summary()
		}
		fmt.Fprintf(b, ".SS %s\n%s\n", roff(usage), roff(child.Help))
		for _, arg := range child.Positional {
			if arg.Help != "" {
				fmt.Fprintf(b, ".TP\n.I %s\n%s\n", roff(strings.ToUpper(arg.Name)), roff(arg.Help))
			}
		}
		manFlags(b, child.Flags)
		manCommands(b, child, name)
	}
}

func manFlags(b *strings.Builder, flags []*kong.Flag) {
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		name := "--" + f.Name
		if f.Short != 0 {
			name = "-" + string(f.Short) + ", " + name
		}
		fmt.Fprintf(b, ".TP\n.B %s", roff(name))
		if !f.IsBool() && !f.IsCounter() {
			fmt.Fprintf(b, " %s", roff(f.FormatPlaceHolder()))
		}
		fmt.Fprintf(b, "\n%s\n", roff(f.Help))
	}
}
