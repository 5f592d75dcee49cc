package config

// Messages for the user.
const (
	msgEnvRead     = "read %s: %w"
	msgEnvLine     = "%s, line %d: not a NAME=value line; quote values with spaces, or start comments with #"
	msgWebhookPort = "WEBHOOK_PORT is %q, but must be a number from 1 to 65535; webhooks are off"
	msgAttach      = "OLLIM_ATTACH is %q, but must be a port (for this machine only) or an address with a port, such as 0.0.0.0:2226; no port is open"
	msgEnvMode     = "other users of this machine can read %s (mode %#o): run chmod 600 %s"
	msgEnvDataDir  = "OLLIM_DATA_DIR in %s has no effect: set it in the environment, or use --data-dir"
	msgZone        = "%s: there is no time zone %q; use a name such as Europe/Berlin or America/Los_Angeles"
	msgSystemZone  = "%s contains an unknown time zone, %q: set OLLIM_TIMEZONE, for example to Europe/Berlin"

	msgRuntime = "%s: %s is %s, but %s; the default %s is used"
	msgUnknown = "unknown key %q: the keys are %s"
	msgNearest = "unknown key %q, did you mean %q?"
	msgRefused = "%s: %s"
	msgUnused  = "%s has no effect in this version; " + RuntimeFile + " keeps its value for the original program"

	mustOneOf     = "must be one of: %s"
	mustModel     = "must be default, haiku, opus, sonnet, or a model with its provider such as local/qwen3"
	mustFallback  = "must be engines (claude, messages, script) or models with their providers such as local/qwen3, separated by commas, each once; or none"
	mustThinking  = "must be off, adaptive or a number of tokens, 1 or more"
	mustSwitch    = "must be on or off (true or false, yes or no, 1 or 0)"
	mustNetwork   = "must be on, off, or the hosts to reach, separated by commas, such as api.github.com,*.example.org,localhost:8080"
	mustSpan      = "must be a whole number of %s from 1 to %d"
	mustCount     = "must be a whole number from %d to %d"
	mustQuiet     = "must be a start and an end such as 22:00-07:30, or off"
	mustMemory    = "must be a size such as 4GB or 512MB, at least 64MB"
	mustDollars   = "must be an amount in dollars, 0 or more, such as 5 or 2.50, or off"
	mustCalendars = "must be calendar IDs such as primary, separated by commas"
	mustPaths     = "must be absolute paths or paths that begin with ~/, separated by commas, each with :rw to make it writable; or none"
	mustSource    = "must be an address such as https://example.org/ollim-bot, without a name or password, an absolute path, or one that begins with ~/; or none"
	mustWord      = "must be the ID of a task list, one word, such as @default"

	shownDefault = "(default)"
	shownInherit = "(inherit main)"
)

// abouts describe the effect of each setting.
var abouts = map[string]string{
	"model_main":           "the model that talks with you",
	"model_fork":           "the model of background runs whose file names none",
	"thinking_main":        "how much the conversation thinks before it answers",
	"thinking_fork":        "how much background runs think",
	"bg_fork_timeout":      "how many seconds a background run may take",
	"fork_idle_timeout":    "after how many idle minutes a fork in the chat is asked whether to end, and then ended",
	"permission_mode":      "what happens with tools that no rule allows: deny them, ask you, or allow them",
	"google_calendars":     "which calendars the agent reads",
	"google_task_list":     "which list of Google Tasks the agent uses",
	"engine":               "who answers: the claude command, the Messages API, or a script; auto takes the first available",
	"fallback":             "who answers while the engine is unreachable or out of money",
	"max_background_forks": "how many background runs work at once; more wait",
	"quiet_hours":          "when pings that are not critical are refused",
	"daily_cap":            "dollars a day: at the cap background runs are held",
	"monthly_cap":          "dollars a month: at the cap background runs are held",
	"claude_warm":          "whether the conversation is opened at start, so that the first answer is faster",
	"claude_memory_limit":  "how much memory one engine process may use",
	"sandbox":              "whether the agent's commands run in a sandbox of the system",
	"sandbox_network":      "whether commands in the sandbox reach the network, or which hosts of it",
	"sandbox_visible":      "which other folders commands in the sandbox can see",
	"update_source":        "where new versions of this program are found",
}
