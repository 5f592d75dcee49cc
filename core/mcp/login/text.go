package login

const (
	textAsks           = "it asks for a login: /mcp login %s"
	textNotRenewed     = "its login could not be renewed: %s"
	textRedirect       = "it redirects to another address (%s), which is not followed"
	textPrivate        = "it leads to %s, an address of a private network"
	textRefused        = "the authorization server refused: %s %s"
	textNoRegistration = "its authorization server does not let programs register: get a token there, and put it into its headers"
	textBadPage        = "its authorization server names a page that no browser should open (%s)"
	textNoLoginAsked   = "it does not ask for a login"
	textAnswered       = "it answered %s, and not with a question for a login"
	textSlow           = "an address of its login does not answer"
	textUnanswered     = "its authorization server did not answer within %s"
	textLate           = "you did not log in within %s: start again"
	textReplaced       = "another login was started"
	textSaidNo         = "the login was refused there (%s); nothing has changed"
	textNotOurs        = "this is not the address that the browser was sent to at the end of this login: copy all of it, starting with http://127.0.0.1"
	textTwice          = "this login has its answer already"

	pageDone   = "You are logged in. You can close this page."
	pageFailed = "The login has failed. ollim-bot shows the reason."
)
