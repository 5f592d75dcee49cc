package config

import (
	"os"
	"slices"
	"strings"
	"testing"

	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
)

// settingsTable returns every setting of the files as a row of docs/settings.md, by group.
func settingsTable(t *testing.T) string {
	t.Helper()
	byName := map[string]key{}
	for _, k := range keys {
		if !k.unused {
			byName[k.name] = k
		}
	}
	var b strings.Builder
	group, last := "", ""
	for _, s := range Settings {
		k, ok := byName[s.Key]
		if !ok {
			continue
		}
		delete(byName, s.Key)
		if group != s.Group {
			if group != "" {
				b.WriteString("\n")
			}
			group, last = s.Group, ""
			b.WriteString("### " + group + "\n\n| Setting | Values | Default | Effect |\n|---|---|---|---|\n")
		}
		r := defaultRuntime()
		if !k.parse(&r, s.Example) || r == defaultRuntime() {
			t.Errorf("%s: %s is no example: it is refused, or the default", k.name, s.Example)
		}
		values := strings.Replace(strings.TrimPrefix(k.must, "must be "), " (true or false, yes or no, 1 or 0)", "", 1)
		if values == last && len(values) > len("on or off") {
			values = "as above"
		} else {
			last = values
		}
		b.WriteString("| " + s.Name + " `" + k.name + "` | " + values + " | `" + k.text(defaultRuntime()) + "` | " + s.About + " |\n")
	}
	for name := range byName {
		t.Errorf("%s has no name and no group", name)
	}
	return b.String()
}

// Each setting has a name, a sentence and an example; each name and key is unique.
func TestEverySettingIsNamedAndExplainedOnce(t *testing.T) {
	seen, last := map[string]bool{}, 0
	for _, s := range Settings {
		group := slices.Index(Groups, s.Group)
		if group < last {
			t.Errorf("%s: its group %q is not at its place", s.Key, s.Group)
		}
		last = group
		if s.Name == "" || s.Name == s.Key || s.Example == "" || !strings.HasSuffix(s.About, ".") || seen[s.Name] || seen[s.Key] {
			t.Errorf("%+v", s)
		}
		seen[s.Name], seen[s.Key] = true, true
	}
}

// W5: the page names the file of each setting.
func TestThePageOfSettingsSaysWhereEachIsKept(t *testing.T) {
	data, err := os.ReadFile("../../../docs/settings.md")
	testkit.Must(t, err)
	_, row, _ := strings.Cut(string(data), "\n| `"+RuntimeFile+"` | ")
	row, rest, _ := strings.Cut(row, "\n")
	for _, k := range keys {
		if !k.unused && k.ours == strings.Contains(row, "`"+k.name+"`") {
			t.Errorf("docs/settings.md says in which file %s is, and is wrong", k.name)
		}
	}
	if !strings.HasPrefix(rest, "| `"+SettingsFile+"` | all others |") {
		t.Errorf("docs/settings.md does not say where the other settings are: %s", rest)
	}
}

// N18: docs/settings.md has every setting, as the program describes it.
func TestThePageOfSettingsHasEverySetting(t *testing.T) {
	goldentest.ComparePart(t, "../../../docs/settings.md", "\n## Keys\n\n", "\n## Notes\n", settingsTable(t))
}
