package wire

// Words for people, in errors of control requests.
const (
	textRefused  = "claude refused %s: %s"
	textNoReason = "no reason was given"
)

// Words for the CLI, in answers to its control requests; the model may read them.
const (
	textNoHandler = "this program answers no control requests"
	textNoRequest = "the control request has no request object"
	textFault     = "the program had an internal fault while it answered"
)
