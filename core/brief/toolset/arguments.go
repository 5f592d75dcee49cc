package toolset

import (
	"encoding/json"
	"fmt"
	"sync"

	"ollimbot/core/base/schema"
)

// maxArgs is the maximum size of the arguments in bytes, more than a model ever needs.
const maxArgs = 256 << 10

// arguments are the valid arguments of a call.
type arguments = schema.Arguments

// schemas are the schemas of all tools, compiled at the first call.
var schemas = sync.OnceValues(func() (map[string]*schema.Schema, error) {
	all := make(map[string]*schema.Schema, len(tools))
	for _, t := range tools {
		data, err := schemaFiles.ReadFile("schemas/" + t.name + ".json")
		if err == nil {
			all[t.name], err = schema.Read(data)
		}
		if err != nil {
			return nil, fmt.Errorf("read the schema of %s: %w", t.name, err)
		}
	}
	return all, nil
})

// read decodes and validates a tool's arguments. problem describes what is wrong and how
// to fix it.
func read(tool string, args json.RawMessage) (a arguments, problem string) {
	all, err := schemas()
	if err != nil {
		return nil, fmt.Sprintf(textFault, tool, err)
	}
	return all[tool].Arguments(tool, args, maxArgs)
}
