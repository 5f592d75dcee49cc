package provider

import (
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
	pages "ollimbot/docs"
)

// docs/connect-a-model.md has every key of providers.yaml, with valid examples.
func TestThePageOfProvidersHasEveryKey(t *testing.T) {
	data, err := fs.ReadFile(pages.FS, "connect-a-model.md")
	testkit.Must(t, err)
	row := regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| [^|]+ \\| `([^`]+)` \\| ")
	rows := func(heading string) map[string]string {
		_, part, _ := strings.Cut(string(data), "\n## "+heading+"\n")
		part, _, _ = strings.Cut(part, "\n## ")
		found := map[string]string{}
		for _, m := range row.FindAllStringSubmatch(part, -1) {
			found[m[1]] = m[2]
		}
		return found
	}
	ofProvider, ofModel := rows("Keys of a provider"), rows("Keys of a model")
	for _, c := range []struct {
		said  map[string]string
		known []string
	}{
		{ofProvider, append(slices.Collect(maps.Keys(providerFields)), "models")}, {ofModel, slices.Collect(maps.Keys(modelFields))},
	} {
		slices.Sort(c.known)
		if said := slices.Sorted(maps.Keys(c.said)); !slices.Equal(said, c.known) {
			t.Errorf("the page explains %q, the file takes %q", said, c.known)
		}
	}
	try := func(text string) {
		if f := parse([]byte(text)); len(f.problems) > 0 || len(f.entries) == 0 {
			t.Errorf("%s\n%+v", text, f.problems)
		}
	}
	for key, example := range ofProvider {
		text := "a:\n  " + example
		for _, needed := range []string{"base-url: http://127.0.0.1:1", "models: [x]"} {
			if name, _, _ := strings.Cut(needed, ":"); name != key {
				text += "\n  " + needed
			}
		}
		try(text)
	}
	for key, example := range ofModel {
		text := "a:\n  base-url: http://127.0.0.1:1\n  models:\n    - " + example
		if key != "name" {
			text += "\n      name: x"
		}
		try(text)
	}
	files, _, _ := strings.Cut(string(data), "\n## Prices\n")
	shown := strings.Split(files, "```yaml\n")[1:]
	for _, file := range shown {
		file, _, _ = strings.Cut(file, "```")
		try(file)
	}
	if len(shown) != 2 {
		t.Errorf("the page shows %d files", len(shown))
	}
}
