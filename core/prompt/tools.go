package prompt

import (
	"ollimbot/core/policy"
	"ollimbot/core/toolset"
)

// botTools begins the names of the bot's own tools on the wire.
const botTools = toolset.Prefix

// DefaultTools are the patterns that every background run may use where
// tool-policy.yaml says nothing else.
func DefaultTools() []string { return policy.BackgroundTools() }

// MergeTools joins the lists, each pattern once, in the order
// in which it is first seen. Empty patterns are left out.
func MergeTools(base, declared, skills []string) []string {
	return policy.Merge(base, declared, skills)
}
