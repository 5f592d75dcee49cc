package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/testkit"
	"ollimbot/routines"
)

// wrongFiles has one mistake in each kind of file that a user writes.
var wrongFiles = map[string]string{
	"routines/cron.md":                    "---\nid: a\ncron: \"61 9 * * *\"\n---\nLook.\n",
	"routines/utf16.md":                   "-\x00-\x00-\x00\n\x00",
	"routines/mac.md":                     "---\rid: b\rcron: \"0 9 * * *\"\r---\rLook.\r",
	"routines/latin.md":                   "---\nid: c\ncron: \"0 9 * * *\"\ndescription: Caf\xe9\n---\nLook.\n",
	"routines/merge.md":                   "---\nid: d\ncron: \"0 9 * * *\"\n---\n<<<<<<< ours\nLook.\n=======\nLook up.\n>>>>>>> theirs\n",
	"reminders/time.md":                   "---\nid: e\nrun-at: tuesday\n---\nLook.\n",
	"webhooks/fields.md":                  "---\nid: f\n---\nLook.\n",
	"skills/walks/SKILL.md":               "no front matter\n",
	".claude/agents/reader.md":            "no front matter\n",
	"tool-policy.yaml":                    "bg_forks:\n  overide: []\n",
	"prices.yaml":                         "opus: cheap\n",
	"providers.yaml":                      "local: [1\n",
	".mcp.json":                           "{\"mcpServers\":\n {\"a\": {\"command\": 7}}}\n",
	"state/config.json":                   "{\"model_main\": 7}\n",
	"state/settings.json":                 "{\"daily_cap\": \"much\"",
	".env":                                "OLLIM_USER_NAME=Ada\nWEBHOOK_SECRET=hush\n",
	"../.config/ollim-bot/keys.yaml":      "view.zom: Z\n",
	"../.config/ollim-bot/dashboard.yaml": "theme: pink\n",
}

// Q1: asked what is wrong with a user's files, four places gave four answers, none of them complete.
func TestEveryPlaceShowsTheSameProblems(t *testing.T) {
	testkit.Alone(t)
	w := newWorld(t, "PATH=/usr/bin:/bin", "OLLIM_TIMEZONE=Europe/Berlin", "NO_COLOR=1")
	for rel, text := range wrongFiles {
		w.file(rel, text)
	}
	ask := func(into any, args ...string) {
		t.Helper()
		got := w.shell(args...) // with errors in files, check and doctor fail
		if err := json.Unmarshal([]byte(got.out), into); err != nil {
			t.Fatalf("%v: %v in %+v", args, err, got)
		}
	}
	toFix := map[string]bool{}
	lines := func(list []routines.Problem) (text string) {
		for _, p := range list {
			text += p.Position() + ": " + p.Message + "\n"
			if p.Severity == routines.Error {
				toFix[p.File] = true
			}
		}
		return text
	}
	agreed := func(when string) string {
		t.Helper()
		var listed []routines.Problem
		ask(&listed, "check", "--json")
		var status struct{ Problems []routines.Problem }
		ask(&status, "status", "--json")
		var doctor struct {
			Checks []struct{ Section, Label, Message string }
		}
		ask(&doctor, "doctor", "--json")
		examined := ""
		for _, c := range doctor.Checks {
			if c.Section == "FILES" {
				examined += c.Label + ": " + c.Message + "\n"
			}
		}
		for place, got := range map[string]string{"doctor": examined, "status": lines(status.Problems)} {
			if diff := cmp.Diff(lines(listed), got); diff != "" {
				t.Errorf("%s, %s does not say what check says:\n%s", when, place, diff)
			}
		}
		return lines(listed)
	}
	alone := agreed("without a bot")
	for rel := range wrongFiles {
		if name := strings.Replace(rel, "../", "~/", 1); !strings.Contains("\n"+alone, "\n"+name+":") {
			t.Errorf("nothing is said about %s", name)
		}
	}
	for _, reason := range []string{"UTF-16", "CR alone", "Latin-1", "<<<<<<<"} {
		if !strings.Contains(alone, reason) {
			t.Errorf("no true reason has %q", reason)
		}
	}

	w.launch("run", "--plain", "--engine", "script")
	w.hears("ollim-bot in plain mode")
	w.types("problems\nmore\nstatus")
	all := strings.Split(strings.TrimSuffix(alone, "\n"), "\n")
	flat := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	w.until("the problems and the status are read", func() bool {
		heard := flat(w.out.String())
		return strings.Count(heard, flat(all[len(all)-1])) >= 2 && strings.Contains(heard, "running (pid")
	})
	if diff := cmp.Diff(alone, agreed("beside a bot")); diff != "" {
		t.Errorf("a running bot says something else:\n%s", diff)
	}
	w.until("the log has them", func() bool { return strings.Count(w.read("state/bot.log"), "a file has a problem") >= len(all) })
	said, log := flat(w.out.String()), w.read("state/bot.log")
	for _, line := range all {
		if !strings.Contains(said, flat(line)) {
			t.Errorf("plain mode does not say %s", line)
		}
		if _, message, _ := strings.Cut(line, ": "); !strings.Contains(log, strings.ReplaceAll(message, `"`, `\"`)) {
			t.Errorf("the log does not say %s", line)
		}
	}
	if headline := fmt.Sprintf("%d files need fixing, the first ", len(toFix)); !strings.Contains(said, headline) {
		t.Errorf("no headline begins with %q", headline)
	}
	w.stops()
}
