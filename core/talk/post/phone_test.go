package post

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestThePhoneShowsTheNameOfAFileInPlaceOfItsPath(t *testing.T) {
	for said, want := range map[string]string{
		"open /home/ana/.ollim-bot/routines/tea.md: permission denied": "open tea.md: permission denied",
		"~/.config/ollim-bot/keys.yaml cannot be read":                 "keys.yaml cannot be read",
		// What only looks like one.
		"/status and /mcp login weather show how things are": "/status and /mcp login weather show how things are",
		"https://example.org/a/b.html and 24/12":             "https://example.org/a/b.html and 24/12",
		"local/qwen3:8b answers":                             "local/qwen3:8b answers",
	} {
		if got := Phone(said); got != want {
			t.Errorf("%q is %q, want %q", said, got, want)
		}
	}
}

// unsaid are the sources whose texts never reach the phone, and why.
var unsaid = map[string]string{
	"core/brief/":                              "for models",
	"core/safety/policy/":                      "answers to models",
	"core/safety/control/":                     "answers to the command line",
	"core/agent/messages/tools/":               "answers to models",
	"core/agent/messages/dialect/dialecttest/": "a test double",
	"core/mcp/find.go":                         "for models",
	"core/mcp/process.go":                      "a pattern",
	"core/talk/post/":                          "the rules themselves",
	"core/storage/store/":                      "patterns and paths within the data directory",
	"discord/rest/message.go":                  "addresses of Discord's interface",
	"discord/rest/rest.go":                     "addresses of Discord's interface",
	"discord/rest/errors.go":                   "said when Discord refuses the bot",
	"discord/gateway/text.go":                  "said when Discord refuses the bot",
	"discord/text.go":                          "said before Discord is connected",
	"core/safety/sandbox/":                     "for the command line and the dashboard",
	"core/command/rows.go":                     "the help of commands",
}

// meant are texts in which a name belongs to a file's content, or is no name, and those for the agent or the command line.
var meant = []string{
	"name it %s.md", "water-the-plants.md", "leapt ahead", "about to be summed up", "All keys: ollim-bot help", "Bash(ollim-bot tasks *)",
	"and %d more: `ollim-bot check` lists them", "start it with ollim-bot run",
}

// what must not be in a text on the phone.
var machine = regexp.MustCompile("\\bollim-bot (allow|auth|cal|check|cron|doctor|fire|gmail|help|history|init|mcp|reminder|restart|resume|restore|routine|run|" +
	"schedule|settings|status|tasks|update|webhook)\\b|mcp__[a-z]|\\bstate/|[\\w-]+\\.(md|ya?ml|json)\\b|(^|[ \"'`(])\\.env\\b|(^|[\\s\"'`(])(/|~/)[\\w.]+/|[Pp]ress [a-zA-Z]\\b|" +
	"ctrl\\+|chmod|kill -|(npm|apt|brew) [a-z]+ |git pull|/dev/")

// Every text of the program that can reach the phone, as it is in the source, is without command lines, paths and names of
// files. What the system adds to it, such as a path, is shown without them.
func TestNoTextOfTheProgramShowsACommandOrAFileOnThePhone(t *testing.T) {
	const root = "../../.."
	texts, values := 0, regexp.MustCompile(`%(\[\d\])?[svw]`)
	for _, dir := range []string{"core", "discord", "routines"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, e fs.DirEntry, err error) error {
			rel, _ := filepath.Rel(root, path)
			rel = filepath.ToSlash(rel)
			if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || reason(rel) != "" {
				return err
			}
			files := token.NewFileSet()
			f, err := parser.ParseFile(files, path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.ImportSpec, *ast.Field:
					return false
				case ast.Expr:
					text, ok := literal(n)
					if !ok {
						return true
					}
					if slices.ContainsFunc(meant, func(m string) bool { return strings.Contains(text, m) }) {
						return false
					}
					said := values.ReplaceAllString(text, "word")
					if !strings.Contains(text, " ") {
						return false
					}
					texts++
					if machine.MatchString(said) {
						t.Errorf("%s:%d: %q", rel, files.Position(n.Pos()).Line, text)
					} else if got := Phone(values.ReplaceAllString(text, "/home/ana/.ollim-bot/downloads/a.heic")); machine.MatchString(got) {
						t.Errorf("%s:%d: on the phone it is %q", rel, files.Position(n.Pos()).Line, got)
					}
					return false
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if texts < 1000 {
		t.Errorf("only %d texts were looked at", texts)
	}
}

// reason says why the texts of a source never reach the phone, or "".
func reason(rel string) string {
	for place, why := range unsaid {
		if strings.HasPrefix(rel, place) || slices.Contains(strings.Split(rel, "/"), "testdata") {
			return why
		}
	}
	return ""
}

// literal returns a string of the source, also one that is joined of several.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, e.Kind == token.STRING && err == nil
	case *ast.BinaryExpr:
		a, first := literal(e.X)
		b, second := literal(e.Y)
		return a + b, e.Op == token.ADD && (first || second)
	}
	return "", false
}
