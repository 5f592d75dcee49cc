package intake

const (
	textNothingPending = "there are no pending updates"
	textDeliverOne     = "1 update goes to the main session"
	textDeliverMany    = "%d updates go to the main session"
	textCannotResume   = "%q cannot be resumed: it has not ended, or never reached the engine"
	textResuming       = "resuming %s"
	textNoRun          = "no run has the id %q"
)
