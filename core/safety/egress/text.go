package egress

// Texts for commands.
const (
	textNotListed     = "%s is not allowed: commands reach only the hosts that the setting sandbox_network lists, and the user can add it there"
	textClosedAddress = "%s is not allowed: it resolves to %s, an address of this machine or its network; the user can add %s to the setting sandbox_network"
	textUnreachable   = "the proxy of the sandbox cannot reach the host: %s"
	textNoRequest     = "this is the proxy of the sandbox: it accepts CONNECT, requests with a full http:// address, and SOCKS5"
)

// Errors.
const (
	errNoAddress  = "the name has no address"
	errNoHostPort = "%q is not a host with a port"
	errNoPass     = "the bot's proxy does not answer: %w"
	errNoProxy    = "open the proxy of the sandbox: %w"
)
