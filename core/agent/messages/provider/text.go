package provider

// User-visible texts.
const (
	textUnknown = "unknown model %q; known models: %s. The page about models says how to add others"
	textNoKey   = "no key for a model: set ANTHROPIC_API_KEY in the bot's environment, or add a provider as the page about models says"
)

// The cure if no transcriber of voice messages is configured.
const textNoTranscriber = "no transcriber of voice messages is set up; the page about Discord has examples"

const textRedirect = "%s redirects to %s: use the address where the server really listens"

// Results of a request to a server.
const (
	textNotReached = "%s does not answer (%s): start it, or correct its address"
	textRefused    = "%s refused the key (%d): check it"
)

// A server's list of models.
const (
	textEndless = "%s sends a list of models of more than %d MB: check the address"
	textNoList  = "%s answers with something that is no list of models (%s): check the address"
	textNoChat  = "%s has no model that can chat: load one that can call tools, such as qwen3"

	textMissing    = "the server has no model %s: load it, or correct its name"
	textWide       = "%s has a window of %s tokens here, and the server runs it with %s: correct it, because servers cut what does not fit"
	textHasNoTools = "%s calls no tools: write tools: false for it"

	textTokens    = "up to %s tokens"
	textRunsWith  = "runs with %s now"
	textTools     = "calls tools"
	textNoTools   = "calls no tools: it can talk, but sets no reminder and reads no file"
	textMaybe     = "the server does not say whether it calls tools"
	textImages    = "sees pictures"
	textThinks    = "thinks"
	textTight     = "room for a short conversation only"
	textMemory    = "%s will run with %s tokens of context, for which the server needs about %s of memory beside the model"
	textRun       = "%s will run with %s tokens of context"
	textAskedFor  = "%s is used with %s tokens of context: as many as the server has for it, as far as it says so"
	textLessTools = "; without tools it can only talk"
)

// Problems in providers.yaml.
const (
	textUnreadable   = "the file cannot be read: %v"
	textBadName      = "%q is not a valid provider name: use lower-case letters, digits, dots and dashes, such as local"
	textNoKeys       = "%s has no keys: write base-url and models below it, indented"
	textBatches      = "batches was removed, and every request is answered at once; delete the line"
	textNoBaseURL    = "base-url is missing: write the server's address, such as http://127.0.0.1:11434"
	textOpenKey      = "the key would travel unencrypted: use https in base-url, or leave the key out"
	textTwoKeys      = "both key and key-file are set: keep one"
	textNoModels     = "models must be a list: write each on its own line, as   - name: qwen3:8b"
	textNoModelName  = "a model has no name: write name: and the server's name for it"
	textTwice        = "%s.models: %s is listed twice: remove one"
	textOneWay       = "write either url or command"
	textOpenListener = "the key would travel unencrypted: use https in url, or leave the key out"
	textBadCommand   = "write a list of the program and its arguments, such as [whisper-cli, -nt, -f]"
	textNarrow       = "max-output (%d) must be smaller than window (%d)"
	textUnknownKey   = "unknown key %q; known keys: %s"
	textBadURL       = "write an address that begins with http:// or https://, without a name, a password or a question mark"
	textBadKey       = "write the name of a variable in capital letters, such as OPENROUTER_API_KEY; put the key itself into the bot's environment"
	textBadKeyFile   = "write the file's whole path"
	textLike         = "write opus, sonnet, haiku or fable"
	textOneOf        = "write one of: %s"
	textWord         = "write one word"
	textList         = "write a list, such as [a, b]"
	textCount        = "write a whole number of tokens, at least %d"
)

// Why a key cannot be used.
const (
	textNoVariable = "%s.key: %s is not set: set it in the bot's environment"
	textNoFile     = "%s.key-file: the file cannot be read: %v"
	textInData     = "%s.key-file: the file is in the data directory, where the agent works: move it elsewhere"
	textOpenFile   = "%s.key-file: others can read the file (mode %#o): set its mode to 600"
	textNoKeyText  = "%s.key-file: the file must contain only the key, in one line"
)
