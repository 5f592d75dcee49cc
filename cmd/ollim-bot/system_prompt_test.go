package main

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"ollimbot/cmd/internal/console"
	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/guide"
	"ollimbot/core/brief/prompt"
	"ollimbot/core/command"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store/storetest"
)

var (
	commandSpan = regexp.MustCompile("`(ollim-bot [^`\n]+)`")
	commandTool = regexp.MustCompile(`"Bash\((ollim-bot [^)]+)\)"`)
)

// checkCommands holds every command line that a text names against the tree:
// the command, its flags, and whether it takes what stands behind it.
func checkCommands(t *testing.T, name, text string) (seen int) {
	t.Helper()
	app := commandTree(t).Model.Node
	lines := commandSpan.FindAllStringSubmatch(text, -1)
	lines = append(lines, commandTool.FindAllStringSubmatch(text, -1)...)
	for _, m := range lines {
		seen++
		if why := unknownPart(app, strings.Fields(m[1])[1:]); why != "" {
			t.Errorf("%s names %q: %s", name, m[1], why)
		}
	}
	return seen
}

// unknownPart walks down the tree and says where a command line leaves it.
func unknownPart(node *kong.Node, words []string) string {
	for len(words) > 0 {
		next := child(node, words[0])
		if next == nil {
			break
		}
		node, words = next, words[1:]
	}
	if node.Type == kong.ApplicationNode {
		return "there is no command " + words[0]
	}
	value := false // the word is the value of the flag before it
	for _, word := range words {
		word = strings.Trim(word, "[]…")
		if value {
			value = false
			continue
		}
		value = takesValue(node, word)
		switch {
		case word == "--help", word == "*", word == "", word == strings.ToUpper(word):
		case strings.HasPrefix(word, "--"):
			if !hasFlag(node, strings.TrimPrefix(word, "--")) {
				return node.FullPath() + " has no flag " + word
			}
		case strings.HasPrefix(word, "-"):
			if !hasFlag(node, strings.TrimPrefix(word, "-")) {
				return node.FullPath() + " has no flag " + word
			}
		case len(node.Positional) == 0:
			return node.FullPath() + " takes no " + word
		}
	}
	return ""
}

func child(node *kong.Node, name string) *kong.Node {
	for _, c := range node.Children {
		if c.Name == name || slices.Contains(c.Aliases, name) {
			return c
		}
	}
	return nil
}

// takesValue reports whether a word is a long flag with a value behind it.
func takesValue(node *kong.Node, word string) bool {
	name, long := strings.CutPrefix(word, "--")
	for _, group := range node.AllFlags(false) {
		for _, f := range group {
			if long && f.Name == name {
				return !f.IsBool()
			}
		}
	}
	return false
}

func hasFlag(node *kong.Node, name string) bool {
	for _, group := range node.AllFlags(false) {
		for _, f := range group {
			if f.Name == name || len(name) == 1 && f.Short == rune(name[0]) {
				return true
			}
		}
	}
	return false
}

func TestEveryCommandInTheSystemPromptExists(t *testing.T) {
	if n := checkCommands(t, "the prompt without Google", prompt.System(prompt.SystemInput{})); n < 6 {
		t.Errorf("only %d commands were seen; the test looks in the wrong place", n)
	}
	if n := checkCommands(t, "the prompt", prompt.System(prompt.SystemInput{Google: true, Webhooks: true})); n < 16 {
		t.Errorf("only %d commands were seen; the test looks in the wrong place", n)
	}
}

func TestEveryCommandInTheInstalledFilesExists(t *testing.T) {
	d := storetest.Dir(t)
	if _, err := guide.Install(d, guide.Options{}); err != nil {
		t.Fatal(err)
	}
	seen := 0
	err := filepath.WalkDir(d.Root(), func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(name) != ".md" {
			return err
		}
		data, err := os.ReadFile(name)
		seen += checkCommands(t, filepath.Base(name), string(data))
		return err
	})
	testkit.Must(t, err)
	if seen < 20 {
		t.Errorf("only %d commands were seen; the test looks in the wrong place", seen)
	}
}

func TestTheCommandCheckFindsWhatIsWrong(t *testing.T) {
	app := commandTree(t).Model.Node
	for line, want := range map[string]string{
		"reminder add --delay MINUTES -m TEXT": "",
		"reminder list":                        "",
		"routine *":                            "",
		"runs":                                 "",
		"forks":                                "", // its earlier name
		"frobnicate":                           "there is no command",
		"reminder frobnicate":                  "takes no frobnicate",
		"reminder add --color RED":             "has no flag --color",
		"reminder add -x 1":                    "has no flag -x",
	} {
		if got := unknownPart(app, strings.Fields(line)); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// The settings that the setup skill tells people to type are real.
func TestTheSlashCommandsInTheSetupSkillExist(t *testing.T) {
	d := storetest.Dir(t)
	if _, err := guide.Install(d, guide.Options{}); err != nil {
		t.Fatal(err)
	}
	data, err := d.Read("skills/setup/SKILL.md")
	testkit.Must(t, err)
	known := map[string]bool{}
	for _, c := range command.List(command.InSlash) {
		known[c.Name] = true
	}
	for _, m := range regexp.MustCompile("`/([a-z-]+)([^`]*)`").FindAllStringSubmatch(string(data), -1) {
		if !known[m[1]] {
			t.Errorf("there is no command /%s", m[1])
		}
		if words := strings.Fields(m[2]); m[1] == "config" && len(words) == 2 {
			if _, _, err := config.Set(d, words[0], words[1]); err != nil {
				t.Errorf("/config%s: %v", m[2], err)
			}
		}
	}
}

func TestPreviewSystemPrintsThePromptOfTheDirectory(t *testing.T) {
	d := storetest.Dir(t)
	storetest.Put(t, d, "IDENTITY.md", "You are Ollie.\n")
	env := map[string]string{"OLLIM_USER_NAME": "Sam", "OLLIM_TIMEZONE": "Europe/Berlin"}
	preview := func(args ...string) (string, string, int) {
		var out, errs strings.Builder
		code := run(append([]string{"--data-dir", d.Root(), "preview"}, args...), &process{Process: console.Process{
			In: strings.NewReader(""), Out: &out, Err: io.Writer(&errs), Getenv: func(k string) string { return env[k] },
			Environ: func() []string { return nil }, Now: func() time.Time { return time.Unix(0, 0) },
		}})
		return out.String(), errs.String(), code
	}
	got, errs, code := preview("--system")
	if code != exitDone || !strings.HasPrefix(got, "You are Ollie.\n\n# How you work here\n\nYou are Sam's assistant") || !strings.Contains(got, "in Europe/Berlin") {
		t.Errorf("%d, %s\n%s", code, errs, got)
	}
	env["WEBHOOK_PORT"], env["WEBHOOK_SECRET"] = "8080", "hush-hush-hush-hush"
	if got, errs, code := preview("--system"); code != exitDone || !strings.Contains(got, "A file in `webhooks/` lets another program start") {
		t.Errorf("with webhooks: %d, %s\n%s", code, errs, got)
	}
	for _, args := range [][]string{{}, {"--system", "a1b2c3d4"}, {"--system", "--busy"}, {"--system", "--at", "09:00"}} {
		if _, errs, code := preview(args...); code != command.UsageStatus || !strings.Contains(errs, "--system alone") {
			t.Errorf("%q: %d, %s", args, code, errs)
		}
	}
	entries, err := os.ReadDir(d.Root())
	if err != nil || len(entries) != 1 {
		t.Errorf("looking left %v behind (%v)", entries, err)
	}
}
