package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"ollimbot/cmd/internal/console"
	"ollimbot/core/command"

	"github.com/alecthomas/kong"
)

// commandTree is the tree as the parser builds it.
func commandTree(t *testing.T) *kong.Kong {
	t.Helper()
	var tree cli
	parser, err := newParser(&tree, &process{Process: console.Process{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Getenv: os.Getenv, Environ: os.Environ, Now: time.Now}}, "")
	check(t, err)
	return parser
}

// section is the part of docs/cli.md under the heading that names a command.
func section(text, command string) (string, bool) {
	var found []string
	for part := range strings.SplitSeq(text, "\n### ") {
		heading, _, _ := strings.Cut(part, "\n")
		for name := range strings.SplitSeq(heading, "`") {
			name = strings.TrimSpace(strings.TrimPrefix(name, "ollim-bot"))
			if name == command || strings.HasPrefix(name, command+" ") && strings.ContainsAny(name[len(command)+1:len(command)+2], "[ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
				found = append(found, part)
			}
		}
	}
	return strings.Join(found, "\n"), len(found) > 0
}

func TestEveryCommandAndFlagIsInTheDocuments(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "cli.md"))
	check(t, err)
	text := string(data)
	seen := 0
	for _, leaf := range commandTree(t).Model.Leaves(true) {
		name := nameOf(leaf)
		// What a command does by default is documented with the command itself.
		name = strings.TrimSuffix(strings.TrimSuffix(name, " show"), "forks list")
		if name == "" {
			name = "forks"
		}
		part, ok := section(text, name)
		if !ok {
			t.Errorf("docs/cli.md has no heading for `ollim-bot %s`", name)
			continue
		}
		for _, flag := range leaf.Flags {
			seen++
			if !strings.Contains(part, "--"+flag.Name) && !strings.Contains(part, "`-"+flag.Name+"`") {
				t.Errorf("docs/cli.md: `ollim-bot %s` does not mention --%s", name, flag.Name)
			}
			if flag.Short != 0 && !strings.Contains(part, "`-"+string(flag.Short)+"`") {
				t.Errorf("docs/cli.md: `ollim-bot %s` does not mention -%c", name, flag.Short)
			}
		}
	}
	for _, flag := range commandTree(t).Model.Flags {
		if !strings.Contains(text, "--"+flag.Name) {
			t.Errorf("docs/cli.md does not mention the global flag --%s", flag.Name)
		}
	}
	if seen < 40 {
		t.Errorf("only %d flags seen; the test looks in the wrong place", seen)
	}
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
	check(t, err)
	for _, want := range []string{"    go run ./cmd/ollim-bot demo\n", "    go test ./...\n", "screenshots/dashboard.png"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("README.md does not show %q", want)
		}
	}
}

// TestEveryDependencyIsExplained holds go.mod and docs/dependencies.md together.
func TestEveryDependencyIsExplained(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	check(t, err)
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "dependencies.md"))
	check(t, err)
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
			t.Errorf("docs/dependencies.md does not say what %s is for", name)
		}
	}
	for name := range explained {
		if !direct[name] {
			t.Errorf("docs/dependencies.md explains %s, which go.mod does not ask for", name)
		}
	}
}

// Each promise of docs/security.md names the tests that attack it, after its last sentence. That
// these exist is checked by TestWhatIsCitedCanBeRead.
func TestEveryPromiseNamesItsTest(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "security.md"))
	check(t, err)
	_, promised, found := strings.Cut(string(page), "\n## What is promised\n")
	promised, _, _ = strings.Cut(promised, "\n## ")
	if !found {
		t.Fatal("docs/security.md has no section of promises")
	}
	named := regexp.MustCompile("\\.(\\s+`Test\\w+`)+$")
	var promises int
	for paragraph := range strings.SplitSeq(promised, "\n\n") {
		items := strings.Split("\n"+strings.TrimSpace(paragraph), "\n- ")
		for _, promise := range items[1:] {
			promises++
			if !named.MatchString(strings.TrimSpace(promise)) {
				t.Errorf("this promise ends without the names of its tests: %s", promise)
			}
		}
		if head := strings.TrimSpace(items[0]); strings.HasPrefix(head, "**Against") && !strings.HasSuffix(head, ":") {
			t.Errorf("a promise in a heading, which names no test: %s", head)
		}
	}
	if promises < 20 {
		t.Errorf("only %d promises were found", promises)
	}
}
