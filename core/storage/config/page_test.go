package config

import (
	"cmp"
	"os"
	"strings"
	"testing"

	difference "github.com/google/go-cmp/cmp"

	"ollimbot/core/base/goldentest"
)

// examples are values of settings whose offers are descriptions, or the default.
var examples = map[string]string{
	"bg_fork_timeout": "3600", "fork_idle_timeout": "20", "max_background_forks": "2", "claude_warm": "0",
	"google_calendars": "primary,family@example.com", "google_task_list": "MTIzNDU2", "model_fork": "haiku",
	"thinking_main": "8000", "permission_mode": "default", "engine": "messages", "daily_cap": "5", "monthly_cap": "60",
	"sandbox_visible": "~/notes,~/site:rw", "fallback": "local/qwen3", "claude_memory_limit": "2GB", "thinking_fork": "off", "sandbox": "off",
	"sandbox_network": "api.github.com,*.example.org",
}

// settingsTable is every setting as a row of docs/settings.md.
func settingsTable(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| Key | Values | Default | Example | Effect |\n|---|---|---|---|---|\n")
	for _, k := range keys {
		if k.unused {
			continue
		}
		example := cmp.Or(examples[k.name], k.offers[0])
		r := defaultRuntime()
		if !k.parse(&r, example) || r == defaultRuntime() {
			t.Errorf("%s: %s is no example: it is refused, or the default", k.name, example)
		}
		values := strings.TrimPrefix(k.must, "must be ")
		about := abouts[k.name]
		if values == k.must || about == "" {
			t.Errorf("%s: the page cannot say what it takes or what it does", k.name)
		}
		b.WriteString("| `" + k.name + "` | " + values + " | `" + k.text(defaultRuntime()) + "` | `" + example + "` | " + about + " |\n")
	}
	return b.String()
}

// W5: the page says in which file each setting is.
func TestThePageOfSettingsSaysWhereEachIsKept(t *testing.T) {
	data, err := os.ReadFile("../../../docs/settings.md")
	must(t, err)
	for _, k := range keys {
		file := RuntimeFile
		if k.ours {
			file = SettingsFile
		}
		_, row, _ := strings.Cut(string(data), "\n| `"+file+"` | ")
		row, _, _ = strings.Cut(row, "\n")
		if !k.unused && !strings.Contains(row, "`"+k.name+"`") {
			t.Errorf("docs/settings.md does not say that %s is in %s", k.name, file)
		}
	}
}

// N18: docs/settings.md has every setting, as the program describes it.
func TestThePageOfSettingsHasEverySetting(t *testing.T) {
	const path = "../../../docs/settings.md"
	data, err := os.ReadFile(path)
	must(t, err)
	const head, foot = "\n## Keys\n\n", "\n## Notes\n"
	before, rest, _ := strings.Cut(string(data), head)
	got, after, found := strings.Cut(rest, foot)
	if !found {
		t.Fatalf("docs/settings.md has no table between %q and %q", head, foot)
	}
	want := settingsTable(t)
	if *goldentest.Update {
		must(t, os.WriteFile(path, []byte(before+head+want+foot+after), 0o644))
		return
	}
	if d := difference.Diff(got, want); d != "" {
		t.Errorf("docs/settings.md is stale; write its table with: go test ./core/storage/config -run Settings -update\n%s", d)
	}
}
