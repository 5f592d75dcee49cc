package main

import (
	"go/ast"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	pages "ollimbot/docs"
	"ollimbot/tui/settings"
)

// pageOf is a page of the documentation.
func pageOf(t *testing.T, name string) string {
	t.Helper()
	data, err := fs.ReadFile(pages.FS, name)
	testkit.Must(t, err)
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
	forTests, err := os.ReadFile(filepath.Join("..", "..", "docs", "contributing", "environment.md"))
	testkit.Must(t, err)
	said := firstCells(pageOf(t, "environment.md") + string(forTests))
	ours := regexp.MustCompile(`^(OLLIM_[A-Z_]+[A-Z]|DISCORD_TOKEN|WEBHOOK_[A-Z]+|ANTHROPIC_[A-Z_]+[A-Z]|CLAUDE_CODE_USE_[A-Z]+|CLAUDE_CONFIG_DIR)$`)
	form := regexp.MustCompile(`^[A-Z][A-Z0-9_]{2,}$`)
	reads := []string{"Getenv", "getenv", "get", "Lookup", "LookupEnv", "Variable"}
	whole, named := strings.Builder{}, map[string]bool{}
	eachNode(t, func(at string, n ast.Node) {
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
	delete(named, ignoredVariable) // docs/cli.md has it
	for name := range named {
		if !slices.Contains(said, name) {
			t.Errorf("docs/environment.md does not have %s", name)
		}
	}
	others := []string{"CLAUDE_CODE_OAUTH_TOKEN", "ZONEINFO"} // read by the claude command, and by Go's library
	for _, name := range said {
		if !strings.Contains(whole.String(), name) && !slices.Contains(others, name) {
			t.Errorf("docs/environment.md has %s, which nothing reads", name)
		}
	}
	if len(named) < 30 {
		t.Errorf("only %d variables are read; the test looks in the wrong place", len(named))
	}
}

// The actions of the audit log are its constants.
func TestThePageOfTheAuditLogHasEveryAction(t *testing.T) {
	said, action := firstCells(pageOf(t, "audit.md")), regexp.MustCompile(`^[a-z]+\.[a-z]+$`)
	seen := 0
	eachNode(t, func(at string, n ast.Node) {
		if text := literal(n); strings.Contains(at, "core/safety/audit/audit.go:") && action.MatchString(text) {
			if seen++; !slices.Contains(said, text) {
				t.Errorf("docs/audit.md does not have %s", text)
			}
		}
	})
	if seen < 25 {
		t.Errorf("only %d actions seen; the test looks in the wrong place", seen)
	}
	for _, name := range said {
		if strings.Contains(name, ".") {
			seen--
		}
	}
	if seen != 0 {
		t.Error("docs/audit.md has an action that does not exist")
	}
}

func TestThePageOfTheConversationHasEveryCommand(t *testing.T) {
	page := pageOf(t, "cli.md")
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

// Every file that the program keeps in state/ is on the page.
func TestThePageOfTheDataDirectoryHasEveryFileOfState(t *testing.T) {
	page := pageOf(t, "data-directory.md")
	form := regexp.MustCompile(`^(?:state)?/([a-z][a-z0-9_.]*[a-z0-9])$`)
	seen := map[string]bool{}
	eachNode(t, func(at string, n ast.Node) {
		text := literal(n)
		if sum, ok := n.(*ast.BinaryExpr); ok {
			if part, ok := sum.X.(*ast.SelectorExpr); !ok || part.Sel.Name != "StateDir" {
				if part, ok := sum.X.(*ast.Ident); !ok || part.Name != "StateDir" {
					return
				}
			}
			text = literal(sum.Y)
		} else if !strings.HasPrefix(text, "state/") {
			return
		}
		if m := form.FindStringSubmatch(text); m != nil && !slices.Contains(ignoredFiles, "state/"+m[1]) && m[1] != "x" && !strings.HasPrefix(m[1], "x.") {
			seen[m[1]] = true
			if !strings.Contains(page, "`"+m[1]+"`") && !strings.Contains(page, "`"+m[1]+"/`") {
				t.Errorf("%s: docs/data-directory.md does not have %s", at, m[1])
			}
		}
	})
	if len(seen) < 35 {
		t.Errorf("only %d files seen; the test looks in the wrong place", len(seen))
	}
}

func TestThePageOfKeysHasEveryNameOfTheDashboard(t *testing.T) {
	page := pageOf(t, "keys.md")
	for _, name := range settings.Names {
		choices := settings.Choices[name]
		if row := "\n| `" + name + "` | `" + strings.Join(choices, "`, `") + "` | `" + choices[0] + "` | "; !strings.Contains(page, row) {
			t.Errorf("docs/keys.md does not have the row%s", row)
		}
	}
	_, file, _ := strings.Cut(page, "\n`LAYOUT` is")
	dir := t.TempDir()
	text := strings.ReplaceAll(strings.Join(regexp.MustCompile("[a-z]+-[a-z-]+: -?[0-9]+").FindAllString(file, 2), "\n"), "`", "")
	testkit.Must(t, os.WriteFile(filepath.Join(dir, settings.DashboardFile), []byte(text), 0o600))
	if d, problems := settings.Load(dir); len(problems) > 0 || len(d) != 2 {
		t.Errorf("the sizes that docs/keys.md shows, %q: %v %v", text, d, problems)
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
