package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	pages "ollimbot/docs"
)

// What the pages and the source say of each other. That of docs/cli.md and the tree of commands is in cmd/ollim-bot.

// eachFile visits the files of the repository with some endings; those of testdata are left out.
func eachFile(t *testing.T, visit func(path, text string), endings ...string) {
	t.Helper()
	root := ".."
	testkit.Must(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || !slices.Contains(endings, filepath.Ext(path)):
			return nil
		}
		rel, err := filepath.Rel(root, path)
		visit(filepath.ToSlash(rel), source(t, rel))
		return err
	}))
}

// syntax is the program's source, parsed once; tests are left out.
var syntax struct {
	sync.Once
	*token.FileSet
	list []*ast.File
}

// eachNode visits the syntax of the program's source.
func eachNode(t *testing.T, visit func(n ast.Node)) {
	t.Helper()
	syntax.Do(func() {
		syntax.FileSet = token.NewFileSet()
		eachFile(t, func(path, text string) {
			if !strings.HasSuffix(path, "_test.go") {
				file, err := parser.ParseFile(syntax.FileSet, path, text, parser.SkipObjectResolution)
				testkit.Must(t, err)
				syntax.list = append(syntax.list, file)
			}
		}, ".go")
	})
	for _, file := range syntax.list {
		ast.Inspect(file, func(n ast.Node) bool {
			if n != nil {
				visit(n)
			}
			return true
		})
	}
}

// literal is the text of a literal; empty for any other expression.
func literal(n ast.Node) string {
	lit, ok := n.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	text, _ := strconv.Unquote(lit.Value) // it has been parsed
	return text
}

// called is the name of the function that an expression calls, or of the constant that it reads.
func called(n ast.Expr) string {
	switch f := n.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// found is what the group of a pattern matches in a text, sorted.
func found(pattern, text string) (list []string) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	slices.Sort(list)
	return list
}

// firstCells are the words in back quotes in the first cells of the rows of a page.
func firstCells(page string) []string {
	return found("`([^`\n]+)`", strings.Join(found("(?m)^\\| (`.*?) \\| ", page), "\n"))
}

// same compares two sorted lists, of which the first has so many at least.
func same(t *testing.T, what string, least int, is, want []string) {
	t.Helper()
	if diff := cmp.Diff(want, is); diff != "" || len(is) < least {
		t.Errorf("%s: %d, at least %d are expected\n%s", what, len(is), least, diff)
	}
}

func TestTheReadmeNamesTheTwoCommands(t *testing.T) {
	for _, want := range []string{"    go run ./cmd/ollim-bot demo\n", "    go test ./...\n", "screenshots/dashboard.png"} {
		if !strings.Contains(source(t, "README.md"), want) {
			t.Errorf("README.md does not show %q", want)
		}
	}
}

func TestEveryDependencyIsExplained(t *testing.T) {
	same(t, "docs/contributing/dependencies.md beside go.mod", 10, found("(?m)^\\| `([^`]+)` \\|", source(t, "docs/contributing/dependencies.md")),
		found(`(?m)^\t(\S+) v\S+$`, source(t, "go.mod")))
}

// docs/contributing/security-tests.md names the tests of each promise of docs/security.md, and of each paragraph of
// docs/limit-spending.md that claims something, in a row that begins as the promise does. That these tests exist is
// checked by TestWhatIsCitedCanBeRead.
func TestEveryPromiseHasItsTests(t *testing.T) {
	_, promised, _ := strings.Cut(source(t, "docs/security.md"), "\n## What is promised\n")
	promised, _, _ = strings.Cut(promised, "\n## ")
	_, spending, _ := strings.Cut(source(t, "docs/limit-spending.md"), "\n## See what it costs\n")
	spending, advice, _ := strings.Cut(spending, "\n## Spend less\n")
	_, promises := claims(promised)
	if paragraphs, items := claims(spending); len(promises) < 20 || len(items) < 10 || advice == "" {
		t.Fatalf("%d promises about security and %d about money were found", len(promises), len(items))
	} else {
		promises = slices.Concat(promises, paragraphs, items)
	}
	rows := regexp.MustCompile("(?m)^\\| (.+) … \\|(?: `Test\\w+`)+ \\|$").FindAllStringSubmatch(source(t, "docs/contributing/security-tests.md"), -1)
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

// N18: every environment variable that the program reads is on the page, and no other.
func TestThePageOfVariablesHasAllThatTheProgramReads(t *testing.T) {
	said := firstCells(source(t, "docs/environment.md") + source(t, "docs/contributing/environment.md"))
	ours := regexp.MustCompile(`^(OLLIM_[A-Z_]+[A-Z]|DISCORD_TOKEN|WEBHOOK_[A-Z]+|ANTHROPIC_[A-Z_]+[A-Z]|CLAUDE_CODE_USE_[A-Z]+|CLAUDE_CONFIG_DIR)$`)
	form := regexp.MustCompile(`^[A-Z][A-Z0-9_]{2,}$`)
	reads := []string{"Getenv", "getenv", "get", "Lookup", "LookupEnv", "Variable"}
	whole, named := strings.Builder{}, map[string]bool{}
	eachNode(t, func(n ast.Node) {
		if text := literal(n); text != "" {
			whole.WriteString(text + "\n")
			if ours.MatchString(text) {
				named[text] = true
			}
		}
		if call, ok := n.(*ast.CallExpr); ok && slices.Contains(reads, called(call.Fun)) {
			for _, arg := range call.Args {
				if text := literal(arg); form.MatchString(text) {
					named[text] = true
				}
			}
		}
	})
	removed := source(t, "docs/cli.md") // has what is read only to say that it has no effect any more
	for name := range named {
		if !slices.Contains(said, name) && !strings.Contains(removed, "`"+name+"`") {
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
	said := slices.DeleteFunc(firstCells(source(t, "docs/audit.md")), func(name string) bool { return !strings.Contains(name, ".") })
	same(t, "docs/audit.md", 25, said, found(`"([a-z]+\.[a-z]+)"`, source(t, "core/safety/audit/audit.go")))
}

// Every file that the program keeps in state/ is on the page.
func TestThePageOfTheDataDirectoryHasEveryFileOfState(t *testing.T) {
	page, removed := source(t, "docs/data-directory.md"), source(t, "docs/cli.md")
	form := regexp.MustCompile(`^(?:state)?/([a-z][a-z0-9_.]*[a-z0-9])$`)
	seen := map[string]bool{}
	eachNode(t, func(n ast.Node) {
		text := literal(n)
		if sum, ok := n.(*ast.BinaryExpr); ok && called(sum.X) == "StateDir" {
			text = literal(sum.Y)
		} else if !strings.HasPrefix(text, "state/") {
			return
		}
		if m := form.FindStringSubmatch(text); m != nil && !strings.Contains(removed, "`state/"+m[1]+"`") && m[1] != "x" && !strings.HasPrefix(m[1], "x.") {
			seen[m[1]] = true
			if !strings.Contains(page, "`"+m[1]+"`") && !strings.Contains(page, "`"+m[1]+"/`") {
				t.Errorf("%s: docs/data-directory.md does not have %s", syntax.Position(n.Pos()), m[1])
			}
		}
	})
	if len(seen) < 35 {
		t.Errorf("only %d files seen; the test looks in the wrong place", len(seen))
	}
}

// N10: a user who is sent to a page can read it: every page that a message names is in the
// program, and the message says how to open it, not where it lies in the source.
func TestMessagesNamePagesThatTheUserHas(t *testing.T) {
	inSource := regexp.MustCompile(`docs/(?:contributing/)?[a-z-]+\.md`)
	topic := regexp.MustCompile(`ollim-bot help ([a-z][a-z-]+)(\.md)?`)
	commands := []string{"topics"}
	for _, c := range command.List(command.InShell) {
		group, _, _ := strings.Cut(c.Name, " ")
		commands = append(commands, group)
	}
	seen := 0
	eachNode(t, func(n ast.Node) {
		text := literal(n)
		if cited := inSource.FindString(text); cited != "" {
			t.Errorf("%s sends the user to %s: say `ollim-bot help %s`", syntax.Position(n.Pos()), cited, strings.TrimSuffix(filepath.Base(cited), ".md"))
		}
		for _, m := range topic.FindAllStringSubmatch(text, -1) {
			seen++
			_, err := fs.Stat(pages.FS, m[1]+".md")
			switch isCommand := slices.Contains(commands, m[1]); {
			case m[2] == "" && isCommand && err == nil:
				t.Errorf("%s: `ollim-bot help %s` explains the command; the page is %s.md", syntax.Position(n.Pos()), m[1], m[1])
			case (m[2] != "" || !isCommand) && err != nil:
				t.Errorf("%s names the page %s, which does not exist", syntax.Position(n.Pos()), m[1])
			}
		}
	})
	if seen < 8 {
		t.Errorf("only %d pages are named; the test looks in the wrong place", seen)
	}
}

// A reader of the repository can follow what it refers to: a page of docs/, a Go file or a test
// that is cited exists, and nothing is cited that lies elsewhere.
func TestWhatIsCitedCanBeRead(t *testing.T) {
	page := regexp.MustCompile(`docs/(?:contributing/)?[a-z-]+\.md`)
	// A citation may be spread over two lines.
	elsewhere := regexp.MustCompile(`\b(?:spec|design|claude-` + `cli|discord-` + `api)\s+[0-9]+(?:\.[0-9]+)*\b|\bdecisions?,?\s+[A-C][0-9]{1,2}\b|\([A-C][0-9]{1,2}\)`)
	code := regexp.MustCompile("`([\\w./-]+\\.go)`|\\b((?:Test|Benchmark)[A-Z]\\w+)\\b")
	texts := map[string]string{}
	var sources strings.Builder // the names of all Go files, each on a line with a slash in front, and the lines of all tests
	eachFile(t, func(path, text string) {
		texts[path] = strings.ToValidUTF8(text, "")
		if filepath.Ext(path) == ".go" {
			sources.WriteString("/" + path + "\n")
		}
		if strings.HasSuffix(path, "_test.go") {
			sources.WriteString(text)
		}
	}, ".go", ".md", ".yml")
	for path, text := range texts {
		lines := strings.Split(text, "\n")
		prose := proseOf(path, lines)
		for _, at := range elsewhere.FindAllStringIndex(prose, -1) {
			t.Errorf("%s:%d cites %q, which is not in the repository: say it in place", path, 1+strings.Count(prose[:at[0]], "\n"), prose[at[0]:at[1]])
		}
		for i, line := range lines {
			if filepath.Ext(path) == ".md" && path != "CHANGELOG.md" {
				for _, cited := range code.FindAllStringSubmatch(line, -1) {
					want := "/" + cited[1] + "\n"
					if cited[1] == "" {
						want = "\nfunc " + cited[2] + "("
					}
					if !strings.Contains(sources.String(), want) {
						t.Errorf("%s:%d cites %s, which does not exist", path, i+1, cited[0])
					}
				}
			}
			for _, cited := range page.FindAllString(line, -1) {
				if !exists(filepath.Join("..", cited)) {
					t.Errorf("%s:%d cites %s, which does not exist", path, i+1, cited)
				}
			}
		}
	}
}

// proseOf returns the text of a page or the comments of a Go file, with the line breaks.
func proseOf(path string, lines []string) string {
	if !strings.HasSuffix(path, ".go") {
		return strings.Join(lines, "\n")
	}
	comments := make([]string, len(lines))
	for i, line := range lines {
		_, comments[i], _ = strings.Cut(line, "//")
	}
	return strings.Join(comments, "\n")
}

// The relative links of README, docs and the pages for contributors lead somewhere, anchors included.
func TestEveryLinkOfTheDocumentsLeadsSomewhere(t *testing.T) {
	documents, seen := regexp.MustCompile(`^(?:docs/(?:contributing/)?[^/]+|[A-Z]+)\.md$`), 0
	eachFile(t, func(page, text string) {
		if !documents.MatchString(page) {
			return
		}
		seen++
		for _, link := range found(`\]\(([^)\s]+)\)`, withoutCode(text)) {
			if strings.Contains(link, "://") {
				continue
			}
			target, anchor, _ := strings.Cut(link, "#")
			if target = filepath.Join(filepath.Dir(page), target); strings.HasPrefix(link, "#") {
				target = page
			}
			if !exists(filepath.Join("..", target)) {
				t.Errorf("%s links to %s, which does not exist", page, link)
			} else if anchor != "" && !anchors(source(t, target))[anchor] {
				t.Errorf("%s links to %s: that page has no such heading", page, link)
			}
		}
	}, ".md")
	if seen < 29 {
		t.Errorf("%d pages; the test looks in the wrong place", seen)
	}
}

// anchors are the headings of a page as a forge names them in addresses.
func anchors(page string) map[string]bool {
	drop := regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
	names := map[string]bool{}
	for _, heading := range found(`(?m)^#+ (.*)$`, withoutCode(page)) {
		names[strings.ReplaceAll(drop.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), ""), " ", "-")] = true
	}
	return names
}

// withoutCode is a page without its fenced blocks.
func withoutCode(page string) string {
	return regexp.MustCompile("(?s)\n *```.*?\n *```").ReplaceAllString(page, "")
}

// What people read has one form of time, 16:20. The model reads the other one, as in
// the time before every message: these files write for it.
func TestPeopleReadOneFormOfTime(t *testing.T) {
	forModels := regexp.MustCompile(`^(core/(brief/prompt/|brief/toolset/|work/fork/report\.go|work/tasks/remind\.go)|routines/cron/next\.go)|_test\.go$`)
	eachFile(t, func(path, text string) {
		for i, l := range strings.Split(text, "\n") {
			if !forModels.MatchString(path) && (strings.Contains(l, "04 PM") || strings.Contains(l, "cron.Clock(")) && !strings.HasPrefix(strings.TrimSpace(l), "//") {
				t.Errorf("%s:%d writes a time with AM and PM: %s", path, i+1, strings.TrimSpace(l))
			}
		}
	}, ".go")
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// source is a file of the repository.
func source(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", path))
	testkit.Must(t, err)
	return string(data)
}
