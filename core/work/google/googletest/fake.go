// Package googletest is a fake Google on loopback for tests: tasks, one or more
// calendars, a mailbox and the login. It accepts only what Google's own discovery
// documents (testdata) define: it refuses any other method, parameter, field, type or
// permission. It knows nothing of the client.
package googletest

import (
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"ollimbot/core/base/lazyregexp"
)

//go:embed testdata/*.json
var documents embed.FS

// object is a JSON object.
type object = map[string]any

// Fault is a failure of a call. With Lost and Cut the call is carried out first.
type Fault struct {
	Status int
	Reason string        // sent with the status
	After  int           // Retry-After, in seconds
	Lost   bool          // the connection ends instead of an answer
	Cut    bool          // half of the answer is sent
	Slow   time.Duration // before anything else
	// Portal is the login page of a network, which answers in place of Google: "page", or the
	// address that it redirects to.
	Portal string
}

// Server is the fake. Lock it to read or change its fields.
type Server struct {
	sync.Mutex
	URL string

	Tasks     map[string][]object // by list
	Events    map[string][]object // by calendar
	Names     map[string]string   // of calendars, by id; the others have the user's address
	Mails     []object            // newest first
	Labels    []object
	Files     map[string]string // attachments by id, base64
	Calls     []string          // the ids of the called methods
	Refused   []string          // calls that violated the documents
	Refreshes int
	Rotates   bool // a refresh returns a new refresh token and revokes the old one
	SaysNo    bool // the user refuses
	// Before is called with each request before the answer. Set it between requests.
	Before func(r *http.Request)
	Grants []string

	faults  map[string][]Fault
	methods []*method
	schemas map[string]schema
	params  map[string]map[string]param
	web     *httptest.Server
	now     func() time.Time
	auth
	serial int
	synced map[string]synced // by token
}

type method struct {
	ID         string           `json:"-"`
	HTTPMethod string           `json:"httpMethod"`
	Path       string           `json:"path"`
	Parameters map[string]param `json:"parameters"`
	Scopes     []string         `json:"scopes"`
	Request    *schema          `json:"request"`

	service string
	expr    *regexp.Regexp
	names   []string
}

type param struct {
	Type, Location, Format string
	Required, Repeated     bool
	Enum                   []string
	Minimum, Maximum       string
}

type schema struct {
	Ref        string `json:"$ref"`
	Type       string
	Format     string
	ReadOnly   bool
	Properties map[string]schema
	Additional *schema `json:"additionalProperties"`
	Items      *schema
}

// New starts an empty Google.
func New() *Server {
	s := &Server{
		Tasks: map[string][]object{"@default": nil}, Events: map[string][]object{"primary": nil}, Files: map[string]string{},
		faults: map[string][]Fault{}, schemas: map[string]schema{}, params: map[string]map[string]param{}, now: time.Now,
		auth:   auth{codes: map[string]url.Values{}, refresh: map[string][]string{}, access: map[string]access{}},
		synced: map[string]synced{},
	}
	for _, name := range []string{"tasks", "calendar", "gmail"} {
		s.read(name)
	}
	s.web = httptest.NewServer(s)
	s.URL = s.web.URL
	return s
}

// Close stops it.
func (s *Server) Close() { s.web.Close() }

// braces matches the variables of a path.
var braces = lazyregexp.New(`\{(\w+)\}`)

func (s *Server) read(name string) {
	var doc struct {
		ServicePath string
		Parameters  map[string]param
		Methods     map[string]*method
		Schemas     map[string]schema
	}
	data, err := documents.ReadFile("testdata/" + name + ".json")
	if err == nil {
		err = json.Unmarshal(data, &doc)
	}
	if err != nil {
		panic(err)
	}
	for id, m := range doc.Methods {
		m.ID, m.service = id, name
		expr := "^/" + regexp.QuoteMeta(doc.ServicePath+m.Path) + "$"
		for _, v := range braces().FindAllStringSubmatch(m.Path, -1) {
			m.names = append(m.names, v[1])
			expr = strings.Replace(expr, `\{`+v[1]+`\}`, "([^/]+)", 1)
		}
		m.expr = regexp.MustCompile(expr)
		s.methods = append(s.methods, m)
	}
	for n, sch := range doc.Schemas {
		s.schemas[name+"."+n] = sch
	}
	s.params[name] = doc.Parameters
}

// Fail makes the next calls of a method, or of "token", fail in these ways, one call
// each.
func (s *Server) Fail(method string, faults ...Fault) {
	s.Lock()
	defer s.Unlock()
	s.faults[method] = append(s.faults[method], faults...)
}

func (s *Server) fault(method string) Fault {
	s.Lock()
	defer s.Unlock()
	list := s.faults[method]
	if len(list) == 0 {
		return Fault{}
	}
	s.faults[method] = list[1:]
	return list[0]
}

// Count returns how often a method was called.
func (s *Server) Count(id string) (n int) {
	s.Lock()
	defer s.Unlock()
	for _, c := range s.Calls {
		if c == id {
			n++
		}
	}
	return n
}

// answer is the response to a call.
type answer struct {
	status int
	body   any
	reason string
}

func fail(status int, reason, format string, args ...any) answer {
	text := fmt.Sprintf(format, args...)
	return answer{status: status, reason: text, body: object{"error": object{
		"code": status, "message": text, "errors": []object{{"reason": reason, "message": text, "domain": "global"}},
	}}}
}

// ServeHTTP answers as Google would.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.Before != nil {
		s.Before(r)
	}
	if s.serveAuth(w, r) {
		return
	}
	m, vars := s.find(r)
	if m == nil {
		s.refuse(w, fail(404, "notFound", "no method %s %s", r.Method, r.URL.Path))
		return
	}
	f := s.fault(m.ID)
	s.Lock()
	s.Calls = append(s.Calls, m.ID)
	s.Unlock()
	select {
	case <-time.After(f.Slow):
	case <-r.Context().Done():
		return
	}
	switch f.Portal {
	case "":
	case "page":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<html><body>Welcome to our hotel</body></html>")
		return
	default:
		http.Redirect(w, r, f.Portal, http.StatusFound)
		return
	}
	if f.Status != 0 {
		if f.After > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(f.After))
		}
		send(w, fail(f.Status, f.Reason, "planned: %s", f.Reason))
		return
	}
	body, bad := s.check(m, r)
	if bad.status != 0 {
		s.refuse(w, bad)
		return
	}
	s.Lock()
	a := s.carryOut(m.ID, vars, r.URL.Query(), body)
	data, err := json.Marshal(a.body) // under the lock, because others may change its parts
	s.Unlock()
	switch {
	case err != nil:
		panic(err)
	case f.Lost:
		panic(http.ErrAbortHandler)
	case f.Cut:
		w.Header().Set("Content-Length", strconv.Itoa(len(data)))
		_, _ = w.Write(data[:len(data)/2])
		panic(http.ErrAbortHandler)
	}
	send(w, answer{status: a.status, body: json.RawMessage(data)})
}

// refuse records a call that a client must not make.
func (s *Server) refuse(w http.ResponseWriter, a answer) {
	if a.status != http.StatusUnauthorized && a.status != http.StatusForbidden {
		s.Lock()
		s.Refused = append(s.Refused, a.reason)
		s.Unlock()
	}
	send(w, a)
}

func send(w http.ResponseWriter, a answer) {
	if a.status == 204 {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(max(a.status, 200))
	_ = json.NewEncoder(w).Encode(a.body)
}

func (s *Server) find(r *http.Request) (*method, map[string]string) {
	for _, m := range s.methods {
		if found := m.expr.FindStringSubmatch(r.URL.EscapedPath()); found != nil && m.HTTPMethod == r.Method {
			vars := map[string]string{}
			for i, name := range m.names {
				vars[name], _ = url.PathUnescape(found[i+1])
			}
			return m, vars
		}
	}
	return nil, nil
}

// check validates a call against its method: token, permission, parameters, body.
func (s *Server) check(m *method, r *http.Request) (body object, bad answer) {
	s.Lock()
	a, ok := s.access[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	s.Unlock()
	if !ok || a.ends.Before(s.now()) {
		return nil, fail(401, "authError", "Invalid Credentials")
	}
	if !slices.ContainsFunc(a.scopes, func(have string) bool { return slices.Contains(m.Scopes, have) }) {
		return nil, fail(403, "insufficientPermissions", "Request had insufficient authentication scopes.")
	}
	for name, values := range r.URL.Query() {
		p, known := m.Parameters[name]
		if !known || p.Location != "query" {
			p, known = s.params[m.service][name]
		}
		if !known || len(values) > 1 && !p.Repeated {
			return nil, fail(400, "invalidParameter", "%s takes no parameter %s, or only one", m.ID, name)
		}
		for _, v := range values {
			if why := p.wrong(v); why != "" {
				return nil, fail(400, "invalidParameter", "%s=%s: %s", name, v, why)
			}
		}
	}
	if m.Request == nil {
		return nil, answer{}
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.Header.Get("Content-Type") != "application/json" {
		return nil, fail(400, "parseError", "Parse Error: %v", err)
	}
	if why := s.misfit(m.service, *m.Request, body, m.HTTPMethod == http.MethodPatch); why != "" {
		return nil, fail(400, "invalid", "%s: %s", m.ID, why)
	}
	return body, answer{}
}

func (p param) wrong(v string) string {
	n, err := strconv.Atoi(v)
	_, notTime := time.Parse(time.RFC3339, v)
	low, _ := strconv.Atoi(p.Minimum)
	switch {
	case p.Type == "integer" && (err != nil || p.Minimum != "" && n < low || strings.HasPrefix(p.Format, "uint") && n < 0):
		return "no number that is taken"
	case p.Type == "boolean" && v != "true" && v != "false":
		return "not true or false"
	case p.Format == "date-time" && notTime != nil:
		return "no time"
	case len(p.Enum) > 0 && !slices.Contains(p.Enum, v):
		return "not one of the words"
	}
	return ""
}

// misfit describes where a value violates a schema. A change may set fields to null to
// remove them.
func (s *Server) misfit(service string, want schema, v any, null bool) string {
	if want.Ref != "" {
		want = s.schemas[service+"."+want.Ref]
	}
	if v == nil && null {
		return ""
	}
	ok := true
	switch want.Type {
	case "object":
		o, is := v.(object)
		for name, value := range o {
			inner, known := want.Properties[name]
			if !known && want.Additional != nil {
				inner, known = *want.Additional, true
			}
			if !known {
				return "unknown name " + name
			}
			if why := s.misfit(service, inner, value, null); why != "" {
				return name + ": " + why
			}
		}
		ok = is
	case "array":
		list, is := v.([]any)
		for _, item := range list {
			if why := s.misfit(service, *want.Items, item, null); why != "" {
				return why
			}
		}
		ok = is
	case "string":
		text, is := v.(string)
		ok = is
		if layout := map[string]string{"date": time.DateOnly, "date-time": time.RFC3339}[want.Format]; layout != "" && is {
			_, err := time.Parse(layout, text)
			ok = err == nil
		}
	case "boolean":
		_, ok = v.(bool)
	case "integer", "number":
		_, ok = v.(float64)
	}
	if !ok {
		return fmt.Sprintf("%v is no %s %s", v, want.Type, want.Format)
	}
	return ""
}
