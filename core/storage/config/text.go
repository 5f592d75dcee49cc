package config

import "slices"

// User-visible texts.
const (
	msgEnvRead  = "read %s: %w"
	msgEnvLine  = "this is no NAME=value line, so it has no effect; put values with spaces in quotes, or begin a comment with #"
	msgEnvLines = "this line and others are no NAME=value lines, so nothing in the file has an effect; " +
		"put values with spaces in quotes, or begin comments with #"
	msgWebhookPort = "WEBHOOK_PORT is %q, but must be a number from 1 to 65535; webhooks are off"
	msgEnvMode     = "other users of this machine can read it (mode %#o): set its mode to 600"
	msgEnvDataDir  = "OLLIM_DATA_DIR in %s has no effect: set it in the environment, or use --data-dir"
	msgZone        = "%s: there is no time zone %q; use a name such as Europe/Berlin or America/Los_Angeles"
	msgSystemZone  = "%s contains an unknown time zone, %q: set OLLIM_TIMEZONE, for example to Europe/Berlin"

	msgNoJSON   = "this is not JSON (%v)"
	msgNoObject = "write one object, { and } around all settings"
	msgRuntime  = "%s is %s, but %s; %s is used"
	msgDefault  = "the default"
	msgDefaults = " (until then, the defaults apply)"
	msgAside    = "%s could not be read (%v); it was kept as %s, and its version of %s is in its place"
	msgBefore   = "%s, as in the version of %s,"
	msgUnknown  = "unknown key %q: the keys are %s"
	msgNearest  = "unknown key %q, did you mean %q?"
	msgRefused  = "%s: %s"
	msgUnused   = "%s has no effect in this version; " + RuntimeFile + " keeps its value for the original program"

	msgRemoved = "%s was removed and has no effect: %s"

	mustOneOf     = "must be one of: %s"
	mustModel     = "must be default, haiku, opus, sonnet, or a model with its provider such as local/qwen3"
	mustFallback  = "must be engines (claude, messages, script) or models with their providers such as local/qwen3, separated by commas, each once; or none"
	mustThinking  = "must be off, adaptive or a number of tokens, 1 or more"
	mustSwitch    = "must be on or off (true or false, yes or no, 1 or 0)"
	mustNetwork   = "must be on, off, or the hosts to reach, separated by commas, such as api.github.com,*.example.org,localhost:8080"
	mustHosts     = "must be the hosts in the addresses of your webhooks, separated by commas, such as hooks.example.org; or any"
	mustSpan      = "must be a whole number of %s from 1 to %d"
	mustCount     = "must be a whole number from %d to %d"
	mustQuiet     = "must be a start and an end such as 22:00-07:30, or off"
	mustZone      = "must be a time zone such as Europe/Berlin, its city, or machine for the zone that this machine is in"
	mustClock     = "must be a time of day such as 8:00 or 9pm"
	mustMemory    = "must be a size such as 4GB or 512MB, at least 64MB"
	mustDollars   = "must be an amount in dollars, 0 or more, such as 5 or 2.50, or off"
	mustCalendars = "must be calendar IDs such as primary, separated by commas"
	mustPaths     = "must be absolute paths or paths that begin with ~/, separated by commas, each with :rw to make it writable; or none"
	mustLanguage  = "must be the code of a language, such as de or pt, or auto"
	mustWord      = "must be the ID of a task list, one word, such as @default"

	shownDefault = "(default)"
	shownInherit = "(inherit main)"
)

// Setting contains a setting's name and description, for every front end.
type Setting struct {
	// Key is its name in the files, in /config and in ollim-bot settings. "budget." and "dashboard."
	// are the prefixes of settings that are stored elsewhere.
	Key     string
	Group   string // one of Groups
	Name    string // "Quiet hours"
	About   string // its effect, in a sentence
	Example string // a value other than the default
	Unit    string // of the value, in the plural; empty if it has none
}

// Groups are the groups of the settings, in display order.
var Groups = []string{groupSpeak, groupMoney, groupModels, groupLook, groupAdvanced}

const (
	groupSpeak    = "When it may speak"
	groupMoney    = "Money"
	groupModels   = "Models"
	groupLook     = "Appearance"
	groupAdvanced = "Advanced"
)

// Settings are all settings of the program, in display order.
var Settings = []Setting{
	{"quiet_hours", groupSpeak, "Quiet hours", "Only critical pings are delivered during these hours.", "22:00-07:30", ""},
	{"budget.capacity", groupSpeak, "Pings saved up", "The number of pings that can be saved up; 0 mutes the bot.", "3", "pings"},
	{"budget.refill", groupSpeak, "Ping refill", "How long it takes until one more ping is allowed.", "60", "minutes"},
	{"quiet_messages", groupSpeak, "Quiet messages", "How many messages a day runs may leave without a sound; 0 allows none.", "1", "messages"},
	{"discord_budget", groupSpeak, "Budget in Discord", "Whether the bot's status in Discord says how many pings are left.", "off", ""},
	{KeyZone, groupSpeak, "Time zone", "The zone whose clock tasks follow; the bot restarts to change it.", "Europe/Berlin", ""},
	{"morning", groupSpeak, "Morning", "The time that morning stands for, and a day without a time.", "7:00", ""},
	{"noon", groupSpeak, "Noon", "The time that noon stands for.", "12:30", ""},
	{"afternoon", groupSpeak, "Afternoon", "The time that afternoon stands for.", "14:00", ""},
	{"evening", groupSpeak, "Evening", "The time that evening stands for.", "19:00", ""},
	{"night", groupSpeak, "Night", "The time that night and tonight stand for.", "22:00", ""},
	{"promises", groupSpeak, "Promises", "Whether the agent offers reminders of what you say you will do.", "off", ""},
	{"learning", groupSpeak, "Learning", "Whether the bot learns when pings suit you, and suggests better times.", "off", ""},

	{"daily_cap", groupMoney, "Daily limit", "Background runs are held once this much is spent in a day.", "5", "dollars a day"},
	{"monthly_cap", groupMoney, "Monthly limit", "Background runs are held once this much is spent in a month.", "60", "dollars a month"},
	{"turn_cap", groupMoney, "Limit of a turn", "Asks you before an answer costs more than this, and ends a background run.", "2", "dollars a turn"},

	{"engine", groupModels, "Engine", "Who answers: the claude command, the Messages API or a script; auto takes the first available.", "messages", ""},
	{"fallback", groupModels, "Fallback", "Who answers while the engine is unreachable or out of money.", "local/qwen3", ""},
	{"model_main", groupModels, "Main model", "The model that talks with you.", "opus", ""},
	{"model_fork", groupModels, "Background model", "The model of background runs whose file names none.", "haiku", ""},
	{"thinking_main", groupModels, "Main thinking", "How much the model thinks before it answers you.", "8000", "tokens"},
	{"thinking_fork", groupModels, "Background thinking", "How much the model thinks in background runs.", "off", "tokens"},
	{"voice_language", groupModels, "Voice language", "The language of your voice messages; auto recognizes it.", "de", ""},
	{"voice_limit", groupModels, "Voice limit", "Voice messages that are longer are not transcribed.", "30", "minutes"},

	{
		"status_line", groupLook, "Status line",
		"Whether Discord shows at once that the bot is thinking; your phone then shows that instead of the answer.", "on", "",
	},
	{"dashboard.theme", groupLook, "Theme", "The colours of the dashboard; auto follows the terminal.", "dark", ""},
	{"dashboard.layout", groupLook, "Layout", "Which pane gets the most room.", "chat", ""},
	{"dashboard.clock", groupLook, "Clock", "Whether times are shown as 14:02 or as 2:02pm.", "12", "hours"},
	{"dashboard.bell", groupLook, "Alert", "What the terminal does when something needs you: bell, notification or nothing.", "notify", ""},
	{"dashboard.title", groupLook, "Window title", "Whether the title of the window shows what needs you.", "off", ""},
	{"dashboard.motion", groupLook, "Motion", "Whether the screen counts seconds; applies from the next start.", "off", ""},
	{"dashboard.prefix", groupLook, "Times in plain mode", "Whether --plain puts the time before what happens.", "off", ""},
	{"dashboard.welcome", groupLook, "Welcome", "Whether the welcome opens by itself until setup is complete.", "off", ""},

	{"max_background_forks", groupAdvanced, "Runs at once", "How many background runs work at the same time; more wait.", "2", "runs"},
	{"bg_fork_timeout", groupAdvanced, "Longest run", "How long a background run may take before it is ended.", "3600", "seconds"},
	{
		"fork_idle_timeout", groupAdvanced, "Idle fork",
		"How long a fork in the chat may be idle before it is asked whether to end, and then ended.", "20", "minutes",
	},
	{"permission_mode", groupAdvanced, "Permissions", "What happens with tools that no rule allows: deny them, ask you, or allow them.", "default", ""},
	{"google_calendars", groupAdvanced, "Calendars", "The Google calendars that the agent reads.", "primary,family@example.com", ""},
	{"google_task_list", groupAdvanced, "Task list", "The list of Google Tasks that the agent uses.", "MTIzNDU2", ""},
	{
		"webhook_hosts", groupAdvanced, "Hosts of webhooks", "Refuses requests to webhooks that name another host; this machine is always allowed.",
		"hooks.example.org", "",
	},
	{"claude_warm", groupAdvanced, "Warm start", "Opens the conversation at start, so that the first answer is faster; 0 waits for your first message.", "0", ""},
	{"claude_memory_limit", groupAdvanced, "Memory limit", "How much memory one engine process may use.", "2GB", ""},
	{"sandbox", groupAdvanced, "Sandbox", "Whether the agent's commands run in a sandbox of the system.", "off", ""},
	{
		"sandbox_network", groupAdvanced, "Sandbox network",
		"Whether commands in the sandbox reach the network, or which hosts of it.", "api.github.com,*.example.org", "",
	},
	{"sandbox_visible", groupAdvanced, "Sandbox folders", "The other folders that commands in the sandbox can see.", "~/notes,~/site:rw", ""},
}

// About returns the setting with a key; ok is false if there is none.
func About(key string) (s Setting, ok bool) {
	i := slices.IndexFunc(Settings, func(s Setting) bool { return s.Key == key })
	if i < 0 {
		return Setting{}, false
	}
	return Settings[i], true
}

// Values shown to the user that differ from those in the files.
const (
	shownEngines = "the engine's own"
	shownMain    = "same as the main model"
	shownBudget  = "up to %s tokens"
)
