package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"strings"
	"unicode/utf8"

	"ollimbot/core/base/clean"
	"ollimbot/core/storage/store"
)

// The variables with the names.
const (
	varUserName = "OLLIM_USER_NAME"
	varBotName  = "OLLIM_BOT_NAME"
)

// SetNames writes the names of the user and the bot to the .env file of the data directory, which
// it creates if necessary, readable by the owner only. All other lines are preserved. The names
// take effect at the next start. An error names the cure and means that the file is unchanged.
func SetNames(d *store.Dir, user, bot string) error {
	names := []struct{ variable, value string }{{varUserName, user}, {varBotName, bot}}
	for i, n := range names {
		value := clean.Line(n.value)
		if err := checkName(n.variable, value); err != nil {
			return err
		}
		names[i].value = value
	}
	return d.WithLock("env", func() error {
		return changeEnv(d, fmt.Sprintf(msgNamesByHand, d.Display()+"/"+EnvFile, varUserName, varBotName), func(data []byte, want map[string]string) []byte {
			for _, n := range names {
				data = SetVariable(data, n.variable, quoted(n.value))
				want[n.variable] = n.value
			}
			return data
		})
	})
}

// changeEnv changes .env, whose lock the caller holds. change also changes the values that are wanted. The line may be inside a
// multi-line value, or another variable may refer to it: then nothing is written, and byHand is the error.
func changeEnv(d *store.Dir, byHand string, change func(data []byte, want map[string]string) []byte) error {
	data, err := d.Read(EnvFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf(msgEnvRead, d.Display()+"/"+EnvFile, err)
	}
	want, problems := parseEnv(data)
	if err := firstError(problems); err != nil {
		return err
	}
	data = change(data, want)
	if got, problems := parseEnv(data); len(problems) > 0 || !maps.Equal(got, want) {
		return errors.New(byHand)
	}
	return d.Write(EnvFile, data)
}

// zoneOfEnv returns the zone in .env, or "".
func zoneOfEnv(d *store.Dir) string {
	values, _, err := readEnvFile(d)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(values[varZone])
}

// setZoneOfEnv changes the zone in .env, which counts before the setting, if it has one.
func setZoneOfEnv(d *store.Dir, zone string) error {
	if zoneOfEnv(d) == "" {
		return nil
	}
	return d.WithLock("env", func() error {
		return changeEnv(d, fmt.Sprintf(msgZoneByHand, d.Display()+"/"+EnvFile, varZone), func(data []byte, want map[string]string) []byte {
			want[varZone] = zone
			return SetVariable(data, varZone, zone)
		})
	})
}

// checkName returns an error for a name that this program or the original could not read back
// unchanged.
func checkName(variable, value string) error {
	switch {
	case value == "":
		return fmt.Errorf(msgNameEmpty, variable)
	case utf8.RuneCountInString(value) > maxName:
		return fmt.Errorf(msgNameLong, variable, maxName)
	case strings.ContainsAny(value, "\"\\$`"):
		return fmt.Errorf(msgNameLetters, variable)
	}
	return nil
}

// unquoted are the characters that need no quotes.
const unquoted = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

// quoted formats a checked name for .env.
func quoted(name string) string {
	switch {
	case strings.Trim(name, unquoted) == "":
		return name
	case strings.Contains(name, "'"):
		return `"` + name + `"`
	}
	return "'" + name + "'"
}

// SetVariable replaces the value in each line of an .env file that sets the variable, or
// appends such a line. The value is written unchanged; the caller adds quotes.
func SetVariable(data []byte, variable, value string) []byte {
	form := regexp.MustCompile(`^(\x{feff}?[ \t]*(?:export[ \t]+)?` + variable + `[ \t]*=[ \t]*)`)
	var out bytes.Buffer
	found := false
	for line := range bytes.Lines(data) {
		head := form.Find(line)
		if head == nil {
			out.Write(line)
			continue
		}
		found = true
		out.Write(head)
		out.WriteString(value)
		out.Write(line[len(bytes.TrimRight(line, "\r\n")):])
	}
	if found {
		return out.Bytes()
	}
	if n := out.Len(); n > 0 && out.Bytes()[n-1] != '\n' {
		out.WriteByte('\n')
	}
	fmt.Fprintf(&out, "%s=%s\n", variable, value)
	return out.Bytes()
}

// Reasons why names cannot be saved.
const (
	msgNameEmpty   = "%s must not be empty"
	msgNameLong    = "%s can have at most %d characters"
	msgNameLetters = "%s must not contain quotation marks (\"), backslashes, backquotes or dollar signs"
	msgNamesByHand = "%s cannot be changed safely; set %s and %s in it by hand"
	msgZoneByHand  = "%s cannot be changed safely; set %s in it by hand"
)
