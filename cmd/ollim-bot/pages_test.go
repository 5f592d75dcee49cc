package main

import (
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
)

// commandTree is the tree as the parser builds it.
func commandTree(t *testing.T) *kong.Kong {
	t.Helper()
	var tree cli
	parser, err := newParser(&tree, inProcess(nil, "", io.Discard, io.Discard), "")
	testkit.Must(t, err)
	return parser
}

// commandTable is the table of docs/cli.md: a row for each command or group of commands, as the user types them.
func commandTable(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| Command | Effect |\n|---|---|\n")
	usage := func(n *kong.Node) string {
		if c, _ := command.Find(command.InShell, n.Name); c.Plain && n.Parent.Parent == nil {
			return "`" + strings.TrimSpace(c.Name+" "+c.Usage) + "`"
		}
		words := n.Name
		for _, arg := range n.Positional {
			word := strings.ToUpper(arg.Name)
			if arg.IsCumulative() {
				word += "…"
			}
			if !arg.Required {
				word = "[" + word + "]"
			}
			words += " " + word
		}
		return "`" + strings.ReplaceAll(words, "|", `\|`) + "`"
	}
	for _, child := range commandTree(t).Model.Children {
		if len(child.Children) == 0 {
			b.WriteString("| " + usage(child) + " | " + child.Help + " |\n")
			continue
		}
		var parts []string
		for _, leaf := range child.Leaves(true) { // none if what the group does by itself is hidden
			parts = append(parts, usage(leaf))
		}
		b.WriteString("| `" + child.Name + "` | " + strings.TrimSpace(child.Help+" "+strings.Join(parts, ", ")) + " |\n")
	}
	return b.String()
}

// formerNames is the table of docs/cli.md of earlier names: those of the rows, and the flags that the tree hides.
func formerNames(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| Where | Was | Now |\n|---|---|---|\n")
	row := func(where, was, now string) { b.WriteString("| " + where + " | `" + was + "` | `" + now + "` |\n") }
	for _, c := range command.Table {
		names := c.Aliases
		if c.Seed != "" && c.In&(command.InShell|command.InPlain) != 0 {
			names = append(slices.Clone(names), c.Seed)
		}
		for _, name := range names {
			var where []string
			if o, ok := command.Find(command.InShell, name); ok && o.Name == c.Name && !strings.Contains(c.Name, " ") { // below a group there are no other names
				where = append(where, "command line")
			}
			if c.In&command.InPlain != 0 {
				where = append(where, "plain mode")
			}
			if len(name) > 1 && len(where) > 0 { // not a short form
				row(strings.Join(where, ", "), name, c.Name)
			}
		}
		if c.Was != "" {
			b.WriteString("| plain mode | `" + c.Name + "`* | `" + c.Was + "` |\n")
		}
	}
	for _, leaf := range commandTree(t).Model.Leaves(false) {
		for _, f := range leaf.Flags {
			for _, was := range f.Aliases {
				row("command line", nameOf(leaf)+" --"+was, nameOf(leaf)+" --"+f.Name)
			}
			if now := f.Tag.Get("now"); now != "" {
				row("command line", nameOf(leaf)+" --"+f.Name, now)
			}
		}
	}
	return b.String()
}

func TestThePageOfTheCommandLineHasAllCommandsAndTheirFormerNames(t *testing.T) {
	cliPage := filepath.Join("..", "..", "docs", "cli.md")
	page := goldentest.ComparePart(t, cliPage, "\n## Commands\n\n", "\n## Beyond `--help`\n", commandTable(t))
	goldentest.ComparePart(t, cliPage, "something else (*):\n\n", "\n## Removed\n", formerNames(t))
	before, _, _ := strings.Cut(page, "\n## Commands\n")
	for _, flag := range commandTree(t).Model.Flags {
		if !strings.Contains(before, "--"+flag.Name) {
			t.Errorf("docs/cli.md does not mention the global flag --%s", flag.Name)
		}
	}
	for _, name := range append([]string{ignoredVariable, "ollim-bot attach --host"}, ignoredFiles...) {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("docs/cli.md does not name %s", name)
		}
	}
	for name := range removed {
		if !strings.Contains(page, "| `ollim-bot "+name+"` |") {
			t.Errorf("docs/cli.md does not name the removed %s", name)
		}
	}
	inDiscord := 0
	for _, c := range command.List(command.InSlash) {
		row := "\n| `" + strings.ReplaceAll(c.Line(), "|", `\|`) + "`"
		if c.In&command.InDiscord != 0 {
			row, inDiscord = row+" *", inDiscord+1
		}
		if !strings.Contains(strings.ReplaceAll(page, "TOKENS", "tokens"), row+" | ") {
			t.Errorf("docs/cli.md does not have the row%s", row)
		}
	}
	if got := strings.Count(page, "` * | "); got != inDiscord {
		t.Errorf("the page marks %d commands of Discord, there are %d", got, inDiscord)
	}
}

func TestTheCommandLineAndTheTableHaveTheSameCommands(t *testing.T) {
	var rows, tree []string
	for _, c := range command.List(command.InShell) {
		rows = append(rows, c.Name)
	}
	var walk func(n *kong.Node, path string)
	walk = func(n *kong.Node, path string) {
		for _, child := range n.Children {
			if child.Hidden { // what a group does by itself
				continue
			}
			name := strings.TrimSpace(path + " " + child.Name)
			tree = append(tree, name)
			if child.Help == "" {
				t.Errorf("the table says nothing of `ollim-bot %s`", name)
			}
			walk(child, name)
		}
	}
	walk(commandTree(t).Model.Node, "")
	slices.Sort(rows)
	slices.Sort(tree)
	if diff := cmp.Diff(rows, tree); diff != "" || len(tree) < 60 {
		t.Errorf("the command line has %d commands:\n%s", len(tree), diff)
	}
}

func TestParagraphsOfAPageAreJoinedAndNothingElse(t *testing.T) {
	const page = "# A page\nOne\ntwo.\n\n- an item\n  of two lines\n- another\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode\nmore\n```\nText\n1. first\n   second"
	const want = "# A page\nOne two.\n\n- an item of two lines\n- another\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode\nmore\n```\nText\n1. first second"
	if got := unwrapped(page); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestTheOldNamesOfPagesLeadToPages(t *testing.T) {
	for old, name := range movedPages {
		if exists(filepath.Join("..", "..", "docs", old+".md")) {
			t.Errorf("%s is a page itself", old)
		}
		if !exists(filepath.Join("..", "..", "docs", name+".md")) {
			t.Errorf("%s leads to %s, which is no page", old, name)
		}
	}
}
