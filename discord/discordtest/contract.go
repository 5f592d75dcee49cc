package discordtest

import (
	"bytes"
	_ "embed" // the description
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// description is what the fake's routes need of Discord's description of its API; extract.go writes it. Its licence is in
// openapi.LICENSE.
//
//go:embed openapi.json
var description []byte

// documentID names the description inside of the compiler; nothing is fetched.
const documentID = "https://discord.invalid/openapi.json"

// contract checks requests and answers against Discord's own description, an OpenAPI 3.1 document. Its schemas are
// compiled on first use. Safe for concurrent use.
type contract struct {
	root any

	mu       sync.Mutex // guards what follows
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema // by JSON pointer
}

// theContract is read once for the process.
var theContract = sync.OnceValues(func() (*contract, error) {
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(description))
	if err != nil {
		return nil, fmt.Errorf("read the description of the API: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.RegisterFormat(&jsonschema.Format{Name: "int32", Validate: checkInt32})
	c.AssertFormat()
	if err := c.AddResource(documentID, root); err != nil {
		return nil, fmt.Errorf("read the schemas of the API: %w", err)
	}
	return &contract{root: root, compiler: c, compiled: make(map[string]*jsonschema.Schema)}, nil
})

// checkRequest returns what is wrong with a request. For an upload it checks the JSON part; a message that consists
// only of files has none.
func (k *contract) checkRequest(c *call) error {
	at, values, err := k.find(c)
	if err != nil {
		return err
	}
	if err := k.checkParameters(c, at, values); err != nil {
		return err
	}
	at = append(at, strings.ToLower(c.method))
	if err := k.checkParameters(c, at, values); err != nil {
		return err
	}
	body, described := k.node(append(at, "requestBody")...)
	if !described || len(c.body) == 0 && (body["required"] != true || len(c.files) > 0) {
		return nil
	}
	return k.check(c.body, append(at, "requestBody", "content", "application/json", "schema"))
}

// checkParameters checks the parameters described at one place. All values are strings; if a number is required, the
// string has to look like one.
func (k *contract) checkParameters(c *call, at []string, values map[string]string) error {
	at = append(at, "parameters")
	for i := 0; ; i++ {
		at := append(at, strconv.Itoa(i))
		p, described := k.node(at...)
		if !described {
			return nil
		}
		name, _ := p["name"].(string)
		value, given := values[name]
		if p["in"] == "query" {
			value, given = c.query.Get(name), c.query.Has(name)
		}
		if !given {
			if p["required"] == true {
				return fmt.Errorf("parameter %s is missing", name)
			}
			continue
		}
		at = append(at, "schema")
		if err := k.check(encode(value), at); err != nil && (!json.Valid([]byte(value)) || k.check([]byte(value), at) != nil) {
			return fmt.Errorf("parameter %s: %w", name, err)
		}
	}
}

// checkAnswer returns what is wrong with our answer. It skips errors with a tree: according to the description, their
// codes are numbers, but Discord sends words.
func (k *contract) checkAnswer(c *call, a *Plan) error {
	if o, isObject := a.body.(object); isObject && o["errors"] != nil {
		return nil
	}
	at, _, err := k.find(c)
	if err != nil {
		return err
	}
	status := strconv.Itoa(a.Status)
	at = append(at, strings.ToLower(c.method), "responses")
	if _, described := k.node(append(at, status)...); !described {
		status = status[:1] + "XX"
	}
	at = append(at, status)
	described, found := k.node(at...)
	if !found {
		return fmt.Errorf("status %d is not described", a.Status)
	}
	if described["content"] == nil {
		if a.body != nil {
			return fmt.Errorf("status %d has no body", a.Status)
		}
		return nil
	}
	return k.check(a.encoded(), append(at, "content", "application/json", "schema"))
}

// find returns the path that describes a call, the one with the fewest parameters, and the parameters' values.
func (k *contract) find(c *call) (at []string, values map[string]string, err error) {
	paths, _ := k.node("paths")
	seg, best := strings.Split(c.path, "/"), ""
	for path, item := range paths {
		found := matchPath(path, seg)
		if item, _ := item.(object); found == nil || item[strings.ToLower(c.method)] == nil {
			continue
		}
		if best == "" || len(found) < len(values) {
			best, values = path, found
		}
	}
	if best == "" {
		return nil, nil, fmt.Errorf("no %s in the description of the API", c.method)
	}
	return []string{"paths", best}, values, nil
}

// matchPath returns the values of the {names} in a path, or nil if the path does not match.
func matchPath(path string, seg []string) map[string]string {
	want := strings.Split(path, "/")
	if len(want) != len(seg) {
		return nil
	}
	values := make(map[string]string)
	for i, w := range want {
		if name, ok := strings.CutPrefix(w, "{"); ok {
			values[strings.TrimSuffix(name, "}")] = seg[i]
		} else if w != seg[i] {
			return nil
		}
	}
	return values
}

// check validates JSON against the schema at the end of the steps.
func (k *contract) check(raw json.RawMessage, steps []string) error {
	schema, err := k.schema(steps)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	if err := schema.Validate(value); err != nil {
		// The error of a schema with many variants explains each of them.
		return fmt.Errorf("not as described: %.1500s", err.Error())
	}
	return nil
}

func (k *contract) schema(steps []string) (*jsonschema.Schema, error) {
	_, pointer := k.follow(steps)
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := k.compiled[pointer]; s != nil {
		return s, nil
	}
	s, err := k.compiler.Compile(documentID + "#" + pointer)
	if err != nil {
		return nil, fmt.Errorf("compile a schema of the API: %w", err)
	}
	k.compiled[pointer] = s
	return s, nil
}

// node returns the object at the end of the steps.
func (k *contract) node(steps ...string) (object, bool) {
	at, _ := k.follow(steps)
	o, found := at.(object)
	return o, found
}

// follow takes the steps from the root, through references, and returns the value there, or nil, and its JSON pointer
// as a fragment of a URL.
func (k *contract) follow(steps []string) (at any, pointer string) {
	at = k.root
	escape := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D")
	for _, step := range steps {
		switch node := at.(type) {
		case object:
			at = node[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(node) {
				return nil, ""
			}
			at = node[i]
		}
		pointer += "/" + escape.Replace(step)
		if node, _ := at.(object); node["$ref"] != nil {
			at, pointer = k.follow(strings.Split(strings.TrimPrefix(node["$ref"].(string), "#/"), "/"))
		}
	}
	return at, pointer
}

func checkInt32(v any) error {
	n, isNumber := v.(json.Number)
	if !isNumber {
		return nil
	}
	if f, err := n.Float64(); err != nil || f < math.MinInt32 || f > math.MaxInt32 {
		return errors.New("does not fit into 32 bits")
	}
	return nil
}
