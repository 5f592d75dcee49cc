package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/charmbracelet/x/term"

	"ollimbot/cmd/internal/console"
	"ollimbot/core/base/lazyregexp"
	"ollimbot/core/base/words"
	"ollimbot/core/brief/docs"
	pages "ollimbot/docs"
	"ollimbot/tui"
)

// topicList is the topic that lists the pages.
const topicList = "topics"

// contributing is the folder of the pages for contributors.
const contributing = "contributing/"

type helpCmd struct {
	About []string `arg:"" optional:"" name:"command-or-topic" help:"A command, such as: budget set. Or a page, such as: settings."`
}

// movedPages are the names that pages had in earlier versions, each with the page that has their content now. Those for
// contributors are not in the program.
var movedPages = map[string]string{
	"conversation-commands": "cli",
	"dependencies":          "contributing/dependencies",
	"discord-tutorial":      "discord",
	"git-and-crashes":       "data-directory",
	"glossary":              "how-it-works",
	"offline-engine":        "contributing/offline-engine",
	"performance":           "contributing/performance",
	"prices":                "connect-a-model",
	"providers":             "connect-a-model",
	"release":               "contributing/release",
	"security-tests":        "contributing/security-tests",
	"tool-patterns":         "permissions",
	"webhook-files":         "webhooks",
}

// Run prints the help of a command or a page of the documentation. If both have the same
// name, the command wins; NAME.md is the page.
func (c *helpCmd) Run(p *process) error {
	if len(c.About) == 0 {
		return helpOnAll(p)
	}
	library := docs.New(pages.FS)
	about := strings.TrimPrefix(strings.ToLower(strings.Join(c.About, "-")), "docs/")
	if moved, ok := movedPages[strings.TrimSuffix(about, ".md")]; ok {
		about = moved
	}
	page, isPage := library.Read(about)
	commands := commandNames(p.parser.Model.Node)
	switch {
	case slices.Contains(commands, c.About[0]):
		_, err := p.parser.Parse(append(c.About, "--help"))
		if err != nil && !p.helped {
			return mistake(err)
		}
		if isPage {
			return p.Lines("", fmt.Sprintf(textPageToo, about))
		}
		return nil
	case about == topicList:
		return p.Lines(topics(library.List())...)
	case isPage:
		return p.Lines(drawn(page, p.Out, p.Environ))
	}
	if strings.HasPrefix(about, contributing) {
		return fmt.Errorf(textContributor, about)
	}
	meant := ""
	if near := words.Nearest(about, slices.Concat(commands, topicNames(library))); near != "" {
		meant = fmt.Sprintf(textDidYouMean, near)
	}
	return console.Usagef(textNoTopic+"\n"+textTopicsToo, strings.Join(c.About, " "), meant)
}

// helpOnAll prints the commands and where to read more.
func helpOnAll(p *process) error {
	if p.Served != nil {
		return p.servedHelp()
	}
	if _, err := p.parser.Parse([]string{"--help"}); err != nil && !p.helped {
		return mistake(err)
	}
	return p.Lines(strings.TrimSuffix(textExamples, "\n"), "", textTopicsToo)
}

func commandNames(root *kong.Node) []string {
	var names []string
	for _, child := range root.Children {
		names = append(append(names, child.Name), child.Aliases...)
	}
	return names
}

func topicNames(library *docs.Library) []string {
	names := []string{topicList}
	for _, page := range library.List() {
		names = append(names, page.Name)
	}
	return names
}

// topics lists the pages, each with its title.
func topics(list []docs.Page) []string {
	widest := 0
	for _, page := range list {
		widest = max(widest, len(page.Name))
	}
	lines := []string{textTopics}
	for _, page := range list {
		lines = append(lines, fmt.Sprintf("  %-*s  %s", widest, page.Name, page.Title))
	}
	return append(lines, textReadTopic)
}

// topicOffers are the pages as candidates for shell completion.
func topicOffers() []string {
	lines := []string{topicList + "\t" + textTopicsOffer}
	for _, page := range docs.New(pages.FS).List() {
		lines = append(lines, page.Name+"\t"+page.Title)
	}
	return lines
}

// widestPage is the maximum width of a page in cells.
const widestPage = 100

// pageLinks are links from one page to another.
var pageLinks = lazyregexp.New(`\[([^\]]+)\]\(([a-z-]+)\.md(?:#[^)]*)?\)`)

// drawn formats a page for a terminal. For a file or a pipe it returns the source.
func drawn(page string, out io.Writer, environ func() []string) string {
	page = strings.TrimSuffix(page, "\n")
	f, ok := out.(*os.File)
	if !ok || !term.IsTerminal(f.Fd()) {
		return page
	}
	page = pageLinks().ReplaceAllStringFunc(page, func(link string) string {
		m := pageLinks().FindStringSubmatch(link)
		if m[1] == m[2]+".md" {
			return "`ollim-bot help " + m[2] + "`"
		}
		return m[1] + " (`ollim-bot help " + m[2] + "`)"
	})
	page = unwrapped(page)
	width, _, err := term.GetSize(f.Fd())
	if err != nil || width <= 0 {
		width = 80
	}
	return tui.Page(page, min(width, widestPage), tui.Options{Output: f, Env: environ()})
}

// ownLine matches the start of a line that does not continue the previous one: a heading,
// a list item, a table row, code, a quote.
var ownLine = lazyregexp.New("^(#|[-*|>]|\\d+\\. |```)")

// unwrapped joins the lines of each paragraph, so that they can be wrapped again.
func unwrapped(page string) string {
	var out []string
	fenced, open := false, false // open: the last line can be continued
	for line := range strings.SplitSeq(page, "\n") {
		words := strings.TrimSpace(line)
		fence := strings.HasPrefix(words, "```")
		if open && !fenced && words != "" && !ownLine().MatchString(words) {
			out[len(out)-1] += " " + words
			continue
		}
		out = append(out, line)
		if fence {
			fenced = !fenced
		}
		open = !fenced && !fence && words != "" && !strings.ContainsAny(words[:1], "#|") && !strings.HasPrefix(line, "    ")
	}
	return strings.Join(out, "\n")
}
