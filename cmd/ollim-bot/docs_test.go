package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/cmd/internal/console"
	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"

	"github.com/alecthomas/kong"
)

// commandTree is the tree as the parser builds it.
func commandTree(t *testing.T) *kong.Kong {
	t.Helper()
	var tree cli
	parser, err := newParser(&tree, &process{Process: console.Process{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Getenv: os.Getenv, Environ: os.Environ, Now: time.Now}}, "")
	testkit.Must(t, err)
	return parser
}

// commandTable is the table of docs/cli.md: a row for each command or group of commands, as the user types them.
func commandTable(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| Command | Effect |\n|---|---|\n")
	usage := func(n *kong.Node) string {
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

func TestThePageOfTheCommandLineHasTheTableOfCommands(t *testing.T) {
	page := goldentest.ComparePart(t, filepath.Join("..", "..", "docs", "cli.md"), "\n## Commands\n\n", "\n## Beyond `--help`\n", commandTable(t))
	before, _, _ := strings.Cut(page, "\n## Commands\n")
	for _, flag := range commandTree(t).Model.Flags {
		if !strings.Contains(before, "--"+flag.Name) {
			t.Errorf("docs/cli.md does not mention the global flag --%s", flag.Name)
		}
	}
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
		var where []string
		if c.In&command.InShell != 0 && !strings.Contains(c.Name, " ") { // below a group there are no other names
			where = append(where, "command line")
		}
		if c.In&command.InPlain != 0 {
			where = append(where, "plain mode")
		}
		for _, name := range names {
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

func TestThePageOfTheCommandLineHasTheTableOfFormerNames(t *testing.T) {
	goldentest.ComparePart(t, filepath.Join("..", "..", "docs", "cli.md"), "something else (*):\n\n", "\n## Removed\n", formerNames(t))
}

func TestTheCommandLineAndTheTableHaveTheSameCommands(t *testing.T) {
	rows := map[string]bool{}
	for _, c := range command.List(command.InShell) {
		rows[c.Name] = true
	}
	var walk func(n *kong.Node, path string)
	walk = func(n *kong.Node, path string) {
		for _, child := range n.Children {
			name := strings.TrimSpace(path + " " + child.Name)
			if child.Hidden { // what a group does by itself
				continue
			}
			if !rows[name] || child.Help == "" {
				t.Errorf("the table says nothing of `ollim-bot %s`", name)
			}
			delete(rows, name)
			walk(child, name)
		}
	}
	walk(commandTree(t).Model.Node, "")
	for name := range rows {
		t.Errorf("the table has %s, which the command line has not", name)
	}
}

func TestTheReadmeNamesTheTwoCommands(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	testkit.Must(t, err)
	for _, want := range []string{"    go run ./cmd/ollim-bot demo\n", "    go test ./...\n", "screenshots/dashboard.png"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("README.md does not show %q", want)
		}
	}
}

// TestEveryDependencyIsExplained holds go.mod and docs/contributing/dependencies.md together.
func TestEveryDependencyIsExplained(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	testkit.Must(t, err)
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "contributing", "dependencies.md"))
	testkit.Must(t, err)
	direct := map[string]bool{}
	for line := range strings.Lines(string(mod)) {
		fields := strings.Fields(line)
		if strings.HasPrefix(line, "\t") && len(fields) == 2 && strings.HasPrefix(fields[1], "v") {
			direct[fields[0]] = true
		}
	}
	if len(direct) < 10 {
		t.Fatalf("only %d dependencies seen in go.mod; the test looks in the wrong place", len(direct))
	}
	explained := map[string]bool{}
	for line := range strings.Lines(string(doc)) {
		if name, _, ok := strings.Cut(strings.TrimPrefix(line, "| `"), "` |"); ok && strings.HasPrefix(line, "| `") {
			explained[name] = true
		}
	}
	for name := range direct {
		if !explained[name] {
			t.Errorf("docs/contributing/dependencies.md does not say what %s is for", name)
		}
	}
	for name := range explained {
		if !direct[name] {
			t.Errorf("docs/contributing/dependencies.md explains %s, which go.mod does not ask for", name)
		}
	}
}

// docs/contributing/security-tests.md names the tests of each promise of docs/security.md, and of each paragraph of
// docs/limit-spending.md that claims something, in a row that begins as the promise does. That these tests exist is
// checked by TestWhatIsCitedCanBeRead.
func TestEveryPromiseHasItsTests(t *testing.T) {
	read := func(path ...string) string {
		data, err := os.ReadFile(filepath.Join(append([]string{"..", "..", "docs"}, path...)...))
		testkit.Must(t, err)
		return string(data)
	}
	_, promised, _ := strings.Cut(read("security.md"), "\n## What is promised\n")
	promised, _, _ = strings.Cut(promised, "\n## ")
	_, spending, _ := strings.Cut(read("limit-spending.md"), "\n## See what it costs\n")
	spending, advice, _ := strings.Cut(spending, "\n## Spend less\n")
	_, promises := claims(promised)
	if paragraphs, items := claims(spending); len(promises) < 20 || len(items) < 10 || advice == "" {
		t.Fatalf("%d promises about security and %d about money were found", len(promises), len(items))
	} else {
		promises = slices.Concat(promises, paragraphs, items)
	}
	rows := regexp.MustCompile("(?m)^\\| (.+) … \\|(?: `Test\\w+`)+ \\|$").FindAllStringSubmatch(read("contributing", "security-tests.md"), -1)
	for _, row := range rows {
		at := slices.IndexFunc(promises, func(p string) bool { return strings.HasPrefix(p, row[1]) })
		if at < 0 {
			t.Errorf("nothing is promised that begins with %q", row[1])
			continue
		}
		promises = slices.Delete(promises, at, at+1)
	}
	for _, promise := range promises {
		t.Errorf("docs/contributing/security-tests.md has no row with tests for: %s", promise)
	}
}

// claims returns the paragraphs and the items of the lists of a page's part, without links, headings, code and
// paragraphs that only introduce what follows.
func claims(part string) (paragraphs, items []string) {
	link := regexp.MustCompile(`\[([^\]]+)\]\([^)]*\)`)
	plain := func(text string) string {
		return link.ReplaceAllString(strings.Join(strings.Fields(text), " "), "$1")
	}
	for paragraph := range strings.SplitSeq(part, "\n\n") {
		list := strings.Split("\n"+strings.TrimRight(paragraph, "\n"), "\n- ")
		if head := strings.TrimLeft(list[0], "\n"); head != "" && !strings.HasPrefix(head, "#") && !strings.HasPrefix(head, "    ") && !strings.HasSuffix(head, ":") {
			paragraphs = append(paragraphs, plain(head))
		}
		for _, item := range list[1:] {
			items = append(items, plain(item))
		}
	}
	return paragraphs, items
}
