package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
	pages "ollimbot/docs"
)

func TestParagraphsOfAPageAreJoinedAndNothingElse(t *testing.T) {
	const page = "# A page\nOne\ntwo.\n\n- an item\n  goes on\n- another\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode\nmore\n```\nText\n1. first\n   second"
	const want = "# A page\nOne two.\n\n- an item goes on\n- another\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode\nmore\n```\nText\n1. first second"
	if got := unwrapped(page); got != want {
		t.Errorf("got\n%s", got)
	}
}

// N10: a user who is sent to a page can read it: every page that a message names is in the
// program, and the message says how to open it, not where it lies in the source.
func TestMessagesNamePagesThatTheUserHas(t *testing.T) {
	source := regexp.MustCompile(`docs/(?:contributing/)?[a-z-]+\.md`)
	topic := regexp.MustCompile(`ollim-bot help ([a-z][a-z-]+)(\.md)?`)
	commands := map[string]bool{"topics": true}
	for _, child := range commandTree(t).Model.Children {
		commands[child.Name] = true
	}
	seen := 0
	eachNode(t, func(at string, n ast.Node) {
		text := literal(n)
		if cited := source.FindString(text); cited != "" {
			t.Errorf("%s sends the user to %s: say `ollim-bot help %s`", at, cited, strings.TrimSuffix(filepath.Base(cited), ".md"))
		}
		for _, m := range topic.FindAllStringSubmatch(text, -1) {
			seen++
			_, err := fs.Stat(pages.FS, m[1]+".md")
			switch isCommand := commands[m[1]]; {
			case m[2] == "" && isCommand && err == nil:
				t.Errorf("%s: `ollim-bot help %s` explains the command; the page is %s.md", at, m[1], m[1])
			case (m[2] != "" || !isCommand) && err != nil:
				t.Errorf("%s names the page %s, which does not exist", at, m[1])
			}
		}
	})
	if seen < 8 {
		t.Errorf("only %d pages are named; the test looks in the wrong place", seen)
	}
}

// eachNode visits the syntax of the program's source; tests are left out.
func eachNode(t *testing.T, visit func(at string, n ast.Node)) {
	t.Helper()
	root := filepath.Join("..", "..")
	files := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata"):
			return filepath.SkipDir
		case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if n != nil {
				visit(files.Position(n.Pos()).String(), n)
			}
			return true
		})
		return nil
	})
	testkit.Must(t, err)
}

// literal is the text of a literal; empty for any other expression.
func literal(n ast.Node) string {
	lit, ok := n.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	text, err := strconv.Unquote(lit.Value)
	if err != nil {
		return ""
	}
	return text
}

func TestTheOldNamesOfPagesLeadToPages(t *testing.T) {
	for old, name := range movedPages {
		if _, err := os.Stat(filepath.Join("..", "..", "docs", old+".md")); err == nil {
			t.Errorf("%s is a page itself", old)
		}
		if _, err := os.Stat(filepath.Join("..", "..", "docs", name+".md")); err != nil {
			t.Errorf("%s leads to %s: %v", old, name, err)
		}
	}
}
