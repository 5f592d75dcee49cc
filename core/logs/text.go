package logs

// Every word of this package that a user may read.
const (
	mask          = "[hidden]"
	msgFileBroken = "the log file cannot be written, lines are kept in memory only: "
	msgFileWorks  = "the log file can be written again"
)
