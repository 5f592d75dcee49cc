package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
	"ollimbot/routines"
)

// wrongFiles has one mistake in each kind of file that a user writes.
var wrongFiles = map[string]string{
	"data/routines/cron.md":                 "---\nid: a\ncron: \"61 9 * * *\"\n---\nLook.\n",
	"data/routines/utf16.md":                "-\x00-\x00-\x00\n\x00",
	"data/routines/mac.md":                  "---\rid: b\rcron: \"0 9 * * *\"\r---\rLook.\r",
	"data/routines/latin.md":                "---\nid: c\ncron: \"0 9 * * *\"\ndescription: Caf\xe9\n---\nLook.\n",
	"data/routines/merge.md":                "---\nid: d\ncron: \"0 9 * * *\"\n---\n<<<<<<< ours\nLook.\n=======\nLook up.\n>>>>>>> theirs\n",
	"data/reminders/time.md":                "---\nid: e\nrun-at: tuesday\n---\nLook.\n",
	"data/webhooks/fields.md":               "---\nid: f\n---\nLook.\n",
	"data/skills/walks/SKILL.md":            "no front matter\n",
	"data/.claude/agents/reader.md":         "no front matter\n",
	"data/tool-policy.yaml":                 "bg_forks:\n  overide: []\n",
	"data/prices.yaml":                      "opus: cheap\n",
	"data/providers.yaml":                   "local: [1\n",
	"data/.mcp.json":                        "{\"mcpServers\":\n {\"a\": {\"command\": 7}}}\n",
	"data/state/config.json":                "{\"model_main\": 7}\n",
	"data/state/settings.json":              "{\"daily_cap\": \"much\"",
	"data/.env":                             "OLLIM_USER_NAME=Ada\nWEBHOOK_SECRET=hush\n",
	"home/.config/ollim-bot/keys.yaml":      "view.zom: Z\n",
	"home/.config/ollim-bot/dashboard.yaml": "theme: pink\n",
}

// Q1: asked what is wrong with a user's files, four places gave four answers, none of them complete.
func TestEveryPlaceShowsTheSameProblems(t *testing.T) {
	testkit.Alone(t)
	root := t.TempDir()
	for rel, text := range wrongFiles {
		put(t, filepath.Join(root, rel), text)
	}
	env := []string{
		"HOME=" + filepath.Join(root, "home"), "PATH=/usr/bin:/bin", "OLLIM_DATA_DIR=" + filepath.Join(root, "data"), "OLLIM_TIMEZONE=Europe/Berlin",
		"LANG=C.UTF-8", "NO_COLOR=1",
	}
	ask := func(into any, args ...string) {
		t.Helper()
		got := shell(t, built(t), env, args...) // with errors in files, check and doctor fail
		if err := json.Unmarshal([]byte(got.out), into); err != nil {
			t.Fatalf("%v: %v in %+v", args, err, got)
		}
	}
	lineOf := func(p routines.Problem) string { return p.Position() + ": " + p.Message }
	places := func() map[string][]string {
		var listed []routines.Problem
		ask(&listed, "check", "--json")
		var examined struct {
			Checks []struct{ Section, Level, Label, Message string }
		}
		ask(&examined, "doctor", "--json")
		var status struct{ Problems []routines.Problem }
		ask(&status, "status", "--json")
		answers := map[string][]string{}
		for _, p := range listed {
			answers["check"] = append(answers["check"], lineOf(p))
		}
		for _, c := range examined.Checks {
			if c.Section == "FILES" {
				answers["doctor"] = append(answers["doctor"], c.Label+": "+c.Message)
			}
		}
		for _, p := range status.Problems {
			answers["status"] = append(answers["status"], lineOf(p))
		}
		return answers
	}
	agree := func(when string, answers map[string][]string) []string {
		t.Helper()
		want := answers["check"]
		for place, got := range answers {
			if !slices.Equal(got, want) {
				t.Errorf("%s, %s says\n%s\ncheck says\n%s", when, place, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		return want
	}
	alone := agree("without a bot", places())
	for rel := range wrongFiles {
		name := strings.TrimPrefix(strings.Replace(rel, "home/", "~/", 1), "data/")
		if !slices.ContainsFunc(alone, func(line string) bool { return strings.HasPrefix(line, name+":") }) {
			t.Errorf("nothing is said about %s", name)
		}
	}
	for _, reason := range []string{"UTF-16", "CR alone", "Latin-1", "<<<<<<<"} {
		if !slices.ContainsFunc(alone, func(line string) bool { return strings.Contains(line, reason) }) {
			t.Errorf("no true reason has %q", reason)
		}
	}

	bot := launch(t, env, "run", "--plain", "--engine", "script")
	bot.hears("ollim-bot in plain mode")
	bot.types("problems")
	bot.types("more")
	bot.types("status")
	flat := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	last := flat(alone[len(alone)-1])
	bot.until("the problems and the status are read", func() bool {
		heard := flat(bot.out.String())
		return strings.Count(heard, last) >= 2 && strings.Contains(heard, "running (pid")
	})
	beside := agree("beside a bot", places())
	if !slices.Equal(alone, beside) {
		t.Errorf("a running bot says\n%s\ninstead of\n%s", strings.Join(beside, "\n"), strings.Join(alone, "\n"))
	}
	log := ""
	bot.until("the log has them", func() bool {
		log = stored(root, "data/state/bot.log")
		return strings.Count(log, "a file has a problem") >= len(alone)
	})
	said := flat(bot.out.String())
	for _, line := range alone {
		if !strings.Contains(said, flat(line)) {
			t.Errorf("plain mode does not say %s", line)
		}
		if _, message, _ := strings.Cut(line, ": "); !strings.Contains(log, strings.ReplaceAll(message, `"`, `\"`)) {
			t.Errorf("the log does not say %s", line)
		}
	}
	files := map[string]bool{}
	var listed []routines.Problem
	ask(&listed, "check", "--json")
	for _, p := range listed {
		if p.Severity == routines.Error {
			files[p.File] = true
		}
	}
	if headline := fmt.Sprintf("%d files need fixing, the first ", len(files)); !strings.Contains(said, headline) {
		t.Errorf("no headline begins with %q", headline)
	}
	bot.stops()
}
