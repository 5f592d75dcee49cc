package provider

// Words for people.
const (
	textUnknown = "no model is called %q: there are %s; put others into providers.yaml"
	textNoKey   = "no key for a model: put ANTHROPIC_API_KEY into the environment or into .env, or a provider into providers.yaml (ollim-bot help providers)"
)

const textRedirect = "%s sends on to %s: write the address where it really listens"

// What comes of asking a server.
const (
	textNotReached = "%s does not answer (%s): start it, or correct its address"
	textRefused    = "%s does not take the key (%d): check it"
)

// What can be wrong with providers.yaml.
const (
	textUnreadable  = "it cannot be read: %v"
	textBadName     = "%q cannot name a provider: use small letters, digits, dots and dashes, such as local"
	textNoKeys      = "%s must hold keys: write base-url and models below it, indented"
	textNoBaseURL   = "base-url is missing: write where it listens, such as http://127.0.0.1:11434"
	textOpenKey     = "the key would travel unencrypted: use https in base-url, or leave the key out"
	textTwoKeys     = "key and key-file are both there: keep one"
	textNoModels    = "models must be a list: write each on a line of its own, as   - name: qwen3:8b"
	textNoModelName = "a model has no name: write name: and how the server calls it"
	textTwice       = "%s.models: %s stands there twice: remove one"
	textNarrow      = "max-output (%d) must be smaller than window (%d)"
	textUnknownKey  = "%q is no key that is known: there are %s"
	textBadURL      = "write an address that begins with http:// or https://, without a name, a password or a question mark"
	textBadKey      = "write the name of a variable in capital letters, such as OPENROUTER_API_KEY; the key itself belongs into the environment or .env"
	textBadKeyFile  = "write the file's whole path, such as ~/.config/ollim-bot/openrouter"
	textLike        = "write opus, sonnet, haiku or fable"
	textOneOf       = "write one of: %s"
	textWord        = "write one word"
	textList        = "write a list, such as [a, b]"
	textCount       = "write a whole number of tokens from %d on"
)

// Why a key cannot be used.
const (
	textNoVariable = "%s.key: %s is not set: put it into the environment or into .env"
	textNoFile     = "%s.key-file: it cannot be read: %v"
	textInData     = "%s.key-file: it lies in the data directory, where the agent works: move it elsewhere"
	textOpenFile   = "%s.key-file: others can read it (mode %#o): chmod 600 it"
	textNoKeyText  = "%s.key-file: it must hold the key and nothing else, in one line"
)
