package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

func dotenv(t testing.TB, text string) (*store.Dir, string) {
	t.Helper()
	d := storetest.Dir(t)
	path := filepath.Join(d.Root(), EnvFile)
	if text != "" {
		testkit.Must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return d, path
}

// TestNames plays testdata/names.txt: with a line that sets both names is the error, or the file that came of it.
func TestNames(t *testing.T) {
	goldentest.Stories(t, "names.txt", func(t *testing.T, story string) string {
		d, path := dotenv(t, "")
		var out []string
		for line := range strings.Lines(story) {
			line = strings.TrimRight(line, "\n")
			step, is := strings.CutPrefix(line, "> ")
			if !is {
				continue
			}
			step, _, _ = strings.Cut(step, " → ")
			var said []string
			switch verb, rest, _ := strings.Cut(unescaped(step), " "); verb {
			case ".env":
				testkit.Must(t, os.WriteFile(path, []byte(rest), 0o644))
			case "folder":
				testkit.Must(t, os.Mkdir(path, 0o700))
			default:
				before, _ := os.ReadFile(path) // there may be none
				user, bot, _ := strings.Cut(rest, " | ")
				err := SetNames(d, user, bot)
				after, _ := os.ReadFile(path)
				if err == nil {
					info, err := os.Stat(path)
					testkit.Must(t, err)
					said = []string{fmt.Sprintf("%v %q", info.Mode(), after)}
				} else if said = []string{strings.ReplaceAll(err.Error(), d.Root(), "DATA")}; string(after) != string(before) {
					t.Errorf("%s: the file became %q", line, after)
				}
			}
			out = append(out, answered(step, said))
		}
		return strings.Join(out, "\n")
	})
}

func TestPropertyWhatIsSetIsReadAgain(t *testing.T) {
	line := rapid.SampledFrom([]string{
		"", "# a comment", "A=1", "B='two words' # why", "C=\"x\\ny\"", "export D=4", "OLLIM_USER_NAME=x", "OLLIM_BOT_NAME='y z'", "E=", "OLLIM_USER_NAME=",
	})
	name := rapid.Custom(func(t *rapid.T) string {
		return rapid.StringOf(rapid.OneOf(rapid.SampledFrom([]rune("aZ '#=-.!éß日{}%")), rapid.RuneFrom(nil, unicode.L))).Draw(t, "name")
	})
	testkit.Check(t, func(rt *rapid.T) {
		d, path := dotenv(t, strings.Join(rapid.SliceOfN(line, 0, 6).Draw(rt, "lines"), "\n"))
		user, bot := name.Draw(rt, "user"), name.Draw(rt, "bot")
		if strings.TrimSpace(user) == "" || strings.TrimSpace(bot) == "" {
			return
		}
		before, problems := parseEnv(read(rt, path))
		if problems != nil {
			rt.Fatal(problems)
		}
		if err := SetNames(d, user, bot); err != nil {
			if len([]rune(user)) > maxName || len([]rune(bot)) > maxName {
				return
			}
			rt.Fatal(err)
		}
		after, problems := parseEnv(read(rt, path))
		if problems != nil || after["OLLIM_USER_NAME"] != strings.TrimSpace(user) || after["OLLIM_BOT_NAME"] != strings.TrimSpace(bot) {
			rt.Fatalf("%q and %q became %q, %v", user, bot, after, problems)
		}
		for k, v := range before {
			if k != "OLLIM_USER_NAME" && k != "OLLIM_BOT_NAME" && after[k] != v {
				rt.Fatalf("%s was %q and is %q", k, v, after[k])
			}
		}
	})
}

func read(t *rapid.T, path string) []byte {
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return data
}

func TestNamesSetAtOnceDoNotMix(t *testing.T) {
	d, path := dotenv(t, "A=1\n")
	var wg sync.WaitGroup
	for _, n := range []string{"one", "two", "three", "four"} {
		wg.Go(func() {
			if err := SetNames(d, n, n); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	data, err := os.ReadFile(path)
	testkit.Must(t, err)
	got, problems := parseEnv(data)
	if problems != nil || got["OLLIM_USER_NAME"] == "" || got["OLLIM_USER_NAME"] != got["OLLIM_BOT_NAME"] || got["A"] != "1" {
		t.Errorf("%q, %v", got, problems)
	}
}
