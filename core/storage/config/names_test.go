package config

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode"

	"pgregory.net/rapid"

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

func TestNamesAreSetAndEveryOtherLineStays(t *testing.T) {
	for name, tt := range map[string]struct{ before, user, bot, after string }{
		"no file":                {"", "Sam", "ollim", "OLLIM_USER_NAME=Sam\nOLLIM_BOT_NAME=ollim\n"},
		"other lines":            {"# mine\nDISCORD_TOKEN=a=b\n\nOLLIM_TIMEZONE='UTC' # here", "Sam", "x", "# mine\nDISCORD_TOKEN=a=b\n\nOLLIM_TIMEZONE='UTC' # here\nOLLIM_USER_NAME=Sam\nOLLIM_BOT_NAME=x\n"},
		"in place":               {"OLLIM_BOT_NAME=old\nA=1\nOLLIM_USER_NAME=\"Old One\" # me\nB=2\n", "Sam Vimes", "O'Ollim", "OLLIM_BOT_NAME=\"O'Ollim\"\nA=1\nOLLIM_USER_NAME='Sam Vimes'\nB=2\n"},
		"exported and spaced":    {"  export OLLIM_USER_NAME = Old\n", "Zoë", "b", "  export OLLIM_USER_NAME = 'Zoë'\nOLLIM_BOT_NAME=b\n"},
		"Windows line ends":      {"OLLIM_USER_NAME=Old\r\nA=1\r\n", "Sam", "b", "OLLIM_USER_NAME=Sam\r\nA=1\r\nOLLIM_BOT_NAME=b\n"},
		"a comment is no line":   {"# OLLIM_USER_NAME=x\nMY_OLLIM_USER_NAME=y\n", "Sam", "b", "# OLLIM_USER_NAME=x\nMY_OLLIM_USER_NAME=y\nOLLIM_USER_NAME=Sam\nOLLIM_BOT_NAME=b\n"},
		"set twice":              {"OLLIM_USER_NAME=a\nOLLIM_USER_NAME=b\n", "Sam", "b", "OLLIM_USER_NAME=Sam\nOLLIM_USER_NAME=Sam\nOLLIM_BOT_NAME=b\n"},
		"escapes are taken away": {"", "Sam\x1b[31m\n# x", "b", "OLLIM_USER_NAME='Sam # x'\nOLLIM_BOT_NAME=b\n"},
	} {
		t.Run(name, func(t *testing.T) {
			d, path := dotenv(t, tt.before)
			testkit.Must(t, SetNames(d, tt.user, tt.bot))
			got, err := os.ReadFile(path)
			if err != nil || string(got) != tt.after {
				t.Errorf("%q, want %q, %v", got, tt.after, err)
			}
			info, err := os.Stat(path)
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
		})
	}
}

func TestNamesThatCannotBeKeptLeaveTheFileAlone(t *testing.T) {
	for _, tt := range []struct{ before, user, bot, want string }{
		{"A=1\n", "", "b", "OLLIM_USER_NAME must not be empty"},
		{"A=1\n", "Sam", " \x1b[0m\u200b", "OLLIM_BOT_NAME must not be empty"},
		{"A=1\n", "Sam", strings.Repeat("é", 81), "at most 80 characters"},
		{"A=1\n", `Sam "the man"`, "b", "quotation marks"},
		{"A=1\n", "${HOME}", "b", "dollar signs"},
		{"A=1\n", `a\`, "b", "backslashes"},
		{"A=1\nthis is wrong\n", "Sam", "b", "line 2"},
		{"A=\"first\nOLLIM_USER_NAME=inside\nlast\"\n", "Sam", "b", "by hand"},
		{"OLLIM_USER_NAME=\"two\nlines\"\n", "Sam", "b", "by hand"},
		{"OLLIM_USER_NAME=x\nB=${OLLIM_USER_NAME}!\n", "Sam", "b", "by hand"},
	} {
		d, path := dotenv(t, tt.before)
		err := SetNames(d, tt.user, tt.bot)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q in %q: %v", tt.user, tt.before, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != tt.before {
			t.Errorf("the file became %q, %v", got, err)
		}
	}
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
