package fake

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// Environment of the contract.
const (
	envDocument = "OLLIM_DISCORD_OPENAPI"  // the file; else it is looked for
	envRequire  = "OLLIM_REQUIRE_CONTRACT" // "1": without the file nothing starts
	document    = "shared/reference/discord-openapi.json"
	documentAPI = "https://discord.com/api/v10" // the only version that is described
)

var errNoDocument = errors.New("the description of Discord's API is absent")

// contract holds requests and answers against Discord's own description. Routes
// and parameters are kin-openapi's work; bodies are ours (schemas), because kin
// compiles a schema anew for each of them, which costs 20 ms.
type contract struct {
	router  routers.Router
	options *openapi3filter.Options
	bodies  *schemas
}

// theContract is loaded once for the process: it takes a fifth of a second.
var theContract = sync.OnceValues(loadContract)

// sayAbsent makes sure that the first test, and only that one, says so.
var sayAbsent sync.Once

// openContract returns nil where the description is absent and not required.
func openContract(t testing.TB, load func() (*contract, error)) (*contract, error) {
	c, err := load()
	if !errors.Is(err, errNoDocument) || os.Getenv(envRequire) == "1" {
		return c, err
	}
	if t != nil {
		sayAbsent.Do(func() { t.Logf("requests are not checked: %v (set %s)", err, envDocument) })
	}
	return nil, nil
}

func loadContract() (*contract, error) {
	path, err := findDocument()
	if err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the description of the API: %w", err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		return nil, fmt.Errorf("load the description of the API: %w", err)
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		return nil, fmt.Errorf("read the routes of the API: %w", err)
	}
	bodies, err := newSchemas(raw)
	if err != nil {
		return nil, err
	}
	return &contract{router: router, bodies: bodies, options: &openapi3filter.Options{
		AuthenticationFunc:  openapi3filter.NoopAuthenticationFunc, // the token is the fake's own business
		SkipSettingDefaults: true,
		ExcludeRequestBody:  true,
	}}, nil
}

// findDocument looks in the environment, then beside every directory above the
// working directory.
func findDocument() (string, error) {
	if path := os.Getenv(envDocument); path != "" {
		if _, err := os.Stat(path); err != nil {
			return "", fmt.Errorf("%w: %w", errNoDocument, err)
		}
		return path, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the description of the API: %w", err)
	}
	for {
		path := filepath.Join(dir, filepath.FromSlash(document))
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errNoDocument
		}
		dir = up
	}
}

// checkRequest says what is wrong with a request. Of an upload it sees the JSON
// part; files alone make a message without any.
func (k *contract) checkRequest(c *call) error {
	found, params, r, err := k.find(c)
	if err != nil {
		return err
	}
	in := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: found, Options: k.options}
	if err := openapi3filter.ValidateRequest(r.Context(), in); err != nil {
		return err
	}
	body := found.Operation.RequestBody
	if body == nil || len(c.body) == 0 && (!body.Value.Required || len(c.files) > 0) {
		return nil
	}
	return k.bodies.check(c.body, "paths", found.Path, strings.ToLower(c.method), "requestBody")
}

// checkAnswer says what is wrong with an answer of ours. Errors with a tree are
// left out: the description says that the codes in it are numbers, and Discord
// sends words.
func (k *contract) checkAnswer(c *call, a answer) error {
	if o, isObject := a.body.(object); isObject && o["errors"] != nil {
		return nil
	}
	found, _, _, err := k.find(c)
	if err != nil {
		return err
	}
	responses, status := found.Operation.Responses, strconv.Itoa(a.status)
	if responses.Value(status) == nil {
		status = status[:1] + "XX"
	}
	described := responses.Value(status)
	if described == nil {
		return fmt.Errorf("status %d is not described", a.status)
	}
	if len(described.Value.Content) == 0 {
		if a.body != nil {
			return fmt.Errorf("status %d has no body", a.status)
		}
		return nil
	}
	return k.bodies.check(a.encoded(), "paths", found.Path, strings.ToLower(c.method), "responses", status)
}

// find is the operation of a call, under the version that is described.
func (k *contract) find(c *call) (*routers.Route, map[string]string, *http.Request, error) {
	url := documentAPI + c.path
	if len(c.query) > 0 {
		url += "?" + c.query.Encode()
	}
	r, err := http.NewRequestWithContext(context.Background(), c.method, url, http.NoBody)
	if err != nil {
		return nil, nil, nil, err
	}
	found, params, err := k.router.FindRoute(r)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%w in the description of the API", err)
	}
	return found, params, r, nil
}
