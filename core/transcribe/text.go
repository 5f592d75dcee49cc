package transcribe

// Reasons why a recording was not transcribed. Each follows "it was not transcribed: ".
const (
	textNotOpus   = "the recording is damaged"
	textTooLong   = "it is longer than %s (the setting voice_limit)"
	textSilent    = "nothing is said in it"
	textNoWords   = "the transcriber heard no words"
	textHangs     = "the transcriber did not answer within %s"
	textNoServer  = "the transcriber cannot be reached: %s"
	textRefused   = "the transcriber refused the key (%s): check it"
	textStatus    = "the transcriber answered %s: %s"
	textNonsense  = "the answer of the transcriber has no text: check its url"
	textTooMuch   = "the transcriber answered more than a recording can say"
	textNoCommand = "the command cannot be started: %v"
	textFailed    = "the command ended with %v: %s"
)
