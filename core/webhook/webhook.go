// Package webhook owns the outside triggers: the spec files in webhooks/, the
// HTTP server on loopback that takes their deliveries, the checks that a
// payload has to pass, the screening of its texts, and the ledger of what came. It must not know engines, forks, dashboards or the main session:
// what it needs of them are the functions in Options.
package webhook

import "ollimbot/core/prompt"

// Folder is where the spec files lie, relative to the data directory.
const Folder = "webhooks"

// Limits of a payload.
const (
	// MaxBody is the largest payload that is taken, in bytes.
	MaxBody = 10240
	// maxProperties is how many fields a spec may declare.
	maxProperties = 20
	// defaultMaxLength is how many characters a declared text may have where its
	// spec says nothing else.
	defaultMaxLength = 500
	// maxNesting is how deep a payload may nest; the payload itself counts.
	maxNesting = 32
	// maxPlaceholders is how often a template may name fields: each may bring
	// thousands of characters.
	maxPlaceholders = 50
)

// Job is a delivery that has passed all checks.
type Job struct {
	Spec     Spec
	Payload  Payload
	Delivery Delivery
}

// Payload is a payload that fits its spec. It is not to be trusted even so.
type Payload struct {
	// Data are its fields in its own order, as prompt.WebhookPrompt takes them.
	Data []prompt.Datum
	// Screened are the names of those that hold free text and have to be
	// screened before anything runs.
	Screened []string
}
