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

// The variables that hold the names.
const (
	varUserName = "OLLIM_USER_NAME"
	varBotName  = "OLLIM_BOT_NAME"
)

// SetNames writes the names of the user and the bot into the .env file of the
// data directory and leaves every other line of it as it is; the file is made
// where it is missing, and readable by its owner only. The names are read at the next
// start. An error names the name or the line and the cure, and then the file
// is unchanged.
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
		path := d.Display() + "/" + EnvFile
		data, err := d.Read(EnvFile)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf(msgEnvRead, path, err)
		}
		want, err := parseEnv(data, path)
		if err != nil {
			return err
		}
		for _, n := range names {
			data = SetVariable(data, n.variable, quoted(n.value))
			want[n.variable] = n.value
		}
		// A line of ours may stand inside a value of several lines, or another
		// variable be made of a name: then nothing is written.
		if got, err := parseEnv(data, path); err != nil || !maps.Equal(got, want) {
			return fmt.Errorf(msgNamesByHand, path, varUserName, varBotName)
		}
		return d.Write(EnvFile, data)
	})
}

// checkName refuses what one of the readers of .env, ours or the original's,
// would not give back as it was written.
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

// unquoted are the letters that need no quotes.
const unquoted = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

// quoted is a checked name as .env holds it.
func quoted(name string) string {
	switch {
	case strings.Trim(name, unquoted) == "":
		return name
	case strings.Contains(name, "'"):
		return `"` + name + `"`
	}
	return "'" + name + "'"
}

// SetVariable is an .env with each line that sets the variable rewritten, or with
// one added at the end. The value is written as it is: quotes are the caller's.
// The variable is a plain name.
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

// Why names cannot be saved.
const (
	msgNameEmpty   = "%s must not be empty: give a name"
	msgNameLong    = "%s must have at most %d characters: give a shorter name"
	msgNameLetters = "%s must not hold quotation marks (\"), backslashes, backquotes or dollar signs: leave them out"
	msgNamesByHand = "%s is written in a way that cannot be changed safely: set %s and %s in it by hand"
)
