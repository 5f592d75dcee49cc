// Package config owns the settings: the environment, the .env file of the data directory and the
// runtime configuration in state/. It reads them and describes errors in them. It must not know the
// effect of the settings, and never changes the process's environment.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/joho/godotenv"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/fault"
	"ollimbot/core/storage/store"
	"ollimbot/routines"
	"ollimbot/routines/zones"
)

// Defaults.
const (
	defaultDataDir  = "~/.ollim-bot"
	DefaultUserName = "you"
	DefaultBotName  = "ollim-bot"
)

// EnvFile is the file of variables in the data directory.
const EnvFile = ".env"

const maxName = 80 // runes of the name of the user or the bot

// Flags are the global flags of the command line; empty means not given.
type Flags struct {
	DataDir  string
	Timezone string
}

// FlagError is an invalid value of a flag.
type FlagError string

func (e FlagError) Error() string { return string(e) }

// Env is the environment of the program.
type Env struct {
	DataDir       string         // absolute
	Zone          *time.Location // never nil after LoadEnv
	ZoneName      string         // the IANA name of Zone, "Europe/Berlin"
	ZoneFixed     string         // the flag or variable of this process that sets the zone, or empty
	ZoneKept      bool           // nothing sets the zone: it is the one that the bot keeps, or the machine's
	UserName      string         // cleaned; DefaultUserName if unset
	BotName       string         // cleaned; DefaultBotName if unset
	DiscordToken  Secret         // if empty, the bot runs without Discord
	DiscordAPI    string         // OLLIM_DISCORD_API: an address to use instead of Discord's, or empty
	GoogleAPI     string         // OLLIM_GOOGLE_API: a server on this machine instead of Google's, for tests, or empty
	OwnerID       string         // OLLIM_OWNER_ID: the user in Discord, if Discord does not report the owner
	WebhookPort   int            // WEBHOOK_PORT: the local port for triggers; 0 means none
	WebhookSecret Secret         // WEBHOOK_SECRET: authenticates triggers
	Editor        string         // OLLIM_EDITOR, VISUAL or EDITOR: the editor of an attached dashboard; may be empty
	// Engine contains the variables of .env for the engine's command as NAME=value: OLLIM_CLAUDE,
	// ANTHROPIC_* and CLAUDE_*. They may be secret.
	Engine []Secret

	// Problems are what is wrong with .env. A line with an error has no effect.
	Problems []routines.Problem

	file map[string]string // the variables of .env
}

// Variable returns a variable of .env, or "".
func (e Env) Variable(name string) Secret { return Secret(e.file[name]) }

// GivenName returns the name of the user, or empty if it is not set.
func (e Env) GivenName() string {
	if e.UserName == DefaultUserName {
		return ""
	}
	return e.UserName
}

// Place returns the data directory from the flag, the environment or the default.
func Place(getenv func(string) string, flag string) (*store.Dir, error) {
	return store.At(first(flag, getenv("OLLIM_DATA_DIR"), defaultDataDir))
}

// LoadEnv reads the environment through getenv and the .env file of the data directory. A flag
// takes precedence over a variable of the environment, which takes precedence over one in .env. An
// empty value counts as unset. Warnings are sentences for the user, except about the lines of .env, which are
// in Problems. An error names the setting and the cure.
func LoadEnv(getenv func(string) string, overrides Flags) (Env, []string, error) {
	return loadEnv(getenv, overrides, system{timezone: "/etc/timezone", localtime: "/etc/localtime", variable: getenv("TZ")})
}

// MachineZone returns the name of the zone that this machine is in.
func MachineZone(getenv func(string) string) string {
	_, name, _ := system{timezone: "/etc/timezone", localtime: "/etc/localtime", variable: getenv("TZ")}.zone()
	return name
}

func loadEnv(getenv func(string) string, overrides Flags, sys system) (Env, []string, error) {
	dir, err := Place(getenv, overrides.DataDir)
	if err != nil {
		return Env{}, nil, err
	}
	file, problems, err := readEnvFile(dir)
	if err != nil {
		return Env{}, nil, err
	}
	var warnings []string
	if file["OLLIM_DATA_DIR"] != "" {
		warnings = append(warnings, fmt.Sprintf(msgEnvDataDir, dir.Display()+"/"+EnvFile))
	}
	get := func(name string) string { return first(getenv(name), file[name]) }
	env := Env{
		DataDir:      dir.Root(),
		UserName:     person(get("OLLIM_USER_NAME"), DefaultUserName),
		BotName:      person(get("OLLIM_BOT_NAME"), DefaultBotName),
		DiscordToken: Secret(strings.TrimSpace(get("DISCORD_TOKEN"))),
		DiscordAPI:   strings.TrimSpace(get("OLLIM_DISCORD_API")),
		GoogleAPI:    strings.TrimSpace(get("OLLIM_GOOGLE_API")),
		OwnerID:      strings.TrimSpace(get("OLLIM_OWNER_ID")),
		Engine:       engineVars(file),
		Editor:       strings.TrimSpace(first(get("OLLIM_EDITOR"), get("VISUAL"), get("EDITOR"))),
		Problems:     problems,
		file:         file,
	}
	port, problem := webhookPort(get("WEBHOOK_PORT"))
	env.WebhookPort, env.WebhookSecret = port, Secret(strings.TrimSpace(get("WEBHOOK_SECRET")))
	if problem != "" {
		warnings = append(warnings, problem)
	}
	more, err := env.findZone(dir, overrides.Timezone, getenv(varZone), sys)
	return env, append(warnings, more...), err
}

// Lookup returns a variable of an environment such as os.Environ. As for os/exec, the last one with
// the name counts.
func Lookup(environ []string, name string) string {
	for _, v := range slices.Backward(environ) {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// With returns an environment in which a variable is set once, to this value.
func With(environ []string, name, value string) []string {
	rest := slices.DeleteFunc(slices.Clone(environ), func(v string) bool { return strings.HasPrefix(v, name+"=") })
	return append(rest, name+"="+value)
}

// first returns the first value that is set.
func first(values ...string) string {
	for _, v := range values {
		if strings.TrimSpace(v) != "" {
			return v
		}
	}
	return ""
}

// webhookPort parses the port; an invalid one is reported and turns webhooks off.
func webhookPort(s string) (port int, problem string) {
	if s = strings.TrimSpace(s); s == "" {
		return 0, ""
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 65535 {
		return 0, fmt.Sprintf(msgWebhookPort, clean.Cut(clean.Line(s), 20))
	}
	return n, ""
}

// engineVars returns the variables of .env for the engine's command, sorted.
func engineVars(file map[string]string) []Secret {
	var list []Secret
	for _, name := range slices.Sorted(maps.Keys(file)) {
		if name == "OLLIM_CLAUDE" || strings.HasPrefix(name, "ANTHROPIC_") || strings.HasPrefix(name, "CLAUDE_") {
			list = append(list, Secret(name+"="+file[name]))
		}
	}
	return list
}

// person cleans a name for screens and prompts.
func person(name, otherwise string) string {
	if name = clean.Cut(clean.Line(name), maxName); name != "" {
		return name
	}
	return otherwise
}

// readEnvFile reads .env if it exists. It may contain secrets, so messages show only the names of
// variables.
func readEnvFile(dir *store.Dir) (map[string]string, []routines.Problem, error) {
	data, err := dir.Read(EnvFile)
	if errors.Is(err, fs.ErrNotExist) || !dir.Exists() {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf(msgEnvRead, dir.Display()+"/"+EnvFile, err)
	}
	values, problems := parseEnv(data)
	if open := opened(dir); open != 0 {
		problems = append(problems, routines.Problem{File: EnvFile, Severity: routines.Warning, Message: fmt.Sprintf(msgEnvMode, open)})
	}
	return values, problems, nil
}

// opened returns the mode of .env if other users can read it, else 0. They cannot in a directory that is closed to them.
func opened(dir *store.Dir) fs.FileMode {
	root, rerr := os.Stat(dir.Root())
	info, err := os.Stat(dir.Path(EnvFile))
	if rerr != nil || err != nil || root.Mode().Perm()&0o011 == 0 || info.Mode().Perm()&0o077 == 0 {
		return 0
	}
	return info.Mode().Perm()
}

// EnvProblems returns what is wrong with .env now.
func EnvProblems(dir *store.Dir) []routines.Problem {
	_, problems, err := readEnvFile(dir)
	if err != nil {
		return []routines.Problem{{File: EnvFile, Severity: routines.Error, Message: clean.Line(err.Error())}}
	}
	return problems
}

// Broken returns the first error in .env, for commands that must not do without one of its lines.
func (e Env) Broken() error { return firstError(e.Problems) }

func firstError(problems []routines.Problem) error {
	for _, p := range problems {
		if p.Severity == routines.Error {
			return fmt.Errorf("%s, line %d: %s", p.File, p.Line, p.Message)
		}
	}
	return nil
}

// mostWrong is how many wrong lines of .env are left out one by one.
const mostWrong = 20

// parseEnv parses NAME=value lines. A wrong line is a problem and left out; the others count. The library's errors
// quote the rest of the file with its tokens, so they are never passed on.
func parseEnv(data []byte) (values map[string]string, problems []routines.Problem) {
	lines := bytes.SplitAfter(bytes.TrimPrefix(data, []byte("\ufeff")), []byte("\n"))
	for range mostWrong {
		wrong := wrongLine(lines)
		if wrong < 0 {
			break
		}
		problems = append(problems, routines.Problem{File: EnvFile, Line: wrong + 1, Severity: routines.Error, Message: msgEnvLine})
		lines[wrong] = []byte("\n")
	}
	values, err := unmarshalEnv(bytes.Join(lines, nil))
	if err != nil {
		return nil, []routines.Problem{{File: EnvFile, Line: problems[0].Line, Severity: routines.Error, Message: msgEnvLines}}
	}
	slices.SortFunc(problems, routines.ByWeight)
	return values, problems
}

// wrongLine returns the index of the first line that is not understood, or -1: one that looks wrong, or else the end of the
// shortest part of the file that fails.
func wrongLine(lines [][]byte) int {
	if _, err := unmarshalEnv(bytes.Join(lines, nil)); err == nil {
		return -1
	}
	for i, line := range lines {
		if !looksRight(string(line)) {
			return i
		}
	}
	for i := range lines {
		if _, err := unmarshalEnv(bytes.Join(lines[:i+1], nil)); err != nil {
			return i
		}
	}
	return 0
}

// CheckEnv returns what is wrong with the text of .env, without its values.
func CheckEnv(data []byte) []routines.Problem {
	_, problems := parseEnv(data)
	return problems
}

// unmarshalEnv calls the library, which can panic on garbage.
func unmarshalEnv(data []byte) (values map[string]string, err error) {
	defer fault.Rescue("the environment", func(f *fault.Error) {
		values, err = nil, fmt.Errorf("read variables: %w", f)
	})
	return godotenv.UnmarshalBytes(data)
}

// looksRight reports whether a line is empty, a comment or NAME=value.
func looksRight(line string) bool {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return true
	}
	line = strings.TrimSpace(strings.TrimPrefix(line, "export "))
	name, _, found := strings.Cut(line, "=")
	name = strings.TrimSpace(name)
	return found && name != "" && strings.Trim(name, "_.ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") == ""
}

// varZone is the variable with the zone.
const varZone = "OLLIM_TIMEZONE"

// system is what says in which zone the machine is.
type system struct {
	timezone  string // a file with its name
	localtime string // a link into the zone database
	variable  string // the value of TZ
}

// findZone sets the zone: from the flag, the variable, .env, the zone that the bot keeps, or that of the machine. An invalid
// zone set by the user is an error, another one a warning.
func (e *Env) findZone(dir *store.Dir, flag, variable string, sys system) (warnings []string, err error) {
	for _, given := range []struct {
		from, name, fixed string
		wrong             func(string) error
	}{
		{"--timezone", flag, "--timezone", func(text string) error { return FlagError(text) }},
		{varZone, variable, varZone, errors.New},
		{varZone, e.file[varZone], "", errors.New},
	} {
		if name := strings.TrimSpace(given.name); name != "" {
			if e.Zone, err = zones.Load(name); err != nil {
				return nil, given.wrong(fmt.Sprintf(msgZone, given.from, clean.Cut(clean.Line(name), 60)))
			}
			e.ZoneName, e.ZoneFixed = name, given.fixed
			return nil, nil
		}
	}
	e.ZoneKept = true
	r, _, _ := LoadRuntime(dir) // what is wrong with the files is reported elsewhere
	if e.Zone, err = zones.Load(r.Timezone); err == nil {
		e.ZoneName = r.Timezone
		return nil, nil
	}
	e.Zone, e.ZoneName, warnings = sys.zone()
	return warnings, nil
}

// zone returns the zone of the machine: of TZ, or of the file that has changed last, since some programs change only one
// of them; else UTC.
func (s system) zone() (zone *time.Location, name string, warnings []string) {
	if zone, err := zones.Load(strings.TrimPrefix(s.variable, ":")); err == nil {
		return zone, zone.String(), nil
	}
	written, at, warnings := s.written()
	linked, linkedAt := s.linked()
	if written == nil || linked != nil && linkedAt.After(at) {
		written = linked
	}
	if written == nil {
		written = time.UTC
	}
	return written, written.String(), warnings
}

// written returns the zone in the file with its name, and when that was written.
func (s system) written() (zone *time.Location, at time.Time, warnings []string) {
	data, err := os.ReadFile(s.timezone)
	name := strings.TrimSpace(string(data))
	if err != nil || name == "" {
		return nil, at, nil
	}
	if zone, err = zones.Load(name); err != nil {
		return nil, at, []string{fmt.Sprintf(msgSystemZone, s.timezone, clean.Cut(clean.Line(name), 60))}
	}
	if info, err := os.Stat(s.timezone); err == nil {
		at = info.ModTime()
	}
	return zone, at, nil
}

// linked returns the zone that the link names, and when that was made.
func (s system) linked() (zone *time.Location, at time.Time) {
	target, err := filepath.EvalSymlinks(s.localtime)
	info, linkErr := os.Lstat(s.localtime)
	_, name, found := strings.Cut(filepath.ToSlash(target), "/zoneinfo/")
	if err != nil || linkErr != nil || !found {
		return nil, at
	}
	if zone, err = zones.Load(strings.TrimPrefix(strings.TrimPrefix(name, "posix/"), "right/")); err != nil {
		return nil, at
	}
	return zone, info.ModTime()
}

// Secret is a text that must not be printed: in any format it prints as "[hidden]". Reveal returns
// the text.
type Secret string

const hidden = "[hidden]"

// Reveal returns the secret itself.
func (s Secret) Reveal() string { return string(s) }

// String hides the secret from fmt.
func (s Secret) String() string { return hidden }

// GoString hides it from %#v.
func (s Secret) GoString() string { return hidden }

// MarshalText hides it from JSON and similar encodings.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// LogValue hides it from slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// shortestSecret is the minimum length in bytes of a value to redact, because "1" would match
// everywhere.
const shortestSecret = 6

// Secrets returns the values that must not appear in logs and errors: the tokens of this
// environment, and the values of variables in environ ("NAME=value") with names such as
// ANTHROPIC_API_KEY or, in .env, any that NamesSecret recognizes.
func (e Env) Secrets(environ []string) []string {
	list := []string{e.DiscordToken.Reveal(), e.WebhookSecret.Reveal()}
	for _, v := range e.Engine {
		environ = append(environ[:len(environ):len(environ)], v.Reveal())
	}
	for _, v := range environ {
		if name, value, ok := strings.Cut(v, "="); ok && secretVariable(name) {
			list = append(list, strings.TrimSpace(value))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.file)) {
		if NamesSecret(name) {
			list = append(list, strings.TrimSpace(e.file[name]))
		}
	}
	return slices.DeleteFunc(list, func(s string) bool { return len(s) < shortestSecret })
}

// secretWords mark a variable as secret if its name contains one.
var secretWords = []string{"TOKEN", "KEY", "SECRET", "PASSW", "CREDENTIAL", "HEADERS"}

// secretVariable reports whether a variable is secret, by its name.
func secretVariable(name string) bool {
	ours := slices.ContainsFunc([]string{"ANTHROPIC_", "CLAUDE_", "DISCORD_", "WEBHOOK_", "OLLIM_", "GOOGLE_", "AWS_"}, func(p string) bool {
		return strings.HasPrefix(name, p)
	})
	return ours && NamesSecret(name)
}

// NamesSecret reports whether a text is the name of a variable that holds a secret: in capital letters,
// with a word such as SECRET in it.
func NamesSecret(name string) bool {
	return len(name) <= maxName && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == "" && !strings.HasSuffix(name, "_TOKENS") &&
		slices.ContainsFunc(secretWords, func(w string) bool { return strings.Contains(name, w) })
}
