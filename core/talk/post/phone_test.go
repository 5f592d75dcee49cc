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

func TestOnThePhoneAThingIsNamedInsteadOfAFileOrACommand(t *testing.T) {
	for said, want := range map[string]string{
		"log in with ollim-bot auth google":                                                                                  "log in with /google-auth",
		"you have not allowed access to mail: run ollim-bot auth google --mail":                                              "you have not allowed access to mail: send /google-auth mail",
		"it asks for a login: run `ollim-bot mcp login weather`, or write /mcp login weather to the bot":                     "it asks for a login: send /mcp login weather",
		"Tea is on hold until you approve it: its cron. Press y on it in the schedule, or run `ollim-bot allow`.":            "Tea is on hold until you approve it: its cron. Decide on its card.",
		"routines/morning-tea.md:3:7: the cron line has four fields":                                                         `the routine "morning-tea", line 3: the cron line has four fields`,
		"skills/day plan/SKILL.md: the name is missing":                                                                      `the skill "day plan": the name is missing`,
		"providers.yaml:3: base-url is missing":                                                                              "the list of model servers: base-url is missing",
		"/home/ana/.ollim-bot/google/client.json is missing":                                                                 "client.json is missing",
		"~/.config/ollim-bot/keys.yaml:4: unknown key":                                                                       "the list of keys: unknown key",
		"MCP server weather: its tools are known and come with your first message after /clear: ollim-bot mcp tools weather": "MCP server weather: its tools are known and come with your first message after /clear",
		"mcp__weather__forecast is new":                                                                                      "forecast of weather is new",
		"look it up with ollim-bot frobnicate now":                                                                           "look it up on the bot's machine",
		// What only looks like one.
		"/status and /config show how things are": "/status and /config show how things are",
		"https://example.org/a/b.html and 24/12":  "https://example.org/a/b.html and 24/12",
		"local/qwen3:8b answers":                  "local/qwen3:8b answers",
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

// meant are texts in which a name belongs to a file's content, or is no name.
var meant = []string{"name it %s.md", "water-the-plants.md", "leapt ahead", "about to be summed up", "All keys: ollim-bot help"}

// what must not be left of a text on the phone.
var machine = regexp.MustCompile("(^|[^(])\\bollim-bot (allow|auth|cal|check|cron|fire|gmail|help|history|init|mcp|reminder|restart|routine|run|schedule|settings|status|tasks|webhook)\\b|mcp__[a-z]|\\bstate/|[\\w-]+\\.(md|ya?ml|json)\\b|(^|[ \"'`(])\\.env\\b|" +
	"(^|[\\s\"'`(])(/|~/)[\\w.]+/|[Pp]ress [a-zA-Z]\\b|ctrl\\+|chmod|kill -|npm |apt |brew ")

// Every text of the program that can reach the phone, as it is in the source, is said there without command lines, paths
// and names of files. Missing values are filled with words, and with a path.
func TestNoTextOfTheProgramShowsACommandOrAFileOnThePhone(t *testing.T) {
	const root = "../../.."
	texts := 0
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
					for _, value := range []string{"word", "/home/ana/.ollim-bot/downloads/a.heic"} {
						said := regexp.MustCompile(`%(\[\d\])?[svw]`).ReplaceAllString(strings.ReplaceAll(text, "skills/%s", "skills/word"), value)
						if strings.Contains(text, " ") && machine.MatchString(said) {
							texts++
							if got := Phone(said); machine.MatchString(got) {
								t.Errorf("%s:%d: on the phone it is %q", rel, files.Position(n.Pos()).Line, got)
							}
						}
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
	if texts < 50 {
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
