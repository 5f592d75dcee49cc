package main

import (
	"go/ast"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	pages "ollimbot/docs"
)

// pageOf is a page of the documentation.
func pageOf(t *testing.T, name string) string {
	t.Helper()
	data, err := fs.ReadFile(pages.FS, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// firstCells are the words in back quotes in the first cells of the rows of a page.
func firstCells(page string) []string {
	word := regexp.MustCompile("`([^`]+)`")
	var list []string
	for line := range strings.Lines(page) {
		if cell, _, found := strings.Cut(strings.TrimPrefix(line, "| "), " | "); found && strings.HasPrefix(line, "| `") {
			for _, m := range word.FindAllStringSubmatch(cell, -1) {
				list = append(list, m[1])
			}
		}
	}
	return list
}

// N18: every environment variable that the program reads is on the page, and no other.
func TestThePageOfVariablesHasAllThatTheProgramReads(t *testing.T) {
	said := firstCells(pageOf(t, "environment.md"))
	ours := regexp.MustCompile(`^(OLLIM_[A-Z_]+[A-Z]|DISCORD_TOKEN|WEBHOOK_[A-Z]+|ANTHROPIC_[A-Z_]+[A-Z]|CLAUDE_CODE_USE_[A-Z]+|CLAUDE_CONFIG_DIR)$`)
	form := regexp.MustCompile(`^[A-Z][A-Z0-9_]{2,}$`)
	reads := []string{"Getenv", "getenv", "get", "Lookup", "LookupEnv", "Variable"}
	whole, named := strings.Builder{}, map[string]bool{}
	eachNode(t, func(at string, n ast.Node) {
		if strings.Contains(at, "cmd/release/") {
			return
		}
		if text := literal(n); text != "" {
			whole.WriteString(text + "\n")
			if ours.MatchString(text) {
				named[text] = true
			}
		}
		if call, ok := n.(*ast.CallExpr); ok && slices.Contains(reads, calls(call)) {
			for _, arg := range call.Args {
				if text := literal(arg); form.MatchString(text) {
					named[text] = true
				}
			}
		}
	})
	for name := range named {
		if !slices.Contains(said, name) {
			t.Errorf("docs/environment.md does not have %s", name)
		}
	}
	for _, name := range said {
		if !strings.Contains(whole.String(), name) && name != "ALL_PROXY" && name != "CLAUDE_CODE_OAUTH_TOKEN" {
			t.Errorf("docs/environment.md has %s, which nothing reads", name)
		}
	}
	if len(named) < 30 {
		t.Errorf("only %d variables are read; the test looks in the wrong place", len(named))
	}
}

// calls is the name of the function that an expression calls.
func calls(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}
