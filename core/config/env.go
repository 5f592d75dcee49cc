// Package config owns what the user set outside of the assistant's own files:
// the environment, the .env file of the data directory and the runtime
// configuration in state/config.json. It reads them and says in words what is
// wrong with them. It must not know what the settings do, and it never changes
// the process's environment.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/clean"
	"ollimbot/core/store"
)

// The defaults of a machine where nothing is set.
const (
	DefaultDataDir  = "~/.ollim-bot"
	DefaultUserName = "you"
	DefaultBotName  = "ollim-bot"
)

// EnvFile is the name of the file in the data directory that holds variables.
const EnvFile = ".env"

const maxName = 80 // runes of a person's or the bot's name

// Flags are the global flags of the command line; empty means not given.
type Flags struct {
	DataDir  string
	Timezone string
}

// Env is the environment as the program uses it.
type Env struct {
	DataDir       string         // absolute
	Zone          *time.Location // never nil after LoadEnv
	ZoneName      string         // the IANA name of Zone, "Europe/Berlin"
	UserName      string         // cleaned; DefaultUserName when it is not set
	BotName       string         // cleaned; DefaultBotName when it is not set
	DiscordToken  Secret         // empty: the bot runs without Discord
	DiscordAPI    string         // OLLIM_DISCORD_API: another base address than Discord's own, or empty
	GoogleAPI     string         // OLLIM_GOOGLE_API: another place than Google's own on this machine, for tests, or empty
	OwnerID       string         // OLLIM_OWNER_ID: whom the bot obeys, where Discord does not tell
	WebhookPort   int            // WEBHOOK_PORT: where triggers are taken on this machine; 0 takes none
	WebhookSecret Secret         // WEBHOOK_SECRET: what a trigger has to know
	// Engine are the variables of .env that belong to the engine's command,
	// NAME=value each: OLLIM_CLAUDE, ANTHROPIC_* and CLAUDE_*. They may be secret.
	Engine []Secret
}

// GivenName is what the user is called, empty while nobody has said it.
func (e Env) GivenName() string {
	if e.UserName == DefaultUserName {
		return ""
	}
	return e.UserName
}

// LoadEnv reads the environment through getenv and the .env file of the data
// directory. A real variable goes before one in .env, a flag before both, and
// an empty one counts as not set. Warnings are sentences for the user. An error
// names the setting and the cure.
func LoadEnv(getenv func(string) string, overrides Flags) (Env, []string, error) {
	return loadEnv(getenv, overrides, system{timezone: "/etc/timezone", localtime: "/etc/localtime"})
}

func loadEnv(getenv func(string) string, overrides Flags, sys system) (Env, []string, error) {
	root := first(overrides.DataDir, getenv("OLLIM_DATA_DIR"), DefaultDataDir)
	dir, err := store.At(root)
	if err != nil {
		return Env{}, nil, err
	}
	file, warnings, err := readEnvFile(dir)
	if err != nil {
		return Env{}, warnings, err
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
	}
	port, problem := webhookPort(get("WEBHOOK_PORT"))
	env.WebhookPort, env.WebhookSecret = port, Secret(strings.TrimSpace(get("WEBHOOK_SECRET")))
	if problem != "" {
		warnings = append(warnings, problem)
	}
	zone, name, more, err := findZone(overrides.Timezone, get("OLLIM_TIMEZONE"), sys)
	env.Zone, env.ZoneName = zone, name
	return env, append(warnings, more...), err
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

// webhookPort reads the port; what is none is told and takes no triggers.
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

// engineVars are the variables of .env for the engine's command, in order.
func engineVars(file map[string]string) []Secret {
	var list []Secret
	for _, name := range slices.Sorted(maps.Keys(file)) {
		if name == "OLLIM_CLAUDE" || strings.HasPrefix(name, "ANTHROPIC_") || strings.HasPrefix(name, "CLAUDE_") {
			list = append(list, Secret(name+"="+file[name]))
		}
	}
	return list
}

// person makes a name fit for screens and prompts.
func person(name, otherwise string) string {
	if name = clean.Cut(clean.Line(name), maxName); name != "" {
		return name
	}
	return otherwise
}

// readEnvFile reads .env if there is one. It may hold secrets, so that no
// message shows any of its text but the names of variables.
func readEnvFile(dir *store.Dir) (map[string]string, []string, error) {
	data, err := dir.Read(EnvFile)
	if errors.Is(err, fs.ErrNotExist) || !dir.Exists() {
		return nil, nil, nil
	}
	path := dir.Display() + "/" + EnvFile
	if err != nil {
		return nil, nil, fmt.Errorf(msgEnvRead, path, err)
	}
	values, err := parseEnv(data, path)
	if err != nil {
		return nil, nil, err
	}
	var warnings []string
	if info, err := os.Stat(dir.Path(EnvFile)); err == nil && info.Mode().Perm()&0o077 != 0 {
		warnings = append(warnings, fmt.Sprintf(msgEnvMode, path, info.Mode().Perm(), path))
	}
	if values["OLLIM_DATA_DIR"] != "" {
		warnings = append(warnings, fmt.Sprintf(msgEnvDataDir, path))
	}
	return values, warnings, nil
}
