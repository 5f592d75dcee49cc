package policy

// What a file grants beyond its writer's rights.
const (
	excessTool    = "use %s"
	excessCommand = "run `%s`"
	excessTrust   = "write files and run commands after reading what strangers wrote"
	excessOutside = "be started from outside"
	excessAlone   = " alone, in the background"
	excessAsk     = "This %s may %s%s; its writer may not."
	excessTalk    = "speak in the conversation, with its rights"

	taintWeb        = "the web"
	taintMail       = "mail"
	taintInvitation = "an invitation"
	taintDownloads  = "a file from downloads/"
	taintServer     = "the server %s"
	// TaintWebhook is what a webhook's run begins with.
	TaintWebhook = "the payload of a webhook"

	waitsUnknown = "it is not known any more who wrote it, and it may %s"
	waitsSkill   = "the agent wrote its words, and the task may more than it: %s"
	waitsFor     = "it may %s; its writer, the agent, may not"
)
