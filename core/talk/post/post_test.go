package post

import (
	"errors"
	"fmt"
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
	"testing"

	"pgregory.net/rapid"

	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
)

// none returns a register function that must not be called.
func none(t interface{ Fatalf(string, ...any) }) func(string) (string, error) {
	return func(prompt string) (string, error) {
		t.Fatalf("%q was registered", prompt)
		return "", nil
	}
}

func TestAButtonsActionBecomesItsID(t *testing.T) {
	for action, want := range map[string]string{
		"task_done:MDM4":      "act:task_done:MDM4",
		"task_del:list/id":    "act:task_del:list/id",
		"event_del:a:b":       "act:event_del:a:b",
		"dismiss":             "act:dismiss:_",
		"dismiss:":            "act:dismiss:_",
		"fork_save_confirm:_": "act:fork_save_confirm:_",
	} {
		if got, err := (Button{Label: "x", Action: action}).CustomID(none(t)); err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", action, got, err, want)
		}
	}
}

func TestAPromptIsRegisteredAndOnlyItsIDIsSent(t *testing.T) {
	for action, want := range map[string]string{
		"agent:draft: the reply": "draft: the reply",
		"agent: x ":              "x",
		"agent:":                 "Do it",
		"agent":                  "Do it",
	} {
		var asked []string
		got, err := Button{Label: "Do it", Action: action}.CustomID(func(p string) (string, error) {
			asked = append(asked, p)
			return "a1b2c3d4", nil
		})
		if err != nil || got != "act:agent:a1b2c3d4" || len(asked) != 1 || asked[0] != want {
			t.Errorf("%q: %q, %v, registered %q", action, got, err, asked)
		}
	}
	full := errors.New("the disk is full")
	_, err := Button{Label: "Do it", Action: "agent:x"}.CustomID(func(string) (string, error) { return "", full })
	if !errors.Is(err, full) || !strings.Contains(err.Error(), `"Do it"`) {
		t.Error(err)
	}
}

func TestWhatIsNoActionIsRefused(t *testing.T) {
	for action, want := range map[string]error{
		"":                                     errNoAction,
		":x":                                   errNoAction,
		"Task Done:x":                          errNoAction,
		"task-done:x":                          errNoAction,
		"task_done:a\nb":                       errNoAction,
		"task_done:a\x1bb":                     errNoAction,
		"task_done:" + strings.Repeat("x", 87): errLongAction,
		"task_done:" + strings.Repeat("𝔘", 50): errLongAction,
	} {
		if got, err := (Button{Action: action}).CustomID(none(t)); !errors.Is(err, want) {
			t.Errorf("%q: %q, %v", action, got, err)
		}
	}
	if got, err := (Button{Action: "task_done:" + strings.Repeat("x", 86)}).CustomID(none(t)); err != nil || len(got) != 100 {
		t.Errorf("the longest that fits: %d characters, %v", len(got), err)
	}
}

func TestTheAgentMayNotMakeButtonsOfTheBot(t *testing.T) {
	for action, want := range map[string]error{
		"agent:" + strings.Repeat("long ", 300): nil,
		"dismiss":                               nil,
		"event_del:x":                           nil,
		"task_done:" + strings.Repeat("x", 200): errLongAction,
		"fork_save:_":                           errNoAction,
		"fork_exit":                             errNoAction,
		"anything:x":                            errNoAction,
		"":                                      errNoAction,
	} {
		if err := (Button{Label: "x", Action: action}).CheckAgent(); !errors.Is(err, want) {
			t.Errorf("%.40q: %v, want %v", action, err, want)
		}
	}
}

func TestIDsOfOthersAreNoButtonsOfOurs(t *testing.T) {
	for _, id := range []string{"", "act", "act:", "act:x", "act::x", "act:X:y", "xact:x:y", "act:a b:c", "act:x:a\nb"} {
		if action, data, ok := ParseCustomID(id); ok {
			t.Errorf("%q: %q, %q", id, action, data)
		}
	}
	if action, data, ok := ParseCustomID("act:dismiss:"); action != "dismiss" || data != "_" || !ok {
		t.Errorf("a later version's dismiss: %q, %q, %v", action, data, ok)
	}
}

// shown writes out a form, and that it opens as data says.
func shown(f Form) string {
	id, err := f.CustomID()
	out := fmt.Sprintf("%s (%s %v)", f.Title, id, err)
	for _, i := range f.Fields {
		out += fmt.Sprintf("\n  %s: %s [%s] = %q", i.Name, i.Label, i.Hint, i.Value)
		for word, is := range map[string]bool{" long": i.Long && !i.Optional, " optional": i.Optional && !i.Long, " long, optional": i.Long && i.Optional} {
			if is {
				out += word
			}
		}
	}
	return out
}

func TestTheFormsAndTheButtonsOfTheBotAreAsTheUserKnowsThem(t *testing.T) {
	var got []string
	for _, action := range []string{RemindLater, PingLater, ProposeWhen, ConfigType, RemindNew, BudgetType, ModelType, ModelTo, ""} {
		for _, data := range map[string][]string{ConfigType: {"model_main", "daily_cap", "none"}, BudgetType: {"5.90"}}[action] {
			f, ok := FormOf(action, data)
			got = append(got, fmt.Sprint(ok, " ", shown(f)))
		}
		if f, ok := FormOf(action, "7"); action != ConfigType && action != BudgetType {
			got = append(got, fmt.Sprint(ok, " ", shown(f)))
		}
	}
	got = append(got, shown(About("own.7", "the words", "a hint")), shown(SetupForm("7", "Ada", "Bot")))
	for _, b := range slices.Concat(Ping("7"), Remind("7"), []Button{{Label: "Save", Action: ForkSave}, {Label: "Report", Action: ForkReport}, {Label: "Exit", Action: ForkExit}, {Label: "Stop", Action: "act:stop:7"}, {Label: "Again", Action: "act:again:7"}}) {
		action, _, _ := strings.Cut(b.Action, ":")
		got = append(got, fmt.Sprintf("%s, %s: %s, of a ping %v, fleeting %v", b.Label, b.Style, b.Action, OfPing(action), b.Fleeting()))
	}
	goldentest.Compare(t, "forms.txt", strings.Join(got, "\n")+"\n")
}

func TestNothingIsSentBeforeWhatMustBeDoneFirst(t *testing.T) {
	full := errors.New("the disk is full")
	if none, failed := (&Post{}).Begin(), (&Post{Before: func() error { return full }}).Begin(); none != nil || !errors.Is(failed, full) {
		t.Errorf("with nothing to do: %v; with something: %v", none, failed)
	}
}

func TestPropertyAnIDThatIsMadeIsUnderstood(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		action := rapid.StringMatching(`[a-z_]{1,12}`).Filter(func(s string) bool { return s != AskAgent }).Draw(t, "action")
		data := rapid.String().Draw(t, "data")
		id, err := Button{Action: action + ":" + data}.CustomID(none(t))
		if err != nil {
			return
		}
		if data == "" {
			data = "_"
		}
		if a, d, ok := ParseCustomID(id); !ok || a != action || d != data {
			t.Fatalf("%q gives %q, %q, %v", id, a, d, ok)
		}
	})
}

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

// row describes when a kind rings, from Rings itself.
func row(k Kind, what string) string {
	say := func(m Moment) string {
		m.Rang, m.Again = false, false
		once := m
		once.Rang, once.Again = true, true
		switch {
		case !k.Rings(m):
			return "no"
		case k.Rings(once):
			return "yes"
		case k == KindNews:
			return "once in twelve hours for each cause"
		}
		return "once"
	}
	muted := say(Moment{Muted: true})
	if k == KindPing {
		muted = "refused; critical: yes; essential: no"
	}
	return fmt.Sprintf("| %s | %s | %s |", what, say(Moment{}), muted)
}

// D1, D6: the table of the documentation is what Rings decides.
func TestTheTableOfWhatRingsIsTheOneInTheDocs(t *testing.T) {
	page, err := os.ReadFile("../../../docs/discord.md")
	if err != nil {
		t.Fatal(err)
	}
	table := []string{"| | Rings | In quiet hours and while muted |", "|---|---|---|"}
	known := map[Kind]bool{}
	for _, k := range Kinds {
		known[k.Kind] = true
		table = append(table, row(k.Kind, k.What))
	}
	if want := strings.Join(table, "\n"); !strings.Contains(string(page), want) {
		t.Errorf("docs/discord.md does not have this table:\n%s", want)
	}
	for k := KindPing; k <= KindAside; k++ {
		if !known[k] {
			t.Errorf("kind %d is not described", k)
		}
	}
}
